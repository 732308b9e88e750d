// Typed words that the server has not acknowledged, in this browser's storage: they outlive a crash of either side.
// Each tab keeps its own, so that two tabs never type over each other.
import { metaOf, newId } from "./api.js";

const PREFIX = `longbeam/${metaOf("benchmark")}/${metaOf("reviewer")}/`;
const PLACE = "longbeam/tab";
const LOCK_MS = 400;

/** The id of this tab. A reload keeps it; a copy of the tab gets another one, see `claimTab`. */
export let TAB = sessionItem() || named(newId());

/** Keeps a text under the item and the field that it belongs to. */
export function keep(itemId, target, text) {
  store(keyOf(itemId, target, TAB), text);
}

/** The text that this tab keeps for a field; null if there is none. */
export const kept = (itemId, target) => stored(keyOf(itemId, target, TAB));

/** Forgets a text, unless another one was typed meanwhile. */
export function drop(itemId, target, text) {
  if (text === undefined || kept(itemId, target) === text) store(keyOf(itemId, target, TAB), null);
}

/**
 * Makes sure that no other open tab has this tab's id, and takes over the words of tabs that are no longer open.
 * Resolves to what this tab keeps; `former` is the id of the tab that an entry was taken from.
 */
export async function claimTab() {
  if (navigator.locks) {
    const isMine = await locked(TAB);
    if (!isMine) {
      TAB = named(newId());
      await locked(TAB);
    }
  }
  const open = new Set([TAB]);
  for (const lock of (await navigator.locks?.query())?.held ?? []) open.add(String(lock.name).slice(PLACE.length + 1));
  const found = [];
  for (const { key, itemId, target, tab, text } of entries()) {
    if (tab === TAB) found.push({ itemId, target, text, former: "" });
    if (open.has(tab) || !navigator.locks) continue;
    store(key, null);
    if (kept(itemId, target) !== null) continue;
    keep(itemId, target, text);
    found.push({ itemId, target, text, former: tab });
  }
  return found;
}

/** Holds the lock of a tab for as long as the page lives; false if another page holds it. */
function locked(tab) {
  return new Promise((resolve) => {
    // The page that this one replaces may still hold the lock for a moment.
    navigator.locks
      .request(`${PLACE}/${tab}`, { signal: AbortSignal.timeout(LOCK_MS) }, () => {
        resolve(true);
        return new Promise(() => {});
      })
      .catch(() => resolve(false));
  });
}

function entries() {
  const found = [];
  try {
    for (const key of Object.keys(localStorage)) {
      if (!key.startsWith(PREFIX)) continue;
      const [itemId, target, tab = ""] = JSON.parse(key.slice(PREFIX.length));
      found.push({ key, itemId, target, tab, text: localStorage.getItem(key) ?? "" });
    }
  } catch {
    // No storage: nothing is kept.
  }
  return found;
}

/** What this browser stores under a key; null if there is nothing, or no storage. */
export function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores a text, or removes it; false without storage (a private window, a full disk): drafts are on the server, too. */
export function store(key, text) {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

function sessionItem() {
  try {
    return sessionStorage.getItem(PLACE) ?? "";
  } catch {
    return "";
  }
}

function named(id) {
  try {
    sessionStorage.setItem(PLACE, id);
  } catch {
    // The id lasts as long as the page.
  }
  return id;
}

const keyOf = (itemId, target, tab) => PREFIX + JSON.stringify([itemId, target, tab]);
