// The item page: drawn from its JSON, so that the next item is there before it is asked for.
import { fill, h, say, when } from "./dom.js";
import { button, handled, hint, on, press, sheet } from "./keys.js";
import { get, post, twin } from "./net.js";
import * as panels from "./panels.js";
import { writing } from "./writing.js";
import { Transcript } from "./transcript.js";

const stage = document.getElementById("stage");
const cache = new Map();
let item = null;
let room = null;
let nugget = 0;
let piece = 0;
let editing = null;
let opened = performance.now();
let busy = Promise.resolve();

const api = (act) => {
  const [conversation, ...probe] = item.item_id.split("/");
  return `/api/items/${encodeURIComponent(conversation)}/${encodeURIComponent(probe.join("/"))}${act}${location.search}`;
};
const active = () => Math.round(Math.min(performance.now() - opened, 3_600_000));

async function fetched(address) {
  const known = cache.get(address);
  cache.delete(address);
  return known ? known : get(twin(address));
}

// The queue that the item is read in goes along with every address.
const within = (address) => (address && !address.includes("?") ? address + location.search : address);

async function show(address, { push = true } = {}) {
  if (!address) return say("there is no further item in this list");
  address = within(address);
  await busy;
  await leaveField();
  const next = await fetched(address);
  if (push) history.pushState({}, "", address);
  await take(next, true);
}

async function take(next, isNew) {
  const other = !item || item.conversation_id !== next.conversation_id;
  item = next;
  if (isNew) { nugget = 0; piece = 0; opened = performance.now(); }
  draw();
  if (isNew) {
    if (other || !room) {
      room = new Transcript(item.conversation_id, item.item_id);
      room.onSearched = (found) => act({ kind: "searched", after: { query: found.query, total: found.total, looked_at: found.hits.slice(0, 20).map((m) => m.message_id) } }, { quiet: true })
        .then((done) => { if (done && item.panel.further === "absence") drawPanel(); });
      room.clear();
    }
    room.item = item.item_id;
    fill(document.getElementById("room"), room.element);
    const first = item.evidence.find((e) => e.message_id !== null);
    // The evidence in its place comes first; what can wait is asked for when it is drawn.
    room.go(first ? first.message_id : 0).catch(complain).then(() => further(next));
  }
}

async function further(shown) {
  if (item.item_id !== shown.item_id) return;
  const after = within(item.place.next);
  if (after && !cache.has(after)) cache.set(after, get(twin(after)).catch(() => null));
  if (item.can_write && !item.lease?.is_mine && isWanted()) post(api("/open")).then((view) => { if (view.item_id === item.item_id && view.item_version === item.item_version) { item = view; draw(); } }).catch(complain);
  drawPanel();
  room.survey().catch(complain);
}

function complain(problem) {
  if (problem?.error === "stale") {
    const changes = (problem.changes ?? []).map((c) => `${c.target}: ${short(c.before)} → ${short(c.after)}`).join("\n");
    ask("It was changed meanwhile", h("p", {}, "What you sent was not saved; the page shows the item as it is now. What has changed:"), h("pre", { class: "field" }, changes || "nothing that is shown"));
    return get(twin(location.pathname + location.search)).then((view) => take(view, false));
  }
  if (problem?.error === "gates") return gates(problem.gates);
  say(problem?.message ?? String(problem), "error");
}

// Whether an opinion of mine has room: else the item is only read.
const isWanted = () => item.mine?.is_saved || item.saved < item.overlap || item.is_gold;

const drawPanel = () => panels.draw(document.getElementById("panel"), item, room, act);

const short = (value) => (typeof value === "string" ? value : JSON.stringify(value) ?? "nothing").slice(0, 300);

// Acts go out one after the other, each on the version that the one before it left.
function act(body, { quiet = false } = {}) {
  const subject = item.item_id;
  const one = busy.then(async () => {
    if (item.item_id !== subject) return null;
    const given = { target: "item", after: null, note: "", item_version: item.item_version, active_ms: active(), ...body };
    const result = await post(api("/acts"), given);
    if (result.item && result.item.item_id === item.item_id) { item = result.item; draw(); }
    return result;
  });
  busy = one.then(() => undefined, () => undefined);
  return one.catch((problem) => { if (!quiet) complain(problem); return null; });
}

