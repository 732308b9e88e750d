// Adjudication: one case at a time. Digits answer the question that is asked; nothing is chosen beforehand.
import { dataOf, get, post, tryNow } from "./api.js";
import { drop, keep, kept } from "./outbox.js";
import { Diff, Icon } from "./parts.js";
import { Pane } from "./talk/pane.js";
import { Talk } from "./talk/talk.js";
import { visible, words } from "./text.js";
import { html, render } from "./vendor/htm-preact.js";

const cases = /** @type {HTMLElement} */ (document.getElementById("cases"));
const bar = /** @type {HTMLElement} */ (document.getElementById("bar"));
const session = dataOf("session");
const SURE = ["1 guess", "2", "3", "4", "5 certain"];
const NOTE = "dialog/decide";

/** @type {import("./types").AdjudicationPage} */
let view = dataOf("view");
let at = Math.max(
  view.items.findIndex((item) => item.item_id === new URLSearchParams(location.search).get("item")),
  0,
);
/** The answers of the lead to the three questions. @type {Record<string, any>} */
let chosen = {};
/** The question that digits answer. */
let asked = 0;
let piece = 0;
let message = "";
/** @type {Talk | null} */
let talk = null;

const shown = () => view.items[at];

/** The three questions, each with its answers. */
function questions(item) {
  const edited = item.opinions.filter((opinion) => opinion.changes.length);
  const accepts = edited.map((opinion) => ({
    name: `Accept as ${opinion.reviewer_id} has it`,
    value: { verdict: "accept", content_of: opinion.reviewer_id },
  }));
  const plain = edited.length ? "Accept as generated" : "Accept";
  return [
    {
      key: "decision",
      title: "Decision",
      answers: [
        { name: plain, value: { verdict: "accept", content_of: "" } },
        ...accepts,
        { name: "Reject", value: { verdict: "reject", content_of: "" } },
      ],
    },
    {
      key: "taxonomy",
      title: "They differ because of",
      answers: view.taxonomy.map((value) => ({ name: words(value), value })),
    },
    { key: "confidence", title: "How sure are you", answers: SURE.map((name, i) => ({ name, value: i + 1 })) },
  ];
}

function choose(question, answer) {
  chosen = { ...chosen, [question.key]: answer.value };
  const list = questions(shown());
  const open = list.findIndex(({ key }) => chosen[key] === undefined);
  asked = open < 0 ? list.length : open;
  draw();
}

async function decide() {
  const item = shown();
  const open = questions(item).find(({ key }) => chosen[key] === undefined);
  if (open) return say(`Answer this first: ${open.title.toLowerCase()}.`);
  const note = kept(item.item_id, NOTE) ?? "";
  const body = {
    ...chosen.decision,
    taxonomy: chosen.taxonomy,
    confidence: chosen.confidence,
    note,
    item_version: item.item_version,
  };
  try {
    await post(`/api/items/${item.item_id}/adjudicate`, body);
  } catch (problem) {
    return say(problem.message);
  }
  drop(item.item_id, NOTE);
  view = await get("/adjudication.json");
  const next = view.items.findIndex((other) => !other.is_decided);
  return open_(next < 0 ? view.items.findIndex((other) => other.item_id === item.item_id) : next);
}

async function undo() {
  try {
    const done = await post("/api/undo");
    if (!done.event) return say("There is nothing to take back.");
    view = await get("/adjudication.json");
    open_(
      Math.max(
        view.items.findIndex((item) => item.item_id === done.event.item_id),
        0,
      ),
    );
    return say(`Taken back: ${done.event.name}`);
  } catch (problem) {
    return say(problem.message);
  }
}

function say(text) {
  message = text;
  draw();
}

function open_(place) {
  at = Math.min(Math.max(place, 0), Math.max(view.items.length - 1, 0));
  chosen = {};
  asked = 0;
  piece = 0;
  message = "";
  const item = shown();
  if (item) {
    const conversation = item.item_id.split("/")[0];
    if (talk?.conversation !== conversation) {
      talk = new Talk(conversation);
      talk.subscribe(draw);
    }
    talk.item = item.item_id;
    history.replaceState({}, "", `?item=${encodeURIComponent(item.item_id)}`);
    goToEvidence(0);
    talk.survey().catch(() => {});
  }
  draw();
  document.querySelector(".versions")?.scrollTo(0, 0);
}

function goToEvidence(by) {
  const found = shown().evidence;
  piece = found.length ? (piece + by + found.length) % found.length : 0;
  talk?.go(found[piece] ?? 0).catch((problem) => say(problem.message));
}

