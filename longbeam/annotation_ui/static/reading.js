// A conversation by itself: the conversation over the whole page.
import { Pane } from "./talk/pane.js";
import { Talk } from "./talk/talk.js";
import { html, render } from "./vendor/htm-preact.js";

const place = /** @type {HTMLElement} */ (document.getElementById("reading"));
const notice = /** @type {HTMLElement} */ (document.getElementById("notice"));
const wanted = new URLSearchParams(location.search);
const talk = new Talk(place.dataset.conversation ?? "");
talk.item = wanted.get("item") ?? "";

const say = (text) => {
  notice.textContent = text;
};

async function begin() {
  const before = wanted.has("around") ? 3 : 0;
  await talk.go(Number(place.dataset.first) + before);
  await talk.survey();
  if (wanted.get("q")) await talk.search(wanted.get("q") ?? "");
}

async function nextHit() {
  try {
    if (!(await talk.nextHit())) say("Search first: press /");
  } catch (problem) {
    say(problem.message);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.target instanceof Element && event.target.matches("input, textarea, select")) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("search-box")?.focus();
  }
  if (event.key === "h") nextHit();
});

render(html`<${Pane} talk=${talk} say=${say} />`, place);
begin().catch((problem) => say(problem.message));
