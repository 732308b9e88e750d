// Requests to the server of this page. A refusal is thrown as the `Problem` that the server sends.

/** @typedef {import("./types").PeopleProblem} Problem */

const NO_ANSWER = "The review server does not answer. What you typed is kept in this browser.";
const PAUSES_MS = [300, 600, 1200, 2400, 4000, 8000];

/** Functions that end the pause before the next try. */
const pauses = new Set();
/** @type {(isWaiting: boolean) => void} */
let onWaiting = () => {};
/** @type {(session: any) => Promise<boolean>} */
let askToSignIn = async () => false;
/** The sign-in that is under way: requests that need it wait for the same one. @type {Promise<boolean> | null} */
let signingIn = null;

/** The JSON that the server has written into a script element of the page; null if there is none. */
export function dataOf(id) {
  const element = document.getElementById(id);
  return element?.textContent ? JSON.parse(element.textContent) : null;
}

/** A value of a `<meta>` of the page. */
export function metaOf(name) {
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? "";
}

/** Tells `listener` whether a request is waiting for a server that does not answer. */
export function watchWaiting(listener) {
  onWaiting = listener;
}

/** Asks the reviewer to sign in on the spot where a session has ended; `ask` answers whether it was done. */
export function whenSignedOut(ask) {
  askToSignIn = ask;
}

/** Tries waiting requests again at once. */
export function tryNow() {
  for (const end of [...pauses]) end();
}

/** @param {string} address */
export async function get(address) {
  return read(await reached(fetch(address)));
}

/** Posts once: for acts that must not wait, and for those that the server does not know by an id. */
export async function post(address, body = {}) {
  try {
    return await read(await reached(sent(address, body)));
  } catch (problem) {
    if (!["csrf", "signed_out"].includes(problem.error) || !(await signedIn())) throw problem;
    return read(await reached(sent(address, body)));
  }
}

/**
 * Posts until the server answers, however long that takes. The body carries an `act_id`, so that an act whose answer
 * was lost counts once.
 */
export async function postUntilAnswered(address, body) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await post(address, body);
      onWaiting(false);
      return answer;
    } catch (problem) {
      if (problem.error !== "network") {
        onWaiting(false);
        throw problem;
      }
      onWaiting(true);
      await pause(PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]);
    }
  }
}

/** Signs this page in by a name, without loading it again. */
export async function signIn(reviewerId, role) {
  adopt(await read(await reached(sent("/api/session", { reviewer_id: reviewerId, role }))));
}

/** "/items/a/b?x=1" -> "/items/a/b.json?x=1" */
export function twin(address) {
  const url = new URL(address, location.href);
  return `${url.pathname}.json${url.search}`;
}

/** "c000/abstention.0" -> "/items/c000/abstention.0" */
export function itemAddress(itemId) {
  const [conversation, ...probe] = itemId.split("/");
  return `/items/${encodeURIComponent(conversation)}/${encodeURIComponent(probe.join("/"))}`;
}

/** An id for an act: 32 letters and digits. */
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Takes the token of a session in the place of the one that the page was loaded with. */
function adopt(session) {
  document.querySelector('meta[name="csrf"]')?.setAttribute("content", session.csrf);
  document.querySelector('meta[name="reviewer"]')?.setAttribute("content", session.reviewer_id ?? "");
}

/** Whether the page is signed in as its reviewer again: by another tab, or by the reviewer who was asked. */
function signedIn() {
  signingIn ??= (async () => {
    try {
      const session = await get("/session.json").catch(() => ({ reviewer_id: null }));
      const isSame = session.reviewer_id && session.reviewer_id === metaOf("reviewer");
      if (isSame) adopt(session);
      return isSame || (await askToSignIn(session));
    } finally {
      signingIn = null;
    }
  })();
  return signingIn;
}

function sent(address, body) {
  const headers = { "Content-Type": "application/json", "X-CSRF-Token": metaOf("csrf") };
  const text = JSON.stringify(body);
  // A browser refuses more than 64 KB for requests that outlive the page.
  return fetch(address, { method: "POST", headers, body: text, keepalive: text.length < 30_000 });
}

async function reached(request) {
  try {
    return await request;
  } catch {
    throw { error: "network", message: NO_ANSWER };
  }
}

async function read(answer) {
  const body = await answer.json().catch(() => null);
  if (body === null) throw { error: "network", message: `The server said ${answer.status}.` };
  if (!answer.ok) throw body;
  return body;
}

function pause(ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    pauses.add(end);
    function end() {
      clearTimeout(timer);
      pauses.delete(end);
      resolve(undefined);
    }
  });
}
