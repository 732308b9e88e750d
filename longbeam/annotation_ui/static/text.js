// Texts for people: times on this machine's clock, counts, names. All dates have the form 2026-11-28.

const two = (number) => String(number).padStart(2, "0");

/** The time at which something was said in the conversation: as it stands, it has no time zone. */
export const said = (text) => (text ? text.replace("T", " ").slice(0, 16) : "");

/** A moment of this review on the clock of this machine: 14:05. */
export function clock(text) {
  const at = new Date(text);
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The same with the time zone, where somebody else's clock is meant, too: 14:05 GMT+9. */
export function zonedClock(text) {
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "short" }).formatToParts(new Date(text));
  return `${clock(text)} ${parts.find((part) => part.type === "timeZoneName")?.value ?? ""}`.trim();
}

/** Day and time of a moment of this review on the clock of this machine. */
export function moment(text) {
  const at = new Date(text);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(text)}`;
}

export const plural = (count, word) =>
  `${count.toLocaleString("en")} ${word}${count === 1 ? "" : word.endsWith("ch") ? "es" : "s"}`;

export const words = (name) => name.replaceAll("_", " ");

/** A text in which a message has its number, not its key. */
export const numbered = (text, messages) =>
  messages.reduce((shown, { message_key: key, message_id: id }) => shown.replaceAll(key, `#${id}`), text);

const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text without halves of characters, which no file can hold. */
export const whole = (text) => text.replace(HALF, "\ufffd");

const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/** The text with a sign for each character that would turn the direction of its paragraph. */
export const visible = (text) =>
  text.replace(TURNING, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
