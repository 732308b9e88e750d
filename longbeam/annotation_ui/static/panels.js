// The panel that the item names, and what is fetched when it is asked for: counter-evidence, absence, dates, what-if.
import { fill, h, when } from "./dom.js";
import { get } from "./net.js";

const list = (rows) => h("ul", {}, rows);

const FURTHER = { absence, dates };

export async function draw(where, item, room, act) {
  const base = `/items/${item.item_id.split("/").map(encodeURIComponent).join("/")}`;
  const name = item.panel.further;
  fill(where, h("h2", {}, item.ability_title), details(item), ordering(item, act, room));
  where.dataset.item = item.item_id;
  try {
    const [panel, further] = await Promise.all([get(`${base}/panel.json`), name ? get(`${base}/${name}.json`) : null]);
    // Another item may have been opened meanwhile; of two answers for this one the later takes the place of the first.
    if (where.dataset.item === item.item_id) fill(where, h("h2", {}, item.ability_title), details(item), ordering(item, act, room), further ? FURTHER[name](further) : null, bodies(panel, item, room));
  } catch (problem) { where.append(h("p", { class: "error" }, problem.message)); }
}

// The items of an order, each of which can be moved; saved as an edit.
function ordering(item, act, room) {
  const items = item.panel.draft_field === "items" ? (item.details.items ?? []) : [];
  if (!items.length || !item.can_write) return null;
  const moved = (from, to) => { const next = [...items]; next.splice(to, 0, ...next.splice(from, 1)); act({ kind: "edited", target: "details/items", after: next }).then((done) => done && draw(document.getElementById("panel"), done.item, room, act)); };
  return h("details", { class: "small" }, h("summary", {}, "change the order"), h("ol", {}, items.map((text, i) => h("li", {}, `${text} `,
    h("button", { type: "button", class: "small", "aria-label": `move ${text} up`, disabled: i === 0, onclick: () => moved(i, i - 1) }, "↑"),
    h("button", { type: "button", class: "small", "aria-label": `move ${text} down`, disabled: i === items.length - 1, onclick: () => moved(i, i + 1) }, "↓")))));
}

function details(item) {
  const d = item.details;
  const rows = [["variety", d.variety?.replaceAll("_", " ")], ["old value", d.old_value], ["new value", d.new_value], ["computed", d.computed_value && `${d.computation}: ${d.computed_value}`],
    ["missing", d.missing], ["instruction", d.instruction], ["preference", d.preference]].filter(([, v]) => v);
  return h("table", { class: "small" }, rows.map(([name, value]) => h("tr", {}, h("th", {}, name), h("td", {}, value))));
}

function link(message, room, text) {
  return message ? h("button", { type: "button", class: "small", onclick: () => room.go(message.message_id) }, text ?? `#${message.message_id}`) : null;
}

function bodies(panel, item, room) {
  const made = [];
  if (panel.values.length) {
    made.push(h("h3", {}, "Values told"), list(panel.values.map((v) => h("li", { class: v.is_current ? "ok" : "" },
      `${v.subject} ${v.attribute}: ${v.value} (${v.stance}) `, v.messages.slice(0, 3).map((m) => link(m, room))))));
  }
  if (panel.sides.length && item.panel.sides_title) {
    const ordered = [...panel.sides].sort((a, b) => (a.group ?? 0) - (b.group ?? 0));
    made.push(h("h3", {}, item.panel.sides_title),
      h("table", { class: "small" }, ordered.map((s) => h("tr", {}, h("td", {}, s.item || s.part), h("td", {}, s.mention_rank === null || ordered.length < 2 ? "" : `${s.mention_rank + 1}.`),
        h("td", { class: "when" }, when(s.sent_at).slice(0, 10)), h("td", {}, link(s.message, room))))));
  }
  if (panel.matches.length) {
    made.push(h("h3", {}, "Values of the gold in the evidence"), list(panel.matches.map((m) => {
      const isComputed = !m.evidence_ids.length && item.details.computed_value && m.value.includes(item.details.computed_value);
      return h("li", { class: m.evidence_ids.length ? "ok" : isComputed ? "" : "error" }, `${m.value}: ${m.evidence_ids.length ? `said in ${m.evidence_ids.length}` : isComputed ? "computed" : "said in no quote"}`);
    })));
  }
  if (panel.coverage.length && item.evidence.length) {
    made.push(h("h3", {}, "Nuggets and evidence"), h("table", { class: "small" }, panel.coverage.map((c, i) => h("tr", {}, h("td", {}, `nugget ${i + 1}`),
      // Words alone are a hint: one nugget in five of a sound probe is worded otherwise than its evidence.
      h("td", { class: c.cited.length ? "ok" : "warning" }, `cited ${c.cited.length}`), h("td", { class: c.worded.length ? "ok" : c.cited.length ? "soft" : "warning" }, `worded ${c.worded.length}`)))));
  }
  if (item.panel.has_sessions) {
    made.push(h("p", { class: "small" }, `Sessions touched: ${panel.sessions.join(", ") || "none"}.`),
      panel.single.length ? h("p", { class: "warning small" }, "One message may answer it alone: ", panel.single.map((m) => link(m, room))) : "");
  }
  return made.filter(Boolean);
}

