// A conversation by itself: the transcript over the whole page.
import { say } from "./dom.js";
import { Transcript } from "./transcript.js";

const place = document.getElementById("reading");
const wanted = new URLSearchParams(location.search);
const room = new Transcript(place.dataset.conversation, wanted.get("item") ?? "");
place.append(room.element);
const asked = wanted.has("around") || wanted.has("first");
room.go(asked ? Number(place.dataset.first) + (wanted.has("around") ? 3 : 0) : 0).then(() => room.survey()).then(() => wanted.get("q") && room.search(wanted.get("q"))).catch((p) => say(p.message, "error"));
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select")) return;
  if (event.key === "/") { event.preventDefault(); room.box.focus(); }
  if (event.key === "h") room.nextHit();
});
