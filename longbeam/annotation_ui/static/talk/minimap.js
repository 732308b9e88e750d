// The whole conversation as a strip: evidence, hits, comments, borders, and the part that is shown. Arrow keys move it.
import { Component, html } from "../vendor/htm-preact.js";

const WIDTH = 26;
const MOST_HITS = 4_000;
const STEPS = { ArrowDown: 0.01, ArrowUp: -0.01, PageDown: 0.1, PageUp: -0.1 };

export class Minimap extends Component {
  componentDidMount() {
    this.observer = new ResizeObserver(() => this.draw());
    if (this.canvas) this.observer.observe(this.canvas);
    this.draw();
  }

  componentDidUpdate() {
    this.draw();
  }

  componentWillUnmount() {
    this.observer?.disconnect();
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
    const style = getComputedStyle(document.documentElement);
    const y = (id) => Math.round((id / Math.max(talk.total, 1)) * height);
    const bar = (id, color, thick, left = 0, right = WIDTH) => {
      pen.fillStyle = style.getPropertyValue(color);
      pen.fillRect(left, y(id), right - left, thick);
    };
    const sessions = talk.map?.sessions ?? [];
    for (const border of sessions.length < height / 3 ? sessions : []) bar(border.message_id, "--line", 1);
    for (const border of talk.map?.plans ?? []) bar(border.message_id, "--soft", 2);
    for (const id of talk.hits.slice(0, MOST_HITS)) bar(id, "--accent", 1, 0, 9);
    for (const id of comments) bar(id, "--warn", 3, 18, WIDTH);
    for (const id of evidence) bar(id, "--bad", 3, 9, 18);
    pen.strokeStyle = style.getPropertyValue("--ink");
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
