"""Digests of conversations for checks of a whole benchmark, so that no conversation is held in memory."""

from __future__ import annotations

from dataclasses import dataclass

from longbeam.schemas import ConversationReader, Profile, Seed


@dataclass(frozen=True, slots=True)
class ProbeDigest:
    """Question and gold answer of a selected probe."""

    probe_id: str
    question: str
    gold_answer: str


@dataclass(frozen=True, slots=True)
class ConversationDigest:
    """Seed, persona and selected probes of a conversation."""

    conversation_id: str
    seed: Seed
    profile: Profile | None
    probes: tuple[ProbeDigest, ...]


def digest_conversation(reader: ConversationReader) -> ConversationDigest:
    """Return the digest of a conversation; its messages are not read."""
    head = reader.head
    probes = (p for p in reader.probes() if p.is_selected)
    return ConversationDigest(
        conversation_id=head.conversation_id,
        seed=head.seed,
        profile=head.profile,
        probes=tuple(ProbeDigest(p.probe_id, p.question, p.gold_answer) for p in probes),
    )
