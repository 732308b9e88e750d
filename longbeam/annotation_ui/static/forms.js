// Forms of the plain pages: sign-in, ratings, guidelines, the queue. Each posts JSON and shows the next page.
import { metaOf, post } from "./api.js";
import { drop, keep, kept, store, stored } from "./outbox.js";

const notice = document.getElementById("notice");

function say(text) {
  if (notice) notice.textContent = text;
}

async function send(address, body, next = location.href) {
  try {
    await post(address, body);
    return next;
  } catch (problem) {
    say(problem.message);
    return null;
  }
}

/** Follows an address; the same one is loaded again. */
function go(address) {
  if (address === location.href) location.reload();
  else if (address) location.href = address;
}

const signIn = document.getElementById("sign-in");
if (signIn instanceof HTMLFormElement) {
  signIn.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = new FormData(signIn);
    const name = String(given.get("reviewer_id")).trim();
    const body = { reviewer_id: name, ...(given.get("role") ? { role: given.get("role") } : {}) };
    go(await send("/api/session", body, signIn.dataset.next ?? "/queue"));
  });
}

document.getElementById("sign-out")?.addEventListener("click", async () => go(await send("/api/session/leave", {})));

for (const button of document.querySelectorAll("button[data-rate]")) {
  const { conversation = "", rate, score } = /** @type {HTMLElement} */ (button).dataset;
  const address = `/api/conversations/${encodeURIComponent(conversation)}/ratings`;
  button.addEventListener("click", async () => go(await send(address, { aspect: rate, score: Number(score) })));
}

/** Words typed into a form are kept in this browser until they are sent. */
function rememberTyped(form, place) {
  for (const field of form.querySelectorAll("textarea[name], input[name=note]")) {
    const typed = kept(place, field.name);
    if (typed !== null) field.value = typed;
    field.addEventListener("input", () => keep(place, field.name, field.value));
  }
  return () => {
    for (const field of form.querySelectorAll("textarea[name], input[name=note]")) drop(place, field.name);
  };
}

for (const form of document.querySelectorAll("form[data-guideline]")) {
  if (!(form instanceof HTMLFormElement)) continue;
  const section = form.dataset.guideline ?? "";
  const forget = rememberTyped(form, `dialog/guideline/${section}`);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = new FormData(form);
    const next = await send("/api/guidelines", { section, text: given.get("text"), note: given.get("note") });
    if (next) forget();
    go(next);
  });
}

/** Filters of the queue that the reviewer has named, in this browser. */
const menu = document.getElementById("saved-filters");
const FILTERS = `longbeam/filters/${metaOf("benchmark")}`;

const savedFilters = () => JSON.parse(stored(FILTERS) ?? "{}");

function keepFilters(filters) {
  if (!store(FILTERS, JSON.stringify(filters))) say("This browser keeps nothing, so that the filter is not saved.");
  showFilters();
}

function showFilters() {
  if (!menu) return;
  for (const old of menu.querySelectorAll("[data-saved]")) old.remove();
  for (const [name, search] of Object.entries(savedFilters())) {
    const link = Object.assign(document.createElement("a"), { href: `/queue?${search}`, textContent: name });
    const gone = Object.assign(document.createElement("button"), { type: "button", textContent: `Forget ${name}` });
    gone.addEventListener("click", () => {
      const { [name]: _, ...others } = savedFilters();
      keepFilters(others);
    });
    for (const part of [gone, link]) {
      part.dataset.saved = name;
      menu.prepend(part);
    }
  }
}

document.getElementById("save-filter")?.addEventListener("click", () => {
  const search = menu?.dataset.filter ?? "";
  const name = document.querySelector("h1")?.textContent?.split(":")[0] ?? "filter";
  const words = new URLSearchParams(search);
  const more = ["q", "ability", "conversation", "severity"].map((key) => words.get(key)).filter(Boolean);
  keepFilters({ ...savedFilters(), [[name, ...more].join(", ").replaceAll("_", " ")]: search });
});
showFilters();

/** Acts of a lead on the chosen items of the queue. */
const bulk = document.getElementById("bulk");
if (bulk instanceof HTMLFormElement) {
  const chosen = () => [...bulk.querySelectorAll("input[name=item]:checked")].map((box) => box.getAttribute("value"));
  const textOf = (name) => /** @type {HTMLInputElement} */ (bulk.querySelector(`input[name=${name}]`)).value.trim();
  bulk.addEventListener("change", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.id === "all-rows") {
      /** @type {HTMLInputElement} */ for (const box of bulk.querySelectorAll("input[name=item]"))
        if (box instanceof HTMLInputElement) box.checked = event.target.checked;
    }
    const count = chosen().length;
    document.getElementById("bulk-bar")?.toggleAttribute("hidden", !count);
    const label = document.getElementById("bulk-count");
    if (label) label.textContent = `${count} chosen`;
  });
  bulk.addEventListener("submit", (event) => event.preventDefault());
  for (const button of bulk.querySelectorAll("button[data-bulk]")) {
    button.addEventListener("click", async () => {
      const people = textOf("people").split(/[,;]\s*/);
      const body = {
        item_ids: chosen(),
        act: /** @type {HTMLElement} */ (button).dataset.bulk,
        people: people.filter(Boolean),
        note: textOf("note"),
      };
      go(await send("/api/bulk", body));
    });
  }
}
