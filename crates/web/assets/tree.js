// Folds and unfolds parts of the tree. The server sends what is unfolded; which that is, a cookie remembers.
import { turned } from "./live.js";

const YEAR = 31536000;
// Cookies are small: what was folded long ago is as it was at first.
const MOST = 150;

// The button of the row that has the focus.
export const branch = () => document.activeElement.closest(".tree li")?.querySelector("[data-branch]");

export function turn(button) {
  const id = button.dataset.branch.replace(/\D/gu, "");
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  const remembered = document.cookie.match(/(?:^|; )saihai_tree=([^;]*)/u)?.[1].split(".") ?? [];
  const others = remembered.filter((word) => word && word.replace("-", "") !== id);
  const all = [...others, open ? `-${id}` : id].slice(-MOST);
  document.cookie = `saihai_tree=${all.join(".")}; path=/p/${document.body.dataset.project}; max-age=${YEAR}; samesite=strict`;
  turned();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-branch]");
  if (button) turn(button);
});