function ask(title, ...body) {
  const box = h("dialog", {}, h("h1", {}, title), ...body, h("p", {}, h("button", { type: "button", onclick: () => box.close() }, "close", hint("leave"))));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

function gates(stand) {
  const note = h("textarea", { "aria-label": "why it goes through", placeholder: "why" });
  const may = stand.every((g) => g.can_override);
  const box = ask("Before it can be accepted", h("ul", {}, stand.map((g) => h("li", {}, g.message))),
    may ? h("div", {}, note, h("button", { type: "button", class: "good", onclick: () => { box.close(); verdict("accept", { override: stand.map((g) => g.code), note: note.value }); } }, "accept all the same")) : null);
}

async function verdict(word, more = {}) {
  await leaveField();
  const next = item.place.next;
  const done = await act({ kind: "judged", after: { verdict: word }, ...more });
  if (!done) return;
  say(`${word}: ${item.probe_id}`, "ok");
  if (next) await show(next);
  else say("that was the last of this list");
}

function reject() {
  const box = ask("Why is it rejected?", h("ol", {}, item.reason_codes.map((code, i) => h("li", {}, h("button", { type: "button", "data-reason": code, onclick: () => { box.close(); verdict("reject", { reason_code: code }); } }, code.replaceAll("_", " "), h("kbd", {}, String(i + 1)))))));
  box.addEventListener("keydown", (e) => {
    const code = item.reason_codes[Number(e.key) - 1];
    if (code) { e.preventDefault(); box.close(); verdict("reject", { reason_code: code }); }
  });
}

function write(title, done, { value = "", label = "text" } = {}) {
  const area = h("textarea", { "aria-label": label });
  area.value = value;
  const box = ask(title, area, h("p", {}, h("button", { type: "button", class: "good", onclick: finish }, "save", h("kbd", {}, "Ctrl+Enter"))));
  function finish() { const text = area.value.trim(); box.close(); if (text) done(text); }
  area.addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); e.stopPropagation(); finish(); } });
  area.focus();
}

// --- editing in place: autosaved as a draft, saved with Ctrl+Enter

function edit(target, value) {
  if (!item.can_write) return say("you read only");
  if (editing && editing.target !== target) leaveField();
  const draft = item.mine?.drafts?.[target];
  editing = { target, before: value, area: null, timer: null, value: typeof draft === "string" ? draft : value };
  draw();
  editing.area?.focus();
}

function field(target, value) {
  if (editing?.target !== target) return h("div", { class: "field" }, value);
  const area = h("textarea", { "aria-label": target });
  area.value = editing.value;
  editing.area = area;
  area.addEventListener("input", () => {
    if (!editing) return;
    editing.value = area.value;
    clearTimeout(editing.timer);
    editing.timer = setTimeout(() => saveDraft(target, area.value), 400);
  });
  return h("div", {}, area, h("p", { class: "small" }, button("save", "save"), " ", button("leave", "leave as it was")));
}

const saveDraft = (target, text) => act({ kind: "drafted", target, after: text }, { quiet: true });

async function leaveField() {
  if (!editing) return;
  const { target, value, before, timer } = editing;
  clearTimeout(timer);
  editing = null;
  if (value !== before) await saveDraft(target, value);
  draw();
}

async function save() {
  if (document.activeElement?.closest(".tools, #writing")) return; // a search or a probe being written is no verdict
  if (!editing) return verdict("accept");
  const { target, value, before, timer } = editing;
  clearTimeout(timer);
  editing = null;
  if (value === before) return draw();
  const done = await act({ kind: "edited", target, after: value.trim() === "" && target.startsWith("nugget/") ? null : value });
  if (done) say("saved", "ok");
}

// --- drawing

