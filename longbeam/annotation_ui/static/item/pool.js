// Other candidates of the ability, any of which can be taken into the review; and probes written by hand.

import { itemAddress } from "../api.js";
import { words } from "../text.js";
import { html } from "../vendor/htm-preact.js";
import { takeIn } from "./deciding.js";
import { store } from "./state.js";

const MOST = 20;

/** @param {{item: import("../types").ItemView}} props */
export function Pool({ item }) {
  return html`<section class="card" id="pool">
    <header>
      <h2>Pool: ${item.candidates.length}</h2>
      ${
        item.can_write
          ? html`<button
        type="button"
        onClick=${() => store.set({ aid: "write" })}
      >write a probe</button>`
          : null
      }
    </header>
    <p class="soft small">When a probe is rejected, the next candidate of its ability takes its place.</p>
    <ul class="plain">
      ${item.candidates.slice(0, MOST).map(
        (candidate) => html`<${Candidate}
        key=${candidate.item_id}
        item=${item}
        candidate=${candidate}
      />`,
      )}
    </ul>
  </section>`;
}

function Candidate({ item, candidate }) {
  const isFree = !candidate.is_in_queue && candidate.status !== "rejected";
  const state = isFree
    ? "candidate"
    : candidate.is_in_queue && candidate.status === "pending"
      ? "in the queue"
      : words(candidate.status);
  return html`<li class="candidate" data-item=${candidate.item_id}>
    <a href=${itemAddress(candidate.item_id) + location.search}>${candidate.name}</a> <span class="tag">${state}</span>
    ${
      item.can_write && isFree
        ? html`<button
      type="button"
      onClick=${() => takeIn(candidate.item_id)}
      aria-label=${`take in ${candidate.name}`}
    >take in</button>`
        : null
    }
    <div dir="auto">${candidate.question}</div>
  </li>`;
}
