// The pane of a conversation: search tools, the lines, and the strip. Lines keep their place when others come or go.
import { Component, html } from "../vendor/htm-preact.js";
import { Message } from "./message.js";
import { Minimap } from "./minimap.js";

const NEAR_PX = 300;
const FILTERS = [
  ["date_from", "date", "from"],
  ["date_to", "date", "to"],
  ["plan", "number", "plan"],
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
    return first ? { id: first.dataset.id, offset: first.getBoundingClientRect().top } : null;
  }

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
    const from = (mark ?? shown).getBoundingClientRect().top - lines.getBoundingClientRect().top;
    lines.scrollTop += from - (mark ? 80 : 4);
    this.setState({ at: talk.goal.id });
    performance.mark("transcript-drawn"); // for benchmarks/bench_review.py
  }

  hold({ id, offset }) {
    const same = this.lines.querySelector(`[data-id="${id}"]`);
    if (same) this.lines.scrollTop += same.getBoundingClientRect().top - offset;
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
    this.lines.focus({ preventScroll: true }); // keys act again
    this.known = this.state.query;
    talk.search(this.state.query, this.filters).catch((problem) => say(problem.message, "error"));
  }

  nextHit() {
    this.props.talk.nextHit().catch((problem) => this.props.say(problem.message, "error"));
  }

  filter(name, value) {
    this.filters = { ...this.filters, [name]: value };
    if (this.props.talk.query) this.search();
  }

  go(id) {
    this.props.talk.go(id).catch((problem) => this.props.say(problem.message, "error"));
  }

  render({ talk, evidence = [], comments = [], say }, { at, query }) {
    return html`<section class="card talk" aria-label="conversation">
      <search class="tools">
        <input
          id="search-box"
          type="search"
          placeholder="search, then Enter"
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
          <summary>filter</summary>
          ${FILTERS.map(
            ([name, type, label]) => html`<label key=${name}>
              ${label}
              <input
                type=${type}
                aria-label=${label}
                min=${type === "number" ? 0 : undefined}
                onChange=${(event) => this.filter(name, event.target.value)}
              />
            </label>`,
          )}
        </details>
        <span id="search-count" role="status">${talk.count}</span>
        ${talk.hits.length > 1 ? html`<button type="button" onClick=${() => this.nextHit()}>next hit</button>` : null}
        <span class="soft">${talk.total ? `#${at.toLocaleString()} of ${talk.total.toLocaleString()}` : ""}</span>
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
