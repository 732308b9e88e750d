// The left pane: question, gold answer, rubric, and what people have said about them.
import { KeyButton, keyOf } from "../keys.js";
import { drop, keep, kept } from "../outbox.js";
import { Changed, GrowingArea, Icon } from "../parts.js";
import { plural, visible, words } from "../text.js";
import { html, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { act } from "./acts.js";
import { closeGuide, markAll } from "./deciding.js";
import { discard, edit, forgetElsewhere, merge, type, typedElsewhere, typedInto } from "./editing.js";
import { Link } from "./panel.js";
import { ask, isChanged, mayWork, say, store } from "./state.js";

/** @typedef {import("../types").ItemView} ItemView */
/** @typedef {import("./state.js").PageState} PageState */

/** @param {{state: PageState, item: ItemView}} props */
export function Probe({ state, item }) {
  return html`
    ${state.isGuided ? html`<${Guide} key="guide" />` : null}
    ${item.returned ? html`<p key="returned" class="notice" dir="auto">${item.returned.reviewer_id} returned it: ${visible(item.returned.text)}</p>` : null}
    ${item.outdated ? html`<${Outdated} key="outdated" outdated=${item.outdated} />` : null}
    <${Part} key="question" state=${state} id="question" title="Question" item=${item} action="edit-question">
      <${Field} state=${state} item=${item} target="question" text=${item.question} label="question" />
      ${item.moment ? html`<p class="notice small" id="moment">${item.moment}</p>` : null}
      ${
        item.can_write && !item.mine?.is_saved && !state.isBlind
          ? html`<p><${KeyButton} action="solve" class="quiet small" title="Gold answer, rubric, evidence and checks are hidden until then.">
              Answer it yourself first</${KeyButton}></p>`
          : null
      }
    </${Part}>
    ${
      state.isBlind
        ? html`<${Solve} key="solve" item=${item} />`
        : html`<${Part} key="gold" state=${state} id="gold-answer" title="Gold answer" item=${item} action="edit-gold">
            <${Field} state=${state} item=${item} target="gold_answer" text=${item.gold_answer} label="gold answer" />
          </${Part}>
          <${Rubric} key="rubric" state=${state} item=${item} />`
    }
    <${Notes} key="notes" item=${item} />
    <${Others} key="others" item=${item} />
  `;
}

function Part({ state, id, title, item, action, children }) {
  return html`<section id=${id} class=${state.pointed === id ? "pointed" : undefined}>
    <div class="part">
      <h2>${title}</h2>
      ${
        mayWork(item)
          ? html`<${KeyButton} action=${action} class="quiet" aria-label=${`edit the ${title.toLowerCase()}`}><${Icon} name="edit" /></${KeyButton}>`
          : null
      }
    </div>
    ${children}
  </section>`;
}

/** A text of the probe: shown with its changes, or open for editing in a box that grows with it. */
function Field({ state, item, target, text, label }) {
  const isOpen = state.edit?.target === target;
  const typed = !isOpen && item.can_write ? typedInto(item, target) : null;
  const others = item.can_write ? typedElsewhere(item, target) : [];
  return html`<div>
    ${
      isOpen
        ? html`<${Editor} edit=${state.edit} label=${label} />`
        : html`<div class="field" dir="auto">${visible(text)}</div><${Changed} parts=${item.diffs[target]} />`
    }
    ${
      typed === null
        ? null
        : html`<div class="typed">
          <p><b>You typed this and did not save it:</b></p>
          <div class="typed-text" dir="auto">${typed}</div>
          <p class="row">
            <button type="button" onClick=${() => edit(target)}>Go on editing</button>
            <button type="button" class="quiet" onClick=${() => discard(target)}>Discard it</button>
          </p>
        </div>`
    }
    ${others.map(
      (other) => html`<div class="typed" key=${other.tab}>
        <p><b>Typed in another tab, and not saved:</b></p>
        <div class="typed-text" dir="auto">${other.text}</div>
        <p class="row">
          <button type="button" onClick=${() => merge(other, false)}>Use these words</button>
          ${isOpen || typed !== null ? html`<button type="button" onClick=${() => merge(other, true)}>Add them below mine</button>` : null}
          <button type="button" class="quiet" onClick=${() => forgetElsewhere(other)}>Discard them</button>
        </p>
      </div>`,
    )}
  </div>`;
}

function Editor({ edit: open, label }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const area = box.current?.querySelector("textarea");
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }, [open.target]);
  const typing = isChanged(open) ? "Not saved yet; Close keeps it as a draft." : "";
  const states = { typing, saving: "saving …", conflict: "changed elsewhere: choose which text stays" };
  return html`<div ref=${box}>
    <${GrowingArea} value=${open.text} onText=${type} aria-label=${label} />
    <p class="row small">
      <${KeyButton} action="save" class=${isChanged(open) ? "primary" : ""}>Save</${KeyButton}>
      <${KeyButton} action="leave" class="quiet">Close</${KeyButton}>
      ${isChanged(open) ? html`<button type="button" class="quiet" onClick=${() => discard(open.target)}>Discard</button>` : null}
      <span class="soft" role="status">${states[open.phase]}</span>
    </p>
  </div>`;
}

