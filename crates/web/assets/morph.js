// Makes one element like another and keeps what is the user's: focus, scroll, what is being written or held open.

// What the user does to an element, and no page may undo.
// Scripts place things by `style`, which no page has.
const placed = "style";
const kept = { BUTTON: ["disabled"], DETAILS: ["open"], DIALOG: ["open"], OPTION: [], INPUT: ["value", "checked"], TEXTAREA: [], SELECT: [] };

const keyOf = (node) => (node.nodeType === 1 ? node.id || node.dataset.key || "" : "");
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

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
  const byKey = new Map();
  for (const node of from.childNodes) {
    const key = keyOf(node);
    if (key) byKey.set(key, node);
  }
  let at = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const key = keyOf(wanted);
    let found = key ? byKey.get(key) : at;
    if (found && !alike(found, wanted)) found = undefined;
    if (!found) {
      from.insertBefore(document.importNode(wanted, true), at);
      continue;
    }
    if (found === at) at = at.nextSibling;
    else from.insertBefore(found, at);
    if (found.nodeType === 1) morph(found, wanted);
    else if (found.nodeValue !== wanted.nodeValue) found.nodeValue = wanted.nodeValue;
  }
  while (at) {
    const next = at.nextSibling;
    // A dialog that somebody writes in outlives what it was opened from.
    if (!(at.nodeName === "DIALOG" && at.open)) at.remove();
    at = next;
  }
}
