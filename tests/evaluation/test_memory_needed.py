"""Probes need memory: their evidence is sufficient, nothing without it answers, and competing values are told apart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

import pytest

from longbeam.abilities import QuestionKind
from longbeam.evaluation import DifficultyMeter, judge_answer, rubric_values, score_of, with_other_values
from longbeam.memory import dated, exchanges_of
from longbeam.offline import OfflineWriter
from longbeam.pipeline.run import run_inline
from longbeam.prompts.calls import AnswerInputs
from longbeam.schemas import Answer, BenchmarkSpec, Message, Probe
from longbeam.store import SealedConversation, create_benchmark
from longbeam.text import says, values_in
from tests.generators.scripted import asker_for
from tests.wired import offline

Made = tuple[list[Message], list[Probe]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The messages of a conversation, and its selected probes with evidence."""
    spec = BenchmarkSpec.model_validate({"name": "short", "seed": 5, "length": "16K", "domains": ["coding"]})
    benchmark = create_benchmark(spec, tmp_path_factory.mktemp("made"))
    asyncio.run(run_inline(benchmark, offline()))
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        return list(sealed.messages()), [p for p in sealed.probes() if p.is_selected and p.evidence]


def cited(messages: Iterable[Message], probe: Probe) -> list[Message]:
    keys = {e.message_key for e in probe.evidence}
    return [m for m in messages if m.message_key in keys]


def test_an_oracle_that_reads_the_evidence_alone_says_every_nugget(made: Made) -> None:
    messages, probes = made
    for probe in probes:
        alone = [m.model_copy(update={"tokens": 1}) for m in cited(messages, probe)]  # all of it fits the budget
        at_end = probe.model_copy(update={"asked_at": None})
        assert DifficultyMeter(alone, [at_end], (), "key").of(at_end).random_units == 1, probe.probe_id


def test_an_oracle_says_nothing_where_the_evidence_is_not_read(made: Made) -> None:
    messages, probes = made
    for probe in probes:
        # What is cited fills the budget alone, so that no floor can read it.
        keys = {m.message_key for m in cited(messages, probe)}
        heavy = [m.model_copy(update={"tokens": 200_000}) if m.message_key in keys else m for m in messages]
        assert DifficultyMeter(heavy, [probe], (), "key").of(probe).answered == (0, 0), probe.probe_id


async def test_with_competing_values_in_the_evidence_the_reader_gives_those(made: Made) -> None:
    messages, probes = made
    # A tally counts messages, whatever their values are; what is to be forgotten is a value that the gold leaves out.
    # All values move by the same amount, so that a difference stays.
    kinds = (QuestionKind.TALLY, QuestionKind.FORGET)
    moved = [p for p in probes if p.details.computation not in ("difference", "days_between")]
    of_values = [p for p in moved if p.details.variety not in kinds]
    asked = [p for p in of_values if all(values_in(n.text) for n in p.rubric)]
    # A day that a message tells by its own day ("last Monday", "the 18th") stands there without a value to be changed.
    told_by_value = [p for p in asked if not _says_gold(cited(messages, p), p, with_other_values)]
    assert len(told_by_value) >= 3

    async def score(probes: Sequence[Probe], swapped: Callable[[str], str]) -> float:
        return fmean([await _score(probe, messages, swapped) for probe in probes])

    assert await score(asked, lambda text: text) >= 0.95
    assert await score(told_by_value, with_other_values) <= 0.25


def _says_gold(said: Iterable[Message], probe: Probe, swapped: Callable[[str], str]) -> bool:
    """Whether messages still say a value of the rubric after their values were changed."""
    return any(says(swapped(m.content), v, m.sent_at.date()) for m in said for v in rubric_values(probe))


async def _score(probe: Probe, messages: Sequence[Message], swapped: Callable[[str], str]) -> float:
    asker = asker_for(OfflineWriter())
    said = cited(messages, probe)
    changed = {m.message_key: m.model_copy(update={"content": swapped(m.content)}) for m in said}
    parts = []
    # Cut into exchanges before the rest is left out: each message keeps the date of its own exchange.
    for exchange in exchanges_of(messages):
        if kept := tuple(changed[m.message_key] for m in exchange.messages if m.message_key in changed):
            parts.append(dated(exchange.model_copy(update={"messages": kept})))
    asked_on = (probe.asked_at or said[-1].sent_at).date()
    inputs = AnswerInputs(context="\n\n".join(parts), question=probe.question, asked_on=asked_on)
    text = await asker.prose("answer", inputs)
    answer = Answer(conversation_id="c000", probe_id=probe.probe_id, system="evidence", text=text)
    judgement = await judge_answer(probe, answer, asker, judge="lexical", is_strict=True)
    return score_of(probe, judgement, text)[0].score or 0.0
