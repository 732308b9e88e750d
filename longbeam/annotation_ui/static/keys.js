// Handlers by the names of the one key table, which the page carries (annotation_ui/keys.py).
import { h } from "./dom.js";

export const KEYS = JSON.parse(document.getElementById("keys").textContent);
const handlers = new Map();

export function on(action, handler) {
  if (handlers.has(action)) throw new Error(`two handlers of ${action}`);
  if (!KEYS.some((k) => k.action === action)) throw new Error(`no key for ${action}`);
  handlers.set(action, handler);
}

export const handled = () => [...handlers.keys()];

const isField = (element) => element?.matches?.("input, textarea, select, [contenteditable]");

function name(event) {
  return (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + event.key;
}

export function press(event) {
  const found = KEYS.find((k) => k.key === name(event));
  if (!found || event.altKey || (isField(event.target) && !found.in_fields)) return;
  if (document.querySelector("dialog[open]") && !found.in_fields) return;
  const handler = handlers.get(found.action);
  if (!handler) return;
  event.preventDefault();
  handler(event);
}

export function hint(action) {
  const found = KEYS.find((k) => k.action === action);
  return h("kbd", {}, found ? found.key : "");
}

// A button that does what its key does, with the key on it.
export function button(action, text, given = {}) {
  return h("button", { type: "button", "data-action": action, onclick: () => handlers.get(action)?.(), ...given }, text, hint(action));
}

export function sheet() {
  const groups = [...new Set(KEYS.map((k) => k.group))];
  return h("div", { class: "keys" }, groups.map((group) => h("div", {}, h("h3", {}, group),
    h("dl", {}, KEYS.filter((k) => k.group === group).map((k) => [h("dt", {}, h("kbd", {}, k.key)), h("dd", {}, k.hint)])))));
}