function draw() {
  if (room) {
    room.evidence = item.evidence.map((e) => e.message_id).filter((id) => id !== null);
    room.comments = item.comments.map((c) => /\/messages\/(\d+)/.exec(c.href)?.[1]).filter(Boolean).map(Number);
    room.draw();
  }
  const held = document.activeElement === editing?.area ? [editing.area.selectionStart, editing.area.selectionEnd] : null;
  document.title = `${item.probe_id} - ${item.conversation_id}`;
  fill(document.getElementById("bar"), bar());
  fill(document.getElementById("left"), left());
  fill(document.getElementById("dock"), dock());
  fill(document.getElementById("right"), right());
  if (held && editing?.area) { editing.area.focus(); editing.area.setSelectionRange(...held); }
}

function bar() {
  const { place, lease } = item;
  const kept = lease ? (lease.is_mine ? `yours until ${when(lease.expires_at).slice(11)}` : `with ${lease.reviewer_id} until ${when(lease.expires_at).slice(11)}`) : "";
  return [h("a", { href: `/queue${location.search}` }, "queue"), hint("queue"), h("b", {}, item.item_id), h("span", { class: "tag" }, item.ability), h("span", { class: "tag" }, item.difficulty),
    h("span", { class: "tag", id: "status" }, item.status), h("span", { class: "soft" }, place.index === null ? "" : `${place.index + 1} of ${place.total}`),
    h("span", { class: "soft" }, `opinions ${item.saved} of ${item.overlap}`), h("span", { class: "soft" }, kept), h("span", { class: "grow" }),
    button("previous-item", "previous", { disabled: !place.previous }), button("next-item", "next", { disabled: !place.next }), button("undo", "undo"), button("redo", "redo"), button("help", "keys")];
}

function left() {
  const mine = item.mine;
  return [
    h("div", { class: "card", id: "question" }, h("h2", {}, "Question ", button("edit-question", "edit", { class: "small" })), field("question", item.question)),
    h("div", { class: "card", id: "gold-answer" }, h("h2", {}, "Gold answer ", button("edit-gold", "edit", { class: "small" })), field("gold_answer", item.gold_answer)),
    h("div", { class: "card", id: "rubric" }, h("h2", {}, "Rubric"), item.rubric.map((n, i) => h("div", { id: `nugget-${n.nugget_id}`, class: `nugget${i === nugget ? " current" : ""}${n.is_stale ? " stale" : ""}`, onclick: () => { if (nugget !== i) { nugget = i; draw(); } } },
      field(`nugget/${n.nugget_id}`, n.text), n.is_stale ? h("span", { class: "warning small" }, "depends on what was edited ") : null,
      h("span", { class: "small" }, ["yes", "no"].map((word) => h("button", { type: "button", "aria-pressed": String(n.label === word), onclick: () => label(i, word) }, word, i === nugget ? hint(`nugget-${word}`) : null)), " ",
        i === nugget ? button("edit-nugget", "edit") : null))),
      h("button", { type: "button", class: "small", onclick: () => write("A further nugget", (text) => act({ kind: "edited", target: "nugget/new", after: text })) }, "add a nugget")),
    h("div", { class: "card", id: "verdict" }, h("h2", {}, `Verdict ${mine?.verdict ? `(yours: ${mine.verdict}${mine.is_lapsed ? ", lapsed by an edit" : ""})` : ""}`),
      item.can_write ? h("p", {}, button("accept", "accept", { class: "good" }), " ", button("reject", "reject", { class: "bad" }), " ", button("skip", "skip"), " ", button("return", "return"), " ", button("flag", "flag"), " ", button("comment", "comment"))
        : h("p", { class: "soft" }, "You read only. ", h("a", { href: "/session" }, "Choose a name"), " to review."),
      item.gates.length ? h("ul", { class: "small warning" }, item.gates.map((g) => h("li", {}, g.message, g.code === "checks" ? [" ", button("check", "check now", { class: "small" })] : null))) : null,
      item.can_write && !isWanted() ? h("p", { class: "soft small" }, `All ${item.overlap} opinions are given; you read only.`) : null,
      item.is_gold === null ? null : h("p", { class: "small soft" }, "Measures reviewers silently: ", ["accept", "reject", null].map((word) => h("button", { type: "button", class: "small", onclick: () => post(api("/gold"), { verdict: word }).then((done) => { item = done.item; draw(); say("gold item set", "ok"); }).catch(complain) }, word ? `right is ${word}` : "no longer"))),
      item.returned ? h("p", { class: "warning" }, `returned by ${item.returned.reviewer_id}: ${item.returned.text}`) : null,
      item.adjudication ? h("p", {}, `decided by ${item.adjudication.reviewer_id}: ${item.adjudication.verdict} (${item.adjudication.taxonomy})`) : null,
      item.is_blind && item.overlap > 1 ? h("p", { class: "soft small" }, "Other opinions are shown when as many are saved as are wanted.") : null,
      item.others.map((o) => h("p", { class: "small" }, `${o.reviewer_id}: ${o.verdict ?? "no verdict"} ${o.reason_code} ${o.note}`))),
    item.comments.length || item.flags.length ? h("div", { class: "card", id: "notes" }, h("h2", {}, "Notes"), item.flags.map((f) => h("p", { class: "warning small" }, `flag of ${f.reviewer_id}: ${f.note || f.target}`)),
      item.comments.map((c) => h("p", { class: "small" }, h("a", { href: c.href }, c.reviewer_id), `: ${c.text}`))) : null,
  ];
}

