"""The last stages of a conversation, probes and seal, and the names of all stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from longbeam.errors import StoreError
from longbeam.pipeline.run.conversation import TalkedConversation
from longbeam.pipeline.run.probing import ConversationText, ProbePool, write_probe_pool
from longbeam.pipeline.run.unit_spec import UnitSpec
from longbeam.schemas.base import Record, digest_of
from longbeam.schemas.dialogue import Message
from longbeam.store.artifacts import SealedConversation, seal_conversation


class Sealed(Record):
    """Size of a sealed conversation."""

    messages: int
    tokens: int
    probes: int


SEAL = UnitSpec("seal", Sealed)


async def probes_stage(talked: TalkedConversation) -> ProbePool:
    """Return a checked pool per ability, and the selection."""
    said_anew = {m.message_key: m.content for turn in talked.mended.values() for m in turn}
    text = ConversationText(talked.head(), talked.messages(), digest_of(talked.digests()), said_anew)
    return await write_probe_pool(talked.conversation.units, text)


async def seal_stage(talked: TalkedConversation, pool: ProbePool) -> Sealed:
    """Write the sealed file, unless it is there and holds exactly this."""
    c, probes = talked.conversation, pool.probes
    head = talked.head().model_copy(update={"authors": c.units.log.journal.authors()})
    mended = {key: list(turn) for key, turn in sorted(talked.mended.items())}
    made = [digest_of(talked.digests()), talked.turns_digest(), digest_of(list(probes))]
    parts: Sequence[object] = [*head.parts(), *made, *([mended] if mended else [])]

    async def work(_: object, made_from: Sequence[object]) -> Sequence[Sealed]:
        messages = tokens = 0

        def counted() -> Iterator[Message]:
            nonlocal messages, tokens
            for message in talked.messages():
                messages, tokens = messages + 1, tokens + message.tokens
                yield message

        seal_conversation(c.sealed_path, head, counted(), probes, talked.user_turns())
        return (Sealed(messages=messages, tokens=tokens, probes=len(probes)),)

    if not _is_sealed(c.sealed_path):
        c.units.log.units.remove(SEAL.stage, keep=())
    (sealed,) = await c.units.run(SEAL, "conversation", parts, work=work)
    return sealed


def _is_sealed(path: Path) -> bool:
    try:
        SealedConversation(path).close()
    except StoreError:
        return False  # not there, or damaged: it is made again from the work log
    return True


STAGES: tuple[str, ...] = ("persona", "plan", "user_turns", "dialogue", "probes", "seal")
"""Stages in their order. `plan`, `user_turns` and `dialogue` are run plan by plan."""
