// Adjudication: one case at a time. Digits answer the question that is asked; nothing is chosen beforehand.
import { dataOf, get, newId, post, tryNow } from "./api.js";
import { nameOf } from "./keys.js";
import { drop, keep, kept } from "./outbox.js";
import { Diff, Icon } from "./parts.js";
import { Pane } from "./talk/pane.js";
import { Talk } from "./talk/talk.js";
import { numbered, visible, words } from "./text.js";
import { html, render } from "./vendor/htm-preact.js";

const cases = /** @type {HTMLElement} */ (document.getElementById("cases"));
const bar = /** @type {HTMLElement} */ (document.getElementById("bar"));
const session = dataOf("session");
const SURE = ["1 guess", "2", "3", "4", "5 certain"];
const NOTE = "dialog/decide";
const EDIT = "dialog/edit/";
const NUGGET = "nugget/";
const RULINGS = [
  ["Yes, keep it", "yes"],
  ["No, remove it", "no"],
];

/** @type {import("./types").AdjudicationPage} */
let view = dataOf("view");
let at = 0;
/** The answers of the lead to the questions. @type {Record<string, any>} */
let chosen = {};
/** The question that digits answer. */
let asked = 0;
let piece = 0;
/** The field that the lead edits. */
let edited = "";
/** What a narrow screen shows: versions or conversation. */
let tab = "versions";
let message = "";
/** @type {Talk | null} */
let talk = null;

const shown = () => view.items[at];

/** The questions of a case, each with its answers; an acceptance needs a ruling on each nugget in dispute. */
function questions(item) {
  const edited = item.opinions.filter((opinion) => opinion.changes.length);
  const accepts = edited.map((opinion) => ({
    name: `Accept with ${opinion.reviewer_id}'s edit: ${edits(item, opinion).join(", ")}`,
    value: { verdict: "accept", content_of: opinion.reviewer_id },
  }));
  const plain = item.is_edited ? "Accept as you edited it" : edited.length ? "Accept as generated" : "Accept";
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
    ...disputed(item).map(({ name, nugget_id: id }) => ({
      key: `${NUGGET}${id}`,
      title: `Is ${name} right, and needed in an answer?`,
      answers: RULINGS.map(([text, value]) => ({ name: text, value })),
    })),
    {
      key: "taxonomy",
      title: "They differ because of",
      answers: Object.entries(view.taxonomy).map(([value, name]) => ({ name, value })),
    },
    { key: "confidence", title: "How sure are you", answers: SURE.map((name, i) => ({ name, value: i + 1 })) },
  ];
}

/** What a reviewer has changed, in words; of evidence that was taken away the message, because that is easily overseen. */
function edits(item, { reviewer_id: who, changes }) {
  const lines = item.fields.flatMap((field) => field.evidence).filter((line) => line.dropped_by.includes(who));
  const names = changes.filter(({ target, after }) => !target.startsWith("evidence/") || after).map(({ name }) => name);
  return [...names, ...new Set(lines.map((line) => `without the quote of #${line.message_id}`))];
}

/** Nuggets of the version to be accepted that reviewers judge differently, or that an edit of the lead makes doubtful. */
function disputed(item) {
  const { verdict, content_of: whose } = chosen.decision ?? {};
  if (verdict !== "accept") return [];
  const taken = item.opinions.find((opinion) => opinion.reviewer_id === whose)?.probe ?? item.sealed;
  const ids = taken.rubric.map((nugget) => nugget.nugget_id);
  const isThere = (field) => ids.includes(field.nugget_id) && (whose || field.text);
  return item.fields.filter((field) => field.is_disputed && isThere(field));
}

function choose(question, answer) {
  chosen = { ...chosen, [question.key]: answer.value };
  const list = questions(shown());
  const open = list.findIndex(({ key }) => chosen[key] === undefined);
  askAt(open < 0 ? list.length : open);
  document.querySelector("tr.asked")?.scrollIntoView({ block: "nearest" });
}

async function decide() {
  const item = shown();
  const open = questions(item).find(({ key }) => chosen[key] === undefined);
  if (open) return say(`Answer this first: ${open.title.toLowerCase()}.`);
  const note = kept(item.item_id, NOTE) ?? "";
  const labels = disputed(item).map(({ nugget_id: id }) => [id, chosen[`${NUGGET}${id}`]]);
  const body = {
    ...chosen.decision,
    taxonomy: chosen.taxonomy,
    confidence: chosen.confidence,
    labels: Object.fromEntries(labels),
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
    if (!done.event) return say("There is nothing to undo.");
    view = await get("/adjudication.json");
    open_(view.items.findIndex((item) => item.item_id === done.event.item_id));
    return say(`Undone: ${done.event.name}`);
  } catch (problem) {
    return say(problem.message);
  }
}

