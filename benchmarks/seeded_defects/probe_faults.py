"""Faults of computation, abstention, questions and rubrics: beam.md 7.6, 7.8, 7.9; points 3 and 10 to 12 there."""

from __future__ import annotations

import re

from benchmarks.seeded_defects.changes import Change, Site, replaced, with_sentence
from benchmarks.seeded_defects.evidence_faults import FACTUAL
from benchmarks.seeded_defects.tables import Row
from benchmarks.seeded_defects.wording import in_other_words, other_writings, read_day, typed_value, wrong_value

# --- computation ------------------------------------------------------------------------------------------


def miscount_days(site: Site) -> Change | None:
    """The days between two dates are wrong in gold, rubric and record."""
    return _miscompute(site, "temporal_reasoning", in_other_writing=False)


def miscount_days_in_words(site: Site) -> Change | None:
    """The same, written out."""
    return _miscompute(site, "temporal_reasoning", in_other_writing=True)


def miscompute_total(site: Site) -> Change | None:
    """A sum or a count is wrong in gold, rubric and record."""
    return _miscompute(site, "multi_session_reasoning", in_other_writing=False)


def miscompute_total_in_words(site: Site) -> Change | None:
    """The same, written out."""
    return _miscompute(site, "multi_session_reasoning", in_other_writing=True)


def _miscompute(site: Site, ability: str, *, in_other_writing: bool) -> Change | None:
    right = site.probe["details"]["computed_value"]
    wrong = wrong_value(right, site.rng) if right else ""
    if site.probe["ability"] != ability or not wrong or site.probe["gold_answer"].count(right) != 1:
        return None
    if in_other_writing and not other_writings(wrong):
        return None
    return Change(replaced(site.probe, [(right, in_other_words(wrong) if in_other_writing else wrong)]))


# --- abstention -------------------------------------------------------------------------------------------

_ANSWERS = {
    r"a podcast about (?P<x>.+)": (
        "The podcast I heard about {x} was called Slow Mornings.",
        "Somebody talks about {x} on an audio show called Slow Mornings, and I listened to it twice while cooking.",
    ),
    r"a magazine article on (?P<x>.+)": (
        "The magazine article I had read about {x} was called Small Steps.",
        "There was a piece on {x} in the Sunday supplement, under the headline Small Steps, which I kept.",
    ),
    r"the weather during (?P<x>.+)": (
        "The weather was grey and windy when I was busy with {x}.",
        "It rained in buckets all the while I was busy with {x}.",
    ),
    r"a raffle for (?P<x>.+)": (
        "I entered the raffle of the fire brigade for {x}.",
        "I bought two tickets for the fire brigade's prize draw because of {x}.",
    ),
    r"a nickname for (?P<x>.+)": (
        "The nickname we use for {x} is the Badger.",
        "Around here everybody calls {x} the Badger.",
    ),
    r"a phone number for (?P<x>.+)": (
        "The phone number in connection with {x} is 555 0142.",
        "If it is about {x}, ring 555 0142, somebody always picks up.",
    ),
    r"the title of a book on (?P<x>.+)": (
        "The book I am reading on {x} has the title The Long Way Round.",
        "I am halfway through The Long Way Round, a paperback about {x}.",
    ),
    r"a café visited for (?P<x>.+)": (
        "I worked on {x} in the Café Amsel.",
        "I spent a morning at the Amsel with {x} and two espressos.",
    ),
    r"a dream about (?P<x>.+)": (
        "I had a dream about {x} in which I was in a rowing boat with no oars.",
        "Last night in my sleep I sat in a rowing boat without oars, and {x} was in it too.",
    ),
    r"a song tied to (?P<x>.+)": (
        "The song I had in my head while thinking about {x} was Harbour Lights.",
        "I kept humming Harbour Lights all the time I was thinking about {x}.",
    ),
    r"a museum connected with (?P<x>.+)": (
        "I said to a friend that {x} reminds me of the railway museum in York.",
        "When I see {x}, I think of the railway collection in York, with its engines behind a rope.",
    ),
    r"a newsletter behind (?P<x>.+)": (
        "The newsletter that gave me the idea for {x} was Plain Figures.",
        "I got the idea for {x} from Plain Figures, a weekly e-mail that I have subscribed to.",
    ),
    r"a teacher's words on (?P<x>.+)": (
        "My old teacher told me to go slowly with {x}.",
        "Mr. Hale, who once taught me at school, told me to go slowly with {x}.",
    ),
    r"a neighbour's complaint on (?P<x>.+)": (
        "My neighbour Mrs. Petrie complained to me about {x}.",
        "Mrs. Petrie from next door grumbled to me about {x} for ten minutes.",
    ),
    r"what (?P<p>\w+) thought of (?P<x>.+)": (
        "{p} thought that {x} was a good idea, only too expensive.",
        "{p} called {x} a fine thing, if a dear one.",
    ),
    r"advice (?P<p>\w+) gave on (?P<x>.+)": (
        "The advice that {p} gave me on {x} was to sleep on it.",
        "{p} told me to sleep on it before I go on with {x}.",
    ),
    r"how (?P<p>\w+) reacted to (?P<x>.+)": (
        "When we talked about {x}, {p} reacted with a long laugh.",
        "{p} burst out laughing as soon as {x} came up between us.",
    ),
    r"a promise to (?P<p>\w+) about (?P<x>.+)": (
        "I promised {p} to write every week in connection with {x}.",
        "I gave {p} my word to write every week, because of {x}.",
    ),
}
"""Information that an abstention calls missing, and sentences that give it: in the question's words, and in others."""


