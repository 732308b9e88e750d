// One message of a conversation; a long one is clamped and can be read and searched part by part.

import { said } from "../text.js";
import { html } from "../vendor/htm-preact.js";

/** A message; `talk` loads its other parts. */
export function Message({ talk, message, isTarget, say }) {
  const place = message.plan_index === null ? "" : `plan ${message.plan_index}, `;
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
      <span>${place}session ${message.session}</span>
      ${message.evidence_ids.length ? html`<span class="tag">evidence</span>` : null}
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
  return html`<p class="parts">
    <span class="soft">
      characters ${message.start.toLocaleString()}–${message.end.toLocaleString()} of ${message.chars.toLocaleString()}
    </span>
    ${
      message.start > 0
        ? html`<button
      type="button"
      onClick=${() => show(message.start - 4000)}
    >earlier</button>`
        : null
    }
    ${
      message.end < message.chars
        ? html`<button
      type="button"
      onClick=${() => show(message.end)}
    >further</button>`
        : null
    }
    <input type="search" placeholder="find in this message" aria-label="find in this message" onKeyDown=${find} />
  </p>`;
}
