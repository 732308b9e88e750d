"""The stages of one conversation, each a set of units; planning, user turns and dialogue are run plan by plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from longbeam.errors import StoreError
from longbeam.pipeline.repair.mending import take_up_mended
from longbeam.pipeline.run.conversation import Conversation
from longbeam.pipeline.run.planning import persona_stage, plan_stage
from longbeam.pipeline.run.probing import write_probe_pool
from longbeam.pipeline.run.talking import dialogue_stage, user_turns_stage
from longbeam.pipeline.run.unit_spec import UnitSpec
from longbeam.schemas.base import Record, digest_of
from longbeam.schemas.dialogue import Message
from longbeam.store.artifacts import SealedConversation, seal_conversation


class Sealed(Record):
    """That a conversation was sealed, and how large it is."""

    messages: int
    tokens: int
    probes: int


SEAL = UnitSpec("seal", Sealed)


async def probes_stage(c: Conversation) -> None:
    """A checked pool per ability, and the selection."""
    take_up_mended(c)
    c.history = c.history.without_indexes()
    pool = await write_probe_pool(
        c.units,
        c.head(),
        c.messages(),
        digest_of(c.said()),
        said_anew={m.message_key: m.content for turn in c.mended.values() for m in turn},
    )
    c.probes, c.refused = pool.probes, pool.refused


async def seal_stage(c: Conversation) -> None:
    """Write the sealed file, unless it is there and holds exactly this."""
    head = c.head().model_copy(update={"authors": c.units.log.journal.authors()})
    mended = {key: list(turn) for key, turn in sorted(c.mended.items())}
    made = [digest_of(c.said()), c.turns_digest(), digest_of(list(c.probes))]
    parts: Sequence[object] = [*head.parts(), *made, *([mended] if mended else [])]

    async def work(_: object, made_from: Sequence[object]) -> Sequence[Sealed]:
        messages = tokens = 0

        def counted() -> Iterator[Message]:
            nonlocal messages, tokens
            for message in c.messages():
                messages, tokens = messages + 1, tokens + message.tokens
                yield message

        seal_conversation(c.sealed_path, head, counted(), c.probes, c.user_turns())
        return (Sealed(messages=messages, tokens=tokens, probes=len(c.probes)),)

    if not _is_sealed(c.sealed_path):
        c.units.log.units.remove("seal", keep=())
    await c.units.run(SEAL, "conversation", parts, work=work)


def _is_sealed(path: Path) -> bool:
    try:
        SealedConversation(path).close()
    except StoreError:
        return False  # not there, or damaged: it is made again from the work log
    return True


StageWork = Callable[[Conversation], Awaitable[None]]
PlanStageWork = Callable[[Conversation, int], Awaitable[None]]

BEFORE_PLANS: dict[str, StageWork] = {"persona": persona_stage}
"""Stages of the whole conversation, before its plans."""
OF_PLANS: dict[str, PlanStageWork] = {
    "plan": plan_stage,
    "user_turns": user_turns_stage,
    "dialogue": dialogue_stage,
}
"""Stages of each plan. The first of them needs the plan before; the others are independent of other plans."""
AFTER_PLANS: dict[str, StageWork] = {"probes": probes_stage, "seal": seal_stage}
"""Stages of the whole conversation, once everything is said."""
STAGES: tuple[str, ...] = (*BEFORE_PLANS, *OF_PLANS, *AFTER_PLANS)
