// What helps to judge an item and is fetched on its own: panel, counter-evidence, trials, guidelines, decisions.
import { get, itemAddress } from "../api.js";
import { say } from "./notices.js";
import { shown, store } from "./state.js";

/** Loads the panel of the item's ability, and the view that it names. */
export async function loadPanel(item) {
  const base = itemAddress(item.item_id);
  const { further } = item.panel;
  try {
    const [panel, more] = await Promise.all([
      get(`${base}/panel.json`),
      further ? get(`${base}/${further}.json`) : null,
    ]);
    put(item, { panel, further: more });
  } catch (problem) {
    put(item, { failure: problem.message });
  }
}

/** Shows an aid in the right pane, and loads it. */
export async function showAid(aid) {
  store.set({ aid });
  document.getElementById("aids")?.scrollIntoView({ block: "nearest" });
  const item = shown();
  try {
    if (aid === "counter" || aid === "what-if") {
      put(item, { [aid]: await get(`${itemAddress(item.item_id)}/${aid}.json`) });
    } else if (aid === "guidelines") {
      store.set({ guidelines: await get("/guidelines.json") });
    } else if (aid === "decisions") {
      await loadDecisions();
    }
  } catch (problem) {
    say(problem.message, "error");
  }
}

/** Loads the reviewer's last decisions. */
export async function loadDecisions() {
  if (!shown().can_write) return;
  try {
    store.set({ decisions: await get("/decisions.json") });
  } catch {
    // The list stays as it was.
  }
}

/** Shows what a training set says about a verdict. */
export function loadTraining(done) {
  if (done.training) store.set({ training: done.training });
}

function put(item, more) {
  if (store.get().item?.item_id === item.item_id) store.set((state) => ({ aids: { ...state.aids, ...more } }));
}
