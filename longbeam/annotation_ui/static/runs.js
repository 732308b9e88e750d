// Pages of runs: a filter applies when it is changed, and j and k go to the next and the previous probe.
const form = /** @type {HTMLFormElement | null} */ (document.getElementById("filter"));

form?.addEventListener("change", (event) => {
  if (!(event.target instanceof HTMLInputElement && event.target.type === "search")) form.requestSubmit();
});

document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.closest("input, select, textarea");
  const rel = { j: "next", k: "prev" }[event.key];
  if (!rel || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  /** @type {HTMLAnchorElement | null} */ (document.querySelector(`a[rel="${rel}"]`))?.click();
});
