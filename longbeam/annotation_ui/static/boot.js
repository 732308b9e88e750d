// What the server has written into the page: records as JSON, and the names that requests need.

/** The JSON of a script element; null if the page has none. */
export function dataOf(id) {
  const element = document.getElementById(id);
  return element?.textContent ? JSON.parse(element.textContent) : null;
}

/** A value of a `<meta>` of the page. */
export function metaOf(name) {
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? "";
}
