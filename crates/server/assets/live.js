// Keeps the page up with the board: whatever happens anywhere, it is fetched again and put in place.
import { morph } from "./morph.js";
import { ages } from "./time.js";

const PAUSE = 200;
const link = document.getElementById("link");
const { project, seq } = document.body.dataset;

let wanted = false;
let busy = false;

// Fetches the page that is shown and puts what is new into it.
export async function refresh() {
  if (busy) {
    wanted = true;
    return;
  }
  busy = true;
  const url = location.href;
  try {
    const response = await fetch(url, { headers: { accept: "text/html" } });
    if (new URL(response.url).pathname === "/login") location.assign("/login");
    if (response.status >= 500) throw new Error(response.statusText);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    // Somebody who has gone on meanwhile does not want it any more.
    if (url === location.href) show(page);
    else wanted = true;
  } catch {
    say(false);
  }
  await new Promise((done) => setTimeout(done, PAUSE));
  busy = false;
  if (wanted) {
    wanted = false;
    refresh();
  }
}

function show(page) {
  const next = page.getElementById("main");
  if (!next) return;
  const bottoms = [...document.querySelectorAll("[data-bottom]")].filter(atBottom);
  document.title = page.title;
  morph(document.querySelector("header.bar"), keepLink(page.querySelector("header.bar")));
  morph(document.getElementById("main"), next);
  bottoms.forEach(toBottom);
  ages();
}

// The state of the connection is this script's to tell.
function keepLink(bar) {
  const own = bar?.querySelector("#link");
  if (own) own.replaceWith(link.cloneNode(true));
  return bar ?? document.querySelector("header.bar");
}

const atBottom = (list) => list.scrollHeight - list.scrollTop - list.clientHeight < 40;
const toBottom = (list) => (list.scrollTop = list.scrollHeight);

function say(live) {
  const text = live ? link.dataset.live : link.dataset.lost;
  const shown = document.getElementById("link");
  for (const element of new Set([link, shown])) {
    if (element.textContent !== text) element.textContent = text;
    element.className = live ? "live" : "lost";
  }
}

let last = project ? `${project}:${seq}` : "";
let wait = 500;

function listen() {
  const query = new URLSearchParams();
  if (project) query.set("project", project);
  if (last) query.set("after", last);
  const events = new EventSource(`/api/v1/events?${query}`);
  const heard = ({ lastEventId }) => {
    if (lastEventId) last = lastEventId;
    wait = 500;
    say(true);
  };
  events.addEventListener("place", heard);
  events.onmessage = (event) => {
    heard(event);
    refresh();
  };
  events.onerror = async () => {
    // The browser comes back by itself only from some errors; this comes back from all.
    events.close();
    say(false);
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 2, 8000);
    const alive = await fetch("/api/v1/me").catch(() => undefined);
    if (alive?.status === 401) return location.assign("/login");
    if (alive?.ok) refresh();
    listen();
  };
}

if (link) listen();
document.querySelectorAll("[data-bottom]").forEach(toBottom);
addEventListener("pageshow", (event) => event.persisted && refresh());
