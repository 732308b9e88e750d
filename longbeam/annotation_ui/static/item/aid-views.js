// The right pane: one aid at a time, chosen by tabs. Keys open an aid at the top, where its results are seen.
import { itemAddress } from "../api.js";
import { KeyButton } from "../keys.js";
import { moment, numbered, plural, said, visible, words } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { act } from "./acts.js";
import { showAid } from "./aids.js";
import { goTo } from "./conversation.js";
import { show, takeIn, travel } from "./deciding.js";
import { Link, Panel } from "./panel.js";
import { ask, complain, mayWork, store } from "./state.js";
import { Writing } from "./writing.js";

/** Aids that are always in reach; the others are in a menu. */
const TABS = [
  ["checks", "Checks"],
  ["counter", "Counter-evidence"],
];
const MENU = [
  ["guidelines", "Guidelines"],
  ["what-if", "Try the rubric"],
  ["decisions", "My decisions"],
  ["pool", "Other candidates"],
];
const MOST_CANDIDATES = 20;
/** Aids that tell the gold answer, or half of it. */
const TELLING = ["checks", "counter", "what-if", "write"];

const Badge = ({ count, title, worst = "" }) =>
  count ? html` <span class=${`badge ${worst}`} title=${title}>${count}</span>` : null;

/** What waits behind a tab: pieces of evidence; counter-evidence to look at; findings, in the colour of the worst. */
export function TabCount({ state, item, name }) {
  if (state.isBlind) return null;
  if (name === "evidence") return html`<${Badge} count=${item.evidence.length} title="pieces of evidence" />`;
  if (name === "counter") {
    const open = (state.aids.counter?.candidates ?? []).filter((candidate) => !candidate.is_cleared);
    return html`<${Badge} count=${open.length} title="messages to look at" />`;
  }
  const count = item.findings.length + (state.aids.panel?.doubts.length ?? 0);
  if (name !== "checks") return null;
  const worst = item.findings.some((finding) => finding.severity === "error") ? "error" : "warning";
  return html`<${Badge} count=${count} title="findings and points to look at" worst=${worst} />`;
}

/** @param {{state: import("./state.js").PageState, item: import("../types").ItemView}} props */
export function Aids({ state, item }) {
  const open = state.aid;
  const tab = (aid) => html`<button
    key=${aid[0]}
    type="button"
    class="small"
    aria-pressed=${String(open === aid[0])}
    onClick=${() => showAid(aid[0])}
  >${aid[1]}<${TabCount} state=${state} item=${item} name=${aid[0]} /></button>`;
  return html`<section id="aids" aria-label="aids">
    <nav class="tabs" aria-label="aids">
      ${TABS.map(tab)}
      <details class="menu">
        <summary class="small" data-current=${MENU.some(([name]) => name === open)}>
          More
        </summary>
        <div class="menu-items">${MENU.filter(([name]) => item.can_write || name !== "decisions").map(tab)}</div>
      </details>
    </nav>
    <div class="aid" key=${`${item.item_id}-${open}`}><${Aid} state=${state} item=${item} /></div>
  </section>`;
}

function Aid({ state, item }) {
  const { aids, guidelines, decisions } = state;
  if (state.isBlind && TELLING.includes(state.aid)) return html`<${Hidden} />`;
  switch (state.aid) {
    case "counter":
      return aids.counter ? html`<${Counter} found=${aids.counter} item=${item} />` : html`<${Loading} />`;
    case "what-if":
      return aids["what-if"] ? html`<${WhatIf} found=${aids["what-if"]} />` : html`<${Loading} />`;
    case "guidelines":
      return guidelines ? html`<${Guidelines} guidelines=${guidelines} item=${item} />` : html`<${Loading} />`;
    case "decisions":
      return decisions ? html`<${Decisions} rows=${decisions.events} />` : html`<${Loading} />`;
    case "pool":
      return html`<${Pool} item=${item} />`;
    case "write":
      return html`<${Writing} item=${item} />`;
    default:
      return html`
        <${Findings} item=${item} doubts=${aids.panel?.doubts ?? []} />
        <${Panel} item=${item} aids=${aids} />
        <p class="row small">
          <a href=${`${location.pathname}/history`}>History</a>
          <a href=${`${location.pathname}/provenance`}>Passport</a>
          <a href=${`/conversations/${encodeURIComponent(item.conversation_id)}`}>Conversation</a>
        </p>
      `;
  }
}

const Hidden = () => html`<section id="hidden">
  <p>This is shown again once you have answered, because it tells the gold answer.</p>
  <${KeyButton} action="solve">Show the gold answer</${KeyButton}>
</section>`;

const Loading = () => html`<p class="soft">loading …</p>`;

