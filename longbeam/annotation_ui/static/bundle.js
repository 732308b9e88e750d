// The page of an offline bundle: shows one item at a time, keeps decisions in this browser, saves them as review events.
/** @returns {HTMLElement} */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const data = JSON.parse(part("data").textContent ?? "");
const store = `longbeam/${data.benchmark}/${data.reviewer_id}`;
const kept = JSON.parse(localStorage.getItem(store) || "{}");
let at = Math.max(
  0,
  data.items.findIndex((item) => !kept[item.item_id]?.verdict),
);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function decisionOf(item) {
  kept[item.item_id] ??= { id: newId(), labels: {}, edits: {}, note: "", reason: "", verdict: "", spent: 0 };
  return kept[item.item_id];
}

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

function keep(item, change, isDrawn = true) {
  Object.assign(decisionOf(item), change, { at: new Date().toISOString() });
  localStorage.setItem(store, JSON.stringify(kept));
  if (isDrawn) show();
}

function area(label, value, typed) {
  const made = element("textarea", { rows: 2, value, ariaLabel: label, dir: "auto" });
  // Each letter is kept at once; drawing again would move the cursor.
  made.addEventListener("input", () => typed(made.value));
  return made;
}

function field(item, target, label, text) {
  return area(label, decisionOf(item).edits[target] ?? text, (typed) => {
    const edits = { ...decisionOf(item).edits };
    if (typed.trim() && typed !== text) edits[target] = typed.trim();
    else delete edits[target];
    keep(item, { edits }, false);
  });
}

function choice(item, label, is_on, change, about = "") {
  const button = element("button", { textContent: label, ariaLabel: about ? `${about}: ${label}` : label });
  button.setAttribute("aria-pressed", String(is_on));
  button.addEventListener("click", () => keep(item, change));
  return button;
}

function show() {
  const item = data.items[at];
  const decision = decisionOf(item);
  const done = data.items.filter((i) => kept[i.item_id]?.verdict).length;
  part("place").textContent = `${at + 1} of ${data.items.length}`;
  part("progress").textContent = `${done} of ${data.items.length} decided.`;
  const page = part("item");
  page.dataset.item = item.item_id;
  page.replaceChildren(
    element("h2", { textContent: `${item.name} (${item.difficulty})` }),
    ...item.findings.map((text) => element("p", { textContent: `check: ${text}` })),
    element("h3", { textContent: "Question" }),
    field(item, "question", "question", item.question),
    element("h3", { textContent: "Gold answer" }),
    field(item, "gold_answer", "gold answer", item.gold_answer),
    element("h3", { textContent: "Rubric" }),
  );
  for (const [number, nugget] of item.rubric.entries()) {
    const name = `nugget ${number + 1}`;
    const label = decision.labels[nugget.nugget_id];
    const labelled = (value) => ({ labels: { ...decision.labels, [nugget.nugget_id]: value } });
    page.append(
      field(item, `nugget/${nugget.nugget_id}`, name, nugget.text),
      choice(item, "yes", label === "yes", labelled("yes"), name),
      choice(item, "no", label === "no", labelled("no"), name),
    );
  }
  page.append(element("h3", { textContent: "Verdict" }));
  for (const verdict of ["accept", "reject", "skip"])
    page.append(choice(item, verdict, decision.verdict === verdict, { verdict }));
  const refused = item.rubric.filter(
    (nugget) => decision.labels[nugget.nugget_id] === "no" && !decision.edits[`nugget/${nugget.nugget_id}`],
  );
  if (decision.verdict === "accept" && refused.length && !decision.note.trim())
    page.append(
      element("p", { textContent: "A nugget is marked “no”: edit it, or say in the note why the item is right." }),
    );
  const reason = element(
    "select",
    {},
    element("option", { value: "", textContent: "reason of a rejection" }),
    ...data.reason_codes.map((code) => element("option", { value: code, textContent: code.replaceAll("_", " ") })),
  );
  reason.value = decision.reason;
  reason.addEventListener("change", () => keep(item, { reason: reason.value }));
  reason.ariaLabel = "reason of a rejection";
  const note = area("note", decision.note, (typed) => keep(item, { note: typed }, false));
  note.placeholder = "note";
  page.append(reason, note, element("h3", { textContent: "Evidence and what stands around it" }));
  for (const message of item.messages) {
    const shown = element("div", { className: message.is_evidence ? "message evidence" : "message" });
    const text = element("div");
    text.innerHTML = message.html; // sanitised when the bundle was made: no attribute but the class of a mark
    shown.append(
      element("small", { textContent: `#${message.message_id} ${message.speaker} ${message.sent_at}` }),
      text,
    );
    page.append(shown);
  }
}

function eventsOf(item) {
  const decision = kept[item.item_id];
  if (!decision?.verdict) return [];
  const isRefused = item.rubric.some(
    (n) => decision.labels[n.nugget_id] === "no" && !decision.edits[`nugget/${n.nugget_id}`],
  );
  if (decision.verdict === "accept" && isRefused && !decision.note.trim()) return [];
  const common = {
    item_id: item.item_id,
    item_version: item.item_version,
    probe_version: item.probe_version,
    reviewer_id: data.reviewer_id,
    guideline_version: data.guideline_version,
    ui_build: "longbeam bundle",
  };
  const texts = Object.fromEntries(item.rubric.map((n) => [`nugget/${n.nugget_id}`, n.text]));
  const made = [];
  // Ids follow from the decision and its content: saving twice gives no second copy of what has not changed.
  const add = (kind, target, more) => made.push({ ...common, kind, target, ...more });
  for (const [target, after] of Object.entries(decision.edits))
    add("edited", target, { before: texts[target] ?? item[target], after });
  for (const [nugget, label] of Object.entries(decision.labels))
    add("judged", `nugget/${nugget}`, { after: { label } });
  add("judged", "item", { after: { verdict: decision.verdict }, reason_code: decision.reason, note: decision.note });
  const start = Date.parse(decision.at);
  return made.map((event, i) => ({
    event_id: `${decision.id}-${start.toString(36)}-${i}`,
    ...event,
    created_at: new Date(start + i).toISOString(),
  }));
}

part("save").addEventListener("click", () => {
  const lines = data.items.flatMap(eventsOf).map((event) => `${JSON.stringify(event)}\n`);
  const link = element("a", { href: URL.createObjectURL(new Blob(lines, { type: "application/jsonl" })) });
  link.download = `${data.benchmark}-${data.reviewer_id}.jsonl`;
  link.click();
});
function step(by) {
  at = Math.min(Math.max(at + by, 0), data.items.length - 1);
  show();
  scrollTo(0, 0);
}
part("previous").addEventListener("click", () => step(-1));
part("next").addEventListener("click", () => step(1));
document.addEventListener("keydown", (event) => {
  if (
    (event.target instanceof Element && event.target.matches("textarea, input, select")) ||
    event.ctrlKey ||
    event.metaKey
  )
    return;
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
});
show();