def state_the_answer(site: Site) -> Change | None:
    """The chat gives what the abstention says is missing, in the question's words."""
    return _answer(site, 0)


def state_the_answer_in_other_words(site: Site) -> Change | None:
    """The chat gives what the abstention says is missing, in other words."""
    return _answer(site, 1)


def _answer(site: Site, wording: int) -> Change | None:
    sentence = answer_to(site.probe, wording)
    spare = site.chat.spare_messages("user")
    if sentence is None or not spare:
        return None
    message = site.rng.choice(spare)
    return Change(messages=(with_sentence(message, sentence),), twins=(site.probe["probe_id"],))


def answer_to(probe: Row, wording: int) -> str | None:
    """Return a sentence that answers an abstention; None where no pattern knows what it misses."""
    missing = probe["details"]["missing"]
    for pattern, sentences in _ANSWERS.items():
        if probe["ability"] == "abstention" and (match := re.fullmatch(pattern, missing)):
            return sentences[wording].format(**match.groupdict())
    return None


# --- questions --------------------------------------------------------------------------------------------


def ask_with_the_answer(site: Site) -> Change | None:
    """The question says the value that it asks for."""
    return _ask_with(site, in_other_writing=False)


def ask_with_the_answer_in_other_writing(site: Site) -> Change | None:
    """The same, the value written another way."""
    return _ask_with(site, in_other_writing=True)


def _ask_with(site: Site, *, in_other_writing: bool) -> Change | None:
    if site.probe["ability"] not in ("information_extraction", "knowledge_update"):
        return None
    listed = [v for f in site.probe["fact_ids"] for v in site.chat.values(f)]
    value = typed_value(listed, site.probe["gold_answer"])
    if not value or value in site.probe["question"] or (in_other_writing and not other_writings(value)):
        return None
    value = in_other_words(value) if in_other_writing else value
    tail = site.rng.choice(("It was {value}, wasn't it?", "I seem to remember {value}.", "Somebody here says {value}."))
    return Change(site.probe | {"question": f"{site.probe['question']} {tail.format(value=value)}"})


def ask_with_the_instruction(site: Site) -> Change | None:
    """The question says the instruction again that it is to test."""
    if site.probe["ability"] != "instruction_following":
        return None
    return Change(site.probe | {"question": f"{site.probe['question']} {site.probe['details']['instruction']}"})


def ask_the_same_again(site: Site) -> Change | None:
    """A probe asks what another one asks, in almost the same words."""
    return _ask_again(site, ("Just once more: {question}", "{question} I have lost my notes.", "Tell me: {question}"))


def ask_the_same_in_other_words(site: Site) -> Change | None:
    """A probe asks what another one asks, in other words."""
    wordings = (
        "Which {attribute} have I mentioned where {subject} is concerned?",
        "About {subject}: please look up the {attribute}.",
        "{subject}: what had I told you about the {attribute}?",
        "I can't find the {attribute} any more, it was to do with {subject}. Do you have it?",
    )
    return _ask_again(site, wordings)


