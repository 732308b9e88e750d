"""Clean controls: what looks like a fault and is none. Nothing that a check finds on them is right."""

from __future__ import annotations

import re
from collections.abc import Callable

from benchmarks.seeded_defects.changes import Change, Site, last_cited, later_message, replaced, said, with_sentence
from benchmarks.seeded_defects.evidence_faults import FACTUAL
from benchmarks.seeded_defects.wording import other_writings, read_day, typed_value, whole, wrong_value

_NEAR_MISSES = {
    "recommended": "Somebody recommended a film to me the other day.",
    "reference number": "I can never find a reference number when a form asks for one.",
    "second opinion": "My cousin always wants a second opinion.",
    "stands in": "My neighbour stands in for the postman this week.",
    "time of day": "I like the light at this time of day.",
    "folder": "I've bought a new folder for the tax papers.",
    "colour": "My brother can't decide on a colour for his door.",
    "birthday": "There was a birthday next door, and loud music.",
    "allergy": "Half the office has an allergy in spring.",
    "dish": "I must take a dish back to my aunt.",
    "shoe size": "My nephew has a new shoe size every month.",
    "phone number": "My own phone number has changed, I'll give it to you another day.",
    "street": "They are digging up our street again.",
}
"""By the word searched for: sentences that have it and answer nothing."""
_HARMLESS = (
    "Thanks for your last answer, that was useful.",
    "I'm writing this on the train, so forgive the typos.",
    "Sorry for the silence, it has been a full week.",
    "A small arrow in my notes, tea -> desk -> walk, keeps me going.",
    "I've put a note [in pencil] beside your last point.",
    "My brother says hello, by the way.",
)


def leave_as_it_is(site: Site) -> Change | None:
    """Nothing is changed."""
    return Change(site.probe)


def write_the_nuggets_day_otherwise(site: Site) -> Change | None:
    """A nugget writes a day another way than the chat: `19 February 2023`."""
    return _write_otherwise(site, lambda value: read_day(value) is not None)


def write_the_nuggets_number_otherwise(site: Site) -> Change | None:
    """A nugget writes an amount another way than the chat: `nine hours`, `1,800 dollars`."""
    return _write_otherwise(site, lambda value: read_day(value) is None)


def _write_otherwise(site: Site, is_wanted: Callable[[str], bool]) -> Change | None:
    if site.probe["ability"] not in (*FACTUAL, "knowledge_update"):
        return None
    listed = [v for f in site.probe["fact_ids"] for v in site.chat.values(f)]
    value = site.probe["details"]["computed_value"] or typed_value(listed, site.probe["gold_answer"])
    if not value or not is_wanted(value) or not other_writings(value):
        return None
    if not any(whole(value).search(n["text"]) for n in site.probe["rubric"]):
        return None
    return Change(replaced(site.probe, [(value, site.rng.choice(other_writings(value)))], gold=False))


def write_the_gold_otherwise(site: Site) -> Change | None:
    """The gold answer writes a value another way than the chat and the rubric."""
    listed = [v for f in site.probe["fact_ids"] for v in site.chat.values(f)]
    value = typed_value(listed, site.probe["gold_answer"])
    if site.probe["ability"] not in ("information_extraction", "knowledge_update") or not other_writings(value):
        return None
    gold = whole(value).sub(site.rng.choice(other_writings(value)), site.probe["gold_answer"])
    return Change(site.probe | {"gold_answer": gold})


def word_the_nuggets_otherwise(site: Site) -> Change | None:
    """Nuggets begin another way."""
    starts = ("Says that", "Tells the user that", "Gives the fact that")
    rubric = site.probe["rubric"]
    if site.probe["ability"] not in FACTUAL or not all(n["text"].startswith("States that ") for n in rubric):
        return None
    start = site.rng.choice(starts)
    return Change(
        site.probe | {"rubric": [n | {"text": start + n["text"].removeprefix("States that")} for n in rubric]}
    )


def ask_more_politely(site: Site) -> Change | None:
    """The question has a polite phrase before it."""
    start = site.rng.choice(("Sorry to bother you again. ", "One thing, before I forget: ", "Could you help me here? "))
    return Change(site.probe | {"question": start + site.probe["question"]})


def recall_the_old_value(site: Site) -> Change | None:
    """After an update the user says what the value once was; that changes nothing."""
    if site.probe["ability"] != "knowledge_update" or len(site.probe["fact_ids"]) != 1:
        return None
    message = later_message(site, last_cited(site.probe))
    if message is None:
        return None
    fact, old = site.chat.fact(site.probe["fact_ids"][0]), site.probe["details"]["old_value"]
    sentence = f"Funny to think that the {fact['attribute']} of {fact['subject']} used to be {old} once."
    return Change(messages=(with_sentence(message, sentence),), twins=(site.probe["probe_id"],))


def give_a_value_of_something_else(site: Site) -> Change | None:
    """Later the user gives a value of the same kind, of another person's thing."""
    if site.probe["ability"] not in ("information_extraction", "knowledge_update") or len(site.probe["fact_ids"]) != 1:
        return None
    value = typed_value(site.chat.values(site.probe["fact_ids"][0]), site.probe["gold_answer"])
    wrong = wrong_value(value, site.rng) if value else ""
    message = later_message(site, last_cited(site.probe))
    if not wrong or message is None:
        return None
    sentence = f"My cousin told me about a plan of his own, and with him it is {wrong}."
    return Change(messages=(with_sentence(message, sentence),), twins=(site.probe["probe_id"],))


def miss_the_abstention(site: Site) -> Change | None:
    """The chat has the word that an abstention was searched with, and still no answer."""
    spare = site.chat.spare_messages("user")
    sentence = next((s for word, s in _NEAR_MISSES.items() if word in site.probe["details"]["searches"]), None)
    if site.probe["ability"] != "abstention" or sentence is None or not spare:
        return None
    message = site.rng.choice(spare)
    return Change(messages=(with_sentence(message, sentence),), twins=(site.probe["probe_id"],))


def chat_a_little(site: Site) -> Change | None:
    """The user says something more that bears on nothing."""
    spare = site.chat.spare_messages("user")
    if not spare:
        return None
    message = site.rng.choice(spare)
    return Change(messages=(with_sentence(message, site.rng.choice(_HARMLESS)),))


def repeat_a_heading(site: Site) -> Change | None:
    """A reply has a sentence of its own twice, as summaries do."""
    spare = [m for m in site.chat.spare_messages("assistant") if len(m["content"]) > 600]
    if not spare:
        return None
    message = site.rng.choice(spare)
    first = re.split(r"(?<=[.!?])\s", message["content"])[0]
    return Change(messages=(said(message, f"{message['content']}\n\nIn short: {first}"),))
