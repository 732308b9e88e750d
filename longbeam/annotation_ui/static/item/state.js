// The state of the item page, its transitions as pure functions, and what the page says to the reviewer.
import { get, twin } from "../api.js";

/** @typedef {import("../types").ItemView} ItemView */
/** The one edit that is open; `base` is the text of the field when it began.
 * @typedef {{target: string, base: string, text: string, phase: "typing" | "saving" | "conflict",
 *   theirs: import("../types").ChangeView | null}} Edit */
/** `saving` counts acts on their way; `isDeciding`: a verdict is on its way, and no second one is taken; `isBlind`: the
 * gold answer is hidden, because the reviewer answers first; `pointed`: the place that a finding has led to.
 * @typedef {{item: ItemView | null, nugget: number, piece: number, edit: Edit | null, dialog: any, aid: string,
 *   tab: string, aids: any, guidelines: any, decisions: any, list: any, training: any,
 *   notice: {text: string, kind: string, canUndo: boolean} | null, saving: number, isWaiting: boolean,
 *   isSignedOut: boolean, isDeciding: boolean, isBlind: boolean, isGuided: boolean, isListed: boolean | null,
 *   pointed: string}} PageState */

const SHORT_MS = 5_000;
const LONG_MS = 12_000;
/** @type {PageState} */
let state = {
  item: null,
  nugget: 0,
  piece: 0,
  edit: null,
  dialog: null,
  aid: "checks",
  tab: "question",
  aids: {},
  guidelines: null,
  decisions: null,
  list: null,
  training: null,
  notice: null,
  saving: 0,
  isWaiting: false,
  isSignedOut: false,
  isDeciding: false,
  isBlind: false,
  isGuided: false,
  isListed: null,
  pointed: "",
};
const listeners = new Set();
let timer;

/** One state, changed by `set` only; views are drawn again after each change. */
export const store = {
  get: () => state,
  /** @param {Partial<PageState> | ((state: PageState) => Partial<PageState>)} change */
  set(change) {
    state = { ...state, ...(typeof change === "function" ? change(state) : change) };
    for (const listener of listeners) listener(state);
  },
  subscribe: (listener) => listeners.add(listener),
};

/** The item that the page shows. @returns {ItemView} */
export function shown() {
  if (!state.item) throw new Error("no item is open");
  return state.item;
}

/** The text of a field as it is saved. */
export function textOf(item, target) {
  if (target === "question") return item.question;
  if (target === "gold_answer") return item.gold_answer;
  return item.rubric.find((nugget) => `nugget/${nugget.nugget_id}` === target)?.text ?? "";
}

/** Whether a text differs from the one on which its edit began. */
export const isChanged = (edit) => edit !== null && edit.text.trim() !== edit.base.trim();

/** Whether the viewer may give an opinion: one is wanted, and nobody else has taken the place. */
export function isWanted(item) {
  if (item.lease && !item.lease.is_mine) return false;
  return Boolean(item.mine?.is_saved || item.wanted > 0 || item.is_gold);
}

/** Whether the viewer may change the item now. A lead prepares the final version whoever has it. */
export const mayWork = (item) => item.can_write && (isWanted(item) || item.is_lead);

/** Whether the viewer has begun an opinion that is not saved: its lease is kept when the page is left. */
export function isBegun(item) {
  const { mine } = item;
  return Boolean(mine) && !mine.is_saved && (Object.keys(mine.labels).length > 0 || mine.changes.length > 0);
}

/** Says something in the corner of the page; after a verdict with a way back. */
export function say(text, kind = "", canUndo = false) {
  clearTimeout(timer);
  store.set({ notice: { text, kind, canUndo } });
  timer = setTimeout(() => store.set({ notice: null }), kind === "error" ? LONG_MS : SHORT_MS);
}

/** Shows a refusal. */
export function complain(problem) {
  if (problem?.error === "gates") return ask({ kind: "gates" });
  if (problem?.error === "stale") return changedElsewhere(problem);
  return say(problem?.message ?? String(problem), "error");
}

/** Opens a dialog. */
export function ask(dialog) {
  store.set({ dialog: { ...dialog, opener: document.activeElement } });
}

/** Closes the dialog; the focus goes back to where it was. */
export function closeDialog() {
  const opener = state.dialog?.opener;
  store.set({ dialog: null });
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
}

async function changedElsewhere(problem) {
  ask({ kind: "stale", changes: problem.changes ?? [] });
  try {
    store.set({ item: await get(twin(location.pathname + location.search)) });
  } catch (failure) {
    say(failure.message, "error");
  }
}