def _ask_again(site: Site, wordings: tuple[str, ...]) -> Change | None:
    twins = [
        p
        for p in site.chat.probes
        if p["ability"] == site.probe["ability"] and p is not site.probe and len(p["fact_ids"]) == 1
    ]
    if site.probe["ability"] not in ("information_extraction", "knowledge_update") or not twins:
        return None
    twin = site.rng.choice(twins)
    fact = site.chat.fact(twin["fact_ids"][0])
    question = site.rng.choice(wordings).format(
        question=twin["question"], subject=fact["subject"], attribute=fact["attribute"]
    )
    old, new = twin["probe_id"], site.probe["probe_id"]
    copy = twin | {"probe_id": new, "question": question}
    copy["rubric"] = [n | {"nugget_id": n["nugget_id"].replace(old, new)} for n in twin["rubric"]]
    copy["evidence"] = [e | {"nugget_ids": [i.replace(old, new) for i in e["nugget_ids"]]} for e in twin["evidence"]]
    return Change(copy, twins=(old,))


# --- rubrics ----------------------------------------------------------------------------------------------


def paste_a_nugget(site: Site) -> Change | None:
    """The last nugget is one of another conversation's probe."""
    if site.probe["ability"] not in (*FACTUAL, "contradiction_resolution"):
        return None
    pool = [p for c in site.others for p in c.probes if p["ability"] == site.probe["ability"]]
    text = site.rng.choice(site.rng.choice(pool)["rubric"])["text"]
    if any(text == n["text"] for n in site.probe["rubric"]):
        return None
    *kept, last = site.probe["rubric"]
    return Change(site.probe | {"rubric": [*kept, last | {"text": text}]})


def contradict_the_gold(site: Site) -> Change | None:
    """A nugget asks for another value than the gold answer gives."""
    return _contradict(site, in_other_writing=False)


def contradict_the_gold_in_words(site: Site) -> Change | None:
    """The same, the value written another way."""
    return _contradict(site, in_other_writing=True)


def _contradict(site: Site, *, in_other_writing: bool) -> Change | None:
    if site.probe["ability"] not in (*FACTUAL, "knowledge_update"):
        return None
    listed = [v for f in site.probe["fact_ids"] for v in site.chat.values(f)]
    value = site.probe["details"]["computed_value"] or typed_value(listed, site.probe["gold_answer"])
    wrong = wrong_value(value, site.rng) if value else ""
    if not wrong or not any(value in n["text"] for n in site.probe["rubric"]):
        return None
    if in_other_writing and not other_writings(wrong):
        return None
    return Change(replaced(site.probe, [(value, in_other_words(wrong) if in_other_writing else wrong)], gold=False))


def join_nuggets(site: Site) -> Change | None:
    """Two nuggets are one, with "and"."""
    return _join(site, (" and that ", " and "))


def join_nuggets_loosely(site: Site) -> Change | None:
    """Two nuggets are one, without a conjunction between two clauses."""
    return _join(site, ("; the answer must also say that ", ", and moreover that ", ". It also states that "))


def _join(site: Site, joints: tuple[str, ...]) -> Change | None:
    start = "States that "
    rubric = site.probe["rubric"]
    if site.probe["ability"] not in FACTUAL or len(rubric) < 2 or not all(n["text"].startswith(start) for n in rubric):
        return None
    first, second, *rest = rubric
    joined = first | {"text": first["text"] + site.rng.choice(joints) + second["text"].removeprefix(start)}
    gone, kept = second["nugget_id"], first["nugget_id"]
    evidence = [
        e | {"nugget_ids": list(dict.fromkeys(kept if i == gone else i for i in e["nugget_ids"]))}
        for e in site.probe["evidence"]
    ]
    return Change(site.probe | {"rubric": [joined, *rest], "evidence": evidence})


def lean_on_the_question(site: Site) -> Change | None:
    """A nugget cannot be judged alone: it says "it" where the thing should be named."""
    if site.probe["ability"] not in ("information_extraction", "knowledge_update"):
        return None
    listed = [v for f in site.probe["fact_ids"] for v in site.chat.values(f)]
    value = typed_value(listed, site.probe["gold_answer"])
    if not value or read_day(value) or len(site.probe["rubric"]) != 1:
        return None
    [nugget] = site.probe["rubric"]
    wordings = (
        "States that it is {value}",
        "States that this was {value}",
        "Gives the value of that, {value}",
        "Answers with {value}",
    )
    text = site.rng.choice(wordings).format(value=value)
    return Change(site.probe | {"rubric": [nugget | {"text": text}]})
