// Forms of the plain pages: the sign-in, ratings, guidelines, adjudication. Each posts JSON and reloads.
import { say } from "./dom.js";
import { post } from "./net.js";

const send = (address, body, next) => post(address, body).then(() => { location.href = next ?? location.href; }).catch((p) => say(p.message, "error"));

document.getElementById("sign-in")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const given = new FormData(event.target);
  send("/api/session", { reviewer_id: given.get("reviewer_id").trim(), role: given.get("role") }, "/queue");
});

for (const button of document.querySelectorAll("button[data-rate]")) {
  const { conversation, rate, score } = button.dataset;
  button.addEventListener("click", () => send(`/api/conversations/${encodeURIComponent(conversation)}/ratings`, { aspect: rate, score: Number(score) }));
}

for (const form of document.querySelectorAll("form[data-guideline]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new FormData(form);
    send("/api/guidelines", { section: form.dataset.guideline, text: given.get("text"), note: given.get("note") });
  });
}

for (const form of document.querySelectorAll("form[data-decide]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new FormData(form);
    if (!given.get("verdict")) return say("choose accept or reject first", "error");
    send(form.dataset.decide, { verdict: given.get("verdict"), content_of: given.get("content_of"), taxonomy: given.get("taxonomy"),
      confidence: Number(given.get("confidence")), note: given.get("note"), item_version: form.dataset.version });
  });
}