function Rubric({ state, item }) {
  const judged = item.rubric.filter((nugget) => nugget.label !== null && !nugget.is_stale).length;
  return html`<section id="rubric" class=${state.pointed === "rubric" ? "pointed" : undefined}>
    <div class="part">
      <h2>Rubric: ${judged} of ${item.rubric.length} judged</h2>
      ${
        mayWork(item) && judged < item.rubric.length
          ? html`<${KeyButton} action="all-yes" class="quiet" onClick=${markAll}>
              <${Icon} name="check-all" /> All yes</${KeyButton}>`
          : null
      }
    </div>
    <p class="soft small">Is each nugget right, and needed in an answer? If not, mark it “no”. One without a mark stays as it is,
      and counts as not judged.</p>
    <ol>
      ${item.rubric.map(
        (nugget, i) =>
          html`<${Nugget} key=${nugget.nugget_id} state=${state} item=${item} nugget=${nugget} index=${i} />`,
      )}
    </ol>
    ${
      mayWork(item)
        ? html`<button type="button" class="quiet" onClick=${() => ask({ kind: "nugget" })}>
            <${Icon} name="plus" /> Add a nugget</button>`
        : null
    }
  </section>`;
}

function Nugget({ state, item, nugget, index }) {
  const isCurrent = index === state.nugget;
  const name = `nugget ${index + 1}`;
  const target = `nugget/${nugget.nugget_id}`;
  const cited = item.evidence.filter(
    (piece) => piece.message_id !== null && piece.nugget_ids.includes(nugget.nugget_id),
  );
  const isPointed = state.pointed === `nugget-${nugget.nugget_id}`;
  const classes = ["nugget", isCurrent && "current", nugget.is_stale && "stale", isPointed && "pointed"];
  return html`<li
    id=${`nugget-${nugget.nugget_id}`}
    class=${classes.filter(Boolean).join(" ")}
    aria-current=${isCurrent ? "true" : undefined}
    onClick=${() => state.nugget !== index && store.set({ nugget: index })}
  >
    <${Field} state=${state} item=${item} target=${target} text=${nugget.text} label=${name} />
    ${nugget.is_stale ? html`<p class="warning small">It depends on what was edited: look at it again.</p>` : null}
    ${
      mayWork(item)
        ? html`<${Marks} nugget=${nugget} index=${index} isCurrent=${isCurrent}>
            <span class="cited">${cited.map((piece) => html`<${Link} key=${piece.evidence_id} message=${piece} />`)}</span>
          </${Marks}>`
        : null
    }
  </li>`;
}

/** The marks of a nugget; pressing one again takes it away. */
export function Marks({ nugget, index, isCurrent = false, children = null }) {
  const name = `nugget ${index + 1}`;
  const label = (word) => {
    store.set({ nugget: index });
    const isAgain = nugget.label === word && !nugget.is_stale;
    act({ kind: "judged", target: `nugget/${nugget.nugget_id}`, after: { label: isAgain ? null : word } });
  };
  return html`<p class="row choices">
    ${["yes", "no"].map(
      (word) => html`<button
        key=${word}
        type="button"
        data-word=${word}
        aria-pressed=${String(nugget.label === word)}
        aria-label=${`${name}: ${word}`}
        data-key=${isCurrent ? keyOf(`nugget-${word}`) : undefined}
        onClick=${() => label(word)}
      >${word}</button>`,
    )}
    ${isCurrent ? html`<${KeyButton} action="edit-nugget" class="quiet" aria-label=${`edit ${name}`}><${Icon} name="edit" /></${KeyButton}>` : null}
    ${children}
  </p>`;
}

