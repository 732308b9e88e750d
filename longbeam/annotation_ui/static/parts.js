// Parts that several pages draw: icons, word diffs, and a text area as high as its text.
import { metaOf } from "./api.js";
import { visible } from "./text.js";
import { html, useLayoutEffect, useRef } from "./vendor/htm-preact.js";

/** An icon; the words beside it, or the `aria-label` of its button, name it. */
export const Icon = ({ name }) =>
  html`<svg class="icon" aria-hidden="true"><use href=${`${metaOf("static")}/icons.svg#${name}`}></use></svg>`;

/** A word diff. */
export function Diff({ parts }) {
  return html`<p class="diff" dir="auto">
    ${parts.map((part, i) => {
      if (part.kind === "removed") return html`<del key=${i}>${visible(part.text)}</del>`;
      if (part.kind === "added") return html`<ins key=${i}>${visible(part.text)}</ins>`;
      return html`<span key=${i}>${visible(part.text)}</span>`;
    })}
  </p>`;
}

/** What was changed, word by word; closed until somebody wants to see it. */
export function Changed({ parts, isOpen = true }) {
  if (!parts?.length) return null;
  return html`<details class="changed-text" open=${isOpen}>
    <summary>changed</summary>
    <${Diff} parts=${parts} />
  </details>`;
}

/** A text area as high as its text. */
export function GrowingArea({ value, onText, ...more }) {
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useLayoutEffect(() => {
    if (!area.current) return;
    area.current.style.height = "auto";
    area.current.style.height = `${area.current.scrollHeight + 4}px`;
  }, [value]);
  return html`<textarea
    ref=${area}
    dir="auto"
    value=${value}
    onInput=${(event) => onText(event.target.value)}
    ...${more}
  ></textarea>`;
}
