// The item page as a whole: the bar in the header, the list, three panes, and the verdict bar that never leaves the view.
import { tryNow } from "../api.js";
import { KeyButton, keyOf, perform } from "../keys.js";
import { Icon } from "../parts.js";
import { Pane } from "../talk/pane.js";
import { clock, plural, said, visible, words, zonedClock } from "../text.js";
import { html, useLayoutEffect } from "../vendor/htm-preact.js";
import { Aids, TabCount } from "./aid-views.js";
import { goTo, talkOf } from "./conversation.js";
import { setGold, show, within } from "./deciding.js";
import { Dialog, Suggested } from "./dialogs.js";
import { Probe } from "./probe.js";
import { ask, complain, isChanged, isWanted, mayWork, say, store } from "./state.js";

/** @typedef {import("../types").ItemView} ItemView */
/** @typedef {import("./state.js").PageState} PageState */

const GUESSABLE = "A model that saw nothing of the conversation has answered it in full.";
const TABS = ["question", "evidence", "checks"];

/** The bar of the item, in the header of the page. @param {{state: PageState}} props */
export function Bar({ state }) {
  const item = /** @type {ItemView} */ (state.item);
  const { place } = item;
  return html`<div class="bar">
    <button
      type="button"
      class="quiet only-icon"
      aria-label="list of items"
      title="list of items"
      aria-pressed=${String(state.isListed === true)}
      onClick=${() => perform("list")}
    ><${Icon} name="list" /></button>
    <h1 id="item-name" tabindex="-1">${item.name}</h1>
    <span class="tag">${item.difficulty}</span>
    <span class="tag" id="status">${words(item.status)}</span>
    ${item.is_guessable ? html`<span class="tag warning" title=${GUESSABLE}>guessable</span>` : null}
    <span class="grow"></span>
    <span class="soft small place" id="lease">${leaseText(item)}</span>
    <span class="soft small place figure">${place.index === null ? "" : `${place.index + 1} of ${place.total}`}</span>
    <${Step} action="previous-item" name="previous item" icon="left" isOff=${!place.previous} />
    <${Step} action="next-item" name="next item" icon="right" isOff=${!place.next} />
    <button type="button" class="quiet only-icon from-tablet" aria-label="keys" title="keys (?)" onClick=${() => perform("help")}>
      <${Icon} name="keyboard" />
    </button>
  </div>`;
}

const Step = ({ action, name, icon, isOff }) =>
  html`<button
    type="button"
    class="quiet only-icon"
    data-action=${action}
    aria-label=${name}
    title=${`${name} (${keyOf(action)})`}
    disabled=${isOff}
    onClick=${() => perform(action)}
  ><${Icon} name=${icon} /></button>`;

function leaseText({ lease }) {
  if (!lease) return "";
  return `${lease.is_mine ? "kept for you" : `with ${lease.reviewer_id}`} until ${clock(lease.expires_at)}`;
}

/** @param {{state: PageState}} props */
export function ItemPage({ state }) {
  const item = /** @type {ItemView} */ (state.item);
  const talk = talkOf(item);
  const evidence = item.evidence.map((piece) => piece.message_id).filter((id) => id !== null);
  const comments = item.notes
    .map((comment) => /\/messages\/(\d+)/.exec(comment.href)?.[1])
    .filter(Boolean)
    .map(Number);
  return html`<div class="item" data-item=${item.item_id}>
    <${List} state=${state} item=${item} />
    <div class="room">
      <nav class="tabs pane-tabs" aria-label="parts of the item">
        ${TABS.map(
          (name) => html`<button
            key=${name}
            type="button"
            aria-pressed=${String(state.tab === name)}
            onClick=${() => store.set({ tab: name })}
          >${name[0].toUpperCase() + name.slice(1)}<${TabCount} state=${state} item=${item} name=${name} /></button>`,
        )}
      </nav>
      <div class=${`panes${state.isBlind ? " is-blind" : ""}`} data-tab=${state.tab}>
        <div class="pane left" tabindex="0" role="region" aria-label="question and rubric">
          <${Probe} state=${state} item=${item} />
        </div>
        <div class="pane middle">
          ${state.isBlind ? null : html`<${Dock} item=${item} piece=${state.piece} record=${state.aids.further} />`}
          <div id="room">
            <${Pane} talk=${talk} evidence=${state.isBlind ? [] : evidence} comments=${comments} say=${say}>
              ${state.aids.further?.suggested ? html`<${Suggested} record=${state.aids.further} />` : null}
            </${Pane}>
          </div>
        </div>
        <div class="pane right" tabindex="0" role="region" aria-label="checks and aids">
          <${Aids} state=${state} item=${item} />
        </div>
      </div>
    </div>
    <${VerdictBar} state=${state} item=${item} />
    <${Dialog} key=${state.dialog?.kind ?? "none"} dialog=${state.dialog} item=${item} />
    <div aria-live="polite" class="toasts">
      ${
        state.notice
          ? html`<div class=${`toast ${state.notice.kind}-toast`} key="notice">
            <span>${state.notice.text}</span>
            ${state.notice.canUndo ? html`<${KeyButton} action="undo">Undo</${KeyButton}>` : null}
          </div>`
          : null
      }
    </div>
  </div>`;
}

