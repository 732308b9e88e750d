"""What checks over a whole benchmark keep of each conversation, so that none has to be held whole."""

from __future__ import annotations

from dataclasses import dataclass

from longbeam.schemas.conversation import ConversationReader
from longbeam.schemas.people import Profile
from longbeam.schemas.seeds import Seed


@dataclass(frozen=True, slots=True)
class ProbeDigest:
    """Question and gold answer of a selected probe."""

    probe_id: str
    question: str
    gold_answer: str


@dataclass(frozen=True, slots=True)
class ConversationDigest:
    """Who, about what, and what is asked."""

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
