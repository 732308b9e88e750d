"""The cited messages alone give the answer: each criterion of the rubric is said by them or follows from them."""

from __future__ import annotations

from longbeam.abilities.record import Trait
from longbeam.abilities.registry import ability_of
from longbeam.evaluation.model_checks.base import ModelCheck, ProbeCase, dated
from longbeam.models.asking import Asker
from longbeam.prompts.calls.checks import SupportInputs, SupportReply
from longbeam.validation.base import ERROR, WARNING, Problem, shorten


async def find_problems(asker: Asker, case: ProbeCase) -> list[Problem]:
    """Return a problem if the cited messages do not support every criterion."""
    rubric = case.probe.rubric
    inputs = SupportInputs(
        question=case.probe.question,
        nuggets=tuple(n.text for n in rubric),
        evidence=tuple(dated(m, i) for i, m in enumerate(case.cited, 1)),
    )

    def check(reply: SupportReply) -> str | None:
        if [n.nugget for n in reply.nuggets] == list(range(1, len(rubric) + 1)):
            return None
        return f"give a verdict on each criterion from 1 to {len(rubric)}, once and in this order"

    reply: SupportReply = await asker.structured("support_nuggets", inputs, place="support", check=check)
    missed = [n for n in reply.nuggets if not n.is_supported]
    if not missed:
        return []
    kind = "nothing" if len(missed) == len(rubric) else "partly"
    first = missed[0]
    text = f"the cited messages do not support: {shorten(rubric[first.nugget - 1].text)} ({shorten(first.reason, 120)})"
    return [Problem(kind, case.probe.probe_id, text, tuple(m.message_key for m in case.cited))]


CHECK = ModelCheck(
    name="answerable",
    doc="The cited messages alone make every criterion of the rubric true, by themselves or by working it out.",
    severities={"nothing": ERROR, "partly": WARNING},
    prompts=("support_nuggets",),
    applies=lambda case: bool(case.cited) and not ability_of(case.probe.ability).has(Trait.ABSTAINS),
    find=find_problems,
)
