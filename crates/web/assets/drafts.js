// Keeps what is half-written, in this tab, until it is sent: pages change and are left meanwhile.

const WRITTEN = "form[data-api]:not([data-at-change]) textarea[name], form[data-api]:not([data-at-change]) input[name]";
const NEVER = ["hidden", "password", "checkbox", "radio"];

const keyOf = (field) => `draft ${location.pathname} ${field.form.dataset.key ?? field.form.dataset.api} ${field.name}`;
const isWritten = (field) => field.matches?.(WRITTEN) && !NEVER.includes(field.type) && !field.closest("[data-secret]");

// Puts back what was written, into fields that nothing is written in.
export function restore() {
  for (const field of document.querySelectorAll(WRITTEN)) {
    if (!isWritten(field) || field.restored) continue;
    field.restored = true;
    const kept = sessionStorage.getItem(keyOf(field));
    if (kept !== null && field.value === field.defaultValue) field.value = kept;
  }
}

// What was sent is nothing half-written any more.
export function forget(form) {
  for (const field of form.elements) if (field.name) sessionStorage.removeItem(keyOf(field));
}

export const reasonOf = (task, move) => `draft reason ${task} ${move}`;

export function keep(key, text) {
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // A full store keeps what it has.
  }
}

document.addEventListener("input", ({ target }) => {
  if (isWritten(target)) keep(keyOf(target), target.value === target.defaultValue ? "" : target.value);
});

restore();
