// The pane of a conversation: search tools, the lines, and the strip. Lines keep their place when others come or go.
import { said } from "../text.js";
import { Component, html } from "../vendor/htm-preact.js";

const NEAR_PX = 300;
const FILTERS = [
  ["date_from", "date", "from"],
  ["date_to", "date", "to"],
  ["plan", "number", "part"],
  ["session", "number", "session"],
];

export class Pane extends Component {
  constructor(props) {
    super(props);
    this.state = { at: 0, query: "" };
    this.filters = {};
    this.move = -1;
    this.shown = props.talk;
  }

  componentDidMount() {
    this.watch();
    this.settle();
    // Behind a tab the lines have no height, and lose their place.
    new ResizeObserver(() => {
      if (this.isHidden && this.lines.clientHeight) this.settle();
      this.isHidden = !this.lines?.clientHeight;
    }).observe(this.lines);
  }

  watch() {
    this.unsubscribe?.();
    this.unsubscribe = this.props.talk.subscribe(() => this.setState({ version: this.props.talk.version }));
  }

  componentWillUnmount() {
    this.unsubscribe?.();
  }

  getSnapshotBeforeUpdate() {
    const { lines } = this;
    if (!lines || this.move !== this.props.talk.goal.move) return null;
    const top = lines.getBoundingClientRect().top;
    const first = [...lines.children].find((child) => child.getBoundingClientRect().bottom > top);
    return first ? { id: first.dataset.id, offset: this.below(first) } : null;
  }

  /** Pixels from the top of the lines: the tools above them come and go. */
  below = (node) => node.getBoundingClientRect().top - this.lines.getBoundingClientRect().top;

  componentDidUpdate(_props, _state, anchor) {
    const { talk } = this.props;
    if (talk !== this.shown) {
      this.shown = talk;
      this.move = -1;
      this.watch();
    }
    if (this.state.query !== talk.query && talk.query !== this.known) this.setState({ query: talk.query });
    this.known = talk.query;
    if (this.move !== talk.goal.move) this.settle();
    else if (anchor) this.hold(anchor);
  }

  /** Scrolls to the goal of the last move. */
  settle() {
    const { talk } = this.props;
    const { lines } = this;
    const shown = lines?.querySelector(`[data-id="${talk.goal.id}"]`);
    if (!shown) return;
    this.move = talk.goal.move;
    const mark = shown.querySelector(talk.hit >= 0 ? "mark.search" : "mark") ?? shown.querySelector("mark");
    // The head of the message stays in view, unless its mark would not.
    const isFar = mark && this.below(mark) + mark.offsetHeight - this.below(shown) > lines.clientHeight - 40;
    lines.scrollTop += isFar ? this.below(mark) - 80 : this.below(shown);
    this.setState({ at: talk.goal.id });
    performance.mark("transcript-drawn"); // for benchmarks/bench_review.py
  }

  hold({ id, offset }) {
    const same = this.lines.querySelector(`[data-id="${id}"]`);
    if (same) this.lines.scrollTop += this.below(same) - offset;
  }

  onScroll() {
    const { talk, say } = this.props;
    const { scrollTop, clientHeight, scrollHeight } = this.lines;
    const top = this.lines.getBoundingClientRect().top;
    const first = [...this.lines.children].find((child) => child.getBoundingClientRect().bottom > top);
    const at = first ? Number(first.dataset.id) : talk.first;
    if (at !== this.state.at) this.setState({ at });
    const isBefore = scrollTop < NEAR_PX && talk.first > 0;
    if (isBefore || scrollTop + clientHeight > scrollHeight - NEAR_PX) {
      talk.extend(isBefore).catch((problem) => say(problem.message, "error"));
    }
  }

  search() {
    const { talk, say } = this.props;
    const isSame = talk.query === this.state.query.trim() && talk.hits.length;
    if (isSame && document.activeElement?.id === "search-box") return this.nextHit();
    this.lines.focus({ preventScroll: true }); // keys act again, and Enter walks the hits
    this.known = this.state.query;
    talk.search(this.state.query, this.filters).catch((problem) => say(problem.message, "error"));
    return undefined;
  }

  nextHit() {
    this.props.talk.nextHit().catch((problem) => this.props.say(problem.message, "error"));
  }

  filter(name, value) {
    // People count parts and sessions from 1, addresses from 0.
    const given = value && (name === "plan" || name === "session") ? String(Number(value) - 1) : value;
    this.filters = { ...this.filters, [name]: given };
    if (this.props.talk.query) this.search();
  }

