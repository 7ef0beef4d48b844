// Keeps the page up with the board: whatever happens anywhere, it is fetched again and put in place.
import { restore } from "./drafts.js";
import { guarded } from "./guard.js";
import { morph } from "./morph.js";
import { ages } from "./time.js";

const PAUSE = 200;
const FIRST = 500;
const MOST = 8000;
const link = document.getElementById("link");
const { project } = document.body.dataset;

let wanted = false;
let busy = false;
let failed = 0;

// Fetches the page that is shown and puts what is new into it.
export async function refresh() {
  // Under a card that is being dragged nothing may move.
  if (busy || document.querySelector(".dragged")) {
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
    failed = 0;
    if (events) say(true);
  } catch {
    // The stream may live on, and tells nothing of what was missed here.
    say(false);
    wanted = true;
    failed += 1;
  }
  await new Promise((done) => setTimeout(done, Math.min(PAUSE * 2 ** failed, MOST)));
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
  document.body.dataset.seq = page.body.dataset.seq;
  morph(document.querySelector("header.bar"), keepLink(page.querySelector("header.bar")));
  const held = document.activeElement.closest("[data-task]")?.dataset.task;
  const group = document.activeElement.closest("[tabindex='-1']");
  guarded(() => morph(document.getElementById("main"), next));
  if (document.activeElement === document.body) refocus(held, group);
  restore();
  present();
  bottoms.forEach(toBottom);
  ages();
}

// What somebody was at may stand elsewhere now, or be gone. The focus goes to no control that does something.
function refocus(held, group) {
  const card = held && document.querySelector(`main .card[data-task="${CSS.escape(held)}"] a`);
  if (card) card.focus({ preventScroll: true });
  else if (group?.isConnected) group.focus({ preventScroll: true });
}

let created;

// Shows what was just made, as soon as it is there.
export function expect(id) {
  created = id;
}

function present() {
  const card = created && document.querySelector(`main .card[data-task="${CSS.escape(created)}"]`);
  if (!card) return;
  created = undefined;
  card.classList.add("fresh");
  card.querySelector("a.title").focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest", inline: "nearest" });
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

let wait = FIRST;
let events;

function listen() {
  leave();
  const query = new URLSearchParams();
  // From what the page shows on, so that nothing is missed between the two.
  if (project) {
    query.set("project", project);
    query.set("after", `${project}:${document.body.dataset.seq}`);
  }
  const source = new EventSource(`/api/v1/events?${query}`);
  events = source;
  const heard = () => {
    wait = FIRST;
    say(true);
  };
  source.addEventListener("place", () => {
    heard();
    // Pages without a project say nothing of where they are.
    if (!project) refresh();
  });
  source.onmessage = ({ data }) => {
    heard();
    // Leases and counted calls change nothing that a page shows.
    if (!JSON.parse(data).bookkeeping) refresh();
  };
  source.onerror = () => {
    // The browser comes back by itself only from some errors; this comes back from all.
    source.close();
    say(false);
    setTimeout(() => events === source && back(), wait);
    wait = Math.min(wait * 2, MOST);
  };
}

function leave() {
  events?.close();
  events = undefined;
}

async function back() {
  const me = await fetch("/api/v1/me").catch(() => undefined);
  if (me?.status === 401) return location.assign("/login");
  if (me?.ok) await refresh();
  if (document.hidden) leave();
  else listen();
}

// Browsers have few connections for one server, and keep pages that were left: who does not look does not listen.
function look() {
  if (document.hidden) return leave();
  if (!events) back();
}

if (link) {
  listen();
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => event.persisted && look());
}
document.querySelectorAll("[data-bottom]").forEach(toBottom);
addEventListener("dragend", () => wanted && setTimeout(refresh));
