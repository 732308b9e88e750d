// A conversation by itself: its sessions as an outline, and the conversation over the rest of the page.
import { nameOf } from "./keys.js";
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
  if (nameOf(event) === "h") nextHit();
});

/** The sessions with their days; a day that several sessions share is said once. */
function Outline() {
  const days = talk.map?.dates ?? [];
  const dayOf = (id) => days.findLast((day) => day.message_id <= id)?.label ?? "";
  return html`<nav class="outline" aria-label="sessions" tabindex="0">
    ${(talk.map?.sessions ?? []).map(
      (session) => html`<button
        key=${session.message_id}
        type="button"
        class="quiet"
        onClick=${() => talk.go(session.message_id).catch((problem) => say(problem.message))}
      >
        <span>Session ${Number(session.label) + 1}</span> <time class="small">${dayOf(session.message_id)}</time>
      </button>`,
    )}
  </nav>`;
}

function draw() {
  render(html`<${Outline} /><${Pane} talk=${talk} say=${say} />`, place);
}

talk.subscribe(draw);
draw();
begin().catch((problem) => say(problem.message));
