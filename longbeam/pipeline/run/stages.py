"""The last stages of a conversation, probes, checks and seal, and the stages of units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from longbeam.errors import ProviderError, StoreError, is_final
from longbeam.generators import (
    EXTRACT_PROMPT,
    ChatStatement,
    Unasked,
    listed_advice,
    passages_of,
    read_passage,
    said_once,
    unasked_advice,
    uncontested,
)
from longbeam.keys import PROBES
from longbeam.models import Asker, has_model_checks, is_spoken_by_rule
from longbeam.pipeline.run.conversation import SubPlanDialogue, TalkedConversation
from longbeam.pipeline.run.finished import made_with, remember
from longbeam.pipeline.run.gaps import making_of
from longbeam.pipeline.run.probing import ConversationText, ProbePool, WordedProbes, check_worded, word_probes
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import all_of
from longbeam.schemas import (
    Advice,
    ConversationHead,
    Incident,
    IncidentKind,
    Message,
    Plan,
    Probe,
    Record,
    Role,
    digest_of,
)
from longbeam.store import SealedConversation, seal_conversation

READ_REPLIES = UnitSpec(PROBES, ChatStatement, prompts=(EXTRACT_PROMPT,), acting=Role.CHECKER)
"""The statements of one passage of a dialogue. A second checker reads nothing, so the role is named here."""


async def with_unasked(talked: TalkedConversation) -> TalkedConversation:
    """Return the conversation with what its replies bring in, where a language model speaks as the assistant.

    Values are read where models check what models wrote. A passage that no usable reply comes for is left out: what it
    holds is not asked for.
    """
    spec = talked.conversation.units.spec
    if not spec.probes.assistant_share or (is_spoken_by_rule(spec) and not has_model_checks(spec)):
        return talked
    found: list[Unasked] = []
    statements: list[ChatStatement] = []
    planned: list[Advice] = []
    for plan, told in zip(talked.planning.history.plans, talked.plans, strict=True):
        read = await all_of([_read_dialogue(talked, plan, dialogue) for dialogue in told.dialogues.values()])
        found += (given for of_dialogue, _ in read for given in of_dialogue)
        statements += (statement for _, noted in read for statement in noted)
        planned += plan.advice
    return replace(talked, unasked=tuple(said_once(uncontested(found, statements, planned), talked.messages())))


async def _read_dialogue(
    talked: TalkedConversation, plan: Plan, dialogue: SubPlanDialogue
) -> tuple[list[Unasked], list[ChatStatement]]:
    """Return what the replies of a sub-plan bring in, of those that `repair` did not regenerate, and all statements."""
    (sub_plan,) = (s for s in plan.sub_plans if s.key == dialogue.sub_plan_key)
    first, now = talked.first_said(dialogue), {m.message_key: m.content for m in talked.messages_of(dialogue)}
    spec = talked.conversation.units.spec
    lists = (
        [] if is_spoken_by_rule(spec) else list(listed_advice(sub_plan, plan.advice, first, dialogue.turns.unpacked()))
    )
    known = tuple(map(_line, (a for a in plan.advice if a.sub_plan == sub_plan.key)))
    statements: list[ChatStatement] = []
    for number, passage in enumerate(passages_of(first) if has_model_checks(spec) else ()):
        read = Digested(passage, digest_of([m.digest for m in passage]))
        key = f"{sub_plan.key}.said{number}"
        noted = (*known, *(s.line for s in statements))
        statements += await talked.conversation.units.run(READ_REPLIES, key, read, noted, work=_read)
    advice = [*plan.advice, *(given.advice for given in lists)]
    given = [*lists, *unasked_advice(sub_plan, advice, first, statements)]
    said = {m.message_key for m in first if now.get(m.message_key) == m.content}
    return [g for g in given if g.message_key in said], statements


async def _read(
    asker: Asker, passage: Digested[tuple[Message, ...]], known: tuple[str, ...]
) -> Sequence[ChatStatement]:
    try:
        return await read_passage(asker, passage.value, known)
    except ProviderError as exc:
        if not is_final(exc):
            raise
        detail = f"nothing is read out of this passage: {exc}"
        asker.note(Incident(kind=IncidentKind.DEFAULTED, prompt_id=EXTRACT_PROMPT, detail=detail))
        return ()


def _line(advice: Advice) -> str:
    """Return planned advice as a passage is shown what is known."""
    return f"assistant: {advice.topic}, {advice.attribute}: {advice.given}"


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
