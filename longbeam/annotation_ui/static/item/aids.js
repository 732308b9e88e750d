// What helps to judge an item and is fetched on its own: panel, counter-evidence, trials, guidelines, decisions, list.
import { get, itemAddress } from "../api.js";
import { say, shown, store } from "./state.js";

const LISTED = 200;
const BEFORE = 50;

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

/** Loads the messages that could change the answer; their tab counts those that nobody has looked at. */
export async function loadCounter(item) {
  put(item, { counter: await get(`${itemAddress(item.item_id)}/counter.json`).catch(() => null) });
}

/** Shows an aid in the right pane, and loads it. */
export async function showAid(aid) {
  store.set({ aid, tab: "checks" });
  document.getElementById("aids")?.scrollIntoView({ block: "nearest" });
  const item = shown();
  try {
    if (aid === "counter") {
      await loadCounter(item);
    } else if (aid === "what-if") {
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

/** Loads the items of the queue around the one that the page shows. */
export async function loadList() {
  const given = new URLSearchParams(location.search);
  given.set("first", String(Math.max((shown().place.index ?? 0) - BEFORE, 0)));
  given.set("count", String(LISTED));
  try {
    store.set({ list: await get(`/queue.json?${given}`) });
  } catch {
    // The list stays as it was.
  }
}

function put(item, more) {
  if (store.get().item?.item_id === item.item_id) store.set((state) => ({ aids: { ...state.aids, ...more } }));
}
