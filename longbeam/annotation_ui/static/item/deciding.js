// Verdicts, undo and redo, and going from item to item.
import { get, post, postUntilAnswered, twin } from "../api.js";
import { store as keepStored, stored } from "../outbox.js";
import { act, actAddress, adopt, arrive, leave, reload, send, settled, startClock } from "./acts.js";
import { loadCounter, loadDecisions, loadList, loadPanel, showAid } from "./aids.js";
import { check, checked, leaveField, saveField } from "./editing.js";
import { ask, complain, isChanged, mayWork, say, shown, store } from "./state.js";

/** A key that was meant for the item before must not decide this one. */
const UNSEEN_MS = 500;
const GUIDE_CLOSED = "longbeam/guide-closed";
/** Items that are asked for before they are wanted, by address. */
const ahead = new Map();
/** When the item appeared, and whether its evidence has been drawn since. */
let appeared = { at: 0, isDrawn: false };

/** The queue that an item is read in goes along with every address. */
export const within = (address) => (address && !address.includes("?") ? address + location.search : address);

/** Opens an item in the place of the one that the page shows. */
export async function show(address, { push = true } = {}) {
  if (!address) return say("There is no further item in this list.");
  const wanted = within(address);
  await leaveField();
  await settled();
  const known = ahead.get(wanted);
  ahead.delete(wanted);
  const item = (known && (await known)) || (await get(twin(wanted)));
  leave(store.get().item);
  if (push) history.pushState({}, "", wanted);
  take(item);
  document.getElementById("item-name")?.focus();
  return undefined;
}

/** Makes an item the one that the page shows. */
export function take(item) {
  const isGuided = isNew(item);
  const kept = ["guidelines", "decisions"].includes(store.get().aid) ? store.get().aid : "checks";
  appeared = { at: performance.now(), isDrawn: false };
  store.set({
    item,
    isGuided,
    nugget: 0,
    piece: item.opens_at,
    edit: null,
    dialog: null,
    aid: isGuided ? "guidelines" : kept,
    tab: "question",
    aids: {},
    pointed: "",
    isBlind: false,
  });
  startClock();
  arrive(item);
  document.title = `${item.name} - review`;
}

/** The evidence of the item is drawn: it may be judged. */
export function seen() {
  appeared.isDrawn = true;
  const left = Math.max(appeared.at + UNSEEN_MS - performance.now(), 0);
  const { at } = appeared;
  setTimeout(() => {
    const page = document.querySelector(".item");
    if (at === appeared.at && page instanceof HTMLElement) page.dataset.ready = shown().item_id;
  }, left);
}

/** Whether the reviewer is new: no opinion was given yet, and the walk-through was not closed. */
const isNew = (item) => item.can_write && item.progress.mine === 0 && stored(GUIDE_CLOSED) === null;

/** Closes the walk-through for good. */
export function closeGuide() {
  keepStored(GUIDE_CLOSED, "1");
  store.set({ isGuided: false });
}

/** Asks for what can wait: the next item, the panel of this one, and the list. */
export function lookAhead() {
  const item = shown();
  const next = within(item.place.next);
  if (next && !ahead.has(next))
    ahead.set(
      next,
      get(twin(next)).catch(() => null),
    );
  loadPanel(item);
  loadCounter(item);
  loadDecisions();
  loadList();
  if (!item.is_checked && !item.is_checking && mayWork(item)) check();
  if (store.get().aid === "guidelines") showAid("guidelines");
}

/** Gives a verdict and goes on; text that was typed is saved first. False if it was not given. */
export async function decide(verdict, more = {}) {
  const { isDeciding, edit, item } = store.get();
  if (isDeciding || store.get().isBlind || !item?.can_write || performance.now() - appeared.at < UNSEEN_MS)
    return false;
  if (!appeared.isDrawn) return say("Its evidence is not there yet.") ?? false;
  store.set({ isDeciding: true });
  try {
    if (verdict === "accept" && isChanged(edit)) {
      if (!(await saveField())) return false;
    } else {
      await leaveField();
    }
    await checked();
    const { next } = shown().place;
    const name = shown().name;
    const done = await send({ kind: "judged", after: { verdict }, ...more });
    store.set({ training: done.training ?? store.get().training });
    ahead.delete(within(next));
    if (next) await show(next);
    else loadList();
    say(`${PAST[verdict]}: ${name}${next ? "" : ". That was the last of this list."}`, "ok", true);
    loadDecisions();
    return true;
  } catch (problem) {
    complain(problem);
    return false;
  } finally {
    store.set({ isDeciding: false });
  }
}

const PAST = { accept: "Accepted", reject: "Rejected", skip: "Skipped" };

/** Marks a nugget, and goes on to the next one. */
export async function mark(label) {
  const { item, nugget } = store.get();
  const found = item?.rubric[nugget];
  if (!item || !found) return;
  store.set({ nugget: Math.min(nugget + 1, item.rubric.length - 1) });
  document.querySelector(".nugget.current")?.scrollIntoView({ block: "nearest" });
  await act({ kind: "judged", target: `nugget/${found.nugget_id}`, after: { label } });
}

/** Marks all nuggets "yes" that have no mark, or must be looked at again. */
export async function markAll() {
  const open = shown().rubric.filter((nugget) => nugget.label === null || nugget.is_stale);
  for (const { nugget_id: id } of open) act({ kind: "judged", target: `nugget/${id}`, after: { label: "yes" } });
  await settled();
}

/** Undoes the last act, or the one that is named; `where` is `undo` or `redo`. */
export async function travel(where, eventId = "") {
  await leaveField();
  await settled();
  try {
    const done = await post(`/api/${where}${location.search}`, eventId ? { event_id: eventId } : {});
    if (!done.event) return say(`There is nothing to ${where}.`);
    say(`${where === "undo" ? "Undone" : "Redone"}: ${done.event.name}`);
    loadDecisions();
    if (done.item && done.item.item_id === shown().item_id) adopt(done.item);
    else if (done.href) await show(done.href);
    if (shown().is_checked && !shown().is_findings_current) check(); // the checks saw the text that was undone
    loadList();
  } catch (problem) {
    complain(problem);
  }
  return undefined;
}

/** Asks why an item is rejected. */
export function askReason() {
  if (shown().can_write) ask({ kind: "reason" });
}

/** A lead records the right verdict, by which reviewers are measured. */
export async function setGold(verdict) {
  try {
    const done = await postUntilAnswered(actAddress(shown().item_id, "/gold"), { verdict });
    adopt(done.item);
    say(verdict ? "It is a test item now." : "It is no test item any more.", "ok");
  } catch (problem) {
    complain(problem);
  }
}

/** Takes a candidate of the pool into the review. */
export async function takeIn(itemId) {
  try {
    await send({ kind: "chosen", after: true }, itemId);
    say("It is in the queue now.", "ok");
    await reload();
    loadList();
  } catch (problem) {
    complain(problem);
  }
}
