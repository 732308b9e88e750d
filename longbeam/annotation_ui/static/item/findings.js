// Findings of the checks, worst first; each leads to the place that it is about.
import { KeyButton } from "../keys.js";
import { words } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { goTo } from "./conversation.js";
import { store } from "./state.js";

const ORDER = ["error", "warning", "info"];

/** @param {{item: import("../types").ItemView}} props */
export function Findings({ item }) {
  const findings = [...item.findings].sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
  const fine = item.checks.filter((check) => check.state === "ok").length;
  return html`<section class="card" id="findings">
    <header><h2>Findings</h2>${item.can_write ? html`<${KeyButton} action="check">check again</${KeyButton}>` : null}</header>
    ${item.is_checked ? null : html`<p class="warning">The checks have not run.</p>`}
    ${item.is_checked && !item.is_findings_current ? html`<p class="warning">The item was edited since the checks ran.</p>` : null}
    ${findings.map(
      (finding, i) => html`<p key=${i} class=${finding.severity}>
        <a
          href=${finding.href}
          title=${finding.doc}
          onClick=${(event) => lead(event, finding.href)}
        >${words(finding.check)}</a>:
        ${` ${finding.message} `}
        ${finding.messages.map(
          (message) =>
            html`<button
              key=${message.message_id}
              type="button"
              class="small"
              onClick=${() => goTo(message.message_id)}
            >#${message.message_id}</button>`,
        )}
      </p>`,
    )}
    <details class="small soft">
      <summary>${item.is_checked ? `${fine} of ${item.checks.length} checks found nothing` : `${item.checks.length} checks`}</summary>
      <ul class="plain">
        ${item.checks.map(
          (check) => html`<li key=${check.check} class=${check.state}>
            <b>${words(check.check)}</b>: ${words(check.state)}. ${check.doc}
          </li>`,
        )}
      </ul>
    </details>
  </section>`;
}

/** Shows the place of a finding's cause: a field, a nugget or a cited message. */
function lead(event, href) {
  event.preventDefault();
  const name = decodeURIComponent(href.slice(1));
  const [kind, ...rest] = name.split("-");
  const key = rest.join("-");
  const { item } = store.get();
  if (!item) return;
  if (kind === "evidence") {
    const piece = Math.max(
      item.evidence.findIndex((evidence) => evidence.message_key === key),
      0,
    );
    store.set({ piece });
    const id = item.evidence[piece]?.message_id;
    if (id !== null && id !== undefined) goTo(id);
  } else if (kind === "nugget") {
    store.set({
      nugget: Math.max(
        item.rubric.findIndex((nugget) => nugget.nugget_id === key),
        0,
      ),
    });
  }
  store.set({ pointed: name });
  document.getElementById(kind === "evidence" ? "dock" : name)?.scrollIntoView({ block: "nearest" });
}
