// Counter-evidence, each message of which is cleared or cited; and the rubric tried on right and wrong answers.
import { said, words } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { act } from "./acts.js";
import { showAid } from "./aids.js";
import { goTo } from "./conversation.js";
import { mayWork } from "./state.js";

/** Messages that could change the answer. */
export function Counter({ found, item }) {
  return html`<section class="card" id="counter">
    <h2>Could change the answer</h2>
    <p class="small soft">Looked for ${found.terms.join(", ")} in ${found.considered.toLocaleString()} messages.</p>
    <ol class="plain">
      ${found.candidates.map(
        (candidate) => html`<${Candidate}
        key=${candidate.message_key}
        candidate=${candidate}
        item=${item}
      />`,
      )}
    </ol>
  </section>`;
}

function Candidate({ candidate, item }) {
  const settle = async (body) => {
    if (await act(body)) await showAid("counter");
  };
  const clear = { kind: "cleared", target: `message/${candidate.message_key}` };
  const adopt = { kind: "evidence_added", after: { message_key: candidate.message_key, quote: candidate.quote } };
  return html`<li class=${`candidate${candidate.is_cleared ? " soft" : ""}`}>
    <button type="button" onClick=${() => goTo(candidate.message_id)}>#${candidate.message_id}</button>
    <span> ${said(candidate.sent_at)} </span>
    ${candidate.signs.map((sign) => html`<span key=${sign} class="tag">${words(sign)}</span>`)}
    <div dir="auto" dangerouslySetInnerHTML=${{ __html: candidate.excerpt_html }}></div>
    ${
      candidate.is_cleared
        ? html`<p>changes nothing</p>`
        : mayWork(item)
          ? html`<p>
            <button
              type="button"
              onClick=${() => settle(clear)}
              aria-label=${`message ${candidate.message_id} changes nothing`}
            >changes nothing</button>
            <button
              type="button"
              onClick=${() => settle(adopt)}
              aria-label=${`cite it: message ${candidate.message_id}`}
            >cite it</button>
          </p>`
          : null
    }
  </li>`;
}

/** The rubric on the gold answer and on wrong answers. */
export function WhatIf({ found }) {
  return html`<section class="card" id="what-if">
    <h2>The rubric on right and wrong answers</h2>
    <p class="small soft">Judge: ${found.judge}. The gold answer should score 1, all others less.</p>
    <table>
      <thead><tr><th scope="col">answer</th><th scope="col">score</th><th scope="col">as it should be</th></tr></thead>
      <tbody>
        ${found.rows.map(
          (row, i) => html`<tr key=${i}>
            <td><b>${words(row.answer_kind)}</b><div class="soft" dir="auto">${row.answer.slice(0, 160)}</div></td>
            <td>${row.score.toFixed(2)}</td>
            <td class=${row.is_as_expected ? "ok" : "error"}>${row.is_as_expected ? "yes" : "no"}</td>
          </tr>`,
        )}
      </tbody>
    </table>
    ${found.lint?.length ? html`<ul>${found.lint.map((lint, i) => html`<li key=${i} class="warning">${lint.message}</li>`)}</ul>` : null}
  </section>`;
}
