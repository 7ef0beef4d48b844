// Travels in time: the slider goes to the board as of an event, which has its own address.
import { refresh } from "./live.js";

const slider = document.getElementById("travel");
let timer;

function go() {
  const base = document.querySelector(".travel").dataset.base;
  history.replaceState(null, "", base + slider.value);
  refresh();
}

slider?.addEventListener("input", () => {
  document.getElementById("travel-at").textContent = slider.value;
  clearTimeout(timer);
  timer = setTimeout(go, 120);
});
