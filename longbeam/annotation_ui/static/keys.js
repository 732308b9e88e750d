// Handlers by the names of the one key table, which the page carries (annotation_ui/keyboard.py).
import { dataOf } from "./api.js";
import { html } from "./vendor/htm-preact.js";

/** @type {import("./types").Key[]} */
export const KEYS = dataOf("keys") ?? [];
const handlers = new Map();

/** Binds a handler to an action of the table. */
export function on(action, handler) {
  if (handlers.has(action)) throw new Error(`two handlers of ${action}`);
  if (!KEYS.some((key) => key.action === action)) throw new Error(`no key for ${action}`);
  handlers.set(action, handler);
}

/** Does what a key does. */
export const perform = (action) => handlers.get(action)?.();

const isField = (element) => element?.matches?.("input, textarea, select, [contenteditable]");

/** The key of an event as the table names it: a letter is a capital with Shift, whatever Caps Lock says. */
export function nameOf(event) {
  const isLetter = /^[a-z]$/i.test(event.key);
  const key = isLetter ? (event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase()) : event.key;
  return (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + key;
}

/** @param {KeyboardEvent} event */
export function press(event) {
  const found = KEYS.find((key) => key.key === nameOf(event));
  if (!found || event.altKey || (isField(event.target) && !found.in_fields)) return;
  if (document.querySelector("dialog[open]") && !found.in_fields) return;
  if (!handlers.has(found.action)) return;
  event.preventDefault();
  // A held key decides nothing a second time.
  if (event.repeat && !found.repeats) return;
  perform(found.action);
}

/** The key of an action. A button shows it by its style sheet, for the eye only; see `data-key` in base.css. */
export const keyOf = (action) => KEYS.find((key) => key.action === action)?.key;

/** A button that does what its key does, with the key on it. */
export function KeyButton({ action, children, ...more }) {
  const key = keyOf(action);
  const given = {
    type: "button",
    "data-action": action,
    "data-key": key?.replace("Escape", "Esc").replace("Enter", "↵"),
    "aria-keyshortcuts": key?.replace("Ctrl+", "Control+"),
    onClick: () => perform(action),
  };
  return html`<button ...${given} ...${more}>${children}</button>`;
}

/** The table of all keys. */
export function KeySheet() {
  const groups = [...new Set(KEYS.map((key) => key.group))];
  return html`<div class="keys">
    ${groups.map(
      (group) => html`<section key=${group}>
        <h3>${group}</h3>
        <dl>
          ${KEYS.filter((key) => key.group === group).map((key) => [
            html`<dt key=${`${key.key}-key`}><kbd>${key.key}</kbd></dt>`,
            html`<dd key=${`${key.key}-hint`}>${key.hint}</dd>`,
          ])}
        </dl>
      </section>`,
    )}
  </div>`;
}
