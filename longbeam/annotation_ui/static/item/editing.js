// Editing in place. Each letter is kept in this browser at once, as a draft on the server soon after, and the field
// stays open until the server has acknowledged the text.
import { drop, everything, keep, kept } from "../outbox.js";
import { whole } from "../text.js";
import { act, reload, send } from "./acts.js";
import { ask, complain, say } from "./notices.js";
import {
  beginEdit,
  inConflict,
  isChanged,
  mayWork,
  notSent,
  sending,
  shown,
  store,
  textOf,
  typeInto,
} from "./state.js";

const DRAFT_MS = 400;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let drafting;

/** Opens a field with the words that were typed into it before. */
export async function edit(target) {
  const item = shown();
  if (!item.can_write) return say("You read only: choose a name to review.");
  if (!mayWork(item)) return say("You read only: somebody else has this item, or has decided it.");
  const { edit: open } = store.get();
  if (open?.target === target) return undefined;
  if (open) await leaveField();
  store.set({ edit: beginEdit(item, target, typedInto(item, target)) });
  return undefined;
}

/** Words that were typed into a field and not saved; null if there are none. */
export function typedInto(item, target) {
  const draft = kept(item.item_id, target) ?? item.mine?.drafts?.[target];
  return typeof draft === "string" && draft.trim() !== textOf(item, target).trim() ? draft : null;
}

/** Letters were typed into the open field. */
export function type(text) {
  const { edit: open } = store.get();
  if (!open) return;
  const itemId = shown().item_id;
  store.set({ edit: typeInto(open, whole(text)) });
  keep(itemId, open.target, whole(text));
  clearTimeout(drafting);
  drafting = setTimeout(() => saveDraft(itemId, open.target, whole(text)), DRAFT_MS);
}

/** Saves the open field; true if the server has the text. */
export async function saveField() {
  const { edit: open } = store.get();
  if (!open) return true;
  if (open.phase === "saving") return false;
  clearTimeout(drafting);
  const item = shown();
  if (!isChanged(open)) return forget(item.item_id, open.target);
  store.set({ edit: sending(open) });
  const isRemoval = open.text.trim() === "" && open.target.startsWith("nugget/");
  try {
    await send({ kind: "edited", target: open.target, after: isRemoval ? null : open.text, base: open.base });
  } catch (problem) {
    return keepOpen(problem);
  }
  drop(item.item_id, open.target, open.text);
  // Letters that were typed while the text was on its way are a new edit of what is saved now.
  const { edit: now } = store.get();
  if (now?.target === open.target && now.phase === "typing" && now.text !== open.text) {
    store.set({ edit: { ...now, base: textOf(shown(), open.target) } });
  } else if (now?.target === open.target) {
    store.set({ edit: null });
  }
  say("saved", "ok");
  return true;
}

/** Closes the open field; what was typed stays as a draft. */
export async function leaveField() {
  const { edit: open } = store.get();
  if (!open) return;
  clearTimeout(drafting);
  store.set({ edit: null });
  if (isChanged(open)) await saveDraft(shown().item_id, open.target, open.text);
  else forget(shown().item_id, open.target);
}

/** Saves what was typed into a field and left. */
export async function saveTyped(target) {
  await edit(target);
  return saveField();
}

/** Throws away what was typed into a field. */
export async function discard(target) {
  const item = shown();
  clearTimeout(drafting);
  if (store.get().edit?.target === target) store.set({ edit: null });
  drop(item.item_id, target);
  if (item.mine?.drafts?.[target] !== undefined) await act({ kind: "drafted", target, after: null });
}

/** Takes the text that was saved elsewhere in the place of the typed one. */
export async function takeTheirs() {
  const { edit: open } = store.get();
  store.set({ dialog: null });
  if (open) await discard(open.target);
}

/** Saves the typed text over the one that was saved elsewhere. */
export async function saveMine() {
  const { edit: open } = store.get();
  store.set({ dialog: null });
  if (!open) return;
  store.set({ edit: { ...open, phase: "typing", base: String(open.theirs?.after ?? ""), theirs: null } });
  await saveField();
}

/** Sends words that an earlier page could not send. */
export function sendKept() {
  for (const { itemId, target, text } of everything()) {
    if (!target.startsWith("dialog/")) saveDraft(itemId, target, text);
  }
}

/** Keeps the typed words when the page is closed: there is no time to wait for an answer. */
export function saveOnLeaving() {
  const { edit: open, item } = store.get();
  if (open && item && isChanged(open)) saveDraft(item.item_id, open.target, open.text);
}

function forget(itemId, target) {
  drop(itemId, target);
  if (store.get().edit?.target === target) store.set({ edit: null });
  const draft = store.get().item?.mine?.drafts?.[target];
  if (draft !== undefined) send({ kind: "drafted", target, after: null }, itemId).catch(() => {});
  return true;
}

async function saveDraft(itemId, target, text) {
  try {
    await send({ kind: "drafted", target, after: text }, itemId);
    drop(itemId, target, text);
  } catch (problem) {
    if (problem.error === "network") say(problem.message, "error");
    // Any other refusal: the words stay in this browser, and are shown when the item is opened again.
  }
}

function keepOpen(problem) {
  const { edit: open } = store.get();
  if (!open) {
    complain(problem);
  } else if (problem.error === "stale" && problem.changes?.[0]?.target === open.target) {
    store.set({ edit: inConflict(open, problem.changes[0]) });
    ask({ kind: "conflict", target: open.target, theirs: String(problem.changes[0].after ?? ""), mine: open.text });
    reload().catch(complain);
  } else {
    store.set({ edit: notSent(open) });
    complain(problem);
  }
  return false;
}
