// Says what became of something that was asked for, with a link to it where there is one.
import { toast } from "./forms.js";

export function notify(text, link) {
  toast(text);
  if (!link) return;
  const shown = document.getElementById("toast");
  shown.append(" ", Object.assign(document.createElement("a"), { href: link, textContent: "→" }));
}