/** Items of the queue beside the item, and how the reviewer's day goes. */
function List({ state, item }) {
  const { list, isListed } = state;
  const { today, pace, mine, mine_wanted: wanted } = item.progress;
  const open = (event, href) => {
    event.preventDefault();
    if (isListed) store.set({ isListed: null });
    show(href).catch(complain);
  };
  return html`<aside class=${`list${isListed ? " is-open" : ""}${isListed === false ? " is-shut" : ""}`} aria-label="items">
    <header>
      <a class="label" href=${`/queue${location.search}`}>${list ? list.views[list.view] : "Queue"}: ${list?.total ?? ""}</a>
      ${
        item.can_write
          ? html`<p class="counts" id="progress">
            <span><b>${today}</b> today</span>
            ${pace ? html`<span><b>${Math.round(pace)}</b> an hour</span>` : null}
            <span><b>${wanted - mine}</b> left</span>
          </p>`
          : null
      }
    </header>
    <ol>
      ${(list?.rows ?? []).map(
        (row) => html`<li key=${row.item_id}>
          <a
            href=${within(row.href)}
            aria-current=${row.item_id === item.item_id ? "true" : undefined}
            onClick=${(event) => open(event, row.href)}
          >
            <span class="title" dir="auto">${visible(row.question)}</span>
            <span class="about">${row.ability_title}</span>
            <span class=${`small ${STATES[row.mine]?.[1] ?? "soft"}`}>${STATES[row.mine]?.[0] ?? words(row.status)}</span>
          </a>
        </li>`,
      )}
    </ol>
  </aside>`;
}

/** The reviewer's own state of an item, in a word and a colour. */
const STATES = {
  saved: ["done", "ok"],
  draft: ["begun", "warning"],
  lapsed: ["edited since", "warning"],
  skipped: ["skipped", "soft"],
};

