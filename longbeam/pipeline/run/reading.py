"""Reads out of finished dialogues what the assistant brought in unasked, before probes are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from longbeam.errors import ProviderError, is_final
from longbeam.generators import (
    EXTRACT_PROMPT,
    Statement,
    Unasked,
    listed_advice,
    passages_of,
    read_passage,
    said_once,
    unasked_advice,
    uncontested,
)
from longbeam.models import Asker, has_model_checks, is_spoken_by_rule
from longbeam.pipeline.run.conversation import SubPlanDialogue, TalkedConversation
from longbeam.pipeline.run.probing import PROBES
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import all_of
from longbeam.schemas import Advice, Incident, IncidentKind, Message, Plan, Role, digest_of

READ_REPLIES = UnitSpec(PROBES, Statement, prompts=(EXTRACT_PROMPT,), acting=Role.CHECKER)
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
    statements: list[Statement] = []
    planned: list[Advice] = []
    for plan, told in zip(talked.planning.history.plans, talked.plans, strict=True):
        read = await all_of([_read_dialogue(talked, plan, dialogue) for dialogue in told.dialogues.values()])
        found += (given for of_dialogue, _ in read for given in of_dialogue)
        statements += (statement for _, noted in read for statement in noted)
        planned += plan.advice
    return replace(talked, unasked=tuple(said_once(uncontested(found, statements, planned), talked.messages())))


async def _read_dialogue(
    talked: TalkedConversation, plan: Plan, dialogue: SubPlanDialogue
) -> tuple[list[Unasked], list[Statement]]:
    """Return what the replies of a sub-plan bring in, of those that `repair` did not regenerate, and all statements."""
    (sub_plan,) = (s for s in plan.sub_plans if s.key == dialogue.sub_plan_key)
    first, now = talked.first_said(dialogue), {m.message_key: m.content for m in talked.messages_of(dialogue)}
    spec = talked.conversation.units.spec
    lists = (
        [] if is_spoken_by_rule(spec) else list(listed_advice(sub_plan, plan.advice, first, dialogue.turns.unpacked()))
    )
    known = tuple(map(_line, (a for a in plan.advice if a.sub_plan == sub_plan.key)))
    statements: list[Statement] = []
    for number, passage in enumerate(passages_of(first) if has_model_checks(spec) else ()):
        read = Digested(passage, digest_of([m.digest for m in passage]))
        key = f"{sub_plan.key}.said{number}"
        statements += await talked.conversation.units.run(READ_REPLIES, key, read, known, work=_read)
    advice = [*plan.advice, *(given.advice for given in lists)]
    given = [*lists, *unasked_advice(sub_plan, advice, first, statements)]
    said = {m.message_key for m in first if now.get(m.message_key) == m.content}
    return [g for g in given if g.message_key in said], statements


async def _read(asker: Asker, passage: Digested[tuple[Message, ...]], known: tuple[str, ...]) -> Sequence[Statement]:
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
