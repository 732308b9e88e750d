// The page of an offline bundle: shows one item at a time, keeps decisions in this browser, saves them as review events.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const store = `longbeam/${data.benchmark}/${data.reviewer_id}`;
const kept = JSON.parse(localStorage.getItem(store) || "{}");
let at = Math.max(0, data.items.findIndex((item) => !(kept[item.item_id] || {}).verdict));

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function decisionOf(item) {
  return (kept[item.item_id] ||= { id: newId(), labels: {}, edits: {}, note: "", reason: "", verdict: "", spent: 0 });
}

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

function keep(item, change) {
  Object.assign(decisionOf(item), change, { at: new Date().toISOString() });
  localStorage.setItem(store, JSON.stringify(kept));
  show();
}

function field(item, target, text) {
  const decision = decisionOf(item);
  const area = element("textarea", { rows: 2, value: decision.edits[target] ?? text });
  area.addEventListener("change", () => {
    const edits = { ...decision.edits };
    if (area.value.trim() && area.value !== text) edits[target] = area.value.trim();
    else delete edits[target];
    keep(item, { edits });
  });
  return area;
}

function choice(item, label, is_on, change) {
  const button = element("button", { textContent: (is_on ? "● " : "") + label });
  button.setAttribute("aria-pressed", String(is_on));
  button.addEventListener("click", () => keep(item, change));
  return button;
}

function show() {
  const item = data.items[at];
  const decision = decisionOf(item);
  const done = data.items.filter((i) => (kept[i.item_id] || {}).verdict).length;
  document.getElementById("place").textContent = `${at + 1} of ${data.items.length}`;
  document.getElementById("progress").textContent = `${done} of ${data.items.length} decided.`;
  const page = document.getElementById("item");
  page.replaceChildren(
    element("h2", { textContent: `${item.ability}, ${item.difficulty}` }, element("small", { textContent: ` ${item.item_id}` })),
    ...item.findings.map((text) => element("p", { textContent: `check: ${text}` })),
    element("h3", { textContent: "Question" }), field(item, "question", item.question),
    element("h3", { textContent: "Gold answer" }), field(item, "gold_answer", item.gold_answer),
    element("h3", { textContent: "Rubric" }),
  );
  for (const nugget of item.rubric) {
    const label = decision.labels[nugget.nugget_id];
    const labelled = (value) => ({ labels: { ...decision.labels, [nugget.nugget_id]: value } });
    page.append(field(item, `nugget/${nugget.nugget_id}`, nugget.text),
      choice(item, "yes", label === "yes", labelled("yes")), choice(item, "no", label === "no", labelled("no")));
  }
  page.append(element("h3", { textContent: "Verdict" }));
  for (const verdict of ["accept", "reject", "skip"]) page.append(choice(item, verdict, decision.verdict === verdict, { verdict }));
  const reason = element("select", {}, element("option", { value: "", textContent: "reason of a rejection" }),
    ...data.reason_codes.map((code) => element("option", { value: code, textContent: code })));
  reason.value = decision.reason;
  reason.addEventListener("change", () => keep(item, { reason: reason.value }));
  const note = element("textarea", { rows: 2, value: decision.note, placeholder: "note" });
  note.addEventListener("change", () => keep(item, { note: note.value }));
  page.append(reason, note, element("h3", { textContent: "Evidence and what stands around it" }));
  for (const message of item.messages) {
    const shown = element("div", { className: message.is_evidence ? "message evidence" : "message" });
    const text = element("div");
    text.innerHTML = message.html; // sanitised when the bundle was made: no attribute but the class of a mark
    shown.append(element("small", { textContent: `#${message.message_id} ${message.speaker} ${message.sent_at}` }), text);
    page.append(shown);
  }
}

function eventsOf(item) {
  const decision = kept[item.item_id];
  if (!decision || !decision.verdict) return [];
  const common = {
    item_id: item.item_id, item_version: item.item_version, probe_version: item.probe_version,
    reviewer_id: data.reviewer_id, guideline_version: data.guideline_version, ui_build: "longbeam bundle",
  };
  const texts = Object.fromEntries(item.rubric.map((n) => [`nugget/${n.nugget_id}`, n.text]));
  const made = [];
  // Ids follow from the decision and its content: saving twice gives no second copy of what has not changed.
  const add = (kind, target, more) => made.push({ ...common, kind, target, ...more });
  for (const [target, after] of Object.entries(decision.edits))
    add("edited", target, { before: texts[target] ?? item[target], after });
  for (const [nugget, label] of Object.entries(decision.labels)) add("judged", `nugget/${nugget}`, { after: { label } });
  add("judged", "item", { after: { verdict: decision.verdict }, reason_code: decision.reason, note: decision.note });
  const start = Date.parse(decision.at);
  return made.map((event, i) => ({
    event_id: `${decision.id}-${start.toString(36)}-${i}`, ...event, created_at: new Date(start + i).toISOString(),
  }));
}

document.getElementById("save").addEventListener("click", () => {
  const lines = data.items.flatMap(eventsOf).map((event) => JSON.stringify(event) + "\n");
  const link = element("a", { href: URL.createObjectURL(new Blob(lines, { type: "application/jsonl" })) });
  link.download = `${data.benchmark}-${data.reviewer_id}.jsonl`;
  link.click();
});
function step(by) {
  at = Math.min(Math.max(at + by, 0), data.items.length - 1);
  show();
  scrollTo(0, 0);
}
document.getElementById("previous").addEventListener("click", () => step(-1));
document.getElementById("next").addEventListener("click", () => step(1));
document.addEventListener("keydown", (event) => {
  if (/^(TEXTAREA|INPUT|SELECT)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey) return;
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
});
show();
