// Does one thing with several tasks: they are picked on the board or in the tree, and each is asked for by itself.
import { ask, askReason } from "./forms.js";
import { refresh } from "./live.js";
import { tell } from "./notice.js";

const bar = document.getElementById("picked");
const tasks = () => `/api/v1/projects/${document.body.dataset.project}/tasks`;
const boxes = () => [...document.querySelectorAll("main [data-pick]")];

let last;
let busy = false;

export const picked = () => boxes().filter((box) => box.checked).map((box) => box.value);

// The box of the card or row that has the focus.
export const boxAtFocus = () => document.activeElement.closest(".card, .tree li")?.querySelector("[data-pick]");

// With `through` all between the one before and this one.
export function pick(box, through) {
  if (!box) return;
  const all = boxes();
  const from = all.findIndex((one) => one.value === last);
  const to = all.indexOf(box);
  if (through && from >= 0) all.slice(Math.min(from, to), Math.max(from, to) + 1).forEach((one) => (one.checked = true));
  else box.checked = !box.checked;
  last = box.value;
  show();
}

export function show() {
  if (!bar) return;
  const count = picked().length;
  bar.hidden = count === 0;
  document.body.classList.toggle("picking", count > 0);
  const said = bar.dataset.count.replace("{n}", count);
  // The bar is in what is watched.
  if (bar.querySelector("output").textContent !== said) bar.querySelector("output").textContent = said;
}

function clear() {
  boxes().forEach((box) => (box.checked = false));
  show();
}

// One request for each; the board judges each by itself.
async function forEach(ids, request) {
  if (busy) return;
  busy = true;
  const refusals = [];
  for (const id of ids) {
    const { refused } = await request(id);
    if (refused) refusals.push(`${id}: ${refused}`);
  }
  busy = false;
  const said = bar.dataset.done.replace("{n}", ids.length - refusals.length).replace("{all}", ids.length);
  tell({ said: [said, ...new Set(refusals)].join(" ") });
  clear();
  refresh();
}

async function withLabel(id, label) {
  const response = await fetch(`${tasks()}/${id}`);
  const { labels = [] } = response.ok ? await response.json() : {};
  return labels.includes(label) ? {} : ask("PATCH", `${tasks()}/${id}`, { labels: [...labels, label] });
}

async function move(name, word, needsReason) {
  const ids = picked();
  const reason = needsReason ? await askReason(bar.dataset.count.replace("{n}", ids.length), name, word) : undefined;
  if (needsReason && !reason) return;
  await forEach(ids, (id) => ask("POST", `${tasks()}/${id}/${name}`, reason ? { reason } : {}));
}

if (bar) {
  document.addEventListener("click", (event) => {
    const box = event.target.closest("[data-pick]");
    if (box) {
      // The browser has turned it already.
      box.checked = !box.checked;
      pick(box, event.shiftKey);
    } else if (event.shiftKey && event.target.closest(".card, .tree li") && !event.target.closest("button, summary")) {
      event.preventDefault();
      pick(event.target.closest(".card, .tree li").querySelector("[data-pick]"), true);
    }
    const button = event.target.closest("[data-bulk]");
    if (button) move(button.dataset.bulk, button.textContent.trim(), button.dataset.reason !== undefined);
    if (event.target.closest("[data-unpick]")) clear();
  });
  bar.querySelector("select").addEventListener("change", ({ target }) => {
    const agent = target.value;
    target.value = "";
    if (agent) forEach(picked(), (id) => ask("PUT", `${tasks()}/${id}/assignee`, { agent }));
  });
  bar.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const label = event.target.elements.label.value.trim();
    event.target.reset();
    if (label) forEach(picked(), (id) => withLabel(id, label));
  });
  // What was picked may have gone from the page.
  new MutationObserver(show).observe(document.getElementById("main"), { childList: true, subtree: true });
}