/** What stands below, counted: findings of the checks, and what a person should look at. */
function summary({ is_checked: isChecked, checks, findings }, doubts) {
  const looks = doubts.length ? `; ${plural(doubts.length, "point")} to look at` : "";
  if (!isChecked) return `${checks.length} checks${looks}`;
  return `${checks.length} checks: ${findings.length ? plural(findings.length, "finding") : "no finding"}${looks}`;
}

/** Findings of the checks, worst first, each with a way to the place that it is about; then what no check can settle. */
function Findings({ item, doubts }) {
  return html`<section id="findings">
    <div class="part">
      <h2>Checks</h2>
      ${item.can_write && item.is_checked ? html`<${KeyButton} action="check" class="quiet">Run again</${KeyButton}>` : null}
    </div>
    <${CheckState} item=${item} />
    <details class="small soft">
      <summary>${summary(item, doubts)}</summary>
      <ul class="plain">
        ${item.checks.map((check) => html`<li key=${check.check} class=${check.state}><b>${words(check.state)}</b>: ${check.doc}</li>`)}
      </ul>
    </details>
    ${item.findings.map(
      (finding, i) => html`<p key=${i} class=${finding.severity}>
        <a href=${finding.href} title=${finding.doc} onClick=${(event) => lead(event, finding.href)}>${finding.place}</a>:
        ${` ${visible(numbered(finding.message, finding.messages))} `}
        ${finding.messages.map((message) => html`<${Link} key=${message.message_id} message=${message} />`)}
      </p>`,
    )}
    ${doubts.map(
      (doubt) => html`<p key=${doubt.text} class="doubt warning">
        ${visible(doubt.text)} ${doubt.messages.map((message) => html`<${Link} key=${message.message_id} message=${message} />`)}
      </p>`,
    )}
  </section>`;
}

function CheckState({ item }) {
  if (!item.is_checked) {
    return item.is_checking
      ? html`<p class="soft" role="status">The checks are running; their findings appear here.</p>`
      : html`<p class="soft">Not checked yet. <${KeyButton} action="check">Run the checks</${KeyButton}></p>`;
  }
  return item.is_findings_current ? null : html`<p class="warning">You edited the item after the checks ran.</p>`;
}

/** Shows the place of a finding's cause: a field, a nugget or a cited message. */
function lead(event, href) {
  event.preventDefault();
  const name = decodeURIComponent(href.slice(1));
  const [kind, ...rest] = name.split("-");
  const key = rest.join("-");
  const { item } = store.get();
  if (!item) return;
  const place = (list, id) => list.findIndex((one) => one[id] === key);
  if (kind === "evidence") {
    const piece = Math.max(place(item.evidence, "message_key"), 0);
    store.set({ piece });
    const id = item.evidence[piece]?.message_id;
    if (id !== null && id !== undefined) goTo(id);
  } else if (kind === "nugget") {
    store.set({ nugget: Math.max(place(item.rubric, "nugget_id"), 0) });
  }
  store.set({ pointed: name, tab: kind === "evidence" ? "evidence" : "question" });
  document.getElementById(kind === "evidence" ? "dock" : name)?.scrollIntoView({ block: "nearest" });
}

/** Messages that could change the answer. */
function Counter({ found, item }) {
  return html`<section id="counter">
    <div class="part"><h2>Counter-evidence</h2></div>
    <p class="small soft">
      ${found.candidates.length ? plural(found.candidates.length, "further message") : "No further message"} on the topic of the
      question (${found.terms.join(", ")}) that could change the answer.
    </p>
    <ol class="plain">
      ${found.candidates.map((candidate) => html`<${Against} key=${candidate.message_key} candidate=${candidate} item=${item} />`)}
    </ol>
  </section>`;
}

function Against({ candidate, item }) {
  const settle = async (body) => {
    if (await act(body)) await showAid("counter");
  };
  const clear = { kind: "cleared", target: `message/${candidate.message_key}` };
  const adopt = { kind: "evidence_added", after: { message_key: candidate.message_key, quote: candidate.quote } };
  const id = candidate.message_id;
  const change = () => ask({ kind: "reason", likely: candidate.signs.includes("later") ? "outdated" : "wrong_gold" });
  return html`<li class=${`candidate${candidate.is_cleared ? " soft" : ""}`}>
    <${Link} message=${candidate} />
    <span class="small"> ${candidate.speaker}, ${said(candidate.sent_at)} </span>
    ${candidate.signs.map((sign) => html`<span key=${sign} class="tag">${words(sign)}</span>`)}
    <div dir="auto" dangerouslySetInnerHTML=${{ __html: candidate.excerpt_html }}></div>
    ${
      candidate.is_cleared
        ? html`<p>changes nothing</p>`
        : mayWork(item)
          ? html`<p class="row">
            <button type="button" onClick=${() => settle(clear)} aria-label=${`message ${id} changes nothing`}>Changes nothing</button>
            <button type="button" onClick=${() => settle(adopt)} aria-label=${`cite it: message ${id}`}>Cite it</button>
            <button type="button" onClick=${change} aria-label=${`message ${id} changes the answer`}>Changes the answer</button>
          </p>`
          : null
    }
  </li>`;
}

