// A probe written by hand: checked at once, then put into the review. Evidence is cited from the transcript beside it.
import { fill, h, say } from "./dom.js";
import { post } from "./net.js";

const area = (label, rows, placeholder = "") => h("textarea", { "aria-label": label, rows: String(rows), placeholder });

export function writing(item, room, show, complain) {
  const question = area("question", 2, "question");
  const gold = area("gold answer", 2, "gold answer");
  const nuggets = area("nuggets", 3, "nuggets, one a line");
  const field = item.panel.draft_field;
  const more = field ? area(field, field === "items" ? 3 : 1, item.panel.draft_hint) : null;
  const cited = [];
  const shown = h("ul", { class: "small" });
  const told = h("div", {});
  const lines = (field) => field.value.split("\n").map((line) => line.trim()).filter(Boolean);

  function cite() {
    const chosen = room.selected();
    if (!chosen) return say("select the words in the conversation first");
    cited.push(chosen);
    fill(shown, cited.map((c) => h("li", {}, `${c.message_key}: ${c.quote}`)));
  }

  async function send(isSaved) {
    const given = { ability: item.ability, question: question.value, gold_answer: gold.value, nuggets: lines(nuggets), evidence: cited, is_saved: isSaved };
    if (field) given[field] = field === "items" ? lines(more) : more.value;
    try {
      const found = await post(`/api/conversations/${encodeURIComponent(item.conversation_id)}/probes`, given);
      if (found.item_id) return await show(`/items/${found.item_id.split("/").map(encodeURIComponent).join("/")}`);
      fill(told, found.findings.length ? found.findings.map((f) => h("p", { class: `small ${f.severity}` }, h("b", {}, f.check), `: ${f.message}`)) : h("p", { class: "ok small" }, "The checks find nothing."));
    } catch (problem) { complain(problem); }
  }

  return h("div", { id: "writing" }, h("h2", {}, `A probe of ${item.ability_title}`), question, gold, nuggets, more, shown,
    h("p", {}, h("button", { type: "button", onclick: cite }, "cite selection"), " ", h("button", { type: "button", onclick: () => send(false) }, "check"), " ",
      h("button", { type: "button", class: "good", onclick: () => send(true) }, "save and review")), told);
}
