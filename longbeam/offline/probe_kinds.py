"""Rule-based wording of the further kinds of question (`QuestionKind`): the questions that take several messages."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from longbeam.abilities.kinds import QuestionKind
from longbeam.offline.fact_wording import is_somebody, shown, slot_of, told_of, told_to
from longbeam.offline.probe_wording import listed, of_user, sentence, to_you
from longbeam.prompts.calls.probes import NuggetDraft, ProbeInputs, ProbeReply
from longbeam.schemas.plans import ValueKind

_GROWING = frozenset({ValueKind.NUMBER, ValueKind.DURATION, ValueKind.RATIO})
"""Kinds of values that may have grown between two messages: only what was told last is certain."""


def word_kind(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    """Return question, gold answer and nuggets of a candidate of one of the kinds."""
    return _WRITERS[inputs.variety](inputs, rng)


def _as_of(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    old, new = inputs.excerpts
    slot, day = slot_of(old), inputs.condition
    forms: tuple[str, ...]
    if old.value is not None and old.value.kind in _GROWING:
        forms = (
            f"Going back to {day}: what was the last figure I had given you for {slot}?",
            f"As of {day}, what was the latest figure you had from me for {slot}?",
        )
    else:
        what, whom = ("Who", "Whom") if is_somebody(old) else ("What", "What")
        forms = (
            f"{what} was {slot} as of {day}?",
            f"Going back to {day}: {what.lower()} was {slot} then?",
            f"I am writing up how it went. {whom} did I have down as {slot}, as of {day}?",
        )
    gold = sentence(f"at that time {told_to(old)} was {shown(old.value)}; you changed it to {shown(new.value)} later.")
    nugget = NuggetDraft(text=f"States that {told_of(old)} was {shown(old.value)} at that time", excerpts=[0, 1])
    return ProbeReply(question=rng.choice(forms), gold_answer=gold, nuggets=[nugget])


def _change_order(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    which, excerpts = inputs.condition, list(inputs.excerpts)
    asked = excerpts[0 if which == "first" else -1]
    rng.shuffle(excerpts)
    *some, one = (slot_of(e) for e in excerpts)
    slots = f"{', '.join(some)}, or {one}"
    forms = (
        f"Which of these did I change {which}, and to what: {slots}?",
        f"I changed all of these at some point: {slots}. Which change came {which}, and what did I change it to?",
    )
    gold = f"The one that changed {which} was {told_to(asked)}: you changed it to {shown(asked.value)}."
    nugget = NuggetDraft(
        text=f"States that {told_of(asked)} changed {which}, to {shown(asked.value)}",
        excerpts=[e.ordinal for e in inputs.excerpts],
    )
    return ProbeReply(question=rng.choice(forms), gold_answer=gold, nuggets=[nugget])


def _planned_actual(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    planned, actual = inputs.excerpts
    plan = f"the {planned.attribute} that I had set last"
    forms = (
        f"By how many days did I miss or beat {plan} for {inputs.topic}?",
        f"How far off was I with {inputs.topic} in the end, in days, against {plan}?",
    )
    result = f"{inputs.computed_value} {inputs.condition}"
    gold = sentence(
        f"{told_to(actual)} was {shown(actual.value)}, {result} the {planned.attribute} that you had set last, "
        f"{shown(planned.value)}."
    )
    nuggets = [
        NuggetDraft(
            text=f"States that {of_user(inputs.topic)} was done {result} the last {planned.attribute}", excerpts=[0, 1]
        ),
        *(
            NuggetDraft(text=f"States that {told_of(e)} was {shown(e.value)}", excerpts=[e.ordinal])
            for e in (planned, actual)
        ),
    ]
    return ProbeReply(question=rng.choice(forms), gold_answer=to_you(gold), nuggets=nuggets)


def _people(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    asked, people = inputs.topic, listed(inputs.items)
    forms = (
        f"Going by all that I have told you: {asked}?",
        f"{sentence(asked)}? I would like the names.",
        f"I want to tease somebody. {sentence(asked)}?",
    )
    verb, ones = ("It was", "the one") if len(inputs.items) == 1 else ("They were", "the ones")
    nugget = NuggetDraft(
        text=f"Names {people}, and nobody else, as {ones} {asked}",
        excerpts=[e.ordinal for e in inputs.excerpts],
    )
    return ProbeReply(question=rng.choice(forms), gold_answer=f"{verb} {people}, and nobody else.", nuggets=[nugget])


def _tally(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    asked, count = inputs.topic, inputs.computed_value
    counted = asked.removeprefix("times that ")
    if counted != asked:
        question = rng.choice(
            (
                f"How many times have I told you that {counted}?",
                f"I have lost count. How often have I told you that {counted}?",
            )
        )
        gold, text = f"You told me {count} {asked}.", f"States that the user told {count} {asked}"
    else:
        question = rng.choice(
            (
                f"How many {asked} have I told you about so far?",
                f"I never wrote it down: how many {asked} have I mentioned to you by now?",
            )
        )
        gold, text = f"You told me about {count} {asked}.", f"States that the user told of {count} {asked}"
    nugget = NuggetDraft(text=text, excerpts=[e.ordinal for e in inputs.excerpts])
    return ProbeReply(question=question, gold_answer=gold, nuggets=[nugget])


def _total(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    unit, _, series = inputs.topic.partition(" of all ")
    series = series.removesuffix(" together")
    forms = (
        f"How many {unit} do all the {series} that I told you about add up to?",
        f"Adding up every one of my {series}: how many {unit} is that altogether?",
    )
    text = f"States that all {series} together come to {inputs.computed_value}"
    nugget = NuggetDraft(text=text, excerpts=[e.ordinal for e in inputs.excerpts])
    gold = f"All your {series} together come to {inputs.computed_value}."
    return ProbeReply(question=rng.choice(forms), gold_answer=gold, nuggets=[nugget])


_WRITERS: Mapping[str, Callable[[ProbeInputs, random.Random], ProbeReply]] = {
    QuestionKind.AS_OF: _as_of,
    QuestionKind.CHANGE_ORDER: _change_order,
    QuestionKind.PLANNED_ACTUAL: _planned_actual,
    QuestionKind.JOIN: _people,
    QuestionKind.SET_DIFFERENCE: _people,
    QuestionKind.TALLY: _tally,
    QuestionKind.TOTAL: _total,
}
