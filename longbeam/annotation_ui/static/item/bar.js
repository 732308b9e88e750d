// The bar over the panes: where the reviewer is, and whose the item is.
import { KeyButton } from "../keys.js";
import { clock, words } from "../text.js";
import { html } from "../vendor/htm-preact.js";

const GUESSABLE = "A model that saw nothing of the conversation has answered it in full.";

/** @param {{item: import("../types").ItemView}} props */
export function Bar({ item }) {
  const { place, lease, progress } = item;
  return html`<div class="bar" id="bar">
    <h1 id="item-name" tabindex="-1">${item.name}</h1>
    <span class="tag">${item.difficulty}</span>
    <span class="tag" id="status">${words(item.status)}</span>
    ${item.is_guessable ? html`<span class="tag warning" title=${GUESSABLE}>guessable</span>` : null}
    <span class="soft">${place.index === null ? "" : `${place.index + 1} of ${place.total} in this list`}</span>
    ${
      item.can_write
        ? html`<span class="soft" id="progress">
          <progress
            value=${progress.mine}
            max=${Math.max(progress.mine_wanted, 1)}
            aria-label="your opinions"
          ></progress>
          ${` yours ${progress.mine} of ${progress.mine_wanted}, finished ${progress.finished} of ${progress.items}`}
        </span>`
        : null
    }
    ${item.overlap > 1 ? html`<span class="soft">${`opinions ${item.saved} of ${item.overlap}`}</span>` : null}
    <span class="soft" id="lease">${lease ? leaseText(lease) : ""}</span>
    <span class="grow"></span>
    <span class="steps">
      <${KeyButton} action="previous-item" disabled=${!place.previous}>previous</${KeyButton}>
      <${KeyButton} action="next-item" disabled=${!place.next}>next</${KeyButton}>
      <${KeyButton} action="help">keys</${KeyButton}>
    </span>
  </div>`;
}

function leaseText(lease) {
  return `${lease.is_mine ? "yours" : `with ${lease.reviewer_id}`} until ${clock(lease.expires_at)}`;
}
