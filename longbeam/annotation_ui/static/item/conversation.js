// The conversation beside the item: searches become part of the item's record, and hits that were shown, too.
import { Talk } from "../talk/talk.js";
import { send } from "./acts.js";
import { loadPanel } from "./aids.js";
import { say, shown, store } from "./state.js";

/** @type {Talk | null} */
let talk = null;

/** The conversation of an item; the same object while items of one conversation follow each other. @returns {Talk} */
export function talkOf(item) {
  const isSame = talk?.conversation === item.conversation_id;
  const found =
    isSame && talk ? talk : new Talk(item.conversation_id, { onSearched: recordSearch, onLooked: recordLook });
  if (found.item !== item.item_id) {
    found.item = item.item_id;
    found.forget();
  }
  talk = found;
  return found;
}

/** Goes to a message. */
export function goTo(messageId) {
  talkOf(shown())
    .go(messageId)
    .catch((problem) => say(problem.message, "error"));
}

/** Goes to the piece of evidence at which an item opens, or to the beginning. */
export async function goToEvidence(item) {
  try {
    await talkOf(item).go(item.evidence[item.opens_at]?.message_id ?? 0);
    await talkOf(item).survey();
  } catch (problem) {
    say(problem.message, "error");
  }
}

/** Goes to the next piece of evidence, or to the one before. */
export function stepEvidence(by) {
  const { item, piece } = store.get();
  if (!item?.evidence.length) return;
  const next = (piece + by + item.evidence.length) % item.evidence.length;
  store.set({ piece: next, tab: "evidence" });
  const id = item.evidence[next].message_id;
  if (id !== null) goTo(id);
}

async function recordSearch(found) {
  await record({ kind: "searched", after: { query: found.query, total: found.total } });
}

async function recordLook(query, messageId) {
  await record({ kind: "looked", after: { query, message_ids: [messageId] } });
}

/** Makes the next suggested search that was not made yet, or the one that is given. */
export function searchNext(wanted) {
  const { item, aids } = store.get();
  const record = aids.further;
  if (item?.panel.further !== "absence" || !record) return say("Nothing is suggested here: press /");
  const made = new Set(record.queries.map(({ query }) => query.toLowerCase()));
  const next = wanted ?? record.suggested.find((text) => !made.has(text.toLowerCase()));
  if (!next) return say("All suggested searches are made: press / for one of your own.");
  store.set({ tab: "evidence" });
  return talkOf(item)
    .search(next)
    .catch((problem) => say(problem.message, "error"));
}

async function record(body) {
  const item = shown();
  if (!item.can_write) return;
  try {
    await send(body);
    if (item.panel.further === "absence") await loadPanel(item);
  } catch (problem) {
    say(problem.message, "error");
  }
}