/** Comments and flags. Those of others stay closed while the viewer may still judge, so that they sway nobody. */
function Notes({ item }) {
  const { notes } = item;
  if (!notes.length) return null;
  const isSwayed = item.can_write && !item.mine?.is_saved && item.wanted > 0;
  const closed = notes.filter((note) => isSwayed && note.reviewer_id !== item.mine?.reviewer_id);
  const open = notes.filter((note) => !closed.includes(note));
  return html`<section id="notes">
    <div class="part"><h2>Notes</h2></div>
    ${open.map((note) => html`<${Note} key=${note.event_id} note=${note} />`)}
    ${
      closed.length
        ? html`<details>
          <summary>${plural(closed.length, "note")} of others: better read after you have judged</summary>
          ${closed.map((note) => html`<${Note} key=${note.event_id} note=${note} />`)}
        </details>`
        : null
    }
  </section>`;
}

const Note = ({
  note,
}) => html`<p id=${`comment-${note.event_id}`} dir="auto" class=${note.kind === "flagged" ? "warning" : undefined}>
  <a href=${note.href}>${note.reviewer_id} ${note.kind === "flagged" ? "flagged" : "on"} ${note.name}</a>: ${visible(note.text)}
</p>`;

const decisionOf = ({ reviewer_id: lead, verdict, taxonomy, note }) =>
  `${lead}: ${verdict} (${words(taxonomy)}) ${note}`;

function Others({ item }) {
  return html`
    ${item.adjudication ? html`<${Said} key="decided" title="Decided" text=${decisionOf(item.adjudication)} />` : null}
    ${item.others.map(
      (other) => html`<${Said}
        key=${other.reviewer_id}
        title=${`${other.reviewer_id}: ${other.verdict ?? "no verdict"}`}
        text=${`${words(other.reason_code)} ${other.note}`}
        changes=${other.changes}
      />`,
    )}
    ${item.judge ? html`<${Said} key="judge" title="The automatic judge" text=${item.judge.text} />` : null}
  `;
}

const Said = ({ title, text, changes = [] }) => html`<section>
  <div class="part"><h2>${title}</h2></div>
  <p dir="auto">${visible(text)}</p>
  ${changes.map((change) => html`<div key=${change.target}><b>${change.name}</b><${Changed} parts=${change.parts} /></div>`)}
</section>`;

const Outdated = ({ outdated }) => html`<section class="notice">
  <p>The guidelines have changed since this item was decided (${outdated.section}). Look at it again.</p>
  <${Changed} parts=${outdated.parts} isOpen=${false} />
</section>`;

/** Solving blind: the reviewer answers from the conversation before seeing the gold answer. */
function Solve({ item }) {
  useLayoutEffect(() => /** @type {HTMLElement | null} */ (document.querySelector("#solve textarea"))?.focus(), []);
  const [text, setText] = useState(kept(item.item_id, "dialog/solve") ?? "");
  const change = (typed) => {
    setText(typed);
    keep(item.item_id, "dialog/solve", typed);
  };
  const finish = async () => {
    if (!text.trim()) return;
    const done = await act({ kind: "solved", after: { answer: text.trim() } });
    if (!done) return;
    drop(item.item_id, "dialog/solve");
    store.set({ isBlind: false });
    say(done.item.solved ? `Your answer scores ${done.item.solved.score.toFixed(2)} by the rubric.` : "Saved.", "ok");
  };
  return html`<section id="solve">
    <div class="part"><h2>Answer it yourself first</h2></div>
    <p class="soft small">Answer from the conversation. The gold answer and the rubric are shown afterwards.</p>
    <${GrowingArea} value=${text} onText=${change} aria-label="your answer" />
    <p class="row">
      <button type="button" onClick=${finish}>Answer</button>
      <button type="button" class="quiet" onClick=${() => store.set({ isBlind: false })}>Show the gold answer instead</button>
    </p>
  </section>`;
}

/** A walk-through of the first item, until the reviewer has given an opinion or closes it; one line until it is opened. */
const Guide = () => html`<details class="notice" id="guide">
  <summary>Your first item: how to begin</summary>
  <ol>
    <li>Read the question and the gold answer.</li>
    <li>
      The highlighted passages of the conversation should prove the answer.
      Search with <kbd>/</kbd> for anything that speaks against it.
    </li>
    <li>Mark each nugget of the rubric: <kbd>y</kbd> or <kbd>n</kbd>; <kbd>Y</kbd> marks all “yes”.</li>
    <li>
      Accept it (<kbd>a</kbd>), correct it with <kbd>e</kbd>, <kbd>g</kbd> or <kbd>r</kbd> and then accept it,
      or reject it with a reason (<kbd>x</kbd>). <kbd>z</kbd> undoes what you did.
    </li>
  </ol>
  <p><button type="button" onClick=${closeGuide}>Close for good</button></p>
</details>`;