function dock() {
  return [h("h2", {}, `Evidence: ${item.evidence.length}${item.evidence.length > 1 ? `, ${item.spread.toLocaleString()} messages apart, ${item.sessions_touched} session${item.sessions_touched === 1 ? "" : "s"}` : ""} `, button("add-evidence", "cite selection", { class: "small" })),
    item.evidence.length ? null : h("p", { class: "soft" }, "Nothing is cited."),
    item.evidence.map((e, i) => h("div", { class: `card evidence${i === piece ? " current" : ""}`, "data-evidence": e.evidence_id, "data-key": e.message_key },
      h("div", { class: "small soft" }, e.message_id === null ? h("span", { class: "error" }, `${e.message_key} does not exist`) : h("button", { type: "button", onclick: () => { piece = i; draw(); room.go(e.message_id); } }, `#${e.message_id.toLocaleString()}`),
        ` ${when(e.sent_at)} ${e.plan_index === null ? "" : `plan ${e.plan_index}`} `, h("span", { class: "tag" }, e.group === null ? e.part : `item ${e.group + 1}`), " ",
        e.attachment === "attached" || e.attachment === "whole" ? null : h("span", { class: "error" }, e.attachment), " ",
        h("button", { type: "button", title: "remove", onclick: () => { piece = i; removeEvidence(); } }, "remove", i === piece ? hint("remove-evidence") : null)),
      e.message ? h("div", { class: "body", html: e.message.html }) : h("div", { class: "field" }, e.quote)))];
}