/** Saves the lead's text of a field as an edit, as on the item page, and runs the checks on it. */
async function saveEdit(field) {
  const item = shown();
  const text = kept(item.item_id, EDIT + field.target) ?? field.text;
  const act = { kind: "edited", target: field.target, after: text, base: field.text, item_version: item.item_version };
  const address = `/api/items/${item.item_id}`;
  try {
    if (text.trim() !== field.text.trim()) {
      await post(`${address}/acts`, { ...act, note: "", active_ms: 0, act_id: newId() });
      await post(`${address}/check`);
    }
  } catch (problem) {
    return say(problem.message);
  }
  drop(item.item_id, EDIT + field.target);
  view = await get("/adjudication.json");
  chosen = {};
  asked = 0;
  edited = "";
  return say("");
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
  tab = "versions";
  message = "";
  edited = "";
  const item = shown();
  if (item) {
    const conversation = item.item_id.split("/")[0];
    if (talk?.conversation !== conversation) {
      talk = new Talk(conversation);
      talk.subscribe(draw);
    }
    talk.item = item.item_id;
    history.replaceState({}, "", `?item=${encodeURIComponent(item.item_id)}`);
    piece = Math.max(item.evidence.indexOf(item.opens_at), 0);
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
      <h1>${`Conflicts: ${view.open} open, ${view.decided} decided`}</h1>
      <span class="grow"></span>
      ${view.items.length ? html`<span class="soft small place figure">case ${at + 1} of ${view.items.length}</span>${steps}` : null}
    </div>`,
    bar,
  );
  render(item ? html`<${Case} item=${item} />` : html`<${Nothing} />`, cases);
}

const Tabs = () => html`<nav class="tabs pane-tabs" aria-label="parts of the case">
  ${["versions", "conversation"].map(
    (name) => html`<button key=${name} type="button" aria-pressed=${String(tab === name)} onClick=${() => turnTo(name)}>
      ${name[0].toUpperCase() + name.slice(1)}
    </button>`,
  )}
</nav>`;

function turnTo(name) {
  tab = name;
  draw();
}

/** Whether the viewer decides the case. */
const mayDecide = (item) => session.can_write && session.role === "lead" && !item.is_decided;

/** Shows a cited message in the conversation. */
function cite(id) {
  tab = "conversation";
  talk?.go(id).catch((problem) => say(problem.message));
  draw();
}

const Nothing = () => html`<div class="prose empty" style=${{ padding: "32px 20px" }}>
  <p>No conflict. An item comes here once all its opinions (${session.overlap}) are in, and differ.</p>
</div>`;

function Case({ item }) {
  const asks = questions(item)[asked]?.key ?? "";
  return html`<article class="case conflict" data-item=${item.item_id} data-tab=${tab}>
    <${Tabs} />
    <div class="versions" tabindex="0" role="region" aria-label="versions">
      <h2><a href=${item.href}>${item.name}</a>${item.is_decided ? ", decided" : ""}</h2>
      <p class="warning">They differ in ${item.differs.join(", ")}.</p>
      <ul class="plain row verdicts">
        ${item.opinions.map((opinion) => html`<li key=${opinion.reviewer_id} class="version"><${Who} opinion=${opinion} /></li>`)}
      </ul>
      ${item.findings.map(
        (finding, i) => html`<p key=${i} class=${finding.severity} title=${finding.doc}>
          ${`Check of ${finding.place}: ${visible(numbered(finding.message, finding.messages))}`}
        </p>`,
      )}
      <table>
        <thead><tr>
          <th scope="col">${item.is_edited ? "As you edited it" : "As generated"}</th>
          ${item.opinions.map((opinion) => html`<th scope="col" key=${opinion.reviewer_id}>${opinion.reviewer_id}</th>`)}
        </tr></thead>
        <tbody>
          ${item.fields.map(
            (field) => html`<tr key=${field.name} class=${asks === `${NUGGET}${field.nugget_id}` ? "asked" : undefined}>
              <td dir="auto" colspan=${isShared(field) ? item.opinions.length + 1 : undefined}>
                <${Text} item=${item} field=${field} />
                <${Quotes} lines=${field.evidence} />
              </td>
              ${
                isShared(field)
                  ? null
                  : field.cells.map(
                      (cell, i) =>
                        html`<${Cell} key=${i} who=${item.opinions[i].reviewer_id} field=${field} cell=${cell} />`,
                    )
              }
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${talk ? html`<${Pane} talk=${talk} evidence=${item.evidence} say=${say} />` : null}
    ${mayDecide(item) ? html`<${Deciding} item=${item} />` : null}
  </article>`;
}

/** Whether nobody has changed a field or marked it: then it needs no columns. */
const isShared = (field) => field.cells.every((cell) => !cell.parts.length && !cell.label);

/** A field as the lead has it, or open for editing; what is typed is kept in this browser until it is saved. */
function Text({ item, field }) {
  const place = EDIT + field.target;
  const open = (target) => {
    edited = target;
    draw();
  };
  return html`<div class="label part">
      ${field.name}
      ${
        mayDecide(item) && edited !== field.target
          ? html`<button type="button" class="quiet only-icon" aria-label=${`edit ${field.name}`} onClick=${() => open(field.target)}>
            <${Icon} name="edit" /></button>`
          : null
      }
    </div>
    ${
      edited === field.target
        ? html`<textarea aria-label=${field.name} defaultValue=${kept(item.item_id, place) ?? field.text}
            onInput=${(event) => keep(item.item_id, place, event.target.value)}></textarea>
          <p class="row"><button type="button" onClick=${() => saveEdit(field)}>Save</button>
            <button type="button" class="quiet" onClick=${() => open("")}>Close</button></p>`
        : field.own.length
          ? html`<${Diff} parts=${field.own} />`
          : visible(field.text)
    }`;
}

const Cell = ({ who, field, cell }) => html`<td dir="auto" class=${cell.parts.length ? "changed" : undefined}>
  <div class="label">
    ${who}: <b class=${{ no: "error", yes: "ok" }[cell.label] ?? "soft"}>${field.nugget_id ? cell.label || "no mark" : ""}</b>
  </div>
  ${cell.parts.length ? html`<${Diff} parts=${cell.parts} />` : field.nugget_id ? null : html`<span class="soft">unchanged</span>`}
</td>`;

/** The quotes that are cited for a field, each with a way to its message. */
const Quotes = ({ lines }) =>
  lines.length
    ? html`<ul class="plain quotes">
      ${lines.map(
        (line) => html`<li key=${`${line.message_id}${line.quote}`} dir="auto">
          <button type="button" class="number quiet" onClick=${() => cite(line.message_id)}>#${line.message_id}</button>
          <span class="soft"> ${line.speaker}:</span> “${visible(line.quote)}”
          ${line.dropped_by.length ? html` <b class="error">not cited by ${line.dropped_by.join(", ")}</b>` : null}
        </li>`,
      )}
    </ul>`
    : null;

const Who = ({
  opinion,
}) => html`${opinion.reviewer_id}: <b class=${opinion.verdict === "accept" ? "ok" : "error"}>${opinion.verdict}</b>
  ${" "}${words(opinion.reason_code)}${opinion.note ? html`<div dir="auto">“${visible(opinion.note)}”</div>` : null}`;

/** The question that is asked, and the answers given so far: each of them opens its question again. */
function Deciding({ item }) {
  const list = questions(item);
  const isSame = (question, answer) => JSON.stringify(chosen[question.key]) === JSON.stringify(answer.value);
  const open = list.filter(({ key }) => chosen[key] === undefined).length;
  const answered = list.filter((question, i) => i !== asked && chosen[question.key] !== undefined);
  return html`<section class="deciding" aria-label="decision">
    ${list.slice(asked, asked + 1).map(
      (question) => html`<fieldset key=${question.key} class="asked" data-question=${question.key}>
        <legend>${`Question ${asked + 1} of ${list.length}: ${question.title}`}</legend>
        ${question.answers.map(
          (answer, n) => html`<button
            key=${answer.name}
            type="button"
            data-key=${question.key.startsWith(NUGGET) ? "yn"[n] : String(n + 1)}
            aria-pressed=${String(isSame(question, answer))}
            onClick=${() => choose(question, answer)}
          >${answer.name}</button>`,
        )}
      </fieldset>`,
    )}
    ${answered.map(
      (
        question,
      ) => html`<button key=${question.key} type="button" class="quiet" onClick=${() => askAt(list.indexOf(question))}>
        ${question.title}: <b>${question.answers.find((answer) => isSame(question, answer))?.name}</b>
      </button>`,
    )}
    <input
      name="note"
      class="grow"
      placeholder="Note (c)"
      aria-label="note"
      key=${item.item_id}
      defaultValue=${kept(item.item_id, NOTE) ?? ""}
      onInput=${(event) => keep(item.item_id, NOTE, event.target.value)}
    />
    <button type="button" class=${open ? "shut" : "primary"} data-key="Ctrl+↵" onClick=${decide}>
      Decide <span class="small">${open ? `${open} to answer` : ""}</span>
    </button>
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
  y: () => rule(0),
  n: () => rule(1),
  c: () => /** @type {HTMLElement | null} */ (document.querySelector("input[name=note]"))?.focus(),
  ArrowDown: () => askAt(asked + 1),
  ArrowUp: () => askAt(asked - 1),
};

/** Rules on the nugget that is asked about: `y` and `n` are its marks on every page. */
function rule(place) {
  const question = questions(shown())[asked];
  if (question?.key.startsWith(NUGGET)) choose(question, question.answers[place]);
}

/** Asks one of the questions: digits answer it. */
function askAt(place) {
  const list = questions(shown());
  asked = Math.min(Math.max(place, 0), list.length);
  const field = shown().fields.find(({ nugget_id: id }) => id && list[asked]?.key === NUGGET + id);
  if (field?.evidence.length) talk?.go(field.evidence[0].message_id).catch((problem) => say(problem.message));
  draw();
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") return decide();
  if (event.key === "Escape" && document.activeElement instanceof HTMLElement) return document.activeElement.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isField(event.target) || !shown())
    return undefined;
  const question = questions(shown())[asked];
  const answer = question?.answers[Number(event.key) - 1];
  const known = answer ? () => choose(question, answer) : KEYS[nameOf(event)];
  if (!known) return undefined;
  event.preventDefault();
  return known();
});
window.addEventListener("online", tryNow);

open_(view.items.findIndex((item) => item.item_id === new URLSearchParams(location.search).get("item")));