function absence(a) {
  return h("div", {}, h("h3", {}, "Record of absence"), h("p", { class: a.made >= a.needed ? "ok" : "warning" },
    `${a.made} of ${a.needed} different searches made; ${a.looked_at} of ${a.hits} hits looked at.`),
    list(a.queries.map((q) => h("li", {}, q))),
    a.claimed.length ? h("p", { class: "small soft" }, `The generator searched: ${a.claimed.join(", ")}`) : null,
    h("table", { class: "small" }, a.sessions.filter((s) => s.looked_at).slice(0, 12).map((s) => h("tr", {}, h("td", {}, `session ${s.session}`), h("td", {}, `${s.looked_at} of ${s.messages}`)))));
}

function dates(d) {
  const days = Map.groupBy(d.dates, (x) => x.date);
  return h("div", {}, h("h3", {}, "Days counted, beside the gold"),
    d.spans.length ? h("table", { class: "small" }, h("tr", {}, ["from", "to", "days", "both ends", "weeks"].map((t) => h("th", {}, t))),
      d.spans.map((s) => h("tr", {}, h("td", {}, s.first), h("td", {}, s.second), h("td", {}, String(s.days)), h("td", {}, String(s.days_inclusive)), h("td", {}, s.weeks.toFixed(1))))) : null,
    list(d.lengths.map((l) => h("li", { class: l.verdict.startsWith("no") || l.verdict.includes("wrong") ? "error" : "" }, `${place(l.where)}: ${l.text}: ${l.verdict}`))),
    h("h3", {}, "Dates"), list([...days].map(([date, found]) => h("li", {}, `${found[0].weekday} ${date}: `,
      h("span", { class: "soft" }, [...new Set(found.map((x) => place(x.where) + (x.is_year_guessed ? ", year of the message" : "")))].join(", "))))));
}

const place = (where) => where.replace(/^nugget\/.*\.n(\d+)$/, (_, n) => `nugget ${Number(n) + 1}`).replaceAll("_", " ").replace(/^sent\//, "sent with ").replace(/^message\//, "");

export function counter(found, room, clear) {
  return h("div", {}, h("h2", {}, "Could change the answer"), h("p", { class: "small soft" }, `looked for ${found.terms.join(", ")} in ${found.considered} messages`),
    found.candidates.map((c) => h("div", { class: `card small ${c.is_cleared ? "soft" : ""}` }, h("button", { type: "button", onclick: () => room.go(c.message_id) }, `#${c.message_id}`), ` ${when(c.sent_at)} `,
      c.signs.map((s) => h("span", { class: "tag" }, s)), h("div", { html: c.excerpt_html }),
      c.is_cleared ? "changes nothing" : h("button", { type: "button", onclick: () => clear(c.message_key) }, "changes nothing"))));
}

export function whatIf(found) {
  return h("div", {}, h("h2", {}, `What if (${found.judge})`), h("table", { class: "small" }, h("tr", {}, ["answer", "score", ""].map((t) => h("th", {}, t))),
    found.rows.map((r) => h("tr", {}, h("td", {}, h("b", {}, r.answer_kind), h("div", { class: "soft" }, r.answer.slice(0, 160))), h("td", {}, r.score.toFixed(2)),
      h("td", { class: r.is_as_expected ? "ok" : "error" }, r.is_as_expected ? "as it should be" : "not as it should be")))),
    found.lint?.length ? list(found.lint.map((l) => h("li", { class: "warning" }, l.message))) : null);
}
