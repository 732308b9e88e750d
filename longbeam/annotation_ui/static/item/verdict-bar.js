// The verdict, always in view: what may be decided, and what still stands in the way.
import { KeyButton } from "../keys.js";
import { clock } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { setGold } from "./deciding.js";
import { isWanted } from "./state.js";

/** @param {{state: import("./state.js").PageState, item: import("../types").ItemView}} props */
export function VerdictBar({ state, item }) {
  return html`<section class="verdict-bar" id="verdict" aria-label="verdict">
    ${state.training ? html`<${Training} training=${state.training} />` : null}
    <${Standing} item=${item} />
    ${item.can_write ? html`<${Buttons} state=${state} item=${item} />` : html`<${ReadOnly} />`}
  </section>`;
}

const ReadOnly = () => html`<p>You read only. <a href="/session">Choose a name</a> to review.</p>`;

function Standing({ item }) {
  const { mine } = item;
  if (!item.can_write) return null;
  if (item.lease && !item.lease.is_mine) {
    const { reviewer_id: holder, expires_at: end } = item.lease;
    return html`<p class="standing soft">${holder} has this item open until ${clock(end)}: you read only until then.</p>`;
  }
  if (!isWanted(item)) {
    return html`<p class="soft">All ${item.overlap} opinions are given: you read only.</p>`;
  }
  return html`<div class="standing">
    ${mine?.verdict ? html`<b>your verdict: ${mine.verdict}</b>` : null}
    ${mine?.is_lapsed ? html`<b class="warning">An edit has ended your verdict: give it again.</b>` : null}
    ${
      item.is_blind && item.overlap > 1
        ? html`<span class="soft">Other opinions are shown once as many are saved as are wanted.</span>`
        : null
    }
    ${item.gates.map(
      (gate) => html`<span key=${gate.code} class="warning">
        ${gate.message}${gate.code === "checks" ? html` <${KeyButton} action="check">check now</${KeyButton}>` : null}
      </span>`,
    )}
  </div>`;
}

function Buttons({ state, item }) {
  const isOff = state.isDeciding || !isWanted(item);
  return html`<div class="buttons">
    <${KeyButton} action="accept" class="primary" disabled=${isOff}>accept</${KeyButton}>
    <${KeyButton} action="reject" class="" disabled=${isOff}>reject</${KeyButton}>
    <${KeyButton} action="skip" disabled=${isOff} title="leave it to somebody else">skip</${KeyButton}>
    <${KeyButton}
      action="return"
      title="send it back to whoever wrote the benchmark, to be made again"
    >return to author</${KeyButton}>
    <${KeyButton} action="comment">comment</${KeyButton}>
    <${KeyButton} action="flag" title="ask a lead to look at it">flag</${KeyButton}>
    <${KeyButton} action="undo">undo</${KeyButton}>
    <${KeyButton} action="redo">redo</${KeyButton}>
    ${item.is_gold === null ? null : html`<${Gold} item=${item} />`}
  </div>`;
}

function Gold({ item }) {
  const text =
    "Reviewers judge this item without knowing that you know its right verdict; you see how often they are right.";
  return html`<details class="gold">
    <summary>${item.is_gold ? "measures reviewers" : "measure reviewers with it"}</summary>
    <p class="soft small">${text}</p>
    ${[
      ["accept", "right is accept"],
      ["reject", "right is reject"],
      [null, "no longer"],
    ].map(([word, name]) => html`<button key=${name} type="button" onClick=${() => setGold(word)}>${name}</button>`)}
  </details>`;
}

function Training({ training }) {
  return html`<p class=${`training ${training.is_right ? "ok" : "warning"}`} role="status">${training.text}</p>`;
}
