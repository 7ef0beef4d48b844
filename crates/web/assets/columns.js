// Folds columns to their counts, and keeps named views; both are remembered in this browser.
import { turned } from "./live.js";

const YEAR = 31536000;

// The server reads which columns are folded from a cookie, and what this page has from its next request.
export function fold(column) {
  const button = column?.querySelector("[data-fold]");
  if (!button) return;
  const folded = column.classList.toggle("folded");
  button.setAttribute("aria-expanded", String(!folded));
  const columns = [...document.querySelectorAll(".column:has([data-fold])")];
  const shut = columns.filter((one) => one.classList.contains("folded")).map((one) => one.dataset.status);
  const open = columns.filter((one) => !one.classList.contains("folded")).map((one) => `-${one.dataset.status}`);
  const path = `/p/${document.body.dataset.project}`;
  document.cookie = `saihai_folds=${[...shut, ...open].join(".")}; path=${path}; max-age=${YEAR}; samesite=strict`;
  const kept = document.querySelector("[data-kept]");
  const words = new URLSearchParams(kept.dataset.kept);
  words.set("folded", shut.join("."));
  kept.dataset.kept = words;
  turned();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fold]");
  if (button) fold(button.closest(".column"));
});

// A menu that opens in something that scrolls would be cut off by it.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!target.matches?.(".card details.menu[open]")) return;
    const sheet = target.querySelector(".sheet");
    const { right, bottom, top } = target.getBoundingClientRect();
    const { width, height } = sheet.getBoundingClientRect();
    sheet.style.left = `${Math.max(8, right - width)}px`;
    sheet.style.top = `${bottom + height + 8 > innerHeight ? Math.max(8, top - height - 4) : bottom + 4}px`;
  },
  true,
);
document.addEventListener(
  "scroll",
  ({ target }) => {
    for (const menu of target.querySelectorAll?.(".card details.menu[open]") ?? []) menu.open = false;
  },
  true,
);

const views = document.getElementById("views");
const key = `views ${document.body.dataset.project}`;
const stored = () => JSON.parse(localStorage.getItem(key) ?? "{}");

function keep(all) {
  localStorage.setItem(key, JSON.stringify(all));
  list();
}

function list() {
  const shown = views.querySelector("ul");
  const lines = Object.entries(stored()).map(([name, query]) => {
    const link = Object.assign(document.createElement("a"), { href: query || "?", textContent: name, title: name });
    if (query === location.search) link.setAttribute("aria-current", "true");
    const forget = Object.assign(document.createElement("button"), { type: "button", textContent: "×", className: "plain" });
    forget.setAttribute("aria-label", `${shown.dataset.forget}: ${name}`);
    forget.onclick = () => {
      const { [name]: _, ...others } = stored();
      keep(others);
    };
    const line = document.createElement("li");
    line.append(link, forget);
    return line;
  });
  const none = Object.assign(document.createElement("li"), { className: "quiet small", textContent: shown.dataset.none });
  shown.replaceChildren(...(lines.length ? lines : [none]));
}

if (views) {
  list();
  const form = views.querySelector("form");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = form.elements.name.value.trim();
    if (name) keep({ ...stored(), [name]: location.search });
    form.reset();
  });
}
