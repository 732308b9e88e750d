// The panel of each ability, and what is fetched when it is asked for: counter-evidence, absence, dates, what-if.
import { fill, h, when } from "./dom.js";
import { get } from "./net.js";

const list = (rows) => h("ul", {}, rows);

export function draw(where, item, room) {
  fill(where, h("h2", {}, item.ability.replaceAll("_", " ")), details(item));
  const base = `/items/${item.item_id.split("/").map(encodeURIComponent).join("/")}`;
  get(`${base}/panel.json`).then((panel) => where.append(...bodies(panel, item, room))).catch((p) => where.append(h("p", { class: "error" }, p.message)));
  if (item.ability === "abstention") get(`${base}/absence.json`).then((a) => where.append(absence(a))).catch(() => {});
  if (item.ability === "temporal_reasoning") get(`${base}/dates.json`).then((d) => where.append(dates(d))).catch(() => {});
}

function details(item) {
  const d = item.details;
  const rows = [["variety", d.variety], ["old value", d.old_value], ["new value", d.new_value], ["computed", d.computed_value && `${d.computation}: ${d.computed_value}`],
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
  if (panel.sides.length && ["contradiction_resolution", "event_ordering", "knowledge_update", "instruction_following", "preference_following"].includes(item.ability)) {
    const ordered = [...panel.sides].sort((a, b) => (a.group ?? 0) - (b.group ?? 0));
    made.push(h("h3", {}, item.ability === "event_ordering" ? "Items as asked, and their place in the conversation" : "Sides"),
      h("table", { class: "small" }, ordered.map((s) => h("tr", {}, h("td", {}, s.item || s.part), h("td", {}, s.mention_rank === null ? "" : `mention ${s.mention_rank + 1}`),
        h("td", {}, when(s.sent_at)), h("td", {}, link(s.message, room))))));
  }
  if (panel.matches.length) {
    made.push(h("h3", {}, "Values of the gold in the evidence"), list(panel.matches.map((m) => h("li", { class: m.evidence_ids.length ? "ok" : "error" },
      `${m.value}: ${m.evidence_ids.length ? `said in ${m.evidence_ids.length}` : "said in no quote"}`))));
  }
  if (panel.coverage.length) {
    made.push(h("h3", {}, "Nuggets and evidence"), h("table", { class: "small" }, panel.coverage.map((c, i) => h("tr", {}, h("td", {}, `nugget ${i + 1}`),
      h("td", { class: c.cited.length ? "ok" : "warning" }, `cited ${c.cited.length}`), h("td", { class: c.worded.length ? "ok" : "warning" }, `worded ${c.worded.length}`)))));
  }
  if (item.ability === "multi_session_reasoning") {
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
  return h("div", {}, h("h3", {}, "Dates"), list(d.dates.map((x) => h("li", {}, `${x.weekday} ${x.date}: ${x.text} (${x.where})${x.is_year_guessed ? ", year from the message" : ""}`))),
    d.spans.length ? h("table", { class: "small" }, h("tr", {}, ["from", "to", "days", "both ends", "weeks"].map((t) => h("th", {}, t))),
      d.spans.map((s) => h("tr", {}, h("td", {}, s.first), h("td", {}, s.second), h("td", {}, String(s.days)), h("td", {}, String(s.days_inclusive)), h("td", {}, s.weeks.toFixed(1))))) : null,
    list(d.lengths.map((l) => h("li", { class: l.verdict.startsWith("no") || l.verdict.includes("wrong") ? "error" : "" }, `${l.where}: ${l.text}: ${l.verdict}`))));
}

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
