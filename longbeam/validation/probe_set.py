"""The selected probes of a conversation as a set: the requested number, and no two that ask the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from longbeam.abilities import Trait
from longbeam.schemas import Probe
from longbeam.text import ASKING_WORDS, bare_words, content_words, values_in
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield missing probes, ids that occur twice, and probes of one ability that ask the same."""
    yield from _count_problems(index)
    for probe_id, times in Counter(p.probe_id for p in index.probes).items():
        if times > 1:
            yield Problem("duplicate_id", probe_id, f"{times} probes are called {probe_id!r}")
    for first, second in combinations(index.selected, 2):
        yield from _pair_problems(first, second)
    yield from _spread_problems(index)


def _count_problems(index: ConversationIndex) -> Iterator[Problem]:
    selected = Counter(p.ability for p in index.selected)
    for ability, asked in (index.asked or {}).items():
        if selected[ability] != asked:
            text = f"{selected[ability]} probes of {ability} are selected; {asked} were asked for"
            yield Problem("fewer" if 0 < selected[ability] < asked else "number", ability, text)
    if index.asked is None and len(set(selected.values())) > 1:
        counts = ", ".join(f"{ability} {n}" for ability, n in sorted(selected.items()))
        yield Problem("uneven", "conversation", f"abilities have different numbers of probes: {counts}")


def _pair_problems(first: Probe, second: Probe) -> Iterator[Problem]:
    words = [frozenset(bare_words(p.question).split()) for p in (first, second)]
    similarity = len(words[0] & words[1]) / max(len(words[0] | words[1]), 1)
    if bare_words(first.question) == bare_words(second.question):
        text = f"asks the same as {first.probe_id}: {shorten(second.question)}"
        yield Problem("same_question", second.probe_id, text)
    elif similarity < CHECKING.similar_questions and _ask_one_thing(first, second):
        text = f"asks in other words what {first.probe_id} asks, with the same answer: {shorten(second.question)}"
        yield Problem("same_in_other_words", second.probe_id, text)
    elif first.ability != second.ability:
        return
    elif similarity >= CHECKING.similar_questions and (_is_one_thing(first, second) or _share_evidence(first, second)):
        text = f"asks nearly the same as {first.probe_id} ({similarity:.2f}): {shorten(second.question)}"
        yield Problem("similar_question", second.probe_id, text)
    elif first.evidence and _quotes(first) == _quotes(second):
        yield Problem("same_evidence", second.probe_id, f"rests on the same evidence as {first.probe_id}")


def _ask_one_thing(first: Probe, second: Probe) -> bool:
    """Return whether two probes have one answer and one evidence, and share most words of the shorter question."""
    abstaining = [has_trait(p, Trait.ABSTAINS) for p in (first, second)]
    if any(abstaining) and not all(abstaining):
        return False  # nothing was said of the one, and something of the other
    questions = [content_words(p.question) - ASKING_WORDS for p in (first, second)]
    least = min(map(len, questions))
    if not least or len(questions[0] & questions[1]) < CHECKING.same_question * least:
        return False
    keys = [{e.message_key for e in p.evidence} for p in (first, second)]
    if not all(keys) or all(abstaining):  # the golds of two abstentions say the same of different things
        return len(questions[0] & questions[1]) >= CHECKING.same_alone * len(questions[0] | questions[1])
    if len(keys[0] & keys[1]) < CHECKING.same_evidence * min(map(len, keys)):
        return False
    return _have_one_gold(first, second)


def _have_one_gold(first: Probe, second: Probe) -> bool:
    values = [frozenset(value.meaning for value in values_in(p.gold_answer)) for p in (first, second)]
    if any(values):
        return values[0] == values[1]
    words = [content_words(p.gold_answer) for p in (first, second)]
    return len(words[0] & words[1]) >= CHECKING.same_gold * max(len(words[0] | words[1]), 1)


def _is_one_thing(first: Probe, second: Probe) -> bool:
    """Return whether all content words of one question are in the other: else the questions name different things."""
    words = content_words(first.question), content_words(second.question)
    return words[0] <= words[1] or words[1] <= words[0]


def _share_evidence(first: Probe, second: Probe) -> bool:
    quotes = _quotes(first), _quotes(second)
    return len(quotes[0] & quotes[1]) > CHECKING.same_evidence * len(quotes[0] | quotes[1])


def _quotes(probe: Probe) -> frozenset[tuple[str, str]]:
    return frozenset((e.message_key, e.quote) for e in probe.evidence)


def _spread_problems(index: ConversationIndex) -> Iterator[Problem]:
    levels = {p.difficulty for p in index.selected}
    if len(index.selected) > 2 and len(levels) == 1:
        text = f"all {len(index.selected)} selected probes are {levels.pop().value}"
        yield Problem("one_difficulty", "conversation", text)
    if len(index.head.plans) > 1:
        yield from _plan_problems(index)


def _plan_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield abilities whose probes all rest on one of several plans: they measure only a part of the length."""
    for ability, count in Counter(p.ability for p in index.selected if p.evidence).items():
        cited = (m for p in index.selected if p.ability == ability for m in index.cited(p))
        plans = {m.plan_index for m in cited if m.plan_index is not None}
        if count > 1 and len(plans) == 1:
            text = f"all {count} selected probes of {ability} rest on plan {plans.pop()} of {len(index.head.plans)}"
            yield Problem("one_plan", ability, text)


CHECK = Check(
    name="probe_set",
    doc="Each ability has as many selected probes as asked; ids are unique; no two probes ask the same.",
    severities={
        "number": ERROR,
        "fewer": WARNING,
        "uneven": WARNING,
        "duplicate_id": ERROR,
        "same_question": ERROR,
        "same_in_other_words": WARNING,
        "similar_question": WARNING,
        "same_evidence": WARNING,
        "one_difficulty": INFO,
        "one_plan": WARNING,
    },
    on_conversation=find_problems,
)
