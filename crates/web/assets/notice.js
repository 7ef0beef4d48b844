// Says what was done, leads to it, and offers to take it back.
import { guarded } from "./guard.js";

// So long a notice stays, unless somebody is at it.
const STAYS = 12_000;

const notice = document.getElementById("notice");
const sheet = notice?.querySelector(".sheet");
const part = (key) => notice.querySelector(`[data-key=${key}]`);

let timer;
let takeBack;

export function tell({ said, link, undo }, perform) {
  takeBack = undo && (() => perform(undo));
  guarded(() => {
    part("said").textContent = said;
    part("link").textContent = link?.text ?? "";
    part("link").hidden = !link;
    if (link) part("link").href = link.url;
    part("undo").hidden = !undo;
    sheet.hidden = false;
  });
  wait();
}

function wait() {
  clearTimeout(timer);
  timer = setTimeout(() => (sheet.matches(":hover, :focus-within") ? wait() : hide()), STAYS);
}

function hide() {
  takeBack = undefined;
  sheet.hidden = true;
}

export function undo() {
  const back = takeBack;
  if (!back) return;
  hide();
  back();
}

notice?.addEventListener("click", ({ target }) => {
  if (target.closest("[data-key=undo]")) undo();
  else if (target.closest("[data-key=dismiss]")) hide();
});

let shown;
// Why something was refused.
export function toast(text) {
  const toast = document.getElementById("toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(shown);
  shown = setTimeout(() => (toast.hidden = true), 10_000);
}
document.getElementById("toast")?.addEventListener("click", (event) => (event.currentTarget.hidden = true));
