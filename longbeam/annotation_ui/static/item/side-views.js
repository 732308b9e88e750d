// Guidelines beside the form, and the reviewer's last decisions, any of which can be taken back.
import { moment } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { show, travel } from "./deciding.js";
import { complain } from "./notices.js";

/** The guidelines: the general part, and that of the item's ability. */
export function Guidelines({ guidelines, item }) {
  const sections = guidelines.sections.filter((section) => ["general", item.ability].includes(section.section));
  return html`<section class="card" id="guidelines">
    <h2>Guidelines</h2>
    ${sections.map(
      (section) => html`<details key=${section.section} open>
        <summary>${section.name}</summary>
        <div dangerouslySetInnerHTML=${{ __html: section.html }}></div>
      </details>`,
    )}
    <p class="small"><a href="/guidelines">all guidelines</a></p>
  </section>`;
}

/** The last decisions, newest first. */
export function Decisions({ decisions }) {
  const rows = decisions.decisions;
  return html`<section class="card" id="decisions">
    <h2>My last decisions</h2>
    ${rows.length ? null : html`<p class="soft">Nothing yet.</p>`}
    <ol class="plain">
      ${rows.slice(0, 10).map((row) => html`<${Decision} key=${row.event_id} row=${row} />`)}
    </ol>
    ${
      rows.length > 10
        ? html`<details>
          <summary>${rows.length - 10} earlier</summary>
          <ol class="plain">${rows.slice(10).map((row) => html`<${Decision} key=${row.event_id} row=${row} />`)}</ol>
        </details>`
        : null
    }
  </section>`;
}

function Decision({ row }) {
  const open = (event) => {
    event.preventDefault();
    show(row.href).catch(complain);
  };
  return html`<li>
    <a href=${row.href} onClick=${open}>${row.item_name}</a>: ${row.name}${row.value ? html` <b dir="auto">${row.value}</b>` : null}
    <div class="soft small">
      ${moment(row.created_at)}
      <button
        type="button"
        onClick=${() => travel("undo", row.event_id)}
        aria-label=${`take back: ${row.name} (${row.item_name})`}
      >take back</button>
    </div>
  </li>`;
}
