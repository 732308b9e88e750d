// The state of the item page, and its transitions as pure functions. The edit is one explicit value.
import { createStore } from "../store.js";

/** @typedef {import("../types").ItemView} ItemView */
/** The one edit that is open; `base` is the text of the field when it began.
 * @typedef {{target: string, base: string, text: string, phase: "typing" | "saving" | "conflict",
 *   theirs: import("../types").ChangeView | null}} Edit */
/** @typedef {{item: ItemView | null, nugget: number, piece: number, edit: Edit | null, dialog: any, aid: string,
 *   aids: any, guidelines: any, decisions: any, training: any, notice: {text: string, kind: string} | null,
 *   isWaiting: boolean, isDeciding: boolean, isBlind: boolean, isGuided: boolean, pointed: string}} PageState */

/** @type {PageState} */
const INITIAL = {
  item: null,
  nugget: 0,
  piece: 0,
  edit: null,
  dialog: null,
  aid: "checks",
  aids: {},
  guidelines: null,
  decisions: null,
  training: null,
  notice: null,
  isWaiting: false,
  isDeciding: false,
  isBlind: false,
  isGuided: false,
  pointed: "",
};

export const store = createStore(INITIAL);

/** The item that the page shows. @returns {ItemView} */
export function shown() {
  const { item } = store.get();
  if (!item) throw new Error("no item is open");
  return item;
}

/** The text of a field as it is saved. */
export function textOf(item, target) {
  if (target === "question") return item.question;
  if (target === "gold_answer") return item.gold_answer;
  return item.rubric.find((nugget) => `nugget/${nugget.nugget_id}` === target)?.text ?? "";
}

/** A field is opened for editing: with the words that were typed into it before, if there are any. @returns {Edit} */
export function beginEdit(item, target, typed) {
  const base = textOf(item, target);
  return { target, base, text: typed ?? base, phase: "typing", theirs: null };
}

/** Letters were typed. @returns {Edit} */
export const typeInto = (edit, text) => ({ ...edit, text, phase: "typing" });

/** The text is on its way; the field stays open until the server has it. @returns {Edit} */
export const sending = (edit) => ({ ...edit, phase: "saving" });

/** The server did not take the text: it stays in the field. @returns {Edit} */
export const notSent = (edit) => ({ ...edit, phase: "typing" });

/** The field was changed elsewhere: the reviewer chooses between the two texts. @returns {Edit} */
export const inConflict = (edit, theirs) => ({ ...edit, phase: "conflict", theirs });

/** Whether a text differs from the one on which its edit began. */
export const isChanged = (edit) => edit !== null && edit.text.trim() !== edit.base.trim();

/** Whether the viewer may give an opinion: one is wanted, and nobody else has taken the place. */
export function isWanted(item) {
  if (item.lease && !item.lease.is_mine) return false;
  return Boolean(item.mine?.is_saved || item.saved < item.overlap || item.is_gold);
}

/** Whether the viewer may change the item now. A lead prepares the final version whoever has it. */
export const mayWork = (item) => item.can_write && (isWanted(item) || item.is_gold !== null);

/** Whether the viewer has begun an opinion that is not saved: its lease is kept when the page is left. */
export function isBegun(item) {
  const { mine } = item;
  return Boolean(mine) && !mine.is_saved && (Object.keys(mine.labels).length > 0 || mine.changes.length > 0);
}
