"""The last stages of a conversation, probes, checks and seal, and the stages of units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from longbeam.errors import StoreError
from longbeam.models import Asker
from longbeam.pipeline.run.conversation import TalkedConversation
from longbeam.pipeline.run.finished import made_with, remember
from longbeam.pipeline.run.gaps import making_of
from longbeam.pipeline.run.probing import ConversationText, ProbePool, WordedProbes, check_worded, word_probes
from longbeam.pipeline.run.reading import with_unasked
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.schemas import ConversationHead, Message, Probe, Record, digest_of
from longbeam.store import SealedConversation, seal_conversation


class Sealed(Record):
    """Size of a sealed conversation."""

    messages: int
    tokens: int
    probes: int


SEAL = UnitSpec("seal", Sealed)


@dataclass(frozen=True)
class ProbedConversation:
    """A conversation with what its replies bring in unasked, and its worded probes."""

    talked: TalkedConversation
    worded: WordedProbes


async def probes_stage(talked: TalkedConversation) -> ProbedConversation:
    """Read what the replies bring in unasked, and have the probes worded."""
    talked = await with_unasked(talked)
    said_anew = {m.message_key: m.content for turn in talked.mended.values() for m in turn}
    text = ConversationText(talked.head(), talked.messages(), digest_of(talked.digests()), said_anew)
    return ProbedConversation(talked, await word_probes(talked.conversation.units, text))


async def checks_stage(probed: ProbedConversation) -> tuple[TalkedConversation, ProbePool]:
    """Return the conversation, and its probes with those selected that pass the checks."""
    return probed.talked, await check_worded(probed.worded)


async def seal_stage(talked: TalkedConversation, pool: ProbePool) -> Sealed:
    """Write the sealed file, unless it is there and holds exactly this."""
    c, probes = talked.conversation, pool.probes
    log = c.units.log
    head = talked.head().model_copy(update={"authors": log.journal.authors()})
    mended = {key: list(turn) for key, turn in sorted(talked.mended.items())}
    made = [digest_of(talked.digests()), talked.turns_digest(), digest_of(list(probes))]
    # Not the counts of replies: what was asked again and came out the same is no reason to seal again.
    incidents = [*log.units.incidents(), *talked.said.lost]
    parts = [*head.parts(), *made, *([mended] if mended else []), *([incidents] if incidents else [])]
    if not _is_sealed(c.sealed_path):
        log.units.remove(SEAL.stage, keep=())
    whole = Digested(_Whole(c.sealed_path, head, talked, probes), parts)
    (sealed,) = await c.units.run(SEAL, "conversation", whole, work=_seal)
    remember(log, made_with(c.units.spec, c.units.prompts))
    return sealed


@dataclass(frozen=True)
class _Whole:
    """A finished conversation, and the file that it is sealed in."""

    path: Path
    head: ConversationHead
    talked: TalkedConversation
    probes: Sequence[Probe]


async def _seal(_: Asker, whole: Digested[_Whole]) -> Sequence[Sealed]:
    whole.value.talked.conversation.units.log.require_file()  # a removed folder must not be made anew for the seal
    made, messages, tokens = whole.value, 0, 0
    talked = made.talked
    making = making_of(talked.conversation.units.log, talked.said.lost)
    head = made.head.model_copy(update={"making": making})

    def counted() -> Iterator[Message]:
        nonlocal messages, tokens
        for message in talked.messages():
            messages, tokens = messages + 1, tokens + message.tokens
            yield message

    seal_conversation(made.path, head, counted(), made.probes, talked.user_turns())
    return (Sealed(messages=messages, tokens=tokens, probes=len(made.probes)),)


def _is_sealed(path: Path) -> bool:
    try:
        SealedConversation(path).close()
    except StoreError:
        return False  # not there, or damaged: it is made again from the work log
    return True


TEXT_STAGES: tuple[str, ...] = ("persona", "plan", "user_turns", "dialogue")
"""Stages that make the text; their failed units are gaps."""
STAGES: tuple[str, ...] = (*TEXT_STAGES, "probes", "seal")
"""Stages of units, as work logs and `status` name them. `plan`, `user_turns` and `dialogue` are run plan by plan."""
