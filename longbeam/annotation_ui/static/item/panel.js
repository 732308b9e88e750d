// The panel of an ability: history of values, sides and order, coverage of nuggets, absence, dates.
import { numbered, plural, said, visible, words } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { act } from "./acts.js";
import { goTo } from "./conversation.js";
import { mayWork } from "./state.js";

/** @param {{item: import("../types").ItemView, aids: any}} props */
export function Panel({ item, aids }) {
  const { panel, further, failure } = aids;
  return html`<section id="panel">
    <div class="part"><h2>${item.ability_title[0].toUpperCase() + item.ability_title.slice(1)}</h2></div>
    <${Details} details=${item.details} />
    <${Ordering} item=${item} />
    ${failure ? html`<p class="error">${failure}</p>` : null}
    ${further && item.panel.further === "absence" ? html`<${Absence} record=${further} />` : null}
    ${further && item.panel.further === "dates" ? html`<${Dates} dates=${further} pieces=${item.evidence} />` : null}
    ${panel ? html`<${Bodies} panel=${panel} item=${item} />` : null}
  </section>`;
}

const Link = ({ message }) =>
  message
    ? html`<button
      type="button"
      class="number quiet"
      onClick=${() => goTo(message.message_id)}
    >#${message.message_id}</button>`
    : null;

function Details({ details }) {
  const rows = [
    ["old value", details.old_value],
    ["new value", details.new_value],
    ["computed", details.computed_value && `${details.computation}: ${details.computed_value}`],
    ["never told", details.missing],
    ["instruction", details.instruction],
    ["preference", details.preference],
  ].filter(([, value]) => value);
  if (!rows.length) return null;
  return html`<table>
    ${rows.map(([name, value]) => html`<tr key=${name}><th scope="row">${name}</th><td dir="auto">${value}</td></tr>`)}
  </table>`;
}

/** The items of an order, each of which can be moved; saved as an edit. */
function Ordering({ item }) {
  const items = item.panel.draft_field === "items" ? (item.details.items ?? []) : [];
  if (!items.length || !mayWork(item)) return null;
  const move = (from, to) => {
    const next = [...items];
    next.splice(to, 0, ...next.splice(from, 1));
    act({ kind: "edited", target: "details/items", after: next, base: items });
  };
  return html`<details>
    <summary>change the order</summary>
    <ol>
      ${items.map(
        (text, i) => html`<li key=${text}>
          ${text}
          <button
            type="button"
            aria-label=${`move ${text} up`}
            disabled=${i === 0}
            onClick=${() => move(i, i - 1)}
          >↑</button>
          <button
            type="button"
            aria-label=${`move ${text} down`}
            disabled=${i === items.length - 1}
            onClick=${() => move(i, i + 1)}
          >↓</button>
        </li>`,
      )}
    </ol>
  </details>`;
}

function Bodies({ panel, item }) {
  return html`
    ${panel.values.length ? html`<${Values} key="values" values=${panel.values} />` : null}
    ${
      panel.sides.length && item.panel.sides_title
        ? html`<${Sides}
      key="sides"
      sides=${panel.sides}
      title=${item.panel.sides_title}
    />`
        : null
    }
    ${
      panel.matches.length
        ? html`<${Matches}
      key="matches"
      matches=${panel.matches}
      item=${item}
      computed=${item.details.computed_value}
    />`
        : null
    }
    ${
      panel.coverage.length && item.evidence.length
        ? html`<${Coverage}
      key="coverage"
      coverage=${panel.coverage}
      item=${item}
    />`
        : null
    }
    ${item.panel.has_sessions ? html`<${Sessions} key="sessions" panel=${panel} />` : null}
  `;
}

const STANCES = { sets: "told first", updates: "changed to this", denies: "denied", mentions: "told again" };

const Values = ({ values }) => html`<h3>Values told</h3>
  <ul>
    ${values.map(
      (value, i) => html`<li key=${i} class=${value.is_current ? "ok" : ""}>
        ${value.subject} ${value.attribute}: ${value.value} (${STANCES[value.stance] ?? value.stance})
        ${value.messages.slice(0, 3).map((message) => html`<${Link} key=${message.message_id} message=${message} />`)}
      </li>`,
    )}
  </ul>`;

const rankOf = (side) => (side.mention_rank === null ? "" : `told as number ${side.mention_rank + 1},`);

function Sides({ sides, title }) {
  const ordered = [...sides].sort((a, b) => (a.group ?? 0) - (b.group ?? 0));
  return html`<h3>${title}</h3>
    <ol>
      ${ordered.map(
        (side) => html`<li key=${side.evidence_id}>
          ${side.item || words(side.part)}
          <span class="soft"> ${ordered.length < 2 ? "" : rankOf(side)} ${said(side.sent_at).slice(0, 10)} </span>
          <${Link} message=${side.message} />
        </li>`,
      )}
    </ol>`;
}

