// Shows moments on the clock of the reader; the server writes them in UTC.
import { moment } from "./text.js";

for (const element of document.querySelectorAll("time[data-local]")) {
  const text = element.getAttribute("datetime");
  if (text) {
    element.setAttribute("title", element.textContent ?? "");
    element.textContent = moment(text);
  }
}
