"""Rule-based wording of the further kinds of question (`QuestionKind`): the questions that take several messages."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from longbeam.abilities import QuestionKind
from longbeam.offline.fact_wording import (
    asked,
    asked_to,
    is_somebody,
    shown,
    slot_of,
    stated_of,
    told_of,
    told_to,
)
from longbeam.offline.language import upper_first
from longbeam.offline.probe_wording import number_word, of_user, to_you
from longbeam.prompts.calls import NuggetDraft, ProbeInputs, ProbeReply
from longbeam.schemas import AdviceKind, ValueKind
from longbeam.text import listed

_GROWING = frozenset({ValueKind.NUMBER, ValueKind.DURATION, ValueKind.RATIO})
"""Kinds of values that may have grown between two messages: only what was told last is certain."""


def word_kind(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    """Return question, gold answer and nuggets of a candidate of one of the kinds."""
    return _WRITERS[inputs.variety](inputs, rng)


def _as_of(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    old, new = inputs.excerpts
    slot, day = slot_of(old), inputs.condition
    forms: tuple[str, ...]
    if clause := asked(old):
        forms = (
            f"What was my last word, as of {day}, on {clause}?",
            f"For my notes: what was my last word, as of {day}, on {clause}?",
        )
    elif old.value is not None and old.value.kind in _GROWING:
        forms = (
            f"Going back to {day}: what was the last figure I had given you for {slot}?",
            f"As of {day}, what was the latest figure you had from me for {slot}?",
        )
    else:
        what, whom = ("Who", "Whom") if is_somebody(old) else ("What", "What")
        forms = (
            f"{what} was {slot} as of {day}?",
            f"Going back to {day}: {what.lower()} was {slot} then?",
            f"For my notes: {whom.lower()} did I have down as {slot}, as of {day}?",
        )
    if asked(old):
        then = f"{asked_to(old)}: {shown(old.value)}"
        gold = f"At that time you had told me {then}; later you said {shown(new.value)}."
        text = f"States what the user had said at that time, {stated_of(old)}"
    else:
        gold = upper_first(f"at that time {told_to(old)} was {shown(old.value)}; later you said {shown(new.value)}.")
        text = f"States that {told_of(old)} was {shown(old.value)} at that time"
    nugget = NuggetDraft(text=text, excerpts=[0, 1])
    return ProbeReply(question=rng.choice(forms), gold_answer=gold, nuggets=[nugget])


def _planned_actual(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    planned, actual = inputs.excerpts
    plan = f"the {planned.attribute} that I had set last"
    forms = (
        f"By how many days did I miss or beat {plan} for {inputs.topic}?",
        f"How many days off was I in the end from {plan} for {inputs.topic}?",
    )
    result = f"{inputs.computed_value} {inputs.condition}"
    gold = upper_first(
        f"{told_to(actual)} was {shown(actual.value)}, {result} the {planned.attribute} that you had set last, "
        f"{shown(planned.value)}."
    )
    text = f"States that {of_user(inputs.topic)} was done {result} the last {planned.attribute}"
    nugget = NuggetDraft(text=text, excerpts=[0, 1])
    return ProbeReply(question=rng.choice(forms), gold_answer=to_you(gold), nuggets=[nugget])


def _people(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    wanted, people = inputs.topic, listed(inputs.items)
    forms = (
        f"I want to be sure of the right people: {wanted}?",
        f"{upper_first(wanted)}? I would like the names.",
        f"I want to tease somebody. {upper_first(wanted)}?",
    )
    verb, ones = ("It was", "the one") if len(inputs.items) == 1 else ("They were", "the ones")
    # Who answers with the right name alone names no other person, so the point asks for nothing to be said.
    nugget = NuggetDraft(
        text=f"Names {people} and no other person as {ones} {wanted}",
        excerpts=[e.ordinal for e in inputs.excerpts],
    )
    return ProbeReply(question=rng.choice(forms), gold_answer=f"{verb} {people}.", nuggets=[nugget])


def _tally(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    wanted, count = inputs.topic, inputs.computed_value
    counted = wanted.removeprefix("times that ")
    if counted != wanted:
        question = rng.choice(
            (
                f"How many times have I told you that {counted}?",
                f"I have lost count. How often have I told you that {counted}?",
            )
        )
        gold, text = to_you(f"You told me {count} {wanted}."), f"States that the user told {count} {of_user(wanted)}"
    else:
        question = rng.choice(
            (
                f"How many {wanted} have I told you of so far?",
                f"I never wrote it down: how many {wanted} have I mentioned to you by now?",
            )
        )
        gold, text = f"You told me of {count} {wanted}.", f"States that the user told of {count} {wanted}"
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
    QuestionKind.PLANNED_ACTUAL: _planned_actual,
    QuestionKind.JOIN: _people,
    QuestionKind.SET_DIFFERENCE: _people,
    QuestionKind.TALLY: _tally,
    QuestionKind.TOTAL: _total,
}


# --- lists of the assistant's -------------------------------------------------------------------------------


def _options(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    count, it = number_word(len(inputs.items)), inputs.topic
    if inputs.excerpts[0].attribute == AdviceKind.STEPS:
        return _steps(inputs, rng)
    forms = (
        f"Which {count} ways to deal with {it} did you once name for me?",
        f"You once named {count} ways to deal with {it}. Which were they?",
        f"Can you name again the {count} ways to deal with {it} that you saw?",
    )
    gold = f"I listed these options for {to_you(it)}: {listed(inputs.items)}."
    nuggets = [
        NuggetDraft(text=f"States that {item} is one of the options for {of_user(it)}", excerpts=[0])
        for item in inputs.items
    ]
    return ProbeReply(question=rng.choice(forms), gold_answer=gold, nuggets=nuggets)


def _steps(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    count, it = number_word(len(inputs.items)), inputs.topic
    forms = (
        f"Which {count} steps did you once give me for {it}?",
        f"You once gave me {count} steps for {it}. What were they?",
        f"I want to go through it again: what were the {count} steps that you gave me for {it}?",
    )
    nuggets = [
        NuggetDraft(text=f"States that one of the steps for {of_user(it)} is to {item}", excerpts=[0])
        for item in inputs.items
    ]
    gold = f"I gave you these steps for {to_you(it)}: {'; '.join(inputs.items)}."
    return ProbeReply(question=rng.choice(forms), gold_answer=gold, nuggets=nuggets)


def _taken(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    it, item = inputs.topic, inputs.computed_value
    forms = (
        f"Which of your three ways to deal with {it} did I choose?",
        f"Which of the three ways to deal with {it} that you named for me did I decide on?",
        f"I have to explain it to somebody: which of your three ways to deal with {it} am I following?",
    )
    nugget = f"States that of the options for {of_user(it)} the user took this one: {item}"
    return ProbeReply(
        question=rng.choice(forms),
        gold_answer=f"Of the three options for {to_you(it)}, you took this one: {item}.",
        nuggets=[NuggetDraft(text=nugget, excerpts=[0, 1])],
    )


def _use(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    amount, it, use = shown(inputs.excerpts[0].value), inputs.topic, inputs.computed_value
    forms = (
        f"What did you say the {amount} that you put down for {it} was for?",
        f"Can you remind me what the {amount} that you suggested for {it} was for?",
        f"You once suggested {amount} more for {it}. What did you say it was for?",
        f"You told me to set {amount} aside for {it}. What was it for?",
    )
    # The question names the amount, and in the point it would be half of it: a wrong use would partly meet it.
    nugget = f"States that the sum for {of_user(it)} was for {use}"
    return ProbeReply(
        question=rng.choice(forms),
        gold_answer=f"The amount that I suggested for {to_you(it)} was for {use}.",
        nuggets=[NuggetDraft(text=nugget, excerpts=[0])],
    )


LIST_WRITERS: Mapping[str, Callable[[ProbeInputs, random.Random], ProbeReply]] = {
    "listed": _options,
    "taken": _taken,
    "use": _use,
}