function right() {
  const findings = [...item.findings].sort((a, b) => ["error", "warning", "info"].indexOf(a.severity) - ["error", "warning", "info"].indexOf(b.severity));
  const fine = item.checks.filter((c) => c.state === "ok").length;
  return [
    h("div", { class: "card", id: "findings" }, h("h2", {}, "Findings ", button("check", "check again", { class: "small" })),
      item.is_checked ? null : h("p", { class: "warning" }, "The checks have not run."), item.is_checked && !item.is_findings_current ? h("p", { class: "warning" }, "Edited since the checks ran.") : null,
      findings.map((f) => h("p", { class: `small ${f.severity}` }, h("a", { href: f.href, title: f.doc, onclick: (e) => { e.preventDefault(); showCause(f.href); } }, f.check), `: ${f.message} `, f.messages.map((m) => h("button", { type: "button", class: "small", onclick: () => room.go(m.message_id) }, `#${m.message_id}`)))),
      h("details", { class: "small soft" }, h("summary", {}, item.is_checked ? `${fine} of ${item.checks.length} checks found nothing` : `${item.checks.length} checks`),
        h("table", {}, item.checks.map((c) => h("tr", { class: c.state }, h("td", {}, c.check), h("td", {}, c.state.replace("_", " ")), h("td", {}, c.doc)))))),
    h("div", { class: "card", id: "panel-slot" }, panelHolder),
    h("div", { class: "card", id: "more" }, h("p", {}, button("counter", "counter-evidence"), " ", button("what-if", "what if")), extraHolder),
    h("div", { class: "card", id: "pool" }, h("h2", {}, `Pool: ${item.candidates.length} `, item.can_write ? h("button", { type: "button", class: "small", onclick: () => { fill(extraHolder, writing(item, room, show, complain)); extraHolder.scrollIntoView({ block: "nearest" }); } }, "write a probe") : null),
      item.candidates.slice(0, 20).map((c) => h("p", { class: "small" }, h("a", { href: itemAddress(c.item_id) + location.search }, c.probe_id), ` ${c.status === "pending" && c.is_in_queue ? "in the queue" : c.is_in_queue ? c.status.replace("_", " ") : "candidate"} `,
        item.can_write && !c.is_in_queue && c.status !== "rejected" ? h("button", { type: "button", class: "small", onclick: () => takeIn(c.item_id) }, "take in") : null, h("br"), c.question))),
    h("p", { class: "small" }, h("a", { href: `${location.pathname}/history` }, "history"), " · ", h("a", { href: "/guidelines" }, `guidelines ${item.guideline_version.slice(0, 8)}`)),
  ];
}

// Where a finding's cause is: a field, a nugget or a cited message.
function showCause(href) {
  const name = decodeURIComponent(href.slice(1));
  const [kind, key] = [name.split("-")[0], name.slice(name.indexOf("-") + 1)];
  if (kind === "evidence") {
    const at = item.evidence.findIndex((e) => e.message_key === key);
    piece = Math.max(at, 0);
    draw();
    if (item.evidence[piece]?.message_id != null) room.go(item.evidence[piece].message_id).catch(complain);
  } else if (kind === "nugget") { nugget = Math.max(item.rubric.findIndex((n) => n.nugget_id === key), 0); draw(); }
  const there = kind === "evidence" ? document.querySelector(".evidence.current") : document.getElementById(name);
  there?.scrollIntoView({ block: "nearest" });
  there?.classList.add("pointed");
}

const itemAddress = (id) => `/items/${id.split("/").map(encodeURIComponent).join("/")}`;

// Takes a candidate of the pool into the review.
function takeIn(id) {
  post(`/api${itemAddress(id)}/acts`, { kind: "chosen", target: "item", after: true }).then(() => { say(`${id} is in the queue`, "ok"); return get(twin(location.pathname + location.search)); })
    .then((view) => take(view, false)).catch(complain);
}

const panelHolder = h("div", { id: "panel" });
const extraHolder = h("div", { id: "extra" });

// --- acts

function label(index, word) {
  nugget = index;
  const n = item.rubric[index];
  if (n) act({ kind: "judged", target: `nugget/${n.nugget_id}`, after: { label: n.label === word ? null : word } });
}

function addEvidence() {
  const chosen = room.selected();
  if (!chosen) return say("select the words in the conversation first");
  act({ kind: "evidence_added", after: chosen }).then((done) => { if (done) { say("cited", "ok"); room.go(room.target).catch(complain); } });
}

function removeEvidence() {
  const e = item.evidence[piece];
  if (e) act({ kind: "evidence_removed", target: `evidence/${e.evidence_id}` });
}

async function travel(where) {
  await leaveField();
  await busy;
  try {
    const done = await post(`/api/${where}`);
    if (!done.event) return say(`nothing to ${where}`);
    say(`${where}: ${done.event.kind} ${done.event.target}`);
    if (done.item && done.item.item_id === item.item_id) { item = done.item; draw(); }
    else if (done.href) await show(done.href + (done.href.includes("?") ? "" : location.search));
  } catch (problem) { complain(problem); }
}

