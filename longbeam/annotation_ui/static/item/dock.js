// The evidence: one line for each piece; the piece itself is highlighted in the conversation below.
import { KeyButton, keyOf, perform } from "../keys.js";
import { plural, said } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { goTo } from "./conversation.js";
import { mayWork, store } from "./state.js";

/** @param {{item: import("../types").ItemView, piece: number}} props */
export function Dock({ item, piece }) {
  const count = item.evidence.length;
  const spread =
    count > 1 ? `, ${item.spread.toLocaleString()} messages apart, in ${plural(item.sessions_touched, "session")}` : "";
  return html`<section class="card dock" id="dock" aria-label="evidence">
    <header>
      <h2>${count ? `Evidence: ${count}${spread}` : "Nothing is cited as evidence"}</h2>
      ${mayWork(item) ? html`<${KeyButton} action="add-evidence">cite selection</${KeyButton}>` : null}
    </header>
    <ol>
      ${item.evidence.map(
        (evidence, i) => html`<${Piece}
        key=${evidence.evidence_id}
        item=${item}
        evidence=${evidence}
        index=${i}
        isCurrent=${i === piece}
      />`,
      )}
    </ol>
  </section>`;
}

function Piece({ item, evidence, index, isCurrent }) {
  const show = () => {
    store.set({ piece: index });
    if (evidence.message_id !== null) goTo(evidence.message_id);
  };
  const remove = () => {
    store.set({ piece: index });
    perform("remove-evidence");
  };
  const isWhole = evidence.attachment === "attached" || evidence.attachment === "whole";
  return html`<li
    class=${`evidence${isCurrent ? " current" : ""}`}
    data-key=${evidence.message_key}
    aria-current=${isCurrent ? "true" : undefined}
  >
    ${
      evidence.message_id === null
        ? html`<span class="error">the message does not exist</span>`
        : html`<button
          type="button"
          onClick=${show}
          aria-label=${`#${evidence.message_id.toLocaleString()}: show the message`}
        >#${evidence.message_id.toLocaleString()}</button>`
    }
    <span class="tag">${evidence.group === null ? evidence.part.replaceAll("_", " ") : `item ${evidence.group + 1}`}</span>
    ${isWhole ? null : html`<span class="error">${evidence.attachment === "moved" ? "the quote has moved" : "the quote is gone"}</span>`}
    <span
      class="quote"
      dir="auto"
      title=${evidence.quote}
    >${said(evidence.sent_at).slice(0, 10)} ${evidence.quote}</span>
    ${
      mayWork(item)
        ? html`<button
          type="button"
          onClick=${remove}
          data-key=${isCurrent ? keyOf("remove-evidence") : undefined}
          aria-label=${`remove evidence ${index + 1}`}
        >remove</button>`
        : null
    }
  </li>`;
}
