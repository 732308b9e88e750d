// The right pane: one aid at a time, chosen by tabs. Keys open an aid at the top, where its results are seen.
import { itemAddress } from "../api.js";
import { KeyButton, perform } from "../keys.js";
import { moment, numbered, said, visible, words } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { act } from "./acts.js";
import { showAid } from "./aids.js";
import { goTo } from "./conversation.js";
import { show, takeIn, travel } from "./deciding.js";
import { Panel } from "./panel.js";
import { complain, mayWork, store } from "./state.js";
import { Writing } from "./writing.js";

const TABS = [
  ["checks", "Checks"],
  ["counter", "Counter-evidence"],
  ["what-if", "Try the rubric"],
  ["guidelines", "Guidelines"],
  ["decisions", "My decisions"],
  ["pool", "Other candidates"],
];
const MOST_CANDIDATES = 20;
const ORDER = ["error", "warning", "info"];
/** Aids that tell the gold answer, or half of it. */
const TELLING = ["checks", "counter", "what-if", "write"];

/** @param {{state: import("./state.js").PageState, item: import("../types").ItemView}} props */
export function Aids({ state, item }) {
  const open = state.aid;
  const tabs = item.can_write ? TABS : TABS.filter(([name]) => name !== "decisions");
  return html`<section id="aids" aria-label="aids">
    <nav class="tabs" aria-label="aids">
      ${tabs.map(
        ([name, text]) => html`<button
          key=${name}
          type="button"
          class="small"
          aria-pressed=${String(open === name)}
          onClick=${() => showAid(name)}
        >${text}</button>`,
      )}
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
      return decisions ? html`<${Decisions} rows=${decisions.decisions} />` : html`<${Loading} />`;
    case "pool":
      return html`<${Pool} item=${item} />`;
    case "write":
      return html`<${Writing} item=${item} />`;
    default:
      return html`
        <${Findings} item=${item} />
        <${Panel} item=${item} aids=${aids} />
        <section class="more">
          <p class="row">
            <${KeyButton} action="counter" class="quiet">What could change the answer</${KeyButton}>
            ${
              item.can_write && !item.mine?.is_saved
                ? html`<button type="button" class="quiet" data-action="solve" onClick=${() => perform("solve")}>
                  ${state.isBlind ? "Show the gold answer" : "Answer it yourself first"}
                </button>`
                : null
            }
          </p>
          <p class="row small">
            <a href=${`${location.pathname}/history`}>History of this item</a>
            <a href=${`${location.pathname}/provenance`}>On one page</a>
            <a href=${`/conversations/${encodeURIComponent(item.conversation_id)}`}>The conversation</a>
          </p>
        </section>
      `;
  }
}

const Hidden = () => html`<section id="hidden">
  <p>This is shown again once you have answered, because it tells the gold answer.</p>
  <${KeyButton} action="solve">Show the gold answer</${KeyButton}>
</section>`;

const Loading = () => html`<p class="soft">loading …</p>`;

const Number_ = ({ id }) => html`<button type="button" class="number quiet" onClick=${() => goTo(id)}>#${id}</button>`;

/** Findings of the checks, worst first; each leads to the place that it is about. */
function Findings({ item }) {
  const findings = [...item.findings].sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
  const fine = item.checks.filter((check) => check.state === "ok").length;
  return html`<section id="findings">
    <div class="part">
      <h2>What the checks say</h2>
      ${item.can_write && item.is_checked ? html`<${KeyButton} action="check" class="quiet">Run again</${KeyButton}>` : null}
    </div>
    <${CheckState} item=${item} />
    ${findings.map(
      (finding, i) => html`<p key=${i} class=${finding.severity}>
        <a href=${finding.href} title=${finding.doc} onClick=${(event) => lead(event, finding.href)}>${words(finding.check)}</a>:
        ${` ${visible(numbered(finding.message, finding.messages))} `}
        ${finding.messages.map((message) => html`<${Number_} key=${message.message_id} id=${message.message_id} />`)}
      </p>`,
    )}
    <details class="small soft">
      <summary>${item.is_checked ? `${fine} of ${item.checks.length} checks found nothing` : `${item.checks.length} checks`}</summary>
      <ul class="plain">
        ${item.checks.map(
          (check) => html`<li key=${check.check} class=${check.state}>
            <b>${words(check.check)}</b>: ${words(check.state)}. ${check.doc}
          </li>`,
        )}
      </ul>
    </details>
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
  if (kind === "evidence") {
    const piece = Math.max(
      item.evidence.findIndex((evidence) => evidence.message_key === key),
      0,
    );
    store.set({ piece });
    const id = item.evidence[piece]?.message_id;
    if (id !== null && id !== undefined) goTo(id);
  } else if (kind === "nugget") {
    store.set({
      nugget: Math.max(
        item.rubric.findIndex((nugget) => nugget.nugget_id === key),
        0,
      ),
    });
  }
  store.set({ pointed: name, tab: kind === "evidence" ? "evidence" : "question" });
  document.getElementById(kind === "evidence" ? "dock" : name)?.scrollIntoView({ block: "nearest" });
}

/** Messages that could change the answer. */
function Counter({ found, item }) {
  return html`<section id="counter">
    <div class="part"><h2>Could change the answer</h2></div>
    <p class="small soft">Looked for ${found.terms.join(", ")} in ${found.considered.toLocaleString("en")} messages.</p>
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
  return html`<li class=${`candidate${candidate.is_cleared ? " soft" : ""}`}>
    <${Number_} id=${id} />
    <span class="small"> ${said(candidate.sent_at)} </span>
    ${candidate.signs.map((sign) => html`<span key=${sign} class="tag">${words(sign)}</span>`)}
    <div dir="auto" dangerouslySetInnerHTML=${{ __html: candidate.excerpt_html }}></div>
    ${
      candidate.is_cleared
        ? html`<p>changes nothing</p>`
        : mayWork(item)
          ? html`<p class="row">
            <button type="button" onClick=${() => settle(clear)} aria-label=${`message ${id} changes nothing`}>changes nothing</button>
            <button type="button" onClick=${() => settle(adopt)} aria-label=${`cite it: message ${id}`}>cite it</button>
          </p>`
          : null
    }
  </li>`;
}

/** The rubric on the gold answer and on wrong answers. */
function WhatIf({ found }) {
  return html`<section id="what-if">
    <div class="part"><h2>The rubric on right and wrong answers</h2></div>
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
    ${sections.map(
      (section) => html`<details key=${section.section} open>
        <summary>${section.name}</summary>
        <div dangerouslySetInnerHTML=${{ __html: section.html }}></div>
      </details>`,
    )}
    <p class="small"><a href="/guidelines">All guidelines</a></p>
  </section>`;
}

/** The reviewer's last decisions, newest first; any of them can be taken back. */
function Decisions({ rows }) {
  const open = (event, href) => {
    event.preventDefault();
    show(href).catch(complain);
  };
  return html`<section id="decisions">
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
              aria-label=${`take back: ${row.name} (${row.item_name})`}
            >take back</button>
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
      ${item.can_write ? html`<button type="button" onClick=${() => store.set({ aid: "write" })}>write a probe</button>` : null}
    </div>
    <p class="soft small">When a probe is rejected, the next candidate of its ability takes its place.</p>
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
        ? html`<button type="button" onClick=${() => takeIn(candidate.item_id)} aria-label=${`take in ${candidate.name}`}>take in</button>`
        : null
    }
    <div dir="auto">${visible(candidate.question)}</div>
  </li>`;
}
