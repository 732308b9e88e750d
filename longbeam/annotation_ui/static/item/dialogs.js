// Questions to the reviewer. A dialog keeps the words typed into it in this browser until the server has them.
import { signIn } from "../api.js";
import { KeyButton, KeySheet } from "../keys.js";
import { drop, keep, kept, TAB } from "../outbox.js";
import { Diff, GrowingArea, Icon } from "../parts.js";
import { Hits } from "../talk/pane.js";
import { words } from "../text.js";
import { html, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { send } from "./acts.js";
import { searchNext, talkOf } from "./conversation.js";
import { decide, markAll } from "./deciding.js";
import { check, discard, edit, forgetElsewhere, removeNugget, saveMine, saveTyped, takeTheirs } from "./editing.js";
import { Marks } from "./probe.js";
import { closeDialog, complain, say, store } from "./state.js";

/** The open dialog, if there is one. */
export function Dialog({ dialog, item }) {
  if (!dialog) return null;
  const [title, Body] = KINDS[dialog.kind];
  return html`<${Frame} title=${typeof title === "function" ? title(dialog) : title}><${Body} dialog=${dialog} item=${item} /></${Frame}>`;
}

function Frame({ title, children }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    box.current?.showModal();
    /** @type {HTMLElement | null | undefined} */ (
      box.current?.querySelector("[data-first], textarea, input")
    )?.focus();
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    closeDialog();
  };
  return html`<dialog ref=${box} aria-labelledby="dialog-title" onCancel=${cancel}>
    <h2 id="dialog-title" tabindex="-1" autofocus>${title}</h2>
    ${children}
    <p class="row end"><${KeyButton} action="leave" class="quiet">Close</${KeyButton}></p>
  </dialog>`;
}

const about = ({ target }) => (target === "item" ? "" : " (about the selected message)");

/** The main act of a dialog. What passes a gate has no such key: it is pressed on purpose. */
const CHORD = { "data-main": true, "data-key": "Ctrl+↵" };

/** A text to send; what is typed outlives the dialog, the page and the server. */
function Text({ item, place, label, button = "Save", weight = "primary", hint = "", finish }) {
  const [text, setText] = useState(kept(item.item_id, place) ?? "");
  const change = (typed) => {
    setText(typed);
    keep(item.item_id, place, typed);
  };
  const done = async () => {
    if (!text.trim()) return;
    try {
      if ((await finish(text.trim())) === false) return;
      drop(item.item_id, place, text);
    } catch (problem) {
      complain(problem);
    }
  };
  return html`<p class="soft small">${hint}</p>
    <${GrowingArea} value=${text} onText=${change} aria-label=${label} />
    <p class="row">
      <button type="button" class=${weight} ...${weight ? CHORD : {}} onClick=${done}>${button}</button>
      <span class="soft small">Close keeps what you typed.</span>
    </p>`;
}

/** A dialog that asks for a text, and what it does with it. */
const asks =
  (label, finish, hint = "", button = "Save") =>
  ({ dialog, item }) =>
    html`<${Text}
      item=${item}
      place=${`dialog/${dialog.kind}`}
      label=${label}
      hint=${hint}
      button=${button}
      finish=${(text) => finish(text, dialog, item)}
    />`;

const sayIt = async (body, told) => {
  await send(body);
  closeDialog();
  say(told, "ok");
};

const PLACES = "a date (2024-05-01), part 3, session 7, or a message number";
const LEAVES = "Whoever makes the benchmark generates or corrects the item again; it leaves the queue until then.";

async function jump(text, _, item) {
  await talkOf(item).jump(text);
  closeDialog();
}

const reject = (code, note = "") => {
  closeDialog();
  return decide("reject", { reason_code: code, note });
};

function Reason({ dialog, item }) {
  const { likely } = dialog;
  const mend = () => {
    closeDialog();
    edit("gold_answer");
  };
  const choose = (code) => (code === "other" ? store.set({ dialog: { ...dialog, kind: code } }) : reject(code));
  const press = (event) => {
    const [code] = Object.entries(item.reasons)[Number(event.key) - 1] ?? [];
    if (!code || event.repeat) return;
    event.preventDefault();
    choose(code);
  };
  return html`<p class="soft small">A reason rejects the item and opens the next one; <kbd>z</kbd> undoes it.</p>
  ${likely ? html`<p><button type="button" onClick=${mend}>Edit the gold answer instead</button></p>` : null}
  <ol class="plain reasons" tabindex="-1" data-first=${likely ? undefined : ""} onKeyDown=${press}>
    ${Object.entries(item.reasons).map(
      ([code, means], i) => html`<li key=${code}>
        <button
          type="button"
          data-reason=${code}
          data-first=${code === likely ? "" : undefined}
          aria-keyshortcuts=${String(i + 1)}
          data-key=${i + 1}
          onClick=${() => choose(code)}
        >
          <span><b>${words(code)}</b><br /><span class="soft small">${means}</span></span>
        </button>
      </li>`,
    )}
  </ol>`;
}

