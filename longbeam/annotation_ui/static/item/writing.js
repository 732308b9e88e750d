// A probe written by hand: checked at once, then put into the review. Evidence is cited from the conversation beside it.
import { itemAddress, post } from "../api.js";
import { drop, keep, kept } from "../outbox.js";
import { GrowingArea } from "../parts.js";
import { selectedWords } from "../talk/talk.js";
import { html, useState } from "../vendor/htm-preact.js";
import { show } from "./deciding.js";
import { complain, say } from "./state.js";

const EMPTY = { question: "", gold_answer: "", nuggets: "", more: "", evidence: [] };
const linesOf = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** @param {{item: import("../types").ItemView}} props */
export function Writing({ item }) {
  const place = `dialog/write/${item.ability}`;
  const [draft, setDraft] = useState(() => ({ ...EMPTY, ...JSON.parse(kept(item.conversation_id, place) ?? "{}") }));
  const [findings, setFindings] = useState(/** @type {any[] | null} */ (null));
  const change = (part) => {
    const next = { ...draft, ...part };
    setDraft(next);
    keep(item.conversation_id, place, JSON.stringify(next));
  };
  const cite = () => {
    const words = selectedWords();
    if (words) change({ evidence: [...draft.evidence, words] });
    else say("Select the words in the conversation first.");
  };
  const send = async (isSaved) => {
    try {
      const found = await post(
        `/api/conversations/${encodeURIComponent(item.conversation_id)}/probes`,
        bodyOf(item, draft, isSaved),
      );
      setFindings(found.findings);
      if (!found.item_id) return;
      drop(item.conversation_id, place);
      await show(itemAddress(found.item_id));
    } catch (problem) {
      complain(problem);
    }
  };
  const field = item.panel.draft_field;
  return html`<section id="writing">
    <h2>A new item: ${item.ability_title}</h2>
    <${Area} label="question" value=${draft.question} onText=${(question) => change({ question })} />
    <${Area} label="gold answer" value=${draft.gold_answer} onText=${(gold_answer) => change({ gold_answer })} />
    <${Area} label="nuggets" hint="one a line" value=${draft.nuggets} onText=${(nuggets) => change({ nuggets })} />
    ${
      field
        ? html`<${Area}
      label=${field}
      hint=${item.panel.draft_hint}
      value=${draft.more}
      onText=${(more) => change({ more })}
    />`
        : null
    }
    <ul>${draft.evidence.map((cited, i) => html`<li key=${i} dir="auto">${cited.quote}</li>`)}</ul>
    <p>
      <button type="button" onClick=${cite}>Cite selection</button>
      <button type="button" onClick=${() => send(false)}>Check</button>
      <button type="button" class="primary" onClick=${() => send(true)}>Save and review</button>
    </p>
    <div role="status">
      ${
        findings === null
          ? null
          : findings.length
            ? findings.map(
                (finding, i) =>
                  html`<p key=${i} class=${finding.severity}><b>${finding.check}</b>: ${finding.message}</p>`,
              )
            : html`<p class="ok">The checks find nothing.</p>`
      }
    </div>
  </section>`;
}

function bodyOf(item, draft, isSaved) {
  const field = item.panel.draft_field;
  return {
    ability: item.ability,
    question: draft.question,
    gold_answer: draft.gold_answer,
    nuggets: linesOf(draft.nuggets),
    evidence: draft.evidence,
    is_saved: isSaved,
    ...(field ? { [field]: field === "items" ? linesOf(draft.more) : draft.more } : {}),
  };
}

const Area = ({ label, hint = "", value, onText }) => html`<label class="area">
  ${label} <span class="soft">${hint}</span>
  <${GrowingArea} value=${value} onText=${onText} aria-label=${label} />
</label>`;
