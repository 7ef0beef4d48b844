// Makes one element like another and keeps what is the user's: focus, scroll, what is being written or held open.

// What the user does to an element, and no page may undo.
// Scripts place things by `style`, which no page has.
const placed = "style";
const kept = { BUTTON: ["disabled"], DETAILS: ["open"], DIALOG: ["open"], OPTION: [], INPUT: ["value", "checked"], TEXTAREA: [], SELECT: [] };

// What tells a control from others of its kind, where it has no key: it never turns into another.
const own = {
  A: ["href"],
  BUTTON: ["data-move", "data-task", "data-opens", "name", "value"],
  FORM: ["data-api", "action"],
  INPUT: ["name", "type"],
  SELECT: ["name"],
  TEXTAREA: ["name"],
};

const keyOf = (node) => (node.nodeType === 1 ? node.id || node.dataset.key || "" : "");
const sameControl = (a, b) => keyOf(a) || (own[a.nodeName] ?? []).every((name) => a.getAttribute(name) === b.getAttribute(name));
const alike = (a, b) =>
  a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.nodeType !== 1 || (keyOf(a) === keyOf(b) && sameControl(a, b)));
// A dialog that somebody writes in outlives what it was opened from.
const stays = (node) => node.nodeName === "DIALOG" && node.open;

export function morph(from, to) {
  if (from.isEqualNode(to)) return;
  // Its content is a script's.
  if (from.dataset.keep !== undefined) return;
  attributes(from, to);
  if (from.tagName === "TEXTAREA") {
    if (from.value === from.defaultValue && from !== document.activeElement) from.value = to.defaultValue;
    from.defaultValue = to.defaultValue;
    return;
  }
  const chosen = from.tagName === "SELECT" ? from.value : undefined;
  const changed = chosen !== undefined && ![...from.options].some((o) => o.defaultSelected && o.value === chosen);
  children(from, to);
  if (chosen !== undefined) {
    const busy = changed || from === document.activeElement;
    const value = busy ? chosen : ([...from.options].find((o) => o.defaultSelected)?.value ?? from.options[0]?.value ?? "");
    if (from.value !== value) from.value = value;
  }
}

function attributes(from, to) {
  const own = kept[from.tagName] ?? [];
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !own.includes(name) && name !== placed) from.removeAttribute(name);
  }
  for (const { name, value } of [...to.attributes]) {
    if (own.includes(name)) continue;
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  if (from.tagName === "INPUT") input(from, to);
}

function input(from, to) {
  if (from.type === "checkbox") {
    if (from.checked === from.defaultChecked) from.checked = to.defaultChecked;
    from.defaultChecked = to.defaultChecked;
    return;
  }
  const untouched = from.value === from.defaultValue && from !== document.activeElement;
  from.defaultValue = to.defaultValue;
  if (untouched) from.value = to.defaultValue;
}

function children(from, to) {
  const byKey = dropVanished(from, to);
  let at = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const key = keyOf(wanted);
    let found = key ? byKey.get(key) : ahead(at, wanted);
    if (found && !alike(found, wanted)) found = undefined;
    if (!found) {
      from.insertBefore(document.importNode(wanted, true), at);
      continue;
    }
    at = skipText(at, found);
    if (found === at) at = at.nextSibling;
    else place(from, found, at);
    if (found.nodeType === 1) morph(found, wanted);
    else if (found.nodeValue !== wanted.nodeValue) found.nodeValue = wanted.nodeValue;
  }
  while (at) {
    const next = at.nextSibling;
    if (!stays(at)) at.remove();
    at = next;
  }
}

// What is gone goes first, so that what stays need not be moved: an element that is moved may lose the focus.
function dropVanished(from, to) {
  const wanted = new Set();
  for (const node of to.childNodes) if (keyOf(node)) wanted.add(keyOf(node));
  const byKey = new Map();
  for (const node of [...from.childNodes]) {
    const key = keyOf(node);
    if (!key) continue;
    if (wanted.has(key)) byKey.set(key, node);
    else if (!stays(node)) node.remove();
  }
  return byKey;
}

// The next one that is alike: what stands before it is not made into it.
function ahead(at, wanted) {
  if (wanted.nodeType !== 1) return at;
  let node = at;
  while (node && !alike(node, wanted)) node = node.nextSibling;
  return node ?? undefined;
}

// Leaves out the text before an element that stays.
function skipText(at, found) {
  let node = at;
  while (node && node !== found && node.nodeType !== 1) node = node.nextSibling;
  if (node !== found) return at;
  while (at !== found) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
  return at;
}

function place(from, node, at) {
  if (from.moveBefore) from.moveBefore(node, at);
  else from.insertBefore(node, at);
}
