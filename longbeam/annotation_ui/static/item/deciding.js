// Verdicts, undo and redo, and going from item to item.
import { get, post, postUntilAnswered, twin } from "../api.js";
import { actAddress, adopt, reload, send, settled, startClock } from "./acts.js";
import { loadDecisions, loadPanel, loadTraining, showAid } from "./aids.js";
import { leaveField, saveField } from "./editing.js";
import { isNew } from "./guide.js";
import { arrive, leave } from "./lease.js";
import { ask, complain, say } from "./notices.js";
import { isChanged, shown, store } from "./state.js";

/** Items that are asked for before they are wanted, by address. */
const ahead = new Map();

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
  const aid = isGuided ? "guidelines" : kept;
  store.set({
    item,
    isGuided,
    nugget: 0,
    piece: 0,
    edit: null,
    dialog: null,
    aid,
    aids: {},
    pointed: "",
    isBlind: false,
  });
  startClock();
  arrive(item);
  document.title = `${item.name} - review`;
}

/** Asks for what can wait: the next item, and the panel of this one. */
export function lookAhead() {
  const item = shown();
  const next = within(item.place.next);
  if (next && !ahead.has(next))
    ahead.set(
      next,
      get(twin(next)).catch(() => null),
    );
  loadPanel(item);
  loadDecisions();
  if (store.get().aid === "guidelines") showAid("guidelines");
}

/** Gives a verdict and goes on; text that was typed is saved first. */
export async function decide(verdict, more = {}) {
  const { isDeciding, edit, item } = store.get();
  if (isDeciding || !item?.can_write) return;
  store.set({ isDeciding: true });
  try {
    if (verdict === "accept" && isChanged(edit)) {
      if (!(await saveField())) return;
    } else {
      await leaveField();
    }
    const { next } = shown().place;
    const name = shown().name;
    const done = await send({ kind: "judged", after: { verdict }, ...more });
    say(`${PAST[verdict]}: ${name}`, "ok");
    loadTraining(done);
    ahead.delete(within(next));
    if (next) await show(next);
    else say(`${PAST[verdict]}: ${name}. That was the last of this list.`, "ok");
    loadDecisions();
  } catch (problem) {
    complain(problem);
  } finally {
    store.set({ isDeciding: false });
  }
}

const PAST = { accept: "accepted", reject: "rejected", skip: "skipped" };

/** Takes back the last act, or the one that is named; `where` is `undo` or `redo`. */
export async function travel(where, eventId = "") {
  await leaveField();
  await settled();
  try {
    const done = await post(`/api/${where}${location.search}`, eventId ? { event_id: eventId } : {});
    if (!done.event) return say(`There is nothing to ${where}.`);
    say(`${where === "undo" ? "taken back" : "done again"}: ${done.event.name}`);
    loadDecisions();
    if (done.item && done.item.item_id === shown().item_id) adopt(done.item);
    else if (done.href) await show(done.href);
  } catch (problem) {
    complain(problem);
  }
  return undefined;
}

/** Runs the checks on the item with the reviewer's edits. */
export async function check() {
  try {
    const done = await post(actAddress(shown().item_id, "/check"));
    adopt(done.item);
    loadPanel(shown());
    say("checked", "ok");
  } catch (problem) {
    complain(problem);
  }
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
    say(verdict ? "This item measures reviewers now." : "This item measures nobody.", "ok");
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
  } catch (problem) {
    complain(problem);
  }
}
