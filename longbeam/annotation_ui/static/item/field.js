// A text of the probe: shown with its changes, or open for editing in a box that grows with it.
import { KeyButton } from "../keys.js";
import { html, useLayoutEffect, useRef } from "../vendor/htm-preact.js";
import { discard, edit, type, typedInto } from "./editing.js";

/** @param {{state: import("./state.js").PageState, item: import("../types").ItemView, target: string, text: string,
 *   label: string}} props */
export function Field({ state, item, target, text, label }) {
  if (state.edit?.target === target) return html`<${Editor} edit=${state.edit} label=${label} />`;
  const typed = item.can_write ? typedInto(item, target) : null;
  return html`<div>
    <div class="field" dir="auto">${text}</div>
    <${Changed} parts=${item.diffs[target]} />
    ${
      typed === null
        ? null
        : html`<div class="typed">
          <p><b>You typed this and did not save it:</b></p>
          <div class="field-typed" dir="auto">${typed}</div>
          <p>
            <button type="button" onClick=${() => edit(target)}>go on editing</button>
            <button type="button" onClick=${() => discard(target)}>discard it</button>
          </p>
        </div>`
    }
  </div>`;
}

/** What was changed, word by word; closed until somebody wants to see it. */
export function Changed({ parts, isOpen = true }) {
  if (!parts?.length) return null;
  return html`<details class="changed-text" open=${isOpen}>
    <summary>changed</summary>
    <${Diff} parts=${parts} />
  </details>`;
}

/** A word diff. */
export function Diff({ parts }) {
  return html`<p class="diff" dir="auto">
    ${parts.map((part, i) => {
      if (part.kind === "removed") return html`<del key=${i}>${part.text}</del>`;
      if (part.kind === "added") return html`<ins key=${i}>${part.text}</ins>`;
      return html`<span key=${i}>${part.text}</span>`;
    })}
  </p>`;
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

function Editor({ edit: open, label }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const area = box.current?.querySelector("textarea");
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }, [open.target]);
  const states = { typing: "", saving: "saving …", conflict: "changed elsewhere: choose which text stays" };
  return html`<div ref=${box}>
    <${GrowingArea} value=${open.text} onText=${type} aria-label=${label} />
    <p class="small">
      <${KeyButton} action="save">save</${KeyButton}>
      <${KeyButton} action="leave">close, keep it for later</${KeyButton}>
      <button type="button" onClick=${() => discard(open.target)}>discard</button>
      <span class="soft" role="status">${states[open.phase]}</span>
    </p>
  </div>`;
}