function draw() {
  const item = shown();
  const steps = html`<button type="button" class="quiet only-icon" aria-label="previous case" title="previous case (k)"
      disabled=${at === 0} onClick=${() => open_(at - 1)}><${Icon} name="left" /></button>
    <button type="button" class="quiet only-icon" aria-label="next case" title="next case (j)"
      disabled=${at >= view.items.length - 1} onClick=${() => open_(at + 1)}><${Icon} name="right" /></button>`;
  render(
    html`<div class="bar">
      <h1>${`${view.open} open, ${view.decided} decided`}</h1>
      <span class="grow"></span>
      ${view.items.length ? html`<span class="soft small place figure">${at + 1} of ${view.items.length}</span>${steps}` : null}
    </div>`,
    bar,
  );
  render(item ? html`<${Case} item=${item} />` : html`<${Nothing} />`, cases);
}

const Nothing = () => html`<div class="prose empty" style=${{ padding: "32px 20px" }}>
  <p>Reviewers differ on no item. Cases come here once an item has all its opinions (${session.overlap}).</p>
</div>`;

function Case({ item }) {
  return html`<article class="case conflict" data-item=${item.item_id}>
    <div class="versions" tabindex="0" role="region" aria-label="versions">
      <h2><a href=${item.href}>${item.name}</a>${item.is_decided ? ", decided" : ""}</h2>
      <p class="warning">They differ in ${item.differs.join(", ")}.</p>
      <table>
        <thead><tr>
          <th scope="col">As generated</th>
          ${item.opinions.map((opinion) => html`<th scope="col" key=${opinion.reviewer_id} class="version"><${Who} opinion=${opinion} /></th>`)}
        </tr></thead>
        <tbody>
          ${item.fields.map(
            (field) => html`<tr key=${field.name}>
              <td dir="auto"><div class="label">${field.name}</div>${visible(field.text)}</td>
              ${field.cells.map(
                (cell, i) => html`<td key=${i} dir="auto" class=${cell.parts.length ? "changed" : undefined}>
                  <div class="label">${item.opinions[i].reviewer_id} <b class=${cell.label === "no" ? "error" : "ok"}>${cell.label}</b></div>
                  ${cell.parts.length ? html`<${Diff} parts=${cell.parts} />` : html`<span class="soft">the same</span>`}
                </td>`,
              )}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${talk ? html`<${Pane} talk=${talk} evidence=${item.evidence} say=${say} />` : null}
    ${session.can_write && session.role === "lead" && !item.is_decided ? html`<${Deciding} item=${item} />` : null}
  </article>`;
}

const Who = ({
  opinion,
}) => html`${opinion.reviewer_id}: <b class=${opinion.verdict === "accept" ? "ok" : "error"}>${opinion.verdict}</b>
  ${" "}${words(opinion.reason_code)}${opinion.note ? html`<div dir="auto">“${visible(opinion.note)}”</div>` : null}`;

function Deciding({ item }) {
  return html`<section class="deciding" aria-label="decision">
    ${questions(item).map(
      (
        question,
        i,
      ) => html`<fieldset key=${question.key} class=${i === asked ? "asked" : undefined} data-question=${question.key}>
        <legend>${question.title}</legend>
        ${question.answers.map(
          (answer, n) => html`<button
            key=${answer.name}
            type="button"
            data-key=${i === asked ? String(n + 1) : undefined}
            aria-pressed=${String(JSON.stringify(chosen[question.key]) === JSON.stringify(answer.value))}
            onClick=${() => choose(question, answer)}
          >${answer.name}</button>`,
        )}
      </fieldset>`,
    )}
    <input
      name="note"
      class="grow"
      placeholder="Note (n)"
      aria-label="note"
      key=${item.item_id}
      defaultValue=${kept(item.item_id, NOTE) ?? ""}
      onInput=${(event) => keep(item.item_id, NOTE, event.target.value)}
    />
    <button type="button" class="primary" data-key="Ctrl+Enter" onClick=${decide}>Decide</button>
    <span id="notice" class="error" role="status">${message}</span>
  </section>`;
}

const isField = (element) => element instanceof Element && element.matches("input, textarea, select");
const KEYS = {
  j: () => open_(at + 1),
  k: () => open_(at - 1),
  "]": () => goToEvidence(1),
  "[": () => goToEvidence(-1),
  z: undo,
  n: () => /** @type {HTMLElement | null} */ (document.querySelector("input[name=note]"))?.focus(),
  ArrowDown: () => ask_(1),
  ArrowUp: () => ask_(-1),
};

/** Moves the question that digits answer. */
function ask_(by) {
  asked = Math.min(Math.max(asked + by, 0), 2);
  draw();
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") return decide();
  if (event.key === "Escape" && document.activeElement instanceof HTMLElement) return document.activeElement.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isField(event.target) || !shown())
    return undefined;
  const question = questions(shown())[asked];
  const answer = question?.answers[Number(event.key) - 1];
  const known = answer ? () => choose(question, answer) : KEYS[event.key];
  if (!known) return undefined;
  event.preventDefault();
  return known();
});
window.addEventListener("online", tryNow);

open_(at);
