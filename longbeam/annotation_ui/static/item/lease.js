// The place of the reviewer on an item: taken after a moment of reading or by the first act, given back on leaving.
import { post } from "../api.js";
import { actAddress, adoptSeen, reload } from "./acts.js";
import { complain } from "./notices.js";
import { isBegun, isWanted, store } from "./state.js";

const DWELL_MS = 1_500;
const RENEW_MS = 90_000;
const SPARE_MS = 1_000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let dwelling;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let freeing;
/** Items whose opening the server has recorded. @type {Map<string, Promise<void>>} */
const opened = new Map();

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
export function hold(item) {
  const known = opened.get(item.item_id);
  if (known) return known;
  if (!item.can_write || !isWanted(item)) return Promise.resolve();
  const made = post(actAddress(item.item_id, "/open")).then(adoptSeen);
  opened.set(item.item_id, made);
  made.catch(() => opened.delete(item.item_id));
  return made;
}

/** The reviewer leaves an item: a lease that nothing was done with is given back. */
export function leave(item) {
  clearTimeout(dwelling);
  clearTimeout(freeing);
  if (item === null || !opened.has(item.item_id)) return;
  opened.delete(item.item_id);
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
