"""Advice that a rule-based assistant brings in: figures, days, options, steps, uses of money, corrections of its own.

A language model is asked for nothing of the kind: what it brings in is read out of its replies (`unasked.py`). Rules
write what they are told to. So code decides which reply gives what, and computes every value from the ledger; the
rules word the statements and find options, steps and uses. A later bullet may say which option the user took, without
its name.
"""

from __future__ import annotations

from collections.abc import Sequence

from longbeam.generators.advice_sheet import AdviceSheet, Advised, StageToAdvise
from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.keys import SubPlanKey
from longbeam.models import Asker
from longbeam.prompts.calls import AdviceDraft, AdviceInputs, AdviceLine, AdviceReply
from longbeam.schemas import TAKEN, Advice, Bullet, BulletKind, Plan

ADVICE_PROMPTS = ("advise",)


async def write_advice(asker: Asker, task: StageToAdvise) -> Advised:
    """Return what the assistant brings in during a stage; a line with an item that is told elsewhere is left out."""
    sheet = AdviceSheet(task)
    inputs = AdviceInputs(
        seed=task.frame.seed,
        stage=task.stage,
        advice=sheet.advice(),
        choices=sheet.choices(),
        uses_before=sheet.uses_before,
    )
    if not inputs.advice and not inputs.choices:
        return Advised(stage_index=task.stage.stage_index)
    reply: AdviceReply = await asker.structured("advise", inputs)
    return _assembled(task, inputs, reply)


def _assembled(task: StageToAdvise, inputs: AdviceInputs, reply: AdviceReply) -> Advised:
    told = " ".join((*(b.text for b in task.plan.bullets()), *inputs.uses_before)).casefold()
    drafts = {d.line_id: d for d in reply.advice if not any(item.casefold() in told for item in d.items)}
    worded = {d.line_id: d for d in reply.choices}
    sub_plan = task.plan.sub_plans[task.stage.stage_index]
    key = SubPlanKey(sub_plan.plan_index, sub_plan.sub_plan_index)
    lines = [line for line in inputs.advice if line.line_id in drafts]
    choices = [line for line in inputs.choices if line.line_id in worded]
    return Advised(
        stage_index=task.stage.stage_index,
        advice=tuple(_advice(str(key.advice(i)), line, drafts[line.line_id]) for i, line in enumerate(lines)),
        choices=tuple(
            Bullet(
                bullet_id=str(key.bullet(len(sub_plan.bullets) + i)),
                kind=BulletKind.EVENT,
                narrative=line.options.narrative,
                topic=line.options.topic,
                text=worded[line.line_id].text.strip(),
                happens_on=line.day,
                variety=TAKEN,
            )
            for i, line in enumerate(choices)
        ),
        after=tuple(line.after for line in choices),
        chosen=tuple(line.options.advice_id for line in choices),
        ordinals=tuple(line.ordinal for line in choices),
    )


def _advice(advice_id: str, line: AdviceLine, draft: AdviceDraft) -> Advice:
    return Advice(
        advice_id=advice_id,
        kind=line.kind,
        bullet_id=line.bullet.bullet_id,
        narrative=line.bullet.narrative,
        topic=line.topic,
        attribute=line.attribute,
        text=draft.text.strip(),
        value=line.value,
        items=tuple(draft.items),
        corrects=line.former.advice_id if line.former is not None else "",
    )


def advised_plan(plan: Plan, advised: Sequence[Advised]) -> Plan:
    """Return the plan with what the assistant brings in, and the user's choices at their places."""
    taken = {
        advice_id: (ordinal, bullet.bullet_id)
        for stage in advised
        for advice_id, ordinal, bullet in zip(stage.chosen, stage.ordinals, stage.choices, strict=True)
    }
    advice = (a for stage in advised for a in stage.advice)
    told = tuple(
        a.model_copy(update={"taken": taken[a.advice_id][0], "taken_in": taken[a.advice_id][1]})
        if a.advice_id in taken
        else a
        for a in advice
    )
    chosen = [Augmented(stage_index=s.stage_index, bullets=s.choices, after=s.after, assertions=()) for s in advised]
    return augmented_plan(plan, chosen).model_copy(update={"advice": told})
