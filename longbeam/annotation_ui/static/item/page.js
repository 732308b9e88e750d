// The item page as a whole: a bar, three panes, and the verdict bar that never leaves the view.
import { Pane } from "../talk/pane.js";
import { html } from "../vendor/htm-preact.js";
import { Aids } from "./aids-pane.js";
import { Bar } from "./bar.js";
import { talkOf } from "./conversation.js";
import { Dialog } from "./dialogs.js";
import { Dock } from "./dock.js";
import { say } from "./notices.js";
import { Probe } from "./probe.js";
import { VerdictBar } from "./verdict-bar.js";

/** @param {{state: import("./state.js").PageState}} props */
export function ItemPage({ state }) {
  const item = /** @type {import("../types").ItemView} */ (state.item);
  const talk = talkOf(item);
  const evidence = item.evidence.map((piece) => piece.message_id).filter((id) => id !== null);
  const comments = item.comments
    .map((comment) => /\/messages\/(\d+)/.exec(comment.href)?.[1])
    .filter(Boolean)
    .map(Number);
  return html`<div class="item" data-item=${item.item_id}>
    <${Bar} item=${item} />
    <div class="panes">
      <div class="pane left"><${Probe} state=${state} item=${item} /></div>
      <div class="pane middle">
        <${Dock} item=${item} piece=${state.piece} />
        <div id="room"><${Pane} talk=${talk} evidence=${evidence} comments=${comments} say=${say} /></div>
      </div>
      <div class="pane right"><${Aids} state=${state} item=${item} /></div>
    </div>
    <${VerdictBar} state=${state} item=${item} />
    <${Dialog} key=${state.dialog?.kind ?? "none"} dialog=${state.dialog} item=${item} />
    <div aria-live="polite" class="notices">
      ${
        state.isWaiting
          ? html`<div class="card note error" key="waiting">
            The review server does not answer; trying again. What you typed is kept in this browser.
          </div>`
          : null
      }
      ${
        state.notice
          ? html`<div
        class=${`card note ${state.notice.kind}`}
        key="notice"
      >${state.notice.text}</div>`
          : null
      }
    </div>
  </div>`;
}
