// The panel of an ability: what the probe says of itself, the history of values, absence, dates.
import { numbered, plural, visible, words } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { act } from "./acts.js";
import { goTo } from "./conversation.js";
import { mayWork } from "./state.js";

/** @param {{item: import("../types").ItemView, aids: any}} props */
export function Panel({ item, aids }) {
  const { panel, further, failure } = aids;
  return html`<section id="panel">
    <div class="part"><h2>${item.ability_title[0].toUpperCase() + item.ability_title.slice(1)}</h2></div>
    ${panel ? html`<${Details} rows=${panel.details} />` : null}
    <${Ordering} item=${item} />
    ${failure ? html`<p class="error">${failure}</p>` : null}
    ${further && item.panel.further === "absence" ? html`<${Absence} record=${further} />` : null}
    ${further && item.panel.further === "dates" ? html`<${Dates} dates=${further} pieces=${item.evidence} />` : null}
    ${panel?.values.length ? html`<${Values} values=${panel.values} />` : null}
  </section>`;
}

/** The number of a message, which leads to it. */
export const Link = ({ message }) => html`<button
    type="button"
    class="number quiet"
    onClick=${() => goTo(message.message_id)}
  >#${message.message_id}</button>`;

const Details = ({ rows }) =>
  rows.length
    ? html`<table>
    ${rows.map(({ name, text }) => html`<tr key=${name}><th scope="row">${name}</th><td dir="auto">${visible(text)}</td></tr>`)}
  </table>`
    : null;

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

/** All values of the facts that the answer rests on; what counts is said in words, because none of them is "right". */
const Values = ({ values }) => html`<h3>Values told</h3>
  <ul>
    ${values.map(
      (value, i) => html`<li key=${i}>
        ${value.subject} ${value.attribute}: ${value.value} <span class="soft">(${value.standing})</span>
        ${value.messages.slice(0, 3).map((message) => html`<${Link} key=${message.message_id} message=${message} />`)}
      </li>`,
    )}
  </ul>`;

/** Why a search does not count for the abstention. */
function whyNot({ is_counted: isCounted, total }) {
  if (isCounted) return "";
  return total ? ": counts once you open one" : ": does not count, it shares no word with the question";
}

const OWN_SEARCH = "Besides, open at least one hit (h), or try a synonym that nothing is found for.";

function Absence({ record }) {
  if (!record.queries.length) return html`<p class="warning">You have not searched yet whether it is told.</p>`;
  return html`<h3>Your searches: ${record.made} of ${record.needed} count</h3>
    <p>${`You opened ${record.looked_at.toLocaleString("en")} of ${plural(record.hits, "hit")}; the first one opens by itself.`}</p>
    ${record.is_by_rote ? html`<p class="warning">${OWN_SEARCH}</p>` : null}
    <ul>
      ${record.queries.map(
        (made) => html`<li key=${made.query} dir="auto">
          ${visible(made.query)}: ${plural(made.total, "hit")}${whyNot(made)}
        </li>`,
      )}
    </ul>`;
}

const SPAN_HEADS = ["from", "to", "days", "with both ends", "weeks"];

function Dates({ dates, pieces }) {
  const placeOfDate = (one) =>
    numbered(place(one.where), pieces) + (one.is_year_guessed ? ", next to the message" : "");
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
