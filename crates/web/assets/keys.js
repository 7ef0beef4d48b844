// Everything that the mouse does, by keys.
import { fold } from "./columns.js";
import { open } from "./forms.js";
import { boxAtFocus, pick } from "./selection.js";
import { branch, turn } from "./tree.js";
import { undo } from "./notice.js";

let leader = 0;

const writing = (element) => element.closest("input, textarea, select, [contenteditable]") && element.type !== "checkbox" && element.type !== "range";
const titles = (column) => [...column.querySelectorAll(".card a.title")];

function step(by) {
  const all = [...document.querySelectorAll(".card a.title, .tree a, table td:first-child a")];
  const at = all.indexOf(document.activeElement.closest(".card")?.querySelector("a.title") ?? document.activeElement);
  focus(all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]);
}

function across(by) {
  const columns = [...document.querySelectorAll(".column")].filter((column) => titles(column).length || column.querySelector("[data-fold]"));
  const at = columns.indexOf(document.activeElement.closest(".column"));
  const next = columns[at < 0 ? 0 : Math.min(Math.max(at + by, 0), columns.length - 1)];
  if (next) focus(titles(next)[0] ?? next.querySelector("[data-fold]"));
}

function focus(element) {
  element?.focus();
  element?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function menu() {
  const found = document.activeElement.closest(".card")?.querySelector("details.menu");
  if (!found) return;
  found.open = true;
  found.querySelector("button").focus();
}

// The next or the previous one of a menu, and round.
function inMenu(event) {
  const found = document.activeElement.closest("details.menu");
  const at = { ArrowDown: 1, ArrowUp: -1, Home: 0, End: 0 }[event.key];
  if (!found || at === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  found.open = true;
  const all = [...found.querySelectorAll(".sheet button, .sheet a")];
  const now = all.indexOf(document.activeElement);
  const next = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : now < 0 && at < 0 ? all.length - 1 : now + at;
  all[(next + all.length) % all.length]?.focus();
}

// Only what works on this page is listed.
function list() {
  for (const row of document.querySelectorAll("#keys [data-needs]")) row.hidden = !document.querySelector(row.dataset.needs);
  open("keys");
}

const keys = {
  "/": () => document.querySelector("input[type=search]")?.focus(),
  n: () => open("new-task"),
  u: undo,
  "?": list,
  j: () => step(1),
  k: () => step(-1),
  h: () => across(-1),
  l: () => across(1),
  m: menu,
  x: () => pick(boxAtFocus(), false),
  X: () => pick(boxAtFocus(), true),
  z: () => (branch() ? turn(branch()) : fold(document.activeElement.closest(".column"))),
  g: () => (leader = Date.now()),
};

document.addEventListener("keydown", inMenu);
document.addEventListener("click", ({ target }) => target.closest("[data-lists-keys]") && list());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape") {
    const found = document.activeElement.closest("details.menu[open]");
    if (found) {
      found.open = false;
      found.querySelector("summary").focus();
    }
    return;
  }
  const part = branch();
  // As trees elsewhere do: to the right unfolds, to the left folds.
  if (part && event.key === (part.ariaExpanded === "true" ? "ArrowLeft" : "ArrowRight")) {
    event.preventDefault();
    turn(part);
    return;
  }
  if (writing(event.target) || document.querySelector("dialog[open]")) return;
  if (Date.now() - leader < 1500) {
    leader = 0;
    const page = document.querySelector(`header nav a[data-key="${CSS.escape(event.key)}"]`);
    if (page) {
      event.preventDefault();
      page.click();
      return;
    }
  }
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
