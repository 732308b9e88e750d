// Acts go out one after the other, each on the version that the one before it left.
import { get, itemAddress, newId, postUntilAnswered, twin } from "../api.js";
import { hold } from "./lease.js";
import { complain } from "./notices.js";
import { shown, store } from "./state.js";

let queue = Promise.resolve();
let opened = performance.now();
const LONGEST_MS = 3_600_000;

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
export function adoptSeen(item) {
  const { item: seen } = store.get();
  if (seen?.item_id !== item?.item_id) return;
  if (seen?.item_version === item.item_version) store.set({ item });
  else store.set({ item: { .../** @type {any} */ (seen), lease: item.lease } });
}

/** Sends an act on the item of the page. Throws the `Problem` if the server refuses it. */
export function send(body, itemId = shown().item_id) {
  const sent = queue.then(() => deliver(itemId, body));
  queue = sent.then(
    () => undefined,
    () => undefined,
  );
  return sent;
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
    ...body,
  });
  if (isShown) startClock();
  if (body.kind === "drafted") adoptSeen(result.item);
  else adopt(result.item);
  return result;
}
