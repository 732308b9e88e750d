// The right pane: one aid at a time, chosen by tabs. Keys open an aid at the top, where its results are seen.
import { KeyButton, perform } from "../keys.js";
import { html } from "../vendor/htm-preact.js";
import { Counter, WhatIf } from "./aid-views.js";
import { showAid } from "./aids.js";
import { Findings } from "./findings.js";
import { Panel } from "./panel.js";
import { Pool } from "./pool.js";
import { Decisions, Guidelines } from "./side-views.js";
import { Writing } from "./writing.js";

const TABS = [
  ["checks", "checks"],
  ["counter", "counter-evidence"],
  ["what-if", "what if"],
  ["guidelines", "guidelines"],
  ["decisions", "my decisions"],
  ["pool", "pool"],
];

/** @param {{state: import("./state.js").PageState, item: import("../types").ItemView}} props */
export function Aids({ state, item }) {
  const open = state.aid;
  const tabs = item.can_write ? TABS : TABS.filter(([name]) => name !== "decisions");
  return html`<section id="aids" aria-label="aids">
    <nav class="tabs" aria-label="aids">
      ${tabs.map(
        ([name, text]) => html`<button
          key=${name}
          type="button"
          aria-pressed=${String(open === name)}
          onClick=${() => showAid(name)}
        >
          ${text}
        </button>`,
      )}
    </nav>
    <div class="aid" key=${`${item.item_id}-${open}`}><${Aid} state=${state} item=${item} /></div>
  </section>`;
}

/** Aids that tell the gold answer, or half of it. */
const TELLING = ["checks", "counter", "what-if", "write"];

function Aid({ state, item }) {
  const { aids } = state;
  if (state.isBlind && TELLING.includes(state.aid)) return html`<${Hidden} />`;
  switch (state.aid) {
    case "counter":
      return aids.counter ? html`<${Counter} found=${aids.counter} item=${item} />` : html`<${Loading} />`;
    case "what-if":
      return aids["what-if"] ? html`<${WhatIf} found=${aids["what-if"]} />` : html`<${Loading} />`;
    case "guidelines":
      return state.guidelines
        ? html`<${Guidelines} guidelines=${state.guidelines} item=${item} />`
        : html`<${Loading} />`;
    case "decisions":
      return state.decisions ? html`<${Decisions} decisions=${state.decisions} />` : html`<${Loading} />`;
    case "pool":
      return html`<${Pool} item=${item} />`;
    case "write":
      return html`<${Writing} item=${item} />`;
    default:
      return html`
        <${Findings} item=${item} />
        <${Panel} item=${item} aids=${aids} />
        <section class="card more">
          <${KeyButton} action="counter">what could change the answer</${KeyButton}>
          <${KeyButton} action="what-if">try the rubric</${KeyButton}>
          ${
            item.can_write && !item.mine?.is_saved
              ? html`<button type="button" data-action="solve" onClick=${() => perform("solve")}>
                ${state.isBlind ? "show the gold answer" : "answer it yourself first"}
              </button>`
              : null
          }
          <p class="small">
            <a href=${`${location.pathname}/history`}>history of this item</a>
            <a href=${`${location.pathname}/provenance`}>its passport</a>
          </p>
        </section>
      `;
  }
}

const Hidden = () => html`<section class="card" id="hidden">
  <p>This is shown again once you have answered, because it tells the gold answer.</p>
  <${KeyButton} action="solve">show the gold answer</${KeyButton}>
</section>`;

const Loading = () => html`<p class="soft">loading …</p>`;
