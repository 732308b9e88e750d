// Acts go out one after the other, each on the version that the one before it left; the first one takes the lease.
import { get, itemAddress, newId, post, postUntilAnswered, twin } from "../api.js";
import { TAB } from "../outbox.js";
import { complain, isBegun, isWanted, shown, store } from "./state.js";

const LONGEST_MS = 3_600_000;
const DWELL_MS = 1_500;
const RENEW_MS = 90_000;
const SPARE_MS = 1_000;

let queue = Promise.resolve();
let opened = performance.now();
/** Drafts that wait for their turn, by item and field: the last words of a field replace those before them. */
const drafts = new Map();
/** Items whose opening the server has recorded. @type {Map<string, Promise<void>>} */
const held = new Map();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let dwelling;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let freeing;

/** Starts the clock of the time spent on an item. */
export function startClock() {
  opened = performance.now();
}

/** The address of an act on an item; the queue that the item is read in goes along. */
export const actAddress = (itemId, act) => `/api${itemAddress(itemId)}${act}${location.search}`;

/** Shows an item as the server has it now, if it is still the one on the page. */
export function adopt(item) {
  if (item && store.get().item?.item_id === item.item_id) store.set({ item });
}

/** Shows an item as the server has it, unless it was changed elsewhere: then the next act says so. */
function adoptSeen(item) {
  const { item: seen } = store.get();
  if (!seen || seen.item_id !== item?.item_id) return;
  if (seen.item_version === item.item_version) store.set({ item });
  else store.set({ item: { ...seen, lease: item.lease } });
}

/** Sends an act on the item of the page. Throws the `Problem` if the server refuses it. */
export function send(body, itemId = shown().item_id) {
  const sent = queue.then(() => deliver(itemId, typeof body === "function" ? body() : body));
  store.set(({ saving }) => ({ saving: saving + 1 }));
  queue = sent.then(done, done);
  return sent;
}

/** Sends what was typed into a field; `null` forgets it. Words that still wait are replaced, not sent one by one. */
export function sendDraft(itemId, target, text, tab = TAB) {
  const key = JSON.stringify([itemId, target, tab]);
  const waiting = drafts.get(key);
  if (waiting) {
    waiting.text = text;
    return waiting.sent;
  }
  const entry = { text, sent: /** @type {Promise<any> | null} */ (null) };
  drafts.set(key, entry);
  entry.sent = send(() => {
    drafts.delete(key);
    return { kind: "drafted", target, after: entry.text, tab };
  }, itemId);
  return entry.sent;
}

/** Sends an act; a refusal is shown to the reviewer, and the answer is null. */
export async function act(body) {
  try {
    return await send(body);
  } catch (problem) {
    complain(problem);
    return null;
  }
}

/** Loads the item of the page again. */
export async function reload() {
  adopt(await get(twin(location.pathname + location.search)));
}

/** Resolves when all acts that were sent are answered. */
export const settled = () => queue;

function done() {
  store.set(({ saving }) => ({ saving: saving - 1 }));
}

/** Leases an item; a server that does not answer holds nothing up, because the act takes the lease as well. */
async function holdIfReached(item) {
  try {
    await hold(item);
  } catch (problem) {
    if (problem.error !== "network") throw problem;
  }
}

async function deliver(itemId, body) {
  const { item } = store.get();
  const isShown = item?.item_id === itemId;
  const version = isShown ? (item?.item_version ?? "") : "";
  if (isShown && body.kind !== "drafted") await holdIfReached(item);
  const spent = Math.round(Math.min(performance.now() - opened, LONGEST_MS));
  const result = await postUntilAnswered(actAddress(itemId, "/acts"), {
    target: "item",
    after: null,
    note: "",
    item_version: version,
    active_ms: isShown ? spent : 0,
    act_id: newId(),
    tab: TAB,
    ...body,
  });
  if (isShown) startClock();
  if (body.kind === "drafted") adoptSeen(result.item);
  else adopt(result.item);
  return result;
}

/** The reviewer has come to an item: it is leased if the reviewer stays. */
export function arrive(item) {
  clearTimeout(dwelling);
  if (item.can_write && isWanted(item)) dwelling = setTimeout(() => hold(item).catch(refused), DWELL_MS);
  else awaitFree(item);
}

/** Loads an item again when the lease of somebody else has ended. */
function awaitFree(item) {
  clearTimeout(freeing);
  if (!item.can_write || !item.lease || item.lease.is_mine) return;
  const ms = Math.max(Date.parse(item.lease.expires_at) - Date.now(), 0) + SPARE_MS;
  freeing = setTimeout(async () => {
    if (store.get().item?.item_id !== item.item_id) return;
    await reload();
    arrive(store.get().item);
  }, ms);
}

/** Somebody else has the item by now: the page says so where the verdict would be. */
function refused(problem) {
  const { item } = store.get();
  if (problem.error !== "leased" || !problem.lease || !item) return complain(problem);
  const taken = { ...item, lease: problem.lease };
  store.set({ item: taken });
  return awaitFree(taken);
}

/** Leases an item before the first act on it. */
function hold(item) {
  const known = held.get(item.item_id);
  if (known) return known;
  if (!item.can_write || !isWanted(item)) return Promise.resolve();
  const made = post(actAddress(item.item_id, "/open")).then(adoptSeen);
  held.set(item.item_id, made);
  made.catch(() => held.delete(item.item_id));
  return made;
}

/** The reviewer leaves an item: a lease that nothing was done with is given back. */
export function leave(item) {
  clearTimeout(dwelling);
  clearTimeout(freeing);
  if (item === null || !held.has(item.item_id)) return;
  held.delete(item.item_id);
  if (!isBegun(item) && store.get().edit === null) post(actAddress(item.item_id, "/release")).catch(() => {});
}

/** Renews the lease while the page is in use. */
export function keepAlive() {
  setInterval(() => {
    const { item } = store.get();
    if (item?.lease?.is_mine && document.visibilityState === "visible") {
      post(actAddress(item.item_id, "/lease"))
        .then((lease) => store.get().item === item && store.set({ item: { ...item, lease } }))
        .catch(() => {});
    }
  }, RENEW_MS);
}
