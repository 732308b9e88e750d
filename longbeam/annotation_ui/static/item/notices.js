// What the page says to the reviewer: short notices, refusals, and questions in a dialog.
import { get, twin } from "../api.js";
import { store } from "./state.js";

let timer;
const SHORT_MS = 4_000;
const LONG_MS = 12_000;

/** Says something in the corner of the page. */
export function say(text, kind = "") {
  clearTimeout(timer);
  store.set({ notice: { text, kind } });
  timer = setTimeout(() => store.set({ notice: null }), kind === "error" ? LONG_MS : SHORT_MS);
}

/** Shows a refusal. */
export function complain(problem) {
  if (problem?.error === "gates") return ask({ kind: "gates", gates: problem.gates });
  if (problem?.error === "stale") return changedElsewhere(problem);
  return say(problem?.message ?? String(problem), "error");
}

/** Opens a dialog. */
export function ask(dialog) {
  store.set({ dialog: { ...dialog, opener: document.activeElement } });
}

/** Closes the dialog; the focus goes back to where it was. */
export function closeDialog() {
  const opener = store.get().dialog?.opener;
  store.set({ dialog: null });
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
}

async function changedElsewhere(problem) {
  ask({ kind: "stale", changes: problem.changes ?? [] });
  try {
    store.set({ item: await get(twin(location.pathname + location.search)) });
  } catch (failure) {
    say(failure.message, "error");
  }
}
