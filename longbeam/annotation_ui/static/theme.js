// Light, dark, or as the system: the reader's choice, before the page is drawn. No module, so that nothing flashes.
(() => {
  const PLACE = "longbeam/theme";
  const root = document.documentElement;
  const show = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  let kept = "system";
  try {
    kept = localStorage.getItem(PLACE) ?? kept;
  } catch {
    // Without storage the page is as the system.
  }
  show(kept);
  document.addEventListener("DOMContentLoaded", () => {
    const chosen = document.getElementById(`theme-${kept}`);
    if (chosen instanceof HTMLInputElement) chosen.checked = true;
  });
  document.addEventListener("change", (event) => {
    if (!(event.target instanceof HTMLInputElement) || event.target.name !== "theme") return;
    show(event.target.value);
    try {
      localStorage.setItem(PLACE, event.target.value);
    } catch {
      // The choice lasts as long as the page.
    }
    dispatchEvent(new Event("resize")); // the strip beside a conversation takes its colours again
  });
})();
