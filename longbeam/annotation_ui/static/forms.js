// Forms of the plain pages: sign-in, ratings, guidelines, adjudication. Each posts JSON and shows the next page.
import { post } from "./api.js";
import { drop, keep, kept } from "./outbox.js";

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
    go(await send("/api/session", { reviewer_id: name, role: given.get("role") }, signIn.dataset.next ?? "/queue"));
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

for (const form of document.querySelectorAll("form[data-decide]")) {
  if (!(form instanceof HTMLFormElement)) continue;
  const address = form.dataset.decide ?? "";
  const forget = rememberTyped(form, `dialog/decide/${address}`);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = new FormData(form);
    if (!given.get("verdict")) return say("Choose accept or reject first.");
    const body = {
      verdict: given.get("verdict"),
      content_of: given.get("content_of"),
      taxonomy: given.get("taxonomy"),
      confidence: Number(given.get("confidence")),
      note: given.get("note"),
      item_version: form.dataset.version,
    };
    const next = await send(address, body);
    if (next) forget();
    return go(next);
  });
}
