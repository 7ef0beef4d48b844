// Makes the graph larger and smaller, and moves it: by buttons, keys, wheel and mouse.
const LEAST = 0.25;
const MOST = 2;
const STEP = 1.25;
// No smaller than this at first: it is to be read.
const LEGIBLE = 0.6;

const picture = () => document.querySelector("main > .picture");
let scale;

const whole = ({ viewBox: { baseVal } }, frame) => Math.min(frame.clientWidth / baseVal.width, frame.clientHeight / baseVal.height, 1);

function apply() {
  const frame = picture();
  const graph = frame?.querySelector("svg");
  if (!graph) return;
  scale ??= Math.max(whole(graph, frame), LEGIBLE);
  graph.style.width = `${graph.viewBox.baseVal.width * scale}px`;
  graph.style.height = `${graph.viewBox.baseVal.height * scale}px`;
}

// What is at a point of the frame stays there.
function zoom(to, x, y) {
  const frame = picture();
  const graph = frame?.querySelector("svg");
  if (!graph) return;
  const before = scale;
  scale = to === "fit" ? whole(graph, frame) : Math.min(Math.max(to, LEAST), MOST);
  const [left, top] = [frame.scrollLeft, frame.scrollTop];
  apply();
  const grown = scale / before;
  frame.scrollTo((left + x) * grown - x, (top + y) * grown - y);
}

function about(to) {
  const frame = picture();
  if (frame) zoom(to === "fit" ? to : scale * to, frame.clientWidth / 2, frame.clientHeight / 2);
}

const ways = { in: STEP, out: 1 / STEP, fit: "fit", "+": STEP, "=": STEP, "-": 1 / STEP, 0: "fit" };

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-zoom]");
  if (button) about(ways[button.dataset.zoom]);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !event.target.closest(".picture, .zoom") || !(event.key in ways)) return;
  event.preventDefault();
  about(ways[event.key]);
});

document.addEventListener(
  "wheel",
  (event) => {
    if (!event.ctrlKey || !event.target.closest("main > .picture")) return;
    event.preventDefault();
    const { left, top } = picture().getBoundingClientRect();
    zoom(scale * (event.deltaY < 0 ? STEP : 1 / STEP), event.clientX - left, event.clientY - top);
  },
  { passive: false },
);

// Dragging the ground moves the picture; a finger does so by itself.
let held;
document.addEventListener("pointerdown", (event) => {
  const frame = event.target.closest("main > .picture");
  if (!frame || event.button !== 0 || event.pointerType !== "mouse" || event.target.closest("a")) return;
  held = { frame, x: event.clientX + frame.scrollLeft, y: event.clientY + frame.scrollTop };
  frame.classList.add("held");
});
document.addEventListener("pointermove", (event) => held?.frame.scrollTo(held.x - event.clientX, held.y - event.clientY));
document.addEventListener("pointerup", () => {
  held?.frame.classList.remove("held");
  held = undefined;
});

apply();
// A live change may have made it larger.
const frame = picture();
if (frame) new MutationObserver(apply).observe(frame, { subtree: true, childList: true, attributeFilter: ["viewBox"] });