/** What stands in the way of accepting: each gate is opened here, and then the item is accepted here. */
function Gates({ item }) {
  const { gates } = item;
  const isOpen = gates.every((gate) => gate.can_override);
  const accept = (note = "") => {
    closeDialog();
    return decide("accept", { override: gates.map((gate) => gate.code), note });
  };
  return html`
    ${gates.length ? null : html`<p class="ok">Nothing stands in the way any more.</p>`}
    ${gates.map((gate) => {
      const Acts = GATES[gate.code];
      return html`<div key=${gate.code} class="gate">
        <p>${gate.message}</p>
        ${Acts ? html`<${Acts} gate=${gate} item=${item} />` : null}
      </div>`;
    })}
    ${
      !isOpen && gates.some((gate) => gate.can_override)
        ? html`<p class="soft small">Why it may stay can be said once nothing else stands in the way.</p>`
        : null
    }
    ${
      isOpen && gates.length
        ? html`<${Text}
          item=${item}
          place="dialog/override"
          label="why it may be accepted all the same"
          hint="Why it may be accepted all the same:"
          button="Accept all the same"
          weight=""
          finish=${accept}
        />`
        : null
    }
    ${
      gates.length
        ? null
        : html`<p><button type="button" class="primary" ...${CHORD} onClick=${() => accept()}>Accept</button></p>`
    }`;
}

const nuggetsOf = (gate, item) =>
  item.rubric
    .map((nugget, index) => ({ nugget, index }))
    .filter(({ nugget }) => gate.nugget_ids.includes(nugget.nugget_id));

const JudgeNuggets = ({ gate, item }) => html`<ul class="plain">
    ${nuggetsOf(gate, item).map(
      ({ nugget, index }) => html`<li key=${nugget.nugget_id} class="row">
        <span dir="auto">${nugget.text}</span> <${Marks} nugget=${nugget} index=${index} />
      </li>`,
    )}
  </ul>
  <button type="button" data-first onClick=${markAll}><${Icon} name="check-all" /> All yes</button>`;

const MendNuggets = ({ gate, item }) => html`<ul class="plain">
  ${nuggetsOf(gate, item).map(
    ({ nugget, index }) => html`<li key=${nugget.nugget_id} class="row">
      <span dir="auto">${nugget.text}</span>
      <${Marks} nugget=${nugget} index=${index} />
      <span class="row">
        ${item.rubric.length > 1 ? html`<button type="button" onClick=${() => removeNugget(nugget.nugget_id)}>Remove it</button>` : null}
        <button
          type="button"
          onClick=${() => {
            closeDialog();
            edit(`nugget/${nugget.nugget_id}`);
          }}
        >Edit it</button>
      </span>
    </li>`,
  )}
</ul>`;

const Drafts = ({ item }) =>
  html`${(item.mine?.unsaved ?? []).map(
    (typed) => html`<div key=${typed.target + typed.tab} class="typed">
    <div class="typed-text" dir="auto">${typed.text}</div>
    ${typed.tab === TAB ? null : html`<p class="soft small">Typed in another tab.</p>`}
    <p class="row">
      <button type="button" data-first onClick=${() => saveTyped(typed)}>Save it</button>
      <button
        type="button"
        class="quiet"
        onClick=${() => (typed.tab === TAB ? discard(typed.target) : forgetElsewhere(typed))}
      >Discard it</button>
    </p>
  </div>`,
  )}`;

const RunChecks = () => html`<button type="button" data-first onClick=${check}>Run the checks</button>`;

function Searches({ item }) {
  const [query, setQuery] = useState("");
  const record = store.get().aids.further;
  const talk = talkOf(item);
  const press = (event) => {
    if (event.key !== "Enter" || event.ctrlKey || !query.trim()) return;
    event.preventDefault();
    searchNext(query.trim());
    setQuery("");
  };
  return html`${record ? html`<${Suggested} record=${record} />` : null}
    <p class="row"><input
      type="search"
      class="grow"
      data-first
      placeholder="Your own words, then Enter"
      aria-label="search of your own"
      value=${query}
      onInput=${(event) => setQuery(event.target.value)}
      onKeyDown=${press}
    /> <span class="soft" role="status">${talk.count}</span></p>
    <${Hits} talk=${talk} least=${1} go=${(place) => talk.nextHit(place).catch(complain)} />`;
}

