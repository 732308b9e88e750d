// Elements without markup: text goes in as text. `html` takes only what the server has sanitised.
export function h(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "html") element.innerHTML = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list" && typeof value !== "string") element[name] = value;
    else element.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(9).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const when = (text) => (text ? text.replace("T", " ").slice(0, 16) : "");

let shown = null;
export function say(text, kind = "") {
  shown?.remove();
  shown = h("div", { class: `card note ${kind}`, role: "status" }, text);
  document.body.append(shown);
  const own = shown;
  setTimeout(() => own.remove(), kind === "error" ? 9000 : 3500);
}
