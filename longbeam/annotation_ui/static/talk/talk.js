// A window onto a conversation of any length: its state, and the requests that move the window. It draws nothing.
import { get } from "../api.js";
import { plural } from "../text.js";

const STEP = 12; // the page asks for the first of them itself: pages.first_window
const MOST = 80; // messages in the page at once
const LOOK_MS = 700; // a hit that is shown that long counts as looked at

/** @typedef {import("../types").MessageView} MessageView */

export class Talk {
  /** @param {string} conversation @param {{onSearched?: Function, onLooked?: Function}} more */
  constructor(conversation, { onSearched = () => {}, onLooked = () => {} } = {}) {
    this.base = `/conversations/${encodeURIComponent(conversation)}`;
    this.conversation = conversation;
    this.onSearched = onSearched;
    this.onLooked = onLooked;
    this.item = "";
    /** @type {MessageView[]} */
    this.views = [];
    this.first = 0;
    this.total = 0;
    /** Where the window was moved to: the message, and a number that grows with each move. */
    this.goal = { id: 0, move: 0, isOpen: true };
    this.version = 0;
    this.map = null;
    /** @type {Promise<void> | undefined} */
    this.mapped = undefined;
    this.isLoading = false;
    this.moves = 0; // asked for, where goal.move counts those that were made
    this.searches = 0;
    this.listeners = new Set();
    this.forget();
  }

  /** Forgets what was searched, as for another item. */
  forget() {
    clearTimeout(this.looking);
    this.query = "";
    this.filters = {};
    this.hits = [];
    /** @type {import("../types").Hit[]} */
    this.found = [];
    this.hit = -1;
    this.count = "";
    this.changed();
  }

  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed() {
    this.version += 1;
    for (const listener of this.listeners) listener();
  }

  /** Borders of plans and sessions, for the strip; they do not change from item to item. */
  survey() {
    this.mapped ??= get(`${this.base}/minimap.json`).then((map) => {
      this.map = map;
      this.total ||= map.total;
      this.changed();
    });
    this.mapped.catch(() => {
      this.mapped = undefined; // asked for again with the next item
    });
    return this.mapped;
  }

  /** Shows a message at the top, with a few before it; at its quote or hit if it has one. */
  async go(id) {
    const target = Math.max(0, this.total ? Math.min(id, this.total - 1) : id);
    this.moves += 1;
    const number = this.moves;
    const view = await get(this.address(Math.max(0, target - 3), STEP));
    if (number !== this.moves) return; // the reviewer went elsewhere meanwhile
    this.total = view.total;
    this.first = view.first;
    this.views = [...view.messages];
    this.goal = { id: target, move: this.goal.move + 1, isOpen: true };
    this.changed();
  }

  /** Adds messages before or behind the window, and drops those at its other end. */
  async extend(isBefore) {
    const last = this.first + this.views.length;
    const from = isBefore ? Math.max(0, this.first - STEP) : last;
    const to = isBefore ? this.first : Math.min(this.total, last + STEP);
    if (this.isLoading || from >= to) return;
    this.isLoading = true;
    const { move } = this.goal;
    try {
      const view = await get(this.address(from, to - from));
      if (move !== this.goal.move) return;
      this.views = isBefore ? [...view.messages, ...this.views] : [...this.views, ...view.messages];
      const surplus = this.views.length - MOST;
      if (surplus > 0) this.views = isBefore ? this.views.slice(0, MOST) : this.views.slice(surplus);
      this.first = this.views[0].message_id;
      this.changed();
    } finally {
      this.isLoading = false;
    }
  }

  /** Shows another part of a long message. */
  async part(message, at, size = 4000) {
    const given = new URLSearchParams({ at: String(Math.max(0, at)), size: String(size), item: this.item });
    const found = await get(`${this.base}/messages/${message.message_id}.json?${given}`);
    this.replace(found.message);
  }

  /** Finds a text in one message, and shows the next place behind the part that is shown. */
  async find(message, text) {
    const given = new URLSearchParams({ at: String(message.end), size: "4000", find: text, item: this.item });
    const address = `${this.base}/messages/${message.message_id}.json`;
    let found = await get(`${address}?${given}`);
    const next = found.found.find((place) => place >= message.end) ?? found.found[0];
    if (next === undefined) return 0;
    given.set("at", String(Math.max(0, next - 300)));
    found = await get(`${address}?${given}`);
    this.replace(found.message);
    return found.found_total;
  }

  /** Searches the whole conversation and goes to the first hit. */
  async search(query, filters = {}) {
    this.query = query.trim();
    this.filters = filters;
    this.hits = [];
    this.found = [];
    this.hit = -1;
    this.count = "";
    this.changed(); // the former count is no answer to this search
    if (!this.query) return undefined;
    const given = new URLSearchParams({ q: this.query, count: "20" });
    for (const [name, value] of Object.entries(filters)) if (value) given.set(name, String(value));
    this.searches += 1;
    const number = this.searches;
    const { moves } = this;
    const found = await get(`${this.base}/search.json?${given}`);
    if (number !== this.searches) return undefined; // another search was made meanwhile
    this.hits = found.message_ids;
    this.found = found.hits;
    this.count = found.total
      ? `${found.total.toLocaleString("en")} in ${plural(found.messages, "message")}`
      : "not found";
    this.changed();
    await this.onSearched(found);
    if (moves === this.moves) await this.nextHit(0, false); // unless the reviewer was quicker
    return undefined;
  }

  /** Goes to the next hit, or to the one at a place of the list; one that opens by itself is not one looked at. */
  async nextHit(place = this.hit + 1, isLooked = true) {
    if (!this.hits.length) return false;
    this.hit = place % this.hits.length;
    const id = this.hits[this.hit];
    const { query } = this;
    await this.go(id);
    clearTimeout(this.looking);
    if (isLooked) this.looking = setTimeout(() => query === this.query && this.onLooked(query, id), LOOK_MS);
    return true;
  }

  /** Goes to a date, a plan, a session, a message number or a message key. */
  async jump(text) {
    this.moves += 1;
    const word = text.trim();
    const by = kindOf(word);
    const number = Number(word.replace(/\D/g, ""));
    // People count parts and sessions from 1, addresses from 0.
    const value = by === "date" || by === "key" ? word : String(by === "id" ? number : number - 1);
    const found = await get(`${this.base}/locate.json?${new URLSearchParams({ by, value })}`);
    await this.go(found.message_id);
  }

  replace(view) {
    this.views = this.views.map((known) => (known.message_id === view.message_id ? view : known));
    this.changed();
  }

  address(first, count) {
    const given = { first: String(first), count: String(count), item: this.item, q: this.query };
    return `${this.base}/messages.json?${new URLSearchParams(given)}`;
  }
}

function kindOf(word) {
  if (/^\d{4}-\d\d-\d\d$/.test(word)) return "date";
  if (/^#?\d+$/.test(word)) return "id";
  if (/^(part|plan)\s*\d+$/i.test(word)) return "plan";
  if (/^session\s*\d+$/i.test(word)) return "session";
  return "key";
}

/** The text selected in a message of the page, for evidence; null where none is. */
export function selectedWords() {
  const chosen = getSelection();
  const node = chosen?.anchorNode;
  const article = (node instanceof Element ? node : node?.parentElement)?.closest(".message");
  const quote = chosen?.toString().trim();
  if (!(article instanceof HTMLElement) || !quote || !article.closest(".lines")) return null;
  return { message_key: article.dataset.key ?? "", quote };
}
