// Does what forms and buttons say, through the API, and says why when it is refused.
import { forget, keep, reasonOf } from "./drafts.js";
import { expect, refresh } from "./live.js";
import { tell, toast } from "./notice.js";

const project = document.body.dataset.project;
const csrf = document.querySelector("meta[name=csrf]")?.content ?? "";

export async function ask(method, url, body) {
  const headers = { "content-type": "application/json", "x-csrf-token": csrf, accept: "application/json" };
  try {
    const response = await fetch(url, { method, headers, body: method === "DELETE" ? undefined : JSON.stringify(body ?? {}) });
    const text = await response.text();
    const answer = text ? JSON.parse(text) : {};
    return response.ok ? { answer } : { refused: `${answer.detail ?? response.statusText} ${answer.hint ?? ""}`.trim() };
  } catch {
    return { refused: document.getElementById("link")?.dataset.undone ?? "…" };
  }
}

// Does what a notice offers, or a button says, and tells of it.
async function perform({ method, url, body }) {
  const { answer, refused } = await ask(method, url, body);
  if (refused) toast(refused);
  else told(answer);
  refresh();
  return !refused;
}

function told(answer) {
  if (!answer.notice) return;
  if (answer.notice.link?.created) expect(answer.notice.link.created);
  tell(answer.notice, perform);
}

// Tasks that are being moved: who presses twice means it once.
const moving = new Set();

// Moves a task; asks for the reason first, where one is needed.
export async function move(task, name, word, needsReason, later) {
  if (moving.has(task)) return;
  let reason;
  if (needsReason) {
    reason = await askReason(task, name, word);
    if (!reason) return;
  }
  moving.add(task);
  const body = { ...(reason && { reason }), ...(later && { later }) };
  const done = await perform({ method: "POST", url: `/api/v1/projects/${project}/tasks/${task}/${name}`, body });
  moving.delete(task);
  if (done) keep(reasonOf(task, name), "");
}

export function askReason(task, name, word) {
  const dialog = document.getElementById("reason");
  const title = dialog.querySelector("h2");
  title.textContent = title.dataset.template.replace("{task}", task).replace("{move}", word);
  const field = dialog.querySelector("textarea");
  const draft = reasonOf(task, name);
  field.value = sessionStorage.getItem(draft) ?? "";
  field.oninput = () => keep(draft, field.value);
  dialog.returnValue = "";
  dialog.showModal();
  field.focus();
  const filled = (event) => {
    if (event.submitter?.value !== "do" || field.value.trim()) return;
    event.preventDefault();
    field.value = "";
    field.reportValidity();
  };
  dialog.querySelector("form").onsubmit = filled;
  return answered(dialog, () => field.value.trim());
}

// Asks before something that cannot be taken back.
function confirmed(question) {
  const dialog = document.getElementById("confirm");
  dialog.querySelector("p").textContent = question;
  dialog.returnValue = "";
  dialog.showModal();
  return answered(dialog, () => true);
}

function answered(dialog, answer) {
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue === "do" ? answer() : undefined), { once: true });
  });
}

function content(form, submitter) {
  const body = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    if (field.tagName === "BUTTON") {
      // A button with a name says yes to it.
      if (field === submitter) body[field.name] = true;
      continue;
    }
    const text = field.value.trim();
    if (field.dataset.list !== undefined) body[field.name] = text.split(/[,\s]+/u).filter(Boolean);
    else if (field.dataset.null !== undefined) body[field.name] = text || null;
    else if (field.dataset.omit === undefined || text) body[field.name] = text;
  }
  // Labels may have spaces in them, ids not.
  if ("labels" in body) body.labels = form.elements.labels.value.split(",").map((word) => word.trim()).filter(Boolean);
  return body;
}

async function submit(form, submitter) {
  // Who presses twice means it once.
  if (form.busy) return;
  form.busy = true;
  if (form.dataset.confirm && !(await confirmed(form.dataset.confirm))) return void (form.busy = false);
  const [method, url] = form.dataset.api.split(" ");
  const output = form.querySelector("output.refusal");
  const sent = new Map([...form.elements].map((field) => [field, field.value]));
  const { answer, refused } = await ask(method, url, content(form, submitter));
  form.busy = false;
  if (output) {
    output.textContent = refused ?? "";
    output.hidden = !refused;
  } else if (refused) toast(refused);
  if (refused) {
    if (form.dataset.atChange !== undefined) form.reset();
    return;
  }
  forget(form);
  told(answer);
  const then = form.dataset.then;
  if (then?.startsWith("/")) return location.assign(then);
  if (form.dataset.shows) showSecret(form, answer[form.dataset.shows]);
  if (form.dataset.atChange === undefined) clear(form, sent);
  if (then === "close") form.closest("dialog").close();
  refresh();
}

// What was written while the answer was awaited is not part of what was sent.
function clear(form, sent) {
  for (const field of form.elements) {
    if (field.type !== "hidden" && field.value === sent.get(field)) field.value = field.defaultValue ?? "";
  }
  for (const select of form.querySelectorAll("select")) {
    select.value = ([...select.options].find((option) => option.defaultSelected) ?? select.options[0]).value;
  }
}

function showSecret(form, text) {
  const shown = form.querySelector(".secret");
  const code = document.createElement("code");
  code.textContent = text.startsWith("/") ? location.origin + text : text;
  shown.replaceChildren(`${shown.dataset.note} `, code);
  shown.hidden = false;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.api) {
    event.preventDefault();
    submit(form, event.submitter);
  }
  if (form.dataset.filter !== undefined) {
    event.preventDefault();
    filter(form);
  }
});

// Shows what is looked for, under an address of its own, without leaving the page.
function filter(form) {
  const said = [...new FormData(form)].filter(([, text]) => text);
  history.replaceState(null, "", said.length ? `?${new URLSearchParams(said)}` : location.pathname);
  refresh();
}

let searching;
document.addEventListener("input", ({ target }) => {
  if (target.form?.dataset.filter === undefined) return;
  clearTimeout(searching);
  searching = setTimeout(filter, target.type === "search" ? 150 : 0, target.form);
});

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form?.dataset.atChange !== undefined) submit(form);
  if (form?.dataset.language !== undefined) {
    document.cookie = `saihai_language=${event.target.value}; path=/; max-age=31536000; samesite=strict`;
    location.reload();
  }
});

document.addEventListener("keydown", (event) => {
  const form = event.target.form;
  if (form?.dataset.enter !== undefined && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});

document.addEventListener("click", (event) => {
  const { target } = event;
  const opens = target.closest("[data-opens]");
  if (opens) open(opens.dataset.opens);
  if (target.closest("[data-closes]")) target.closest("dialog").close();
  const button = target.closest("[data-move]");
  if (button) {
    button.closest("details")?.removeAttribute("open");
    move(button.dataset.task, button.dataset.move, button.textContent.trim(), button.dataset.reason !== undefined, button.dataset.later !== undefined);
  }
  // A menu closes when something else is clicked.
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(target)) menu.open = false;
});

export function open(id) {
  const dialog = document.getElementById(id);
  if (dialog && !dialog.open) dialog.showModal();
}
