// Goes anywhere and does what can be done, by a few letters: the pattern is that of a combobox with a list.
import { move } from "./forms.js";
import { picked } from "./selection.js";

const dialog = document.getElementById("palette");
const field = dialog?.querySelector("input");
const list = dialog?.querySelector("[role=listbox]");
const { project } = document.body.dataset;
const PAUSE = 120;
const SHOWN = 8;

let at = 0;
let asked = 0;
let offered = [];
// The task whose card, row or page one is at; its moves are offered.
let moves = [];
let agents;

const fits = (text, words) => words.every((word) => text.toLowerCase().includes(word));
const go = (href) => () => location.assign(href);

async function found(path) {
  const response = await fetch(`/api/v1/projects/${project}/${path}`).catch(() => undefined);
  return response?.ok ? response.json() : undefined;
}

// What can be done with what is picked, else with where one is.
function movesHere() {
  if (picked().length) {
    const buttons = [...document.querySelectorAll("#picked [data-bulk]")];
    return buttons.map((button) => ({ kind: "act", text: `${button.textContent.trim()} · ${document.querySelector("#picked output").textContent}`, run: () => button.click() }));
  }
  const card = document.activeElement.closest(".card");
  const title = (card ?? document).querySelector(card ? ".title" : ".headline h1")?.textContent.trim() ?? "";
  const buttons = [...(card ?? document.querySelector(".actions") ?? document.createElement("p")).querySelectorAll("[data-move]")];
  return buttons.map(({ textContent, dataset }) => ({
    kind: "act",
    text: `${textContent.trim()}: ${title}`,
    id: dataset.task,
    run: () => move(dataset.task, dataset.move, textContent.trim(), dataset.reason !== undefined, dataset.later !== undefined),
  }));
}

function pages() {
  const links = [...document.querySelectorAll("header nav a")];
  return links.map((link) => ({ kind: "page", text: link.firstChild.textContent.trim(), run: go(link.href) }));
}

async function roster() {
  agents ??= ((await found("agents"))?.items ?? []).map(({ id, name }) => ({ kind: "agent", text: name ?? id, id, run: go(`/p/${project}/agents/${id}`) }));
  return agents;
}

async function search() {
  const text = field.value.trim();
  const words = text.toLowerCase().split(/\s+/u).filter(Boolean);
  const mine = (asked += 1);
  const here = [...moves, ...pages()].filter((one) => fits(`${one.text} ${one.id ?? ""}`, words));
  offer(here);
  if (!project || !words.length) return;
  const number = /^(?:ses_?|tsk_?)?(\d+)$/iu.exec(text)?.[1];
  const [known, tasks, session] = await Promise.all([
    roster(),
    found(`tasks?all=true&limit=${SHOWN}&q=${encodeURIComponent(number && !/^ses/iu.test(text) ? `tsk_${number}` : text)}`),
    number && !/^tsk/iu.test(text) ? found(`sessions/${number}`) : undefined,
  ]);
  // Somebody who has typed on wants other ones.
  if (mine !== asked) return;
  const links = (tasks?.items ?? []).map(({ id, title }) => ({ kind: "task", text: title, id, run: go(`/p/${project}/tasks/${id}`) }));
  const sessions = session ? [{ kind: "session", text: session.agent_id ?? "", id: session.id, run: go(`/p/${project}/sessions/${session.id}`) }] : [];
  offer([...here, ...links, ...sessions, ...known.filter((one) => fits(`${one.text} ${one.id}`, words))]);
}

function offer(all) {
  offered = all;
  at = 0;
  const options = all.map((one, number) => {
    const option = Object.assign(document.createElement("li"), { id: `offer-${number}` });
    option.setAttribute("role", "option");
    const part = (className, textContent) => Object.assign(document.createElement("span"), { className, textContent });
    option.append(part("kind", dialog.dataset[one.kind]), part("what", one.text), part("id", one.id ?? ""));
    option.addEventListener("click", () => choose(number));
    return option;
  });
  const none = Object.assign(document.createElement("li"), { className: "quiet", textContent: dialog.dataset.none });
  none.setAttribute("role", "option");
  none.setAttribute("aria-disabled", "true");
  list.replaceChildren(...(options.length ? options : [none]));
  point(0);
}

function point(to) {
  at = offered.length ? (to + offered.length) % offered.length : 0;
  [...list.children].forEach((option, number) => option.setAttribute("aria-selected", String(offered.length > 0 && number === at)));
  if (offered.length) field.setAttribute("aria-activedescendant", `offer-${at}`);
  else field.removeAttribute("aria-activedescendant");
  list.children[at]?.scrollIntoView({ block: "nearest" });
}

function choose(number) {
  dialog.close();
  offered[number]?.run();
}

let timer;
if (dialog) {
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (dialog.open) return dialog.close();
    if (document.querySelector("dialog[open]")) return;
    moves = movesHere();
    field.value = "";
    dialog.showModal();
    search();
  });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      point(to);
    }
    if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      choose(at);
    }
  });
}
