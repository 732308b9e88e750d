"""Advice that the assistant brings in: figures, days, options, steps, uses of money and corrections of its own.

Code decides which reply gives what, and computes every value from the ledger; a model words the statements and finds
the options, the steps, and what an amount is for. A later bullet may say which option the user took, without its name.
The dialogue then asks the writer of that reply to say it, and checks that it does; a probe on it needs the assistant's
message.
"""

from __future__ import annotations

from collections.abc import Sequence

from longbeam.generators.advice_drafts import (
    Draft,
    advice_fault,
    as_drafted,
    choice_fault,
    items_of,
    mended_advice,
    shared_use_fault,
)
from longbeam.generators.advice_sheet import AdviceSheet, Advised, StageToAdvise
from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.keys import SubPlanKey
from longbeam.models import Asker, ListTask, Sifted, describe_changes
from longbeam.prompts.calls import AdviceDraft, AdviceInputs, AdviceLine, AdviceReply, ChoiceDraft
from longbeam.schemas import TAKEN, Advice, Bullet, BulletKind, Incident, IncidentKind, Plan

ADVICE_PROMPTS = ("advise",)


async def write_advice(asker: Asker, task: StageToAdvise) -> Advised:
    """Return what the assistant brings in during a stage; lines whose words stay faulty are left out, and noted.

    Good lines are kept, and only the others are asked for again. A stage of which no line is left has no advice.
    """
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
    told = "\n".join((*(b.text for b in task.plan.bullets()), *sheet.uses_before)).casefold()
    language, is_first, mends = asker.spec.language, True, dict[str, str]()

    def sift(kept: tuple[Draft, ...], reply: AdviceReply) -> Sifted[Draft]:
        nonlocal is_first
        good: dict[str, Draft] = {draft.line_id: draft for draft in kept}
        drafts, choices = _by_line(reply)
        for line in (x for x in inputs.advice if x.line_id in drafts and x.line_id not in good):
            said = drafts[line.line_id]
            drafts[line.line_id] = mended = mended_advice(line, said, language, is_last=not is_first)
            mends[line.line_id] = "" if mended is said else f"{line.line_id}: {describe_changes(said, mended)}"
        is_first = False
        faults = {
            x.line_id: advice_fault(x, drafts.get(x.line_id), told, language)
            or sheet.name_fault(x, drafts[x.line_id])
            or shared_use_fault(x, inputs.advice, drafts | good)
            for x in inputs.advice
        }
        faults |= {x.line_id: choice_fault(x, choices.get(x.line_id), language) for x in inputs.choices}
        new = {i: fault for i, fault in faults.items() if i not in good}
        good |= {i: draft for i, draft in (drafts | choices).items() if new.get(i) == ""}
        return Sifted(tuple(good.values()), tuple(f"{i} {fault}" for i, fault in new.items() if fault))

    def rest(kept: tuple[Draft, ...]) -> AdviceInputs:
        written = {draft.line_id for draft in kept}
        advice = tuple(line for line in inputs.advice if line.line_id not in written)
        choices = tuple(line for line in inputs.choices if line.line_id not in written)
        return inputs.model_copy(update={"advice": advice, "choices": choices})

    lines = ListTask(inputs, sift, rest, show=lambda draft: f"{draft.line_id}: {draft.text}", least=0)
    written = await asker.listed("advise", lines)
    if detail := "; ".join(mend for draft in written if (mend := mends.get(draft.line_id))):
        asker.note(Incident(kind=IncidentKind.MENDED, prompt_id="advise", detail=detail))
    return _assembled(task, inputs, written)


def _by_line(reply: AdviceReply) -> tuple[dict[str, AdviceDraft], dict[str, ChoiceDraft]]:
    return {d.line_id: d for d in reversed(reply.advice)}, {d.line_id: d for d in reversed(reply.choices)}


def _assembled(task: StageToAdvise, inputs: AdviceInputs, written: Sequence[Draft]) -> Advised:
    drafts = {d.line_id: d for d in written if isinstance(d, AdviceDraft)}
    worded = {d.line_id: d for d in written if isinstance(d, ChoiceDraft)}
    sub_plan = task.plan.sub_plans[task.stage.stage_index]
    key = SubPlanKey(sub_plan.plan_index, sub_plan.sub_plan_index)
    lines = [line for line in inputs.advice if line.line_id in drafts]
    choices = [line for line in inputs.choices if line.line_id in worded]
    return Advised(
        stage_index=task.stage.stage_index,
        advice=tuple(
            _advice(str(key.advice(i)), as_drafted(line, drafts[line.line_id]), drafts[line.line_id])
            for i, line in enumerate(lines)
        ),
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
        items=items_of(draft),
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
