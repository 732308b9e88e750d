// A window onto a conversation of any length: only what is near the view is in the page.
import { fill, h, say, when } from "./dom.js";
import { get } from "./net.js";

const STEP = 12; // the page asks for the first of them itself: pages.first_window
const MOST = 80; // messages in the page at once

export class Transcript {
  constructor(conversation, item, canvasColors) {
    this.base = `/conversations/${encodeURIComponent(conversation)}`;
    this.item = item;
    this.query = "";
    this.hits = [];
    this.evidence = []; // ordinals, and those of comments: marks on the strip
    this.comments = [];
    this.first = 0;
    this.total = 0;
    this.views = [];
    this.lines = h("div", { class: "lines", tabindex: "0", "aria-label": "conversation" });
    this.canvas = h("canvas", { title: "the whole conversation: evidence, hits, plans; click to go there" });
    this.count = h("span", { class: "small soft", id: "search-count" });
    this.box = h("input", { type: "search", placeholder: "search, then Enter", "aria-label": "search the conversation", maxlength: "200" });
    this.speaker = h("select", { "aria-label": "who says it" }, ["", "user", "assistant"].map((s) => h("option", { value: s }, s || "anybody")));
    this.filters = Object.fromEntries([["date_from", "date", "from"], ["date_to", "date", "to"], ["plan", "number", "plan"], ["session", "number", "session"]]
      .map(([name, type, label]) => [name, h("input", { type, "aria-label": label, title: label, placeholder: label, min: type === "number" ? "0" : null, onchange: () => this.query && this.search() })]));
    this.position = h("span", { class: "small soft" });
    this.element = h("div", { class: "card transcript" },
      h("div", { class: "tools" }, this.box, this.speaker, h("details", { class: "small" }, h("summary", {}, "filter"), Object.entries(this.filters).map(([name, input]) => h("label", {}, `${name.replace("date_", "")} `, input))),
        this.count, this.position), this.lines, this.canvas);
    this.speaker.addEventListener("change", () => this.query && this.search());
    this.box.addEventListener("keydown", (e) => { if (e.key === "Enter" && !e.ctrlKey) { e.preventDefault(); this.search(); } });
    this.lines.addEventListener("scroll", () => this.onScroll());
    this.canvas.addEventListener("click", (e) => this.go(Math.floor((e.offsetY / this.canvas.clientHeight) * this.total)));
    this.onSearched = () => {};
    this.loading = false;
  }

  // Forgets what was searched for another conversation.
  clear() {
    this.query = "";
    this.hits = [];
    this.box.value = "";
    this.count.textContent = "";
  }

  address(first, count) {
    const given = new URLSearchParams({ first, count, item: this.item ?? "", q: this.query });
    return `${this.base}/messages.json?${given}`;
  }

  // What the strip is drawn from. Borders of plans and sessions do not change from item to item: they are asked for once.
  survey() {
    this.mapped ??= get(`${this.base}/minimap.json`).then((map) => { this.map = map; this.draw(); });
    return this.mapped;
  }

  // Shows message `id` at the top, with a few before it.
  async go(id, { open = true } = {}) {
    const target = Math.max(0, this.total ? Math.min(id, this.total - 1) : id);
    const view = await get(this.address(Math.max(0, target - 3), STEP));
    this.total = view.total;
    this.first = view.first;
    this.views = [...view.messages];
    this.target = target;
    fill(this.lines, this.views.map((m) => this.line(m)));
    const shown = this.lines.querySelector(`[data-id="${target}"]`);
    if (shown) {
      shown.classList.add("target");
      const mark = open ? shown.querySelector("mark") : null;
      // Not offsetTop: in a table that counts from the cell.
      this.lines.scrollTop += (mark ?? shown).getBoundingClientRect().top - this.lines.getBoundingClientRect().top - (mark ? 80 : 4);
    }
    this.draw();
    performance.mark("transcript-drawn"); // for benchmarks/bench_review.py
  }

  line(m) {
    const key = m.message_key;
    const more = m.is_whole ? null : h("p", { class: "small" },
      h("span", { class: "soft" }, `characters ${m.start.toLocaleString()}–${m.end.toLocaleString()} of ${m.chars.toLocaleString()} `),
      m.start > 0 ? h("button", { type: "button", onclick: () => this.part(m, Math.max(0, m.start - 4000)) }, "earlier") : null, " ",
      m.end < m.chars ? h("button", { type: "button", onclick: () => this.part(m, m.end) }, "further") : null, " ",
      h("input", { type: "search", placeholder: "find in this message", "aria-label": "find in this message",
        onkeydown: (e) => { if (e.key === "Enter") this.find(m, e.target.value); } }));
    return h("article", { class: `message ${m.role}${m.message_id === this.target ? " target" : ""}`, "data-id": m.message_id, "data-key": key },
      h("header", {}, h("a", { href: `${this.base}/messages/${m.message_id}?item=${encodeURIComponent(this.item ?? "")}` }, `#${m.message_id}`),
        h("span", {}, m.speaker), h("span", {}, when(m.sent_at)), h("span", {}, m.plan_index === null ? `session ${m.session}` : `plan ${m.plan_index}, session ${m.session}`),
        m.evidence_ids.length ? h("span", { class: "tag" }, "evidence") : null),
      h("div", { class: "body", html: m.html }), more);
  }

  replace(view) {
    this.views = this.views.map((v) => (v.message_id === view.message_id ? view : v));
    const old = this.lines.querySelector(`[data-id="${view.message_id}"]`);
    const made = this.line(view);
    old?.replaceWith(made);
    return made;
  }