/** The rubric on the gold answer and on wrong answers. */
function WhatIf({ found }) {
  return html`<section id="what-if">
    <div class="part"><h2>Try the rubric</h2></div>
    <p class="small soft">An automatic judge (${found.judge}) scores these answers. The gold answer should get 1, all others less.</p>
    <table>
      <thead><tr><th scope="col">answer</th><th scope="col">score</th><th scope="col">as it should be</th></tr></thead>
      <tbody>
        ${found.rows.map(
          (row, i) => html`<tr key=${i}>
            <td><b>${words(row.answer_kind)}</b><div class="soft" dir="auto">${visible(row.answer.slice(0, 160))}</div></td>
            <td>${row.score.toFixed(2)}</td>
            <td class=${row.is_as_expected ? "ok" : "error"}>${row.is_as_expected ? "yes" : "no"}</td>
          </tr>`,
        )}
      </tbody>
    </table>
    ${found.lint?.length ? html`<ul>${found.lint.map((lint, i) => html`<li key=${i} class="warning">${lint.message}</li>`)}</ul>` : null}
  </section>`;
}

/** The guidelines: the general part, and that of the item's ability. */
function Guidelines({ guidelines, item }) {
  const sections = guidelines.sections.filter((section) => ["general", item.ability].includes(section.section));
  return html`<section id="guidelines">
    <div class="part"><h2>Guidelines</h2></div>
    ${sections.map(
      (section) => html`<details key=${section.section} open>
        <summary>${section.name}</summary>
        <div dangerouslySetInnerHTML=${{ __html: section.html }}></div>
      </details>`,
    )}
    <p class="small"><a href="/guidelines">All guidelines</a></p>
  </section>`;
}

/** The reviewer's last decisions, newest first; any of them can be undone. */
function Decisions({ rows }) {
  const open = (event, href) => {
    event.preventDefault();
    show(href).catch(complain);
  };
  return html`<section id="decisions">
    <div class="part"><h2>My decisions</h2></div>
    ${rows.length ? null : html`<p class="soft">Nothing yet.</p>`}
    <ol class="plain">
      ${rows.map(
        (row) => html`<li key=${row.event_id} class="candidate">
          <a href=${row.href} onClick=${(event) => open(event, row.href)}>${row.item_name}</a>: ${row.name}
          ${row.value ? html` <b dir="auto">${visible(row.value.slice(0, 200))}</b>` : null}
          <div class="row soft small">
            ${moment(row.created_at)}
            <button
              type="button"
              class="quiet"
              onClick=${() => travel("undo", row.event_id)}
              aria-label=${`undo: ${row.name} (${row.item_name})`}
            >Undo</button>
          </div>
        </li>`,
      )}
    </ol>
  </section>`;
}

/** Other candidates of the ability, any of which can be taken into the review; and probes written by hand. */
function Pool({ item }) {
  return html`<section id="pool">
    <div class="part">
      <h2>${item.candidates.length} candidates of ${item.ability_title}</h2>
      ${item.can_write ? html`<button type="button" onClick=${() => store.set({ aid: "write" })}>Write an item</button>` : null}
    </div>
    <p class="soft small">When an item is rejected, the next candidate of its ability takes its place.</p>
    <ul class="plain">
      ${item.candidates.slice(0, MOST_CANDIDATES).map((one) => html`<${Candidate} key=${one.item_id} item=${item} candidate=${one} />`)}
    </ul>
  </section>`;
}

function Candidate({ item, candidate }) {
  const isFree = !candidate.is_in_queue && candidate.status !== "rejected";
  const isWaiting = candidate.is_in_queue && candidate.status === "pending";
  const state = isFree ? "candidate" : isWaiting ? "in the queue" : words(candidate.status);
  return html`<li class="candidate" data-item=${candidate.item_id}>
    <a href=${itemAddress(candidate.item_id) + location.search}>${candidate.name}</a> <span class="tag">${state}</span>
    ${
      item.can_write && isFree
        ? html`<button type="button" onClick=${() => takeIn(candidate.item_id)} aria-label=${`take in ${candidate.name}`}>Take in</button>`
        : null
    }
    <div dir="auto">${visible(candidate.question)}</div>
  </li>`;
}
