// Texts for people: times on this machine's clock, counts, names.

const DAY = { year: "numeric", month: "2-digit", day: "2-digit" };
const CLOCK = { hour: "2-digit", minute: "2-digit" };

/** The time at which something was said in the conversation: as it stands, it has no time zone. */
export const said = (text) => (text ? text.replace("T", " ").slice(0, 16) : "");

/** A moment of this review on the clock of this machine, with its time zone. */
export function clock(text) {
  const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" })
    .formatToParts(new Date(text))
    .find((part) => part.type === "timeZoneName");
  return `${new Date(text).toLocaleTimeString([], /** @type {any} */ (CLOCK))} ${zone?.value ?? ""}`.trim();
}

/** Day and time of a moment of this review on the clock of this machine. */
export const moment = (text) => new Date(text).toLocaleString([], /** @type {any} */ ({ ...DAY, ...CLOCK }));

export const plural = (count, word) => `${count.toLocaleString()} ${word}${count === 1 ? "" : "s"}`;

export const words = (name) => name.replaceAll("_", " ");

const WHOLE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text without halves of characters, which no file can hold. */
export const whole = (text) => text.replace(WHOLE, "\ufffd");
