"""The cited messages alone give the answer, and no other one: each criterion of the rubric follows from them."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.abilities import Trait, ability_of
from longbeam.evaluation.model_checks.base import ModelCheck, ProbeCase, dated
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import NuggetSupport, SupportInputs, SupportReply
from longbeam.validation import ERROR, WARNING, Problem, shorten


async def find_problems(asker: Asker, case: ProbeCase) -> list[Problem]:
    """Return problems if the cited messages do not support every criterion, or allow another answer."""
    rubric = case.probe.rubric
    inputs = SupportInputs(
        question=case.probe.question,
        nuggets=tuple(n.text for n in rubric),
        evidence=tuple(dated(m, i) for i, m in enumerate(case.cited, 1)),
        gold_answer=case.probe.gold_answer,
        has_one_answer=ability_of(case.probe.ability).has(Trait.RECALLS),
    )

    def check(reply: SupportReply) -> Iterator[str]:
        if lacking := [i for i in range(1, len(rubric) + 1) if i not in _verdicts(reply)]:
            yield f"give a verdict on each criterion from 1 to {len(rubric)}; {lacking[0]} has none"

    reply: SupportReply = await asker.structured(
        "support_nuggets", inputs, place="support", accept=Acceptance(check=check)
    )
    verdicts = _verdicts(reply)
    missed = [i for i in range(1, len(rubric) + 1) if not verdicts[i].is_supported]
    problems, keys = [], tuple(m.message_key for m in case.cited)
    if missed:
        kind, first = "nothing" if len(missed) == len(rubric) else "partly", missed[0]
        wanted = shorten(rubric[first - 1].text)
        text = f"the cited messages do not support: {wanted} ({shorten(verdicts[first].reason, 120)})"
        problems.append(Problem(kind, case.probe.probe_id, text, keys))
    if inputs.has_one_answer and reply.other_answer.strip():
        text = f"the cited messages allow another answer: {shorten(reply.other_answer, 160)}"
        problems.append(Problem("other_answer", case.probe.probe_id, text, keys))
    return problems


def _verdicts(reply: SupportReply) -> dict[int, NuggetSupport]:
    """Return the first verdict on each criterion, by number; small models go on behind the last criterion."""
    return {n.nugget: n for n in reversed(reply.nuggets)}


CHECK = ModelCheck(
    name="answerable",
    doc="The cited messages alone make every criterion true, said or worked out, and allow no other answer.",
    severities={"nothing": ERROR, "partly": WARNING, "other_answer": WARNING},
    prompts=("support_nuggets",),
    applies=lambda case: bool(case.cited) and not ability_of(case.probe.ability).has(Trait.ABSTAINS),
    find=find_problems,
)
