"""A conversation under evaluation: the exchanges that systems read, and the probes at their own points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from longbeam.evaluation import Control, as_of, without_evidence
from longbeam.memory import TemplateCounts, count_templates, exchanges_of
from longbeam.schemas import Exchange, Probe, Question, digest_of
from longbeam.store import Benchmark, SealedConversation


@dataclass(frozen=True)
class ReadConversation:
    """A conversation as the systems read it, and the probes that they are asked."""

    conversation_id: str
    exchanges: tuple[Exchange, ...]
    probes: tuple[Probe, ...]
    places: dict[str, float]
    """Position of each message of the original conversation: 0 for the first, below 1 for the last."""
    tokens: int

    @cached_property
    def contents(self) -> dict[str, str]:
        """Text of each message that the systems read, by its key."""
        return {m.message_key: m.content for e in self.exchanges for m in e.messages}

    @cached_property
    def digest(self) -> str:
        """Digest of everything that the state of a system may depend on: messages, and questions asked on the way."""
        questions = {point: asked for point, asked in self.questions.items() if point < len(self.exchanges)}
        return digest_of([m for e in self.exchanges for m in e.messages], [list(p) for p in questions.items()])

    @cached_property
    def read_digests(self) -> dict[int, str]:
        """Digest of what a system has read when it is asked, by the number of exchanges before the question."""
        parts = [digest_of_read(exchange) for exchange in self.exchanges]
        return {point: digest_of(parts[:point]) for point in (*self.probes_by_point, len(parts))}

    def question(self, probe: Probe) -> Question:
        """Return a probe's question; it is asked a day after the last message if the probe names no time."""
        last = self.exchanges[-1].messages[-1].sent_at
        return Question(text=probe.question, asked_at=probe.asked_at or last + timedelta(days=1))

    def point(self, probe: Probe) -> int:
        """Return the number of exchanges before a probe: those that were over when it is asked."""
        if probe.asked_at is None:
            return len(self.exchanges)
        return sum(1 for e in self.exchanges if e.messages[-1].sent_at <= probe.asked_at)

    @cached_property
    def probes_by_point(self) -> dict[int, tuple[Probe, ...]]:
        """Probes by the number of exchanges before them, in the order of time."""
        found: dict[int, tuple[Probe, ...]] = {}
        for probe in self.probes:
            point = self.point(probe)
            found[point] = (*found.get(point, ()), probe)
        return dict(sorted(found.items()))

    @cached_property
    def questions(self) -> dict[int, tuple[Question, ...]]:
        """Questions by the number of exchanges before them, in the order of time."""
        return {point: tuple(map(self.question, of)) for point, of in self.probes_by_point.items()}


def digest_of_read(exchange: Exchange) -> str:
    """Return a digest of what stands in an exchange now; the records' own digests are kept from when they were made."""
    said = [[m.message_key, m.role.value, m.speaker, m.content, str(m.sent_at)] for m in exchange.messages]
    return digest_of(exchange.position, said)


def has_probes(benchmark: Benchmark, probes_of: Mapping[str, Sequence[Probe]] | None) -> bool:
    """Return whether any conversation has probes to ask: reviewed ones, or selected ones where `probes_of` is None."""
    if probes_of is not None:
        return any(probes_of.values())
    for conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            if any(probe.is_selected for probe in sealed.probes()):
                return True
    return False


def form_counts(
    benchmark: Benchmark, conversation_id: str, probes_of: Mapping[str, Sequence[Probe]] | None
) -> TemplateCounts:
    """Return what the form of a conversation teaches about sentences that its probes quote."""
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        selected = (p for p in sealed.probes() if p.is_selected)
        probes = selected if probes_of is None else probes_of.get(conversation_id, ())
        return count_templates(list(sealed.messages()), probes)


def read_conversation(
    benchmark: Benchmark,
    conversation_id: str,
    control: Control | None,
    probes_of: Mapping[str, Sequence[Probe]] | None,
) -> ReadConversation:
    """Return a sealed conversation under a control; `probes_of` has the reviewed probes, None takes the sealed ones."""
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        exchanges = tuple(exchanges_of(sealed.messages()))
        if probes_of is None:
            probes = tuple(p for p in sealed.probes() if p.is_selected)
        else:
            probes = tuple(probes_of[conversation_id])
        plans = tuple(sealed.head.plans) if control is Control.EVIDENCE_REMOVED else ()
    keys = [m.message_key for e in exchanges for m in e.messages]
    tokens = sum(m.tokens for e in exchanges for m in e.messages)
    if control is Control.EVIDENCE_REMOVED:
        exchanges = without_evidence(exchanges, probes, plans)
    elif control is Control.SWAPPED:
        ids = benchmark.sealed_ids
        other = ids[(ids.index(conversation_id) + 1) % len(ids)]
        with SealedConversation(benchmark.sealed_path(other)) as sealed:
            exchanges = as_of(tuple(exchanges_of(sealed.messages())), other)
    return ReadConversation(conversation_id, exchanges, probes, {k: i / len(keys) for i, k in enumerate(keys)}, tokens)
