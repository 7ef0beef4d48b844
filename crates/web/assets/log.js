import { clocks } from "./time.js";

// Follows the output of a process, page by page. At most so much of it is kept in the browser.
const MOST = 2_000_000;
const PAUSE = 700;

const log = document.getElementById("log");
const follow = document.getElementById("follow");
const earlier = document.getElementById("log-earlier");
const kind = log?.localName;

let kept = 0;
let end = Number(log?.dataset.end);
let following = true;

async function piece(query) {
  const response = await fetch(`${log.dataset.url}?${query}`);
  if (!response.ok) throw new Error(response.statusText);
  const number = (name) => Number(response.headers.get(`x-log-${name}`));
  return { html: await response.text(), start: number("start"), end: number("end"), oldest: number("oldest"), more: number("more") };
}

// The server has escaped everything but its own marks.
function part(html, start) {
  const part = document.createElement(kind === "pre" ? "span" : "div");
  part.dataset.start = start;
  part.append(...new DOMParser().parseFromString(`<${kind}>${html}</${kind}>`, "text/html").querySelector(kind).childNodes);
  kept += part.textContent.length;
  clocks(part);
  return part;
}

// A tool whose answer came in a later piece: its answer takes the place of its call, and keeps what the call said.
function join(part) {
  for (const answer of part.querySelectorAll("[data-answers]")) {
    const call = log.querySelector(`[data-calls="${CSS.escape(answer.dataset.answers)}"]`);
    if (!call) continue;
    const details = call.querySelector("details");
    const [told, came] = [details.querySelector("summary"), answer.querySelector("summary")];
    for (const mark of told.querySelectorAll(".took")) mark.remove();
    told.append(...came.querySelectorAll(".bad, .took"));
    details.append(...[...answer.querySelector("details").children].filter((child) => child !== came));
    delete call.dataset.calls;
    answer.remove();
  }
}

function scroll() {
  if (follow?.checked) log.scrollTop = log.scrollHeight;
}

function shorten() {
  while (kept > MOST && log.childElementCount > 1) {
    kept -= log.firstElementChild.textContent.length;
    log.firstElementChild.remove();
    earlier.hidden = false;
  }
}

async function more() {
  if (!following || document.hidden) return void setTimeout(more, PAUSE);
  try {
    const next = await piece(`from=${end}`);
    if (next.end > end) {
      const came = part(next.html, next.start);
      join(came);
      log.append(came);
      end = next.end;
      scroll();
      shorten();
    }
    following = next.more === 1;
    // What is behind is caught up with at once.
    setTimeout(more, next.html.length > 30_000 ? 0 : PAUSE);
  } catch {
    setTimeout(more, PAUSE * 4);
  }
}

async function back() {
  earlier.disabled = true;
  try {
    const before = await piece(`until=${log.firstElementChild.dataset.start}`);
    const height = log.scrollHeight;
    log.prepend(part(before.html, before.start));
    log.scrollTop += log.scrollHeight - height;
    earlier.hidden = before.start <= before.oldest;
  } finally {
    earlier.disabled = false;
  }
}

if (log) {
  const first = document.createElement(kind === "pre" ? "span" : "div");
  first.dataset.start = log.dataset.start;
  first.append(...log.childNodes);
  log.append(first);
  kept = first.textContent.length;
  clocks(log);
  scroll();
  // From a place that somebody has linked to one reads on by hand.
  if (follow) more();
  else document.getElementById(location.hash.slice(1))?.scrollIntoView();
  earlier.addEventListener("click", back);
  follow?.addEventListener("change", scroll);
  // Whoever scrolls up wants to read; whoever comes back to the end wants to follow.
  log.addEventListener("scroll", () => {
    if (follow) follow.checked = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  });
}