/** The evidence: one line for each piece; the piece itself is highlighted in the conversation below. */
function Dock({ item, piece, record }) {
  useLayoutEffect(() => document.querySelector("#dock .current")?.scrollIntoView({ block: "nearest" }), [item, piece]);
  const count = item.evidence.length;
  const isAbsent = item.panel.further === "absence";
  const isSearched = isAbsent && record?.made >= record?.needed && !record.is_by_rote;
  const spread =
    count > 1 ? `, ${plural(item.spread, "message")} apart, in ${plural(item.sessions_touched, "session")}` : "";
  const none = isSearched
    ? `No message is cited as evidence; you made ${plural(record.queries.length, "search")} for it`
    : isAbsent
      ? "No message is cited: search whether it is told after all"
      : "No message is cited as evidence";
  return html`<section class="dock" id="dock" aria-label="evidence">
    <div class="part">
      <h2>${count ? `${plural(count, "piece")} of evidence${spread}` : none}</h2>
      ${mayWork(item) && !isAbsent ? html`<${KeyButton} action="add-evidence" class="quiet"><${Icon} name="quote" /> Cite selection</${KeyButton}>` : null}
    </div>
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
  const open = () => {
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
          class="number quiet"
          onClick=${open}
          aria-label=${`#${evidence.message_id}: show the message`}
        >#${evidence.message_id}</button>`
    }
    ${evidence.role ? html`<span class="tag">${evidence.role}</span>` : null}
    ${isWhole ? null : html`<span class="error">${evidence.attachment === "moved" ? "the quote has moved" : "the quote is gone"}</span>`}
    <span class="quote" dir="auto" title=${evidence.quote}>
      <span class="soft"><time>${said(evidence.sent_at).slice(0, 10)}</time> ${evidence.message?.speaker}: </span>
      ${visible(evidence.quote)}
    </span>
    ${
      mayWork(item)
        ? html`<button
          type="button"
          class="quiet only-icon"
          title=${`remove it as evidence${isCurrent ? ` (${keyOf("remove-evidence")})` : ""}`}
          aria-label=${`remove evidence ${index + 1}`}
          onClick=${remove}
        ><${Icon} name="cross" /></button>`
        : null
    }
  </li>`;
}

/** The verdict, always in view: what may be decided, and what still stands in the way. */
function VerdictBar({ state, item }) {
  // On a narrow screen the bar says only what its reader must know.
  const isTold = state.training || !item.can_write || !isWanted(item);
  return html`<section class="verdict-bar" id="verdict" aria-label="verdict">
    ${item.can_write ? html`<${Strip} state=${state} />` : null}
    <div class=${`standing${isTold ? " is-told" : ""}`} role="group" aria-label="standing">
      <${Standing} state=${state} item=${item} />
    </div>
    ${item.can_write ? html`<${Buttons} state=${state} item=${item} />` : null}
  </section>`;
}

/** Whether everything is saved: one of four states, always shown. */
function Strip({ state }) {
  if (state.isSignedOut) {
    return html`<span class="strip error" role="status"><button type="button" onClick=${() => ask({ kind: "sign-in" })}>Sign in</button></span>`;
  }
  if (state.isWaiting) {
    return html`<span class="strip error" role="status" title="What you typed is kept in this browser.">
      <span>Not saved: the server does not answer</span>
      <button type="button" class="from-tablet" onClick=${tryNow}>Try now</button>
    </span>`;
  }
  if (state.saving) return html`<span class="strip warning" role="status"><span>Saving</span></span>`;
  const isDraft = isChanged(state.edit) || state.item?.mine?.unsaved.length;
  const told = isDraft ? "Draft kept, not saved" : "Editing";
  if (state.edit || isDraft) return html`<span class="strip warning" role="status"><span>${told}</span></span>`;
  return html`<span class="strip ok" role="status"><span>Saved</span></span>`;
}

function Standing({ state, item }) {
  if (!item.can_write) return html`You read only. <a href="/session">Choose a name</a> to review.`;
  if (state.training) {
    return html`<span class=${`training ${state.training.is_right ? "ok" : "warning"}`} role="status">${state.training.text}</span>`;
  }
  if (item.lease && !item.lease.is_mine) {
    const { reviewer_id: holder, expires_at: end } = item.lease;
    return html`<span class="soft">${holder} has this item open until ${zonedClock(end)}. You read only until then.</span>`;
  }
  if (!isWanted(item))
    return html`<span class="soft">This item has the ${plural(item.overlap, "opinion")} that it needs. You read only.</span>`;
  const { mine } = item;
  return html`
    ${mine?.verdict ? html`<b>Your verdict: ${mine.verdict}. </b>` : null}
    ${mine?.is_lapsed ? html`<b class="warning">You edited the item after your verdict. Give it again. </b>` : null}
    ${
      item.is_blind && !item.gates.length && !mine?.verdict
        ? html`<span class="soft">You judge alone${item.overlap > 1 ? `: opinions are shown once all ${item.overlap} are in` : ""}.</span>`
        : null
    }`;
}

function Buttons({ state, item }) {
  const isOff = state.isDeciding || state.isBlind || !isWanted(item);
  const judged = item.rubric.filter((nugget) => nugget.label !== null && !nugget.is_stale).length;
  // Where no gate asks for marks, it accepts without them, and says so.
  const count = judged < item.rubric.length && !isOff ? `${judged} of ${item.rubric.length} judged, optional` : "";
  const [gate] = item.gates;
  // The one primary button only when nothing is left to do and no other text is open; a closed gate says what is missing.
  const isOther = state.dialog || state.edit || state.aid === "write";
  const weight = gate ? "shut" : count || isOther ? "" : "primary";
  const more = item.gates.length > 1 ? ` +${item.gates.length - 1}` : "";
  return html`<div class="buttons">
    <${KeyButton} action="accept" class=${weight} disabled=${isOff} title=${gate?.message ?? count}>
      <span class="row"><${Icon} name=${gate || isOff ? "lock" : "check"} /> Accept</span>${" "}
      <span class="small missing">${gate ? gate.title + more : count}</span>
    </${KeyButton}>
    <${KeyButton} action="reject" disabled=${isOff}><${Icon} name="cross" /> Reject</${KeyButton}>
    <${KeyButton} action="skip" disabled=${isOff} title="leave it to somebody else">Skip</${KeyButton}>
    <span class="row from-tablet">
      <${Step} action="undo" name="undo" icon="undo" />
      <${Step} action="redo" name="redo" icon="redo" />
      <${Step} action="comment" name="comment" icon="comment" />
      <${Step} action="flag" name="flag for a lead" icon="flag" />
    </span>
    <details class="menu">
      <summary class="only-icon" title="more"><${Icon} name="more" /><span class="sr">more acts</span></summary>
      <div class="menu-items">
        ${ACTS.map(([action, name, icon]) => html`<${KeyButton} key=${action} action=${action}><${Icon} name=${icon} /> ${name}</${KeyButton}>`)}
        ${item.is_gold === null ? null : html`<${Gold} item=${item} />`}
      </div>
    </details>
  </div>`;
}

const ACTS = [
  ["undo", "Undo", "undo"],
  ["redo", "Redo", "redo"],
  ["comment", "Comment", "comment"],
  ["flag", "Flag for a lead", "flag"],
  ["return", "Return to its author", "return"],
  ["help", "Keys", "keyboard"],
];

/** A lead sets the right verdict: reviewers are measured by it without knowing. */
const Gold = ({ item }) => html`
  <div class="label">${item.is_gold ? "A test item for reviewers" : "Make it a test item"}</div>
  ${[
    ["accept", "Right is: accept"],
    ["reject", "Right is: reject"],
    [null, "No longer"],
  ].map(([word, name]) => html`<button key=${name} type="button" onClick=${() => setGold(word)}>${name}</button>`)}`;
