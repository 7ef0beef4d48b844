// Follows the output of a process, page by page. At most so much of it is kept in the browser.
const MOST = 2_000_000;
const PAUSE = 700;

const log = document.getElementById("log");
const follow = document.getElementById("follow");
const earlier = document.getElementById("log-earlier");

let kept = 0;
let end = Number(log?.dataset.end);
let following = true;

async function piece(query) {
  const response = await fetch(`${log.dataset.url}?${query}`);
  if (!response.ok) throw new Error(response.statusText);
  const number = (name) => Number(response.headers.get(`x-log-${name}`));
  return { html: await response.text(), start: number("start"), end: number("end"), oldest: number("oldest"), more: number("more") };
}

// The server has escaped everything but the marks for colours.
function part(html, start) {
  const part = document.createElement("span");
  part.dataset.start = start;
  part.append(...new DOMParser().parseFromString(`<pre>${html}</pre>`, "text/html").querySelector("pre").childNodes);
  kept += part.textContent.length;
  return part;
}

function scroll() {
  if (follow.checked) log.scrollTop = log.scrollHeight;
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
      log.append(part(next.html, next.start));
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
  const first = document.createElement("span");
  first.dataset.start = log.dataset.start;
  first.append(...log.childNodes);
  log.append(first);
  kept = first.textContent.length;
  scroll();
  more();
  earlier.addEventListener("click", back);
  follow.addEventListener("change", scroll);
  // Whoever scrolls up wants to read; whoever comes back to the end wants to follow.
  log.addEventListener("scroll", () => {
    follow.checked = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  });
}
