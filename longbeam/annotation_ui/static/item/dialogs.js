// Questions to the reviewer. A dialog keeps the words typed into it in this browser until the server has them.
import { KeyButton, KeySheet } from "../keys.js";
import { drop, keep, kept } from "../outbox.js";
import { words } from "../text.js";
import { html, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { send } from "./acts.js";
import { talkOf } from "./conversation.js";
import { decide } from "./deciding.js";
import { discard, edit, saveMine, saveTyped, takeTheirs } from "./editing.js";
import { Diff, GrowingArea } from "./field.js";
import { closeDialog, complain, say } from "./notices.js";
import { store } from "./state.js";

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
    /** @type {HTMLElement | null | undefined} */ (box.current?.querySelector("textarea, [data-first]"))?.focus();
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    closeDialog();
  };
  return html`<dialog ref=${box} aria-labelledby="dialog-title" onCancel=${cancel}>
    <h2 id="dialog-title">${title}</h2>
    ${children}
    <p class="end"><${KeyButton} action="leave">close</${KeyButton}></p>
  </dialog>`;
}

const about = ({ target }) => (target === "item" ? "" : " (about the selected message)");

/** A text to send; what is typed outlives the dialog, the page and the server. */
function Text({ item, place, label, button = "save", hint = "", finish }) {
  const [text, setText] = useState(kept(item.item_id, place) ?? "");
  const change = (typed) => {
    setText(typed);
    keep(item.item_id, place, typed);
  };
  const done = async () => {
    if (!text.trim()) return;
    try {
      await finish(text.trim());
      drop(item.item_id, place, text);
    } catch (problem) {
      complain(problem);
    }
  };
  return html`<p class="soft small">${hint}</p>
    <${GrowingArea} value=${text} onText=${change} aria-label=${label} />
    <p><button type="button" class="primary" data-main data-key="Ctrl+Enter" onClick=${done}>${button}</button></p>`;
}

const sayIt = async (body, told) => {
  await send(body);
  closeDialog();
  say(told, "ok");
};

const Comment = ({ dialog, item }) =>
  html`<${Text}
    item=${item}
    place="dialog/comment"
    label="comment"
    finish=${(note) => sayIt({ kind: "commented", target: dialog.target, note }, "commented")}
  />`;

const Flag = ({ dialog, item }) =>
  html`<${Text}
    item=${item}
    place="dialog/flag"
    label="why"
    hint="A lead will look at it."
    finish=${(note) => sayIt({ kind: "flagged", target: dialog.target, after: true, note }, "flagged")}
  />`;

const Return = ({ item }) =>
  html`<${Text}
    item=${item}
    place="dialog/return"
    label="why"
    hint="Whoever makes the benchmark generates or corrects the item again; it leaves the queue until then."
    finish=${(note) => sayIt({ kind: "returned", note }, "returned to its author")}
  />`;

const Nugget = ({ item }) =>
  html`<${Text}
    item=${item}
    place="dialog/nugget"
    label="nugget"
    finish=${(after) => sayIt({ kind: "edited", target: "nugget/new", after }, "added")}
  />`;

const Jump = ({ item }) =>
  html`<${Text}
    item=${item}
    place="dialog/jump"
    label="a date (2024-05-01), plan 3, session 7, or a message number"
    hint="a date (2024-05-01), plan 3, session 7, or a message number"
    button="go"
    finish=${async (text) => {
      await talkOf(item).jump(text);
      closeDialog();
    }}
  />`;

function Reason({ item }) {
  const choose = (code) => {
    closeDialog();
    decide("reject", { reason_code: code });
  };
  const press = (event) => {
    const code = item.reason_codes[Number(event.key) - 1];
    if (!code || event.repeat) return;
    event.preventDefault();
    choose(code);
  };
  return html`<ol class="plain reasons" onKeyDown=${press}>
    ${item.reason_codes.map(
      (code, i) => html`<li key=${code}>
        <button
          type="button"
          data-reason=${code}
          data-first=${i === 0 ? "" : undefined}
          aria-keyshortcuts=${String(i + 1)}
          data-key=${i + 1}
          onClick=${() => choose(code)}
        >
          ${words(code)}
        </button>
      </li>`,
    )}
  </ol>`;
}

function Gates({ dialog, item }) {
  const { gates } = dialog;
  const isOverridable = gates.every((gate) => gate.can_override);
  const typed = Object.keys(item.mine?.unsaved ?? {});
  const hasDrafts = gates.some((gate) => gate.code === "drafts");
  const then = (finish) => (target) => {
    closeDialog();
    finish(target);
  };
  return html`<ul>${gates.map((gate) => html`<li key=${gate.code}>${gate.message}</li>`)}</ul>
    ${
      hasDrafts
        ? typed.map(
            (target) => html`<div key=${target} class="typed">
            <div class="field-typed" dir="auto">${item.mine?.unsaved[target]}</div>
            <p>
              <button type="button" data-first class="primary" onClick=${() => then(saveTyped)(target)}>save it</button>
              <button type="button" onClick=${() => then(edit)(target)}>go on editing</button>
              <button type="button" onClick=${() => then(discard)(target)}>discard it</button>
            </p>
          </div>`,
          )
        : null
    }
    ${
      isOverridable
        ? html`<${Text}
          item=${item}
          place="dialog/override"
          label="why it goes through"
          button="accept all the same"
          finish=${async (note) => {
            closeDialog();
            await decide("accept", { override: gates.map((gate) => gate.code), note });
          }}
        />`
        : null
    }`;
}

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
  <h3>You typed</h3>
  <div class="field-typed" dir="auto">${dialog.mine}</div>
  <p>
    <button type="button" data-first class="primary" onClick=${() => saveMine()}>save mine over it</button>
    <button type="button" onClick=${() => takeTheirs()}>keep the other, discard mine</button>
    <button type="button" onClick=${() => backToField()}>go on editing</button>
  </p>`;

function backToField() {
  closeDialog();
  store.set(({ edit: open }) => (open ? { edit: { ...open, phase: "typing" } } : {}));
}

const KINDS = {
  keys: ["Keys", KeySheet],
  comment: [(dialog) => `Comment${about(dialog)}`, Comment],
  flag: [(dialog) => `Ask a lead to look at it: why?${about(dialog)}`, Flag],
  return: ["Return it to its author: why?", Return],
  nugget: ["A further nugget", Nugget],
  jump: ["Jump to", Jump],
  reason: ["Why is it rejected?", Reason],
  gates: ["Before it can be accepted", Gates],
  stale: ["It was changed meanwhile", Stale],
  conflict: ["It was changed meanwhile", Conflict],
};