  async part(m, at, size = 4000) {
    const found = await get(`${this.base}/messages/${m.message_id}.json?at=${at}&size=${size}&item=${encodeURIComponent(this.item ?? "")}`);
    this.replace(found.message).scrollIntoView({ block: "nearest" });
  }

  async find(m, text) {
    if (!text) return;
    const given = new URLSearchParams({ at: m.end, size: 4000, find: text, item: this.item ?? "" });
    let found = await get(`${this.base}/messages/${m.message_id}.json?${given}`);
    const next = found.found.find((place) => place >= m.end) ?? found.found[0];
    if (next === undefined) return say(`not in this message: ${text}`);
    given.set("at", Math.max(0, next - 300));
    found = await get(`${this.base}/messages/${m.message_id}.json?${given}`);
    const made = this.replace(found.message);
    made.querySelector("mark.search")?.scrollIntoView({ block: "center" });
    say(`${found.found_total} in this message`);
  }

  async onScroll() {
    if (this.loading) return;
    const { scrollTop, clientHeight, scrollHeight } = this.lines;
    const last = this.first + this.views.length;
    if (scrollTop < 300 && this.first > 0) await this.extend(Math.max(0, this.first - STEP), this.first);
    else if (scrollTop + clientHeight > scrollHeight - 300 && last < this.total) await this.extend(last, Math.min(this.total, last + STEP));
    this.draw();
  }

  async extend(from, to) {
    this.loading = true;
    try {
      const view = await get(this.address(from, to - from));
      const before = this.lines.scrollHeight;
      if (from < this.first) {
        this.views = [...view.messages, ...this.views];
        this.first = view.first;
        this.lines.prepend(...view.messages.map((m) => this.line(m)));
        this.lines.scrollTop += this.lines.scrollHeight - before;
        while (this.views.length > MOST) { this.views.pop(); this.lines.lastElementChild.remove(); }
      } else {
        this.views.push(...view.messages);
        this.lines.append(...view.messages.map((m) => this.line(m)));
        while (this.views.length > MOST) {
          const gone = this.lines.firstElementChild;
          const height = gone.getBoundingClientRect().height;
          gone.remove();
          this.lines.scrollTop -= height;
          this.views.shift();
          this.first += 1;
        }
      }
    } finally {
      this.loading = false;
    }
  }

  async search(text) {
    if (text !== undefined) this.box.value = text;
    this.lines.focus({ preventScroll: true }); // keys act again
    this.query = this.box.value.trim();
    if (!this.query) { this.hits = []; this.count.textContent = ""; this.draw(); return; }
    const given = new URLSearchParams({ q: this.query, speaker: this.speaker.value, count: 20 });
    for (const [name, input] of Object.entries(this.filters)) if (input.value) given.set(name, input.value);
    const found = await get(`${this.base}/search.json?${given}`);
    this.hits = found.message_ids;
    this.hit = -1;
    this.count.textContent = `${found.total.toLocaleString()} in ${found.messages.toLocaleString()} messages`;
    this.onSearched(found);
    if (found.hits.length) await this.nextHit();
    else this.draw();
  }

  async nextHit() {
    if (!this.hits.length) return say("search first");
    this.hit = (this.hit + 1) % this.hits.length;
    await this.go(this.hits[this.hit]);
  }

  async jump(text) {
    const word = text.trim();
    const by = /^\d{4}-\d\d-\d\d$/.test(word) ? "date" : /^#?\d+$/.test(word) ? "id" : /^plan\s*\d+$/i.test(word) ? "plan"
      : /^session\s*\d+$/i.test(word) ? "session" : "key";
    const value = by === "date" || by === "key" ? word : word.replace(/\D/g, "");
    const found = await get(`${this.base}/locate.json?${new URLSearchParams({ by, value })}`);
    await this.go(found.message_id);
  }

  // The text selected in a message, for evidence; null where none is.
  selected() {
    const chosen = getSelection();
    const article = chosen?.anchorNode?.parentElement?.closest?.(".message");
    const text = chosen?.toString().trim();
    return article && text && this.lines.contains(article) ? { message_key: article.dataset.key, quote: text } : null;
  }

  draw() {
    const shown = [...this.lines.children].find((c) => c.offsetTop + c.offsetHeight > this.lines.scrollTop);
    const at = shown ? Number(shown.dataset.id) : this.first;
    this.position.textContent = this.total ? `#${at.toLocaleString()} of ${this.total.toLocaleString()}` : "";
    if (!this.map) return;
    const { canvas } = this;
    const [width, height] = [26, Math.max(canvas.clientHeight, 10)];
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const bar = (id, color, thick, left = 0, right = width) => {
      pen.fillStyle = style.getPropertyValue(color);
      pen.fillRect(left, Math.round((id / Math.max(this.total, 1)) * height), right - left, thick);
    };
    for (const border of this.map.sessions.length < height / 3 ? this.map.sessions : []) bar(border.message_id, "--line", 1);
    for (const border of this.map.plans) bar(border.message_id, "--soft", 2);
    for (const id of this.hits.slice(0, 4000)) bar(id, "--accent", 1, 0, 9);
    for (const id of this.comments) bar(id, "--warn", 3, 18, 26);
    for (const id of this.evidence) bar(id, "--bad", 3, 9, 18);
    pen.strokeStyle = style.getPropertyValue("--ink");
    pen.strokeRect(0.5, (at / Math.max(this.total, 1)) * height, width - 1, Math.max((this.views.length / Math.max(this.total, 1)) * height, 4));
  }
}
