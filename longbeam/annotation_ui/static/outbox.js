// Typed words that the server has not acknowledged, in this browser's storage: they outlive a crash of either side.
import { metaOf } from "./boot.js";

const PREFIX = `longbeam/${metaOf("benchmark")}/${metaOf("reviewer")}/`;

/** Keeps a text under the item and the field that it belongs to. */
export function keep(itemId, target, text) {
  try {
    localStorage.setItem(keyOf(itemId, target), text);
  } catch {
    // Without storage (a private window, a full disk) the words are kept by the drafts on the server alone.
  }
}

/** The text that is kept for a field; null if there is none. */
export function kept(itemId, target) {
  try {
    return localStorage.getItem(keyOf(itemId, target));
  } catch {
    return null;
  }
}

/** Forgets a text, unless another one was typed meanwhile. */
export function drop(itemId, target, text) {
  if (text === undefined || kept(itemId, target) === text) {
    try {
      localStorage.removeItem(keyOf(itemId, target));
    } catch {
      // Nothing was kept.
    }
  }
}

/** All that is kept: item, field and text. */
export function everything() {
  const found = [];
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX)) {
        const [itemId, target] = JSON.parse(key.slice(PREFIX.length));
        found.push({ itemId, target, text: localStorage.getItem(key) ?? "" });
      }
    }
  } catch {
    // No storage: nothing is kept.
  }
  return found;
}

function keyOf(itemId, target) {
  return PREFIX + JSON.stringify([itemId, target]);
}
