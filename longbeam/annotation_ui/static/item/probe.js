// The left pane: question, gold answer, rubric, and what people have said about them.
import { KeyButton, keyOf } from "../keys.js";
import { html } from "../vendor/htm-preact.js";
import { act } from "./acts.js";
import { Changed, Field } from "./field.js";
import { Guide } from "./guide.js";
import { ask } from "./notices.js";
import { Solve } from "./solve.js";
import { mayWork, store } from "./state.js";

/** @param {{state: import("./state.js").PageState, item: import("../types").ItemView}} props */
export function Probe({ state, item }) {
  const isPointed = (id) => (state.pointed === id ? " pointed" : "");
  return html`
    ${state.isGuided ? html`<${Guide} key="guide" />` : null}
    ${item.returned ? html`<${Returned} key="returned" returned=${item.returned} />` : null}
    ${item.outdated ? html`<${Outdated} key="outdated" outdated=${item.outdated} />` : null}
    <section class=${`card${isPointed("question")}`} id="question" key="question">
      <header><h2>Question</h2>${mayWork(item) ? html`<${KeyButton} action="edit-question">edit</${KeyButton}>` : null}</header>
      <${Field} state=${state} item=${item} target="question" text=${item.question} label="question" />
    </section>
    ${
      state.isBlind
        ? html`<${Solve} key="solve" item=${item} />`
        : html`<${Answer}
      key="answer"
      state=${state}
      item=${item}
      isPointed=${isPointed}
    />`
    }
    <${Notes} key="notes" item=${item} />
    <${Others} key="others" item=${item} />
  `;
}

function Answer({ state, item, isPointed }) {
  return html`
    <section class=${`card${isPointed("gold-answer")}`} id="gold-answer" key="gold">
      <header><h2>Gold answer</h2>${mayWork(item) ? html`<${KeyButton} action="edit-gold">edit</${KeyButton}>` : null}</header>
      <${Field} state=${state} item=${item} target="gold_answer" text=${item.gold_answer} label="gold answer" />
    </section>
    <section class=${`card${isPointed("rubric")}`} id="rubric" key="rubric">
      <header><h2>Rubric</h2></header>
      <p class="soft small">
        Each nugget is one thing that an answer must say.
        “Yes”: it is right, and needed. “No”: it is wrong, or beside the point.
      </p>
      <ol>
        ${item.rubric.map(
          (nugget, i) => html`<${Nugget}
          key=${nugget.nugget_id}
          state=${state}
          item=${item}
          nugget=${nugget}
          index=${i}
        />`,
        )}
      </ol>
      ${
        mayWork(item)
          ? html`<button
        type="button"
        class="small"
        onClick=${() => ask({ kind: "nugget" })}
      >add a nugget</button>`
          : null
      }
    </section>
  `;
}

function Nugget({ state, item, nugget, index }) {
  const isCurrent = index === state.nugget;
  const name = `nugget ${index + 1}`;
  const target = `nugget/${nugget.nugget_id}`;
  const label = (word) => {
    store.set({ nugget: index });
    act({ kind: "judged", target, after: { label: nugget.label === word ? null : word } });
  };
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
        ? html`<p class="small choices">
          ${["yes", "no"].map(
            (word) => html`<button
              key=${word}
              type="button"
              aria-pressed=${String(nugget.label === word)}
              aria-label=${`${name}: ${word}`}
              data-key=${isCurrent ? keyOf(`nugget-${word}`) : undefined}
              onClick=${() => label(word)}
            >
              ${word}
            </button>`,
          )}
          ${
            isCurrent
              ? html`<${KeyButton}
            action="edit-nugget"
            aria-label=${`edit ${name}`}
          >edit</${KeyButton}>`
              : null
          }
        </p>`
        : null
    }
  </li>`;
}

function Notes({ item }) {
  if (!item.comments.length && !item.flags.length) return null;
  return html`<section class="card" id="notes">
    <header><h2>Notes</h2></header>
    ${item.flags.map(
      (flag) => html`<p
      key=${flag.event_id}
      class="warning"
      dir="auto"
    >${flag.reviewer_id} flagged ${flag.name}: ${flag.note}</p>`,
    )}
    ${item.comments.map(
      (comment) => html`<p key=${comment.event_id} id=${`comment-${comment.event_id}`} dir="auto">
        <a href=${comment.href}>${comment.reviewer_id} on ${comment.name}</a>: ${comment.text}
      </p>`,
    )}
  </section>`;
}

const decisionOf = ({ reviewer_id: lead, verdict, taxonomy, note }) =>
  `${lead}: ${verdict} (${taxonomy.replaceAll("_", " ")}) ${note}`;

function Others({ item }) {
  return html`
    ${
      item.adjudication
        ? html`<section class="card" key="decided">
          <h2>Decided</h2>
          <p dir="auto">${decisionOf(item.adjudication)}</p>
        </section>`
        : null
    }
    ${item.others.map(
      (other) => html`<section class="card" key=${other.reviewer_id}>
        <h2>${other.reviewer_id}: ${other.verdict ?? "no verdict"}</h2>
        <p dir="auto">${other.reason_code.replaceAll("_", " ")} ${other.note}</p>
        ${other.changes.map((change) => html`<div key=${change.target}><b>${change.name}</b><${Changed} parts=${change.parts} /></div>`)}
      </section>`,
    )}
    ${
      item.judge
        ? html`<section class="card" key="judge">
          <h2>The judge</h2>
          <p>${item.judge.text}</p>
        </section>`
        : null
    }
  `;
}

const Returned = ({ returned }) =>
  html`<p class="card warning" dir="auto">${returned.reviewer_id} returned it: ${returned.text}</p>`;

function Outdated({ outdated }) {
  return html`<section class="card warning">
    <p>The guidelines have changed since this item was decided (${outdated.section}). Look at it again.</p>
    <${Changed} parts=${outdated.parts} isOpen=${false} />
  </section>`;
}
