// Drags cards, only to columns that the board would admit.
import { move } from "./forms.js";

let card;
let moves = new Map();

const columns = () => document.querySelectorAll(".column[data-status]");

function begin(event) {
  card = event.target.closest?.(".card[data-moves]");
  if (!card) return;
  moves = new Map(card.dataset.moves.split(" ").map((text) => text.split(":")).map(([name, to, reason, later]) => [to, { name, reason, later }]));
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", card.dataset.task);
  card.classList.add("dragged");
  for (const column of columns()) column.classList.add(moves.has(column.dataset.status) ? "legal" : "illegal");
}

function end() {
  card?.classList.remove("dragged");
  for (const column of columns()) column.classList.remove("legal", "illegal", "over");
  card = undefined;
}

function over(event) {
  const column = card && under(event);
  for (const other of columns()) other.classList.toggle("over", other === column);
  if (column) event.preventDefault();
}

const under = (event) => event.target.closest?.(".column.legal");

document.addEventListener("dragstart", begin);
document.addEventListener("dragend", end);
for (const name of ["dragenter", "dragover"]) document.addEventListener(name, over);
document.addEventListener("drop", (event) => {
  const column = card && under(event);
  if (!column) return;
  event.preventDefault();
  const { name, reason, later } = moves.get(column.dataset.status);
  const button = card.querySelector(`[data-move="${name}"]`);
  move(card.dataset.task, name, button?.textContent.trim() ?? name, Boolean(reason), Boolean(later));
  end();
});
