// Editing in place. Each letter is kept in this browser at once, as a draft on the server soon after, and the field
// stays open until the server has acknowledged the text. The checks run by themselves after each saved edit.
import { post } from "../api.js";
import { claimTab, drop, keep, kept, TAB } from "../outbox.js";
import { whole } from "../text.js";
import { act, actAddress, adopt, reload, send, sendDraft, settled } from "./acts.js";
import { loadPanel } from "./aids.js";
import { ask, complain, isChanged, mayWork, say, shown, store, textOf } from "./state.js";

const DRAFT_MS = 400;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let drafting;
/** The checks that run now; a verdict waits for them. */
let checking = Promise.resolve();

/** Opens a field with the words that this tab has typed into it before. */
export async function edit(target) {
  const item = shown();
  if (!item.can_write) return say("You read only: choose a name to review.");
  if (!mayWork(item)) return say("You read only: somebody else has this item, or has decided it.");
  const { edit: open } = store.get();
  if (open?.target === target) return undefined;
  if (open) await leaveField();
  const base = textOf(item, target);
  const text = typedInto(item, target) ?? base;
  store.set({ edit: { target, base, text, phase: "typing", theirs: null }, tab: "question" });
  return undefined;
}

/** Words that this tab has typed into a field and not saved; null if there are none. */
export function typedInto(item, target) {
  const draft = kept(item.item_id, target) ?? unsaved(item, target, (tab) => tab === TAB)[0]?.text;
  return typeof draft === "string" && draft.trim() !== textOf(item, target).trim() ? draft : null;
}

/** Words that other tabs have typed into a field and not saved. */
export const typedElsewhere = (item, target) => unsaved(item, target, (tab) => tab !== TAB);

const unsaved = (item, target, isFrom) =>
  (item.mine?.unsaved ?? []).filter((typed) => typed.target === target && isFrom(typed.tab));

/** Letters were typed into the open field. */
export function type(text) {
  const { edit: open } = store.get();
  if (!open) return;
  const itemId = shown().item_id;
  store.set({ edit: { ...open, text: whole(text), phase: "typing" } });
  keep(itemId, open.target, whole(text));
  clearTimeout(drafting);
  drafting = setTimeout(() => saveDraft(itemId, open.target, whole(text)), DRAFT_MS);
}

/** Puts words of another tab into the open field: in the place of what stands there, or below it. */
export async function merge(typed, isBelow) {
  await edit(typed.target);
  const { edit: open } = store.get();
  if (!open) return;
  type(isBelow ? `${open.text.trimEnd()}\n${typed.text}` : typed.text);
  await forgetElsewhere(typed);
}

/** Throws away words of another tab; they are gone from the page at once, so that nobody takes them twice. */
export function forgetElsewhere(typed) {
  const item = shown();
  const isOther = ({ target, tab }) => target !== typed.target || tab !== typed.tab;
  if (item.mine) store.set({ item: { ...item, mine: { ...item.mine, unsaved: item.mine.unsaved.filter(isOther) } } });
  return sendDraft(item.item_id, typed.target, null, typed.tab).then(reload);
}

/** Saves the open field; true if the server has the text. */
export async function saveField() {
  const { edit: open } = store.get();
  if (!open) return true;
  if (open.phase === "saving") return false;
  clearTimeout(drafting);
  const item = shown();
  if (!isChanged(open)) return forget(item.item_id, open.target);
  store.set({ edit: { ...open, phase: "saving" } });
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
  say("Saved.", "ok");
  check();
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

/** Saves what was typed into a field and left, by this tab or by another. */
export async function saveTyped(typed) {
  await edit(typed.target);
  if (typed.tab !== TAB) await merge(typed, false);
  return saveField();
}

/** Throws away what this tab has typed into a field. */
export async function discard(target) {
  const item = shown();
  clearTimeout(drafting);
  if (store.get().edit?.target === target) store.set({ edit: null });
  drop(item.item_id, target);
  if (unsaved(item, target, (tab) => tab === TAB).length) await sendDraft(item.item_id, target, null).then(reload);
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

/** Removes a nugget of the rubric. */
export const removeNugget = (nuggetId) =>
  act({ kind: "edited", target: `nugget/${nuggetId}`, after: null }).then(check);

/** Runs the checks on the item with the reviewer's edits; a verdict that follows waits for them. */
export function check() {
  const itemId = shown().item_id;
  checking = settled().then(async () => {
    try {
      const done = await post(actAddress(itemId, "/check"));
      adopt(done.item);
      loadPanel(done.item);
    } catch (problem) {
      complain(problem);
    }
  });
  return checking;
}

/** Resolves when the checks that were begun are done. */
export const checked = () => checking;

/** Sends words that an earlier page, or a tab that is closed by now, could not send. */
export async function sendKept() {
  for (const { itemId, target, text, former } of await claimTab()) {
    if (target.startsWith("dialog/")) continue;
    saveDraft(itemId, target, text);
    if (former) sendDraft(itemId, target, null, former).catch(() => {});
  }
}

/** Keeps the typed words when the page is closed: there is no time to wait for an answer. */
export function saveOnLeaving() {
  const { edit: open, item } = store.get();
  if (open && item && isChanged(open)) saveDraft(item.item_id, open.target, open.text);
}

function forget(itemId, target) {
  const item = store.get().item;
  drop(itemId, target);
  if (store.get().edit?.target === target) store.set({ edit: null });
  if (item && unsaved(item, target, (tab) => tab === TAB).length) sendDraft(itemId, target, null).catch(() => {});
  return true;
}

async function saveDraft(itemId, target, text) {
  try {
    await sendDraft(itemId, target, text);
    drop(itemId, target, text);
  } catch {
    // A refusal: the words stay in this browser, and are shown when the item is opened again.
  }
}

function keepOpen(problem) {
  const { edit: open } = store.get();
  if (!open) {
    complain(problem);
  } else if (problem.error === "stale" && problem.changes?.[0]?.target === open.target) {
    store.set({ edit: { ...open, phase: "conflict", theirs: problem.changes[0] } });
    ask({ kind: "conflict", target: open.target, theirs: String(problem.changes[0].after ?? ""), mine: open.text });
    reload().catch(complain);
  } else {
    store.set({ edit: { ...open, phase: "typing" } });
    complain(problem);
  }
  return false;
}