  go(id) {
    this.props.talk.go(id).catch((problem) => this.props.say(problem.message, "error"));
  }

  render({ talk, evidence = [], comments = [], say, children }, { at, query }) {
    return html`<section class="talk" aria-label="conversation">
      <search class="tools">
        <div class="row">
        <input
          id="search-box"
          type="search"
          placeholder="Search"
          aria-label="search the conversation"
          maxlength="200"
          value=${query}
          onInput=${(event) => this.setState({ query: event.target.value })}
          onKeyDown=${(event) => {
            if (event.key !== "Enter" || event.ctrlKey) return;
            event.preventDefault();
            this.search();
          }}
        />
        <select aria-label="who says it" onChange=${(event) => this.filter("speaker", event.target.value)}>
          <option value="">anybody</option>
          <option value="user">user</option>
          <option value="assistant">assistant</option>
        </select>
        <details>
          <summary class="soft">Filter</summary>
          ${FILTERS.map(
            ([name, type, label]) => html`<label key=${name}>
              ${label}
              <input
                type=${type}
                aria-label=${label}
                min=${type === "number" ? 1 : undefined}
                onChange=${(event) => this.filter(name, event.target.value)}
              />
            </label>`,
          )}
        </details>
        <span id="search-count" class="small" role="status">${talk.count}</span>
        <span class="soft small figure">${talk.total > 1 ? `${Math.round((100 * at) / (talk.total - 1))} % through` : ""}</span>
        </div>
        ${children}
        <${Hits} talk=${talk} go=${(place) => talk.nextHit(place).catch((problem) => say(problem.message, "error"))} />
      </search>
      <div
        class="lines"
        tabindex="0"
        role="log"
        aria-live="off"
        aria-label="messages"
        ref=${(element) => {
          this.lines = element;
        }}
        onScroll=${() => this.onScroll()}
        onKeyDown=${(event) => {
          if (event.key !== "Enter" || event.target !== this.lines || !talk.hits.length) return;
          this.nextHit();
        }}
      >
        ${talk.views.map(
          (message) => html`<${Message}
            key=${message.message_id}
            talk=${talk}
            message=${message}
            isTarget=${message.message_id === talk.goal.id}
            say=${say}
          />`,
        )}
      </div>
      <${Minimap} talk=${talk} at=${at} evidence=${evidence} comments=${comments} go=${(id) => this.go(id)} />
    </section>`;
  }
}

const MOST_LISTED = 20;

/** The first hits of a search as a list; the one that is shown is marked. */
export function Hits({ talk, go, least = 2 }) {
  if (talk.hits.length < least) return null;
  return html`<ol class="hits" aria-label="hits">
    ${talk.found.slice(0, MOST_LISTED).map(
      (hit, place) => html`<li key=${hit.message_id}>
        <button type="button" aria-current=${place === talk.hit ? "true" : undefined} onClick=${() => go(place)}>
          <span class="number soft">#${hit.message_id}</span>
          <span dir="auto" dangerouslySetInnerHTML=${{ __html: hit.excerpt_html }}></span>
        </button>
      </li>`,
    )}
  </ol>`;
}

