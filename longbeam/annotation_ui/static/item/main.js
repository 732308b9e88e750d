// The item page: binds keys, draws the page from its state, and opens the item that the server has sent with it.
import { dataOf, get, metaOf, tryNow, twin, watchWaiting, whenSignedOut } from "../api.js";
import { on, perform, press } from "../keys.js";
import { selectedWords } from "../talk/talk.js";
import { html, render } from "../vendor/htm-preact.js";
import { act, keepAlive, leave } from "./acts.js";
import { showAid } from "./aids.js";
import { goTo, goToEvidence, searchNext, stepEvidence, talkOf } from "./conversation.js";
import { askReason, decide, lookAhead, mark, markAll, seen, show, take, travel } from "./deciding.js";
import { check, edit, leaveField, saveField, saveOnLeaving, sendKept } from "./editing.js";
import { Bar, ItemPage } from "./page.js";
import { ask, closeDialog, complain, say, shown, store } from "./state.js";

const CHECKS_MS = 3_000;
const stage = /** @type {HTMLElement} */ (document.getElementById("stage"));
const bar = /** @type {HTMLElement} */ (document.getElementById("bar"));

function draw() {
  const state = store.get();
  if (!state.item) return;
  render(html`<${Bar} state=${state} />`, bar);
  render(html`<${ItemPage} state=${state} />`, stage);
}

/** Saves the field or what the dialog asks for; a verdict has a key of its own, so that no key gives it by accident. */
function save() {
  const { dialog, edit: open } = store.get();
  if (dialog)
    return document.querySelector("dialog[open] [data-main]")?.dispatchEvent(new Event("click", { bubbles: true }));
  return open?.phase === "saving" ? tryNow() : saveField();
}

function leaveOpen() {
  if (store.get().dialog) return closeDialog();
  if (store.get().edit) return leaveField();
  return document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined;
}

/** With words of a message selected, a comment or a flag is about that message. */
const subject = () => {
  const words = selectedWords();
  return words ? `message/${words.message_key}` : "item";
};

function cite() {
  const words = selectedWords();
  if (!words) return say("Select the words in the conversation first.");
  return act({ kind: "evidence_added", after: words }).then((done) => {
    if (!done) return;
    say("Cited.", "ok");
    goTo(talkOf(shown()).goal.id);
    check();
  });
}

function uncite() {
  const { item, piece } = store.get();
  const evidence = item?.evidence[piece];
  if (evidence)
    act({ kind: "evidence_removed", target: `evidence/${evidence.evidence_id}` }).then((done) => done && check());
}

function moveNugget(by) {
  const last = shown().rubric.length - 1;
  store.set(({ nugget }) => ({ nugget: Math.min(Math.max(nugget + by, 0), last) }));
  document.querySelector(".nugget.current")?.scrollIntoView({ block: "nearest" });
}

function editNugget() {
  const { item, nugget } = store.get();
  const found = item?.rubric[nugget];
  if (found) edit(`nugget/${found.nugget_id}`);
}

function nextHit() {
  const { hits, query } = talkOf(shown());
  if (!hits.length)
    return say(query ? `Nothing is found for “${query}”: search for other words (/)` : "Search first: press /");
  return talkOf(shown()).nextHit().catch(complain);
}

function toggleList() {
  const list = document.querySelector(".list");
  const isShown = list instanceof HTMLElement && list.offsetParent !== null;
  store.set({ isListed: !isShown });
}

function focusSearch() {
  store.set({ tab: "evidence" });
  const box = document.getElementById("search-box");
  if (box instanceof HTMLInputElement) {
    box.focus();
    box.select();
  }
}

/** A page that learns that its session has ended asks at once, and resolves when the reviewer has signed in. */
whenSignedOut(
  (session) =>
    new Promise((resolve) => {
      const name = metaOf("reviewer");
      store.set({ isSignedOut: true });
      const done = (isDone) => {
        store.set({ isSignedOut: !isDone });
        resolve(isDone);
      };
      ask({ kind: "sign-in", name, role: shown().is_lead ? "lead" : "annotator", now: session.reviewer_id, done });
    }),
);

/** While the checks run in the background, the item is asked for again until they are done. */
function awaitChecks() {
  setTimeout(async () => {
    const { item, edit: open } = store.get();
    if (item?.is_checking && !open && !document.hidden) {
      const fresh = await get(twin(location.pathname + location.search)).catch(() => null);
      if (fresh && store.get().item === item) store.set({ item: fresh });
    }
    awaitChecks();
  }, CHECKS_MS);
}

on("next-item", () => show(shown().place.next).catch(complain));
on("previous-item", () => show(shown().place.previous).catch(complain));
on("queue", () => {
  location.href = `/queue${location.search}`;
});
on("list", toggleList);
on("next-evidence", () => stepEvidence(1));
on("previous-evidence", () => stepEvidence(-1));
on("search", focusSearch);
on("search-suggested", () => searchNext());
on("next-hit", nextHit);
on("jump", () => ask({ kind: "jump" }));
on("accept", () => decide("accept"));
on("reject", askReason);
on("skip", () => decide("skip"));
on("return", () => ask({ kind: "return" }));
on("undo", () => travel("undo"));
on("redo", () => travel("redo"));
on("next-nugget", () => moveNugget(1));
on("previous-nugget", () => moveNugget(-1));
on("nugget-yes", () => mark("yes"));
on("nugget-no", () => mark("no"));
on("all-yes", markAll);
on("edit-nugget", editNugget);
on("edit-question", () => edit("question"));
on("edit-gold", () => edit("gold_answer"));
on("add-evidence", cite);
on("remove-evidence", uncite);
on("comment", () => ask({ kind: "comment", target: subject() }));
on("flag", () => ask({ kind: "flag", target: subject() }));
on("check", () => check().then(() => say("Checked.", "ok")));
on("what-if", () => showAid("what-if"));
on("counter", () => showAid("counter"));
on("guidelines", () => showAid("guidelines"));
on("decisions", () => showAid("decisions"));
on("solve", () => {
  store.set(({ isBlind }) => ({ isBlind: !isBlind, isListed: null, tab: "question" }));
  if (store.get().isBlind) goTo(0); // the message that is shown is evidence
});
on("help", () => ask({ kind: "keys" }));
on("save", save);
on("leave", leaveOpen);

store.subscribe(draw);
watchWaiting((isWaiting) => store.set({ isWaiting }));
document.addEventListener("keydown", press);
document.addEventListener("visibilitychange", () => document.hidden && saveOnLeaving());
window.addEventListener("online", tryNow);
window.addEventListener("popstate", () => show(location.pathname + location.search, { push: false }).catch(complain));
window.addEventListener("pagehide", () => {
  saveOnLeaving();
  leave(store.get().item);
});
window.addEventListener("hashchange", () => document.querySelector(":target")?.scrollIntoView());

/** What must wait until an item is drawn: its evidence in the conversation first, then the rest. */
let drawn = "";
store.subscribe((state) => {
  if (!state.item || state.item.item_id === drawn) return;
  drawn = state.item.item_id;
  goToEvidence(state.item).then(() => {
    if (store.get().item?.item_id !== drawn) return;
    requestAnimationFrame(seen);
    lookAhead();
  });
});

take(dataOf("view"));
keepAlive();
sendKept();
awaitChecks();
if (location.hash) document.querySelector(location.hash.replace(/[^#\w-]/g, ""))?.scrollIntoView();
// Tests and the key table compare the handlers with the keys.
stage.dataset.ready = String(Boolean(perform));
