// Offers tasks by title or id while they are written into a list of ids.

const MOST = 8;
const { project } = document.body.dataset;

const words = (field) => field.value.split(",");
const last = (field) => words(field).at(-1).trim();
const listOf = (field) => document.getElementById(field.getAttribute("aria-controls"));
const chosen = (list) => list.querySelector("[aria-selected=true]");

async function offer(field) {
  const word = last(field);
  if (!word) return close(field);
  const query = new URLSearchParams({ q: word, limit: MOST });
  const response = await fetch(`/api/v1/projects/${project}/tasks?${query}`).catch(() => undefined);
  if (!response?.ok || last(field) !== word || document.activeElement !== field) return;
  const { items } = await response.json();
  const list = listOf(field);
  list.replaceChildren(...items.map((task, at) => option(task, `${list.id}-${at}`)));
  show(field, items.length > 0);
}

function option({ id, title }, name) {
  const item = document.createElement("li");
  item.id = name;
  item.role = "option";
  item.dataset.value = id;
  const shown = document.createElement("span");
  shown.className = "id";
  shown.textContent = id;
  item.append(shown, ` ${title}`);
  return item;
}

function show(field, open) {
  listOf(field).hidden = !open;
  field.setAttribute("aria-expanded", String(open));
  field.removeAttribute("aria-activedescendant");
}

const close = (field) => show(field, false);

function step(field, by) {
  const list = listOf(field);
  const all = [...list.children];
  const at = all.indexOf(chosen(list));
  chosen(list)?.removeAttribute("aria-selected");
  const next = all[(at + by + all.length + (at < 0 && by < 0 ? 1 : 0)) % all.length];
  next.setAttribute("aria-selected", "true");
  next.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", next.id);
}

function take(field, item) {
  field.value = [...words(field).slice(0, -1).map((word) => word.trim()), item.dataset.value, ""].join(", ");
  close(field);
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

let timer;
document.addEventListener("input", ({ target }) => {
  if (target.dataset.tasks === undefined) return;
  clearTimeout(timer);
  timer = setTimeout(offer, 120, target);
});

document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (field.dataset?.tasks === undefined || listOf(field).hidden || event.isComposing) return;
  const list = listOf(field);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") step(field, event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Enter" && chosen(list)) take(field, chosen(list));
  else if (event.key === "Escape") close(field);
  else return;
  event.preventDefault();
  event.stopPropagation();
});

// Before the field loses the focus to it.
document.addEventListener("pointerdown", (event) => {
  const item = event.target.closest("[role=option][data-value]");
  if (!item) return;
  event.preventDefault();
  take(document.querySelector(`[aria-controls="${item.parentElement.id}"]`), item);
});

document.addEventListener("focusout", ({ target }) => target.dataset?.tasks !== undefined && close(target));
