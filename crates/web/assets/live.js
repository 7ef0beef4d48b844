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

// The text that was fetched last. The server sends what differs from it, or all if it has forgotten it.
const NOTHING = { name: "nothing", lines: [] };
let had = NOTHING;

// The whole text of a page, from what was sent of it; nothing, if that does not fit what there was.
async function textOf(response) {
  const name = response.headers.get("x-page");
  if (response.status === 204) return had.lines.join("\n");
  if (!response.headers.get("content-type")?.startsWith("application/json")) {
    const text = await response.text();
    had = name ? { name, lines: text.split("\n") } : NOTHING;
    return text;
  }
  const { parts, length } = await response.json();
  const lines = [];
  // Two numbers are lines that are there; letters are new ones.
  for (const part of parts) {
    if (typeof part[0] !== "number") lines.push(...part);
    else for (let at = part[0]; at < part[0] + part[1]; at += 1) lines.push(had.lines[at]);
  }
  const text = lines.join("\n");
  had = text.length === length ? { name, lines } : NOTHING;
  return had === NOTHING ? undefined : text;
}

// How often somebody has asked for another view: an answer to what was asked before must not undo what they did since.
let turns = 0;

export function turned() {
  turns += 1;
  refresh();
}

// Fetches the page that is shown and puts what is new into it.
export async function refresh() {
  // Under a card that is being dragged nothing may move.
  if (busy || document.querySelector(".dragged")) {
    wanted = true;
    return;
  }
  busy = true;
  const url = location.href;
  const turn = turns;
  try {
    const response = await fetch(asShown(url), { headers: { accept: "text/html", "x-have": had.name } });
    if (new URL(response.url).pathname === "/login") location.assign("/login");
    if (response.status >= 500) throw new Error(response.statusText);
    const text = await textOf(response);
    const page = new DOMParser().parseFromString(text ?? "", "text/html");
    // Somebody who has gone on meanwhile does not want it any more.
    if (text !== undefined && url === location.href && turn === turns) show(page);
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

// The address, with what the page has chosen by itself and must not change under the pointer.
function asShown(url) {
  const asked = new URL(url);
  for (const [name, value] of new URLSearchParams(document.querySelector("[data-kept]")?.dataset.kept)) asked.searchParams.set(name, value);
  return asked;
}

function show(page) {
  const next = page.getElementById("main");
  if (!next) return;
  const bottoms = [...document.querySelectorAll("[data-bottom]")].filter(atBottom);
  document.title = page.title;
  document.body.dataset.seq = page.body.dataset.seq;
  morph(document.querySelector("header.bar"), keepLink(page.querySelector("header.bar")));
  ages(next);
  const held = document.activeElement.closest("[data-key]")?.dataset.key;
  const group = document.activeElement.closest("[tabindex='-1']");
  guarded(() => morph(document.getElementById("main"), next));
  if (document.activeElement === document.body) refocus(held, group);
  restore();
  present();
  bottoms.forEach(toBottom);
}

// What somebody was at may stand elsewhere now, or be gone. The focus goes to no control that does something.
function refocus(held, group) {
  const card = held && document.querySelector(`main [data-key="${CSS.escape(held)}"] a`);
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

// What agents print is in no event; a page that shows it looks again by itself.
const LOOK_AGAIN = 3000;
setInterval(() => {
  if (!document.hidden && document.querySelector("[data-refresh]")) refresh();
}, LOOK_AGAIN);