/** A message; `talk` loads its other parts. */
function Message({ talk, message, isTarget, say }) {
  const part = message.plan_index === null ? "" : `part ${message.plan_index + 1}, `;
  const about = talk.item ? `?item=${encodeURIComponent(talk.item)}` : "";
  return html`<article
    class=${`message ${message.role}${isTarget ? " target" : ""}`}
    data-id=${message.message_id}
    data-key=${message.message_key}
  >
    <header>
      <a
        href=${`${talk.base}/messages/${message.message_id}${about}`}
        aria-label=${`#${message.message_id}, this message alone`}
      >
        #${message.message_id}
      </a>
      <b>${message.speaker}</b>
      <span>${said(message.sent_at)}</span>
      <span title="A session is one sitting; a part is a chapter of the story">${part}session ${message.session + 1}</span>
      ${Object.entries(message.evidence).map(([id, role]) => html`<span key=${id} class="tag">${role || "evidence"}</span>`)}
      ${message.comments ? html`<span class="tag">${message.comments} comment${message.comments > 1 ? "s" : ""}</span>` : null}
    </header>
    <div class="body" dir="auto" dangerouslySetInnerHTML=${{ __html: message.html }}></div>
    ${message.is_whole ? null : html`<${Parts} talk=${talk} message=${message} say=${say} />`}
  </article>`;
}

function Parts({ talk, message, say }) {
  const find = async (event) => {
    if (event.key !== "Enter" || !event.target.value) return;
    const text = event.target.value;
    const count = await talk.find(message, text);
    say(count ? `${count} in this message` : `not in this message: ${text}`);
  };
  const show = (at) => talk.part(message, at).catch((problem) => say(problem.message, "error"));
  return html`<p class="row parts">
    <span class="soft">
      characters ${message.start.toLocaleString("en")}–${message.end.toLocaleString("en")} of ${message.chars.toLocaleString("en")}
    </span>
    ${
      message.start > 0
        ? html`<button
      type="button"
      onClick=${() => show(message.start - 4000)}
    >Earlier</button>`
        : null
    }
    ${
      message.end < message.chars
        ? html`<button
      type="button"
      onClick=${() => show(message.end)}
    >Further</button>`
        : null
    }
    <input type="search" placeholder="find in this message" aria-label="find in this message" onKeyDown=${find} />
  </p>`;
}

const WIDTH = 22;
const MOST_HITS = 4_000;
const STEPS = { ArrowDown: 0.01, ArrowUp: -0.01, PageDown: 0.1, PageUp: -0.1 };

class Minimap extends Component {
  componentDidMount() {
    this.observer = new ResizeObserver(() => this.draw());
    if (this.canvas) this.observer.observe(this.canvas);
    this.redraw = () => this.draw();
    addEventListener("resize", this.redraw);
    this.draw();
  }

  componentDidUpdate() {
    this.draw();
  }

  componentWillUnmount() {
    this.observer?.disconnect();
    if (this.redraw) removeEventListener("resize", this.redraw);
  }

  move(event) {
    const { talk, at, go } = this.props;
    const last = Math.max(talk.total - 1, 0);
    const wanted = { Home: 0, End: last }[event.key] ?? (event.key in STEPS ? at + stepOf(event.key, last) : null);
    if (wanted === null) return;
    event.preventDefault();
    event.stopPropagation();
    go(Math.min(Math.max(wanted, 0), last));
  }

  draw() {
    const { canvas } = this;
    const { talk, at, evidence, comments } = this.props;
    if (!canvas) return;
    const height = Math.max(canvas.clientHeight, 10);
    canvas.width = WIDTH;
    canvas.height = height;
    const pen = canvas.getContext("2d");
    // A token is a pair of colours: the browser says which of them holds.
    const style = getComputedStyle(canvas);
    const colour = (name) => {
      canvas.style.color = `var(${name})`;
      return style.color;
    };
    const y = (id) => Math.round((id / Math.max(talk.total, 1)) * height);
    const bar = (id, color, thick, left = 0, right = WIDTH) => {
      pen.fillStyle = colour(color);
      pen.fillRect(left, y(id), right - left, thick);
    };
    const sessions = talk.map?.sessions ?? [];
    for (const border of sessions.length < height / 3 ? sessions : []) bar(border.message_id, "--line", 1);
    for (const border of talk.map?.plans ?? []) bar(border.message_id, "--soft", 2);
    for (const id of talk.hits.slice(0, MOST_HITS)) bar(id, "--accent", 1, 0, 7);
    for (const id of comments) bar(id, "--warn", 3, 15, WIDTH);
    for (const id of evidence) bar(id, "--bad", 3, 7, 15);
    pen.strokeStyle = colour("--ink");
    pen.strokeRect(0.5, y(at), WIDTH - 1, Math.max(y(talk.views.length), 4));
  }

  render({ talk, at, go }) {
    return html`<canvas
      class="minimap"
      ref=${(element) => {
        this.canvas = element;
      }}
      role="slider"
      tabindex="0"
      aria-label="place in the conversation"
      aria-orientation="vertical"
      aria-valuemin="0"
      aria-valuemax=${Math.max(talk.total - 1, 0)}
      aria-valuenow=${at}
      aria-valuetext=${`message ${at} of ${talk.total}`}
      title="the whole conversation: evidence in the middle, hits left, comments right"
      onClick=${(event) => go(Math.floor((event.offsetY / event.target.clientHeight) * talk.total))}
      onKeyDown=${(event) => this.move(event)}
    ></canvas>`;
  }
}

function stepOf(key, last) {
  const step = Math.round(STEPS[key] * last);
  return step || Math.sign(STEPS[key]);
}
