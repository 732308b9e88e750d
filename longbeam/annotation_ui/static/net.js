// Requests to the server of this page. A refusal is thrown as the `Problem` that it is.
const csrf = document.querySelector("meta[name=csrf]")?.content ?? "";

async function read(answer) {
  const body = await answer.json().catch(() => ({ error: "network", message: `the server said ${answer.status}` }));
  if (!answer.ok) throw body;
  return body;
}

export async function get(address) {
  try {
    return await read(await fetch(address));
  } catch (problem) {
    throw problem.error ? problem : { error: "network", message: "the review server does not answer; is it running?" };
  }
}

export async function post(address, body) {
  const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
  try {
    return await read(await fetch(address, { method: "POST", headers, body: JSON.stringify(body ?? {}), keepalive: true }));
  } catch (problem) {
    throw problem.error ? problem : { error: "network", message: "the review server does not answer; nothing was saved" };
  }
}

// "/items/a/b?x=1" -> "/items/a/b.json?x=1"
export function twin(address) {
  const url = new URL(address, location.href);
  return `${url.pathname}.json${url.search}`;
}
