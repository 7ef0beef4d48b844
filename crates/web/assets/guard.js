// A press is for what stood there when it was aimed, not for what has come into its place since.

// So long nothing is pressed that has just come under the pointer.
const PAUSE = 500;
// A hand is never quite still.
const STILL = 6;
const CONTROLS = "a, button, summary, input, select, textarea, label, [draggable]";

let pointer;
let aimed;
let until = 0;

const under = () => pointer && document.elementFromPoint(...pointer)?.closest(CONTROLS);

// Makes a change to the page, and looks whether it puts another control under the pointer.
export function guarded(change) {
  const before = under();
  change();
  const after = under();
  if (!after || after === before) return;
  aimed = pointer;
  until = performance.now() + PAUSE;
}

function follow(event) {
  pointer = [event.clientX, event.clientY];
  // Whoever has moved there means what is there.
  if (aimed && Math.hypot(pointer[0] - aimed[0], pointer[1] - aimed[1]) > STILL) until = 0;
}

function press(event) {
  // Keys press what has the focus, and that stays what it is.
  const byPointer = event.pointerId !== undefined && event.pointerId >= 0;
  if (!byPointer || performance.now() >= until) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

for (const name of ["pointermove", "pointerdown"]) addEventListener(name, follow, { capture: true, passive: true });
addEventListener("click", press, { capture: true });