/** The messages of some pieces of evidence, as links. */
const Quotes = ({ item, ids }) =>
  item.evidence
    .filter((piece) => ids.includes(piece.evidence_id) && piece.message_id !== null)
    .map((piece) => html`<${Link} key=${piece.evidence_id} message=${piece} />`);

function Matches({ item, matches, computed }) {
  return html`<h3>Values of the gold answer, word for word</h3>
    <ul>
      ${matches.map(({ value, evidence_ids: ids }) => {
        const other = computed && value.includes(computed) ? "computed from the quotes" : "in no quote in these words";
        return html`<li key=${value}>${value}: ${ids.length ? html`quoted in <${Quotes} item=${item} ids=${ids} />` : other}</li>`;
      })}
    </ul>`;
}

// Words alone are a hint: one nugget in five of a sound probe is worded otherwise than its evidence.
const Coverage = ({ item, coverage }) => html`<h3>Quotes for each nugget</h3>
  <ul>
    ${coverage.map(
      (row, i) => html`<li key=${row.nugget_id}>
        nugget ${i + 1}:
        ${row.cited.length ? html` <${Quotes} item=${item} ids=${row.cited} />` : html` <span class="warning">none is cited</span>`}
        ${row.worded.length ? null : html`<span class="soft">in other words</span>`}
      </li>`,
    )}
  </ul>`;

const Sessions = ({
  panel,
}) => html`<p>In sessions ${panel.sessions.map((session) => session + 1).join(", ") || "none"}.</p>
  ${
    panel.single.length
      ? html`<p class="warning">One message may answer it alone: ${panel.single.map(
          (message) => html`<${Link}
        key=${message.message_id}
        message=${message}
      />`,
        )}</p>`
      : null
  }`;

/** Why a search does not count for the abstention. */
function whyNot({ is_counted: isCounted, total }) {
  if (isCounted) return "";
  return total ? "; counts once you have looked at one" : "; does not count: it shares no word with the question";
}

function Absence({ record }) {
  if (!record.queries.length) return html`<p class="warning">You have not searched yet whether it is told.</p>`;
  return html`<h3>Your searches: ${record.made} of ${record.needed} count</h3>
    <p>${`You looked at ${record.looked_at.toLocaleString("en")} of ${plural(record.hits, "hit")}.`}</p>
    <ul>
      ${record.queries.map(
        (made) => html`<li key=${made.query} dir="auto">
          ${visible(made.query)}: ${plural(made.total, "hit")}${whyNot(made)}
        </li>`,
      )}
    </ul>
    <ul class="small">
      ${record.sessions
        .filter((session) => session.looked_at)
        .slice(0, 12)
        .map(
          (session) =>
            html`<li key=${session.session}>session ${session.session + 1}: ${session.looked_at} of ${session.messages} messages</li>`,
        )}
    </ul>`;
}

const SPAN_HEADS = ["from", "to", "days", "with both ends", "weeks"];

function Dates({ dates, pieces }) {
  const placeOfDate = (one) =>
    numbered(place(one.where), pieces) + (one.is_year_guessed ? ", year of the message" : "");
  const days = new Map();
  for (const found of dates.dates) days.set(found.date, [...(days.get(found.date) ?? []), found]);
  const isWrong = (verdict) => verdict.startsWith("no") || verdict.includes("wrong");
  return html`<h3>Days counted, beside the gold</h3>
    ${
      dates.spans.length
        ? html`<table class="small">
          <thead><tr>${SPAN_HEADS.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
          <tbody>
            ${dates.spans.map(
              (span, i) => html`<tr key=${i}>
                <td>${span.first}</td><td>${span.second}</td><td>${span.days}</td>
                <td>${span.days_inclusive}</td><td>${span.weeks.toFixed(1)}</td>
              </tr>`,
            )}
          </tbody>
        </table>`
        : null
    }
    <ul>${dates.lengths.map(
      (length, i) => html`<li
      key=${i}
      class=${isWrong(length.verdict) ? "error" : ""}
    >${numbered(place(length.where), pieces)}: ${length.text}: ${length.verdict}</li>`,
    )}</ul>
    <h3>Dates</h3>
    <ul>
      ${[...days].map(
        ([date, found]) => html`<li key=${date}>
          ${found[0].weekday} ${date}:
          <span class="soft"> ${[...new Set(found.map(placeOfDate))].join(", ")}</span>
        </li>`,
      )}
    </ul>`;
}

const place = (where) =>
  words(where.replace(/^nugget\/.*\.n(\d+)$/, (_, n) => `nugget ${Number(n) + 1}`))
    .replace(/^sent\//, "sent with ")
    .replace(/^message\//, "");