/** Searches that could disprove an abstention, one click each. */
export function Suggested({ record }) {
  const made = new Set(record.queries.map(({ query }) => query.toLowerCase()));
  return html`<p class="row chips">
    <span class="soft small">Search for</span>
    ${record.suggested.map(
      (text) => html`<button
        key=${text}
        type="button"
        aria-pressed=${String(made.has(text.toLowerCase()))}
        onClick=${() => searchNext(text)}
      >${text}</button>`,
    )}
    <span class=${`small ${record.made >= record.needed ? "ok" : "soft"}`} data-count>${record.made} of ${record.needed} searches count</span>
    ${record.is_by_rote && record.made >= record.needed ? html`<span class="small warning">now open a hit (h), or try a synonym</span>` : null}
  </p>`;
}

const GATES = {
  drafts: Drafts,
  stale: JudgeNuggets,
  nuggets: JudgeNuggets,
  nugget_no: MendNuggets,
  checks: RunChecks,
  searches: Searches,
};

const Stale = ({
  dialog,
}) => html`<p>What you did was not saved; the page shows the item as it is now. What has changed:</p>
  ${dialog.changes.length ? null : html`<p>nothing that is shown</p>`}
  ${dialog.changes.map((change) => html`<div key=${change.target}><b>${change.name}</b><${Diff} parts=${change.parts} /></div>`)}`;

const Conflict = ({
  dialog,
}) => html`<p>This text was changed in another tab, or by undo, while you were typing. Nothing of yours is lost.</p>
  <h3>It says now</h3>
  <div class="field" dir="auto">${dialog.theirs}</div>
  <h3>You typed in this tab</h3>
  <div class="typed-text" dir="auto">${dialog.mine}</div>
  <p class="row">
    <button type="button" data-first class="primary" onClick=${() => saveMine()}>Save mine over it</button>
    <button type="button" onClick=${() => takeTheirs()}>Keep the other, discard mine</button>
    <button type="button" class="quiet" onClick=${() => backToField()}>Go on editing</button>
  </p>`;

function backToField() {
  closeDialog();
  store.set(({ edit: open }) => (open ? { edit: { ...open, phase: "typing" } } : {}));
}

/** The session has ended, or the browser was signed in as somebody else: sign in here, and what waits goes on. */
function SignIn({ dialog }) {
  const [name, setName] = useState(dialog.name ?? "");
  const [fault, setFault] = useState("");
  const enter = async (event) => {
    event.preventDefault();
    try {
      await signIn(name.trim(), dialog.role);
      closeDialog();
      dialog.done?.(true);
    } catch (problem) {
      setFault(problem.message);
    }
  };
  return html`<p>${dialog.now ? `This browser is signed in as ${dialog.now} by now.` : "Your session has ended."}${" "}
      Nothing is lost: sign in to go on where you are.</p>
    <form onSubmit=${enter} class="row">
      <label>Your name <input data-first value=${name} required maxlength="64" onInput=${(event) => setName(event.target.value)} /></label>
      <button class="primary">Sign in</button>
    </form>
    <p class="small soft">With a personal link: open it in another tab, then come back and try again.</p>
    <p class="error" role="status">${fault}</p>`;
}

const KINDS = {
  keys: ["Keys", KeySheet],
  comment: [
    (dialog) => `Comment${about(dialog)}`,
    asks("comment", (note, { target }) => sayIt({ kind: "commented", target, note }, "Commented.")),
  ],
  flag: [
    (dialog) => `Flag for a lead: why?${about(dialog)}`,
    asks("why", (note, { target }) => sayIt({ kind: "flagged", target, after: true, note }, "Flagged.")),
  ],
  return: [
    "Return it to its author: why?",
    asks("why", (note) => sayIt({ kind: "returned", note }, "Returned to its author."), LEAVES),
  ],
  nugget: [
    "A further nugget",
    asks("nugget", (after) => sayIt({ kind: "edited", target: "nugget/new", after }, "Added.").then(check)),
  ],
  jump: ["Jump to", asks(PLACES, jump, PLACES, "Go")],
  reason: ["Why is it rejected?", Reason],
  other: ["What is wrong with it?", asks("what is wrong", (note) => reject("other", note), "", "Reject")],
  gates: ["Before it can be accepted", Gates],
  stale: ["It was changed meanwhile", Stale],
  conflict: ["It was changed meanwhile", Conflict],
  "sign-in": ["Sign in again", SignIn],
};
