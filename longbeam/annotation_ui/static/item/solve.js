// Solving blind: the reviewer answers from the evidence before seeing the gold answer.

import { drop, keep, kept } from "../outbox.js";
import { html, useState } from "../vendor/htm-preact.js";
import { act } from "./acts.js";
import { GrowingArea } from "./field.js";
import { say } from "./notices.js";
import { store } from "./state.js";

/** @param {{item: import("../types").ItemView}} props */
export function Solve({ item }) {
  const [text, setText] = useState(kept(item.item_id, "dialog/solve") ?? "");
  const change = (typed) => {
    setText(typed);
    keep(item.item_id, "dialog/solve", typed);
  };
  const finish = async () => {
    if (!text.trim()) return;
    const done = await act({ kind: "solved", after: { answer: text.trim() } });
    if (!done) return;
    drop(item.item_id, "dialog/solve");
    store.set({ isBlind: false });
    say(done.item.solved ? `Your answer scores ${done.item.solved.score.toFixed(2)} by the rubric.` : "saved", "ok");
  };
  return html`<section class="card" id="solve">
    <h2>Your own answer</h2>
    <p class="soft small">Answer from the conversation. The gold answer and the rubric are shown afterwards.</p>
    <${GrowingArea} value=${text} onText=${change} aria-label="your answer" />
    <p>
      <button type="button" class="primary" onClick=${finish}>answer</button>
      <button type="button" onClick=${() => store.set({ isBlind: false })}>show the gold answer instead</button>
    </p>
  </section>`;
}
