// What every page does: times on the clock of the reader, and menus that close.
import { moment } from "./text.js";

for (const element of document.querySelectorAll("time[data-local]")) {
  const text = element.getAttribute("datetime");
  if (text) {
    element.setAttribute("title", element.textContent ?? "");
    element.textContent = moment(text);
  }
}

const openMenus = () => /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll(".menu[open]"));

document.addEventListener("click", (event) => {
  for (const menu of openMenus()) {
    const isInside = event.target instanceof Node && menu.contains(event.target);
    const isChoice = event.target instanceof Element && event.target.closest(".menu-items > button");
    if (!isInside || isChoice) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  }
});