function step(by) {
  if (!item.evidence.length) return;
  piece = (piece + by + item.evidence.length) % item.evidence.length;
  draw();
  document.querySelector(".evidence.current")?.scrollIntoView({ block: "nearest" });
  if (item.evidence[piece].message_id !== null) room.go(item.evidence[piece].message_id).catch(complain);
}

async function extra(name, drawn) {
  fill(extraHolder, h("p", { class: "soft" }, "..."));
  const [conversation, ...probe] = item.item_id.split("/");
  try {
    fill(extraHolder, drawn(await get(`/items/${encodeURIComponent(conversation)}/${encodeURIComponent(probe.join("/"))}/${name}.json`)));
  } catch (problem) { fill(extraHolder); complain(problem); }
}

const clear = (key) => act({ kind: "cleared", target: `message/${key}` }).then(() => extra("counter", (f) => panels.counter(f, room, clear)));

on("next-item", () => show(item.place.next).catch(complain));
on("previous-item", () => show(item.place.previous).catch(complain));
on("queue", () => { location.href = `/queue${location.search}`; });
on("next-evidence", () => step(1));
on("previous-evidence", () => step(-1));
on("search", () => { room.box.focus(); room.box.select(); });
on("next-hit", () => room.nextHit().catch(complain));
on("jump", () => write("Jump to", (text) => room.jump(text).catch(complain), { label: "a date (2024-05-01), plan 3, session 7, a message number or key" }));
on("accept", () => verdict("accept"));
on("reject", reject);
on("skip", () => verdict("skip"));
on("return", () => write("Return it to its author: why?", (note) => act({ kind: "returned", note })));
on("undo", () => travel("undo"));
on("redo", () => travel("redo"));
on("next-nugget", () => { nugget = Math.min(nugget + 1, item.rubric.length - 1); draw(); });
on("previous-nugget", () => { nugget = Math.max(nugget - 1, 0); draw(); });
on("nugget-yes", () => label(nugget, "yes"));
on("nugget-no", () => label(nugget, "no"));
on("edit-nugget", () => { const n = item.rubric[nugget]; if (n) edit(`nugget/${n.nugget_id}`, n.text); });
on("edit-question", () => edit("question", item.question));
on("edit-gold", () => edit("gold_answer", item.gold_answer));
on("add-evidence", addEvidence);
on("remove-evidence", removeEvidence);
// With words of a message selected, a comment or a flag is about that message.
const subject = () => (room.selected() ? `message/${room.selected().message_key}` : "item");
const about = (target) => (target === "item" ? "" : ` (message ${target.slice(8)})`);
on("comment", () => { const target = subject(); write(`Comment${about(target)}`, (note) => act({ kind: "commented", target, note })); });
on("flag", () => { const target = subject(); write(`Flag it for a lead: why?${about(target)}`, (note) => act({ kind: "flagged", target, after: true, note })); });
on("check", () => post(api("/check")).then((done) => { if (done.item) { item = done.item; draw(); say("checked", "ok"); } }).catch(complain));
on("what-if", () => extra("what-if", panels.whatIf));
on("counter", () => extra("counter", (found) => panels.counter(found, room, clear)));
on("help", () => ask("Keys", sheet()));
on("save", () => save());
on("leave", () => { const box = document.querySelector("dialog[open]"); if (box) box.close(); else if (editing) leaveField(); else document.activeElement?.blur(); });

document.addEventListener("keydown", press);
window.addEventListener("popstate", () => show(location.pathname + location.search, { push: false }).catch(complain));
window.addEventListener("pagehide", () => { if (editing && editing.value !== editing.before) saveDraft(editing.target, editing.value); });
setInterval(() => { if (item?.lease?.is_mine) post(api("/lease")).catch(() => {}); }, 90_000);

stage.dataset.handled = handled().join(" ");
take(JSON.parse(document.getElementById("view").textContent), true).catch(complain);
