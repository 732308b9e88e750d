// A walk-through of the first item, until the reviewer has given an opinion or closes it.
import { html } from "../vendor/htm-preact.js";
import { store } from "./state.js";

const PLACE = "longbeam/guide-closed";

/** Whether the reviewer is new: no opinion was given yet, and the walk-through was not closed. */
export function isNew(item) {
  let isClosed = false;
  try {
    isClosed = localStorage.getItem(PLACE) !== null;
  } catch {
    // Without storage the walk-through comes back on each item.
  }
  return item.can_write && item.progress.mine === 0 && !isClosed;
}

/** The walk-through. */
export function Guide() {
  const close = () => {
    try {
      localStorage.setItem(PLACE, "1");
    } catch {
      // It comes back on the next item.
    }
    store.set({ isGuided: false });
  };
  return html`<section class="card" id="guide" aria-label="how to begin">
    <h2>Your first item</h2>
    <ol>
      <li>Read the question and the gold answer here on the left.</li>
      <li>
        Look in the middle: the highlighted passages should prove the answer.
        Search the conversation with <kbd>/</kbd> for anything that speaks against it.
      </li>
      <li>Say for each nugget of the rubric if it is right: <kbd>y</kbd> or <kbd>n</kbd>.</li>
      <li>
        Decide below: accept it, correct it with <kbd>e</kbd>, <kbd>g</kbd> or <kbd>r</kbd> and then accept it,
        or reject it with a reason. <kbd>z</kbd> takes back what you did.
      </li>
    </ol>
    <p><button type="button" onClick=${close}>close</button></p>
  </section>`;
}
