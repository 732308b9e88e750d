"""The plan of a story: an outline of its stages, then group after group of the lines of its sheet, with their facts.

Code draws the sheet (`sheets.py`): kinds, days, people and slots. One call writes the outline; then one call words some
five lines of a stage, given the outline and the bullets before them, and code makes records of them (`bullets.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from longbeam.errors import ReplyError
from longbeam.generators.bullets import Drafted, Known, assembled, faults_of, repeated_line, same_words
from longbeam.generators.draft_mends import Mender
from longbeam.generators.layout import Layout
from longbeam.generators.ledger import Ledger, standing_bullets
from longbeam.generators.line_targets import Story, may_tell_any_outcome, until_due, with_targets
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.sheets import SheetInputs, draw_sheet
from longbeam.models import Acceptance, Asker, ListTask, Sifted, describe_changes
from longbeam.prompts.calls import (
    BulletDraft,
    Chapter,
    LedgerLine,
    OutlineInputs,
    OutlineReply,
    PlanSheet,
    ProjectName,
    SheetLine,
    Stage,
    SubPlanInputs,
    SubPlanReply,
)
from longbeam.schemas import (
    BulletKind,
    Incident,
    IncidentKind,
    Narrative,
    Plan,
    Profile,
    Record,
    RelationshipGraph,
    Seed,
    digest_of,
)
from longbeam.text import content_words

OUTLINE_PROMPTS = ("outline",)
SUB_PLAN_PROMPTS = ("sub_plan",)
MOST_NAME_WORDS = 5
"""Words of the name of a thing."""
LARGEST_GROUP = 3
"""How many times as large as at first a group may become."""
LAST_TOLD = 60
"""Bullets of the story whose sentences a small model might repeat: more than it is shown."""


class Frame(Record):
    """The setting of a story: seed, user, people and narratives."""

    seed: Seed
    profile: Profile
    relationships: RelationshipGraph
    narratives: tuple[Narrative, ...]
    chapter: Chapter | None = None
    """Part of the prompts about other plans; None in a conversation of one plan."""


async def write_outline(asker: Asker, frame: Frame, stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Return the stages with title, summary and the wants of their people."""
    inputs = OutlineInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        narratives=frame.narratives,
        stages=stages,
        chapter=frame.chapter,
    )

    def check(reply: OutlineReply) -> Iterable[str]:
        if len(reply.stages) != len(stages):
            yield f"{len(reply.stages)} stages; exactly {len(stages)} are asked for"

    def mend(reply: OutlineReply) -> OutlineReply:
        if len(reply.stages) < len(stages):
            raise ValueError(f"{len(reply.stages)} stages; exactly {len(stages)} are asked for")
        return reply.model_copy(update={"stages": reply.stages[: len(stages)]})

    reply = await asker.structured("outline", inputs, accept=Acceptance(check=check, mend=mend))
    own = (frame.profile.first_name, frame.profile.name)
    faulty = dict(_faulty_names(reply, stages, taken=(*own, *(p.first_name for p in frame.relationships.people))))
    if faulty:
        detail = f"{len(faulty)} of {len(reply.names)} names left out; {'; '.join(faulty.values())}"
        asker.note(Incident(kind=IncidentKind.MENDED, prompt_id="outline", detail=detail))
    kept = (n for i, n in enumerate(reply.names) if i not in faulty)
    names = tuple(ProjectName(name=n.name.strip(), what=n.what.strip(), stage=n.stage) for n in kept)
    return tuple(
        s.model_copy(
            update={
                "title": d.title,
                "summary": d.summary,
                "wants": tuple(d.wants[: len(s.cast)]),
                "names": names,
                "spans": tuple(d.spans) if len(d.spans) == len(s.narratives) else (),
            }
        )
        for s, d in zip(stages, reply.stages, strict=True)
    )


def _faulty_names(reply: OutlineReply, stages: Sequence[Stage], taken: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the places of the names that cannot be used, each with what is wrong. People have the names `taken`."""
    taken = {name.casefold() for name in taken}
    for i, thing in enumerate(reply.names):
        name = thing.name.strip()
        if not name or len(name.split()) > MOST_NAME_WORDS or any(c.isdigit() for c in name):
            yield i, f"{thing.name!r} is no name; a name has 1 to {MOST_NAME_WORDS} words and no digits"
        elif name.casefold() in taken:
            yield i, f"the name {name!r} is taken; each thing and each person has a name of its own"
        elif not 1 <= thing.stage <= len(stages):
            yield i, f"the name {name!r} comes with stage {thing.stage}; stages are 1 to {len(stages)}"
        taken.add(name.casefold())


@dataclass(frozen=True)
class PlanContext:
    """Inputs that all sub-plans of a plan are drafted from."""

    plan_index: int
    frame: Frame
    layout: Layout
    stages: tuple[Stage, ...]
    history: PlanHistory
    """The plans before this one."""
    rng_key: str
    """Key of the sheet's random draws."""
    group: int
    """Lines that are asked for together at first."""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of all of it; the history of a conversation grows, so its digest is taken anew."""
        own = self.plan_index, self.frame, self.layout, self.stages, self.rng_key, self.group
        return digest_of(*own, self.history.digest)

    @cached_property
    def sheet(self) -> PlanSheet:
        """The frame of the plan's sheet."""
        chapter = self.frame.chapter
        inputs = SheetInputs(
            layout=self.layout,
            stages=self.stages,
            category=self.frame.seed.category,
            plan_index=self.plan_index,
            is_last=chapter is None or self.plan_index == len(chapter.plan_seeds) - 1,
            rng_key=self.rng_key,
        )
        return PlanSheet(stages=draw_sheet(inputs))


Written = tuple[SheetLine, BulletDraft]
"""A line of the sheet and its words."""


async def write_sub_plan(asker: Asker, context: PlanContext, earlier: Sequence[Drafted]) -> Drafted:
    """Return the sub-plan after those in `earlier`, written in groups of lines.

    A group that is accepted at once makes the next one larger, a refused one smaller. That follows from the replies
    alone, so that a resumed run, which reads the same replies from the journal, asks for the same groups.
    """
    stage = context.stages[len(earlier)]
    before = replace(_known(context, stage, earlier), language=asker.spec.language)
    left = list(context.sheet.stages[stage.stage_index])
    size = (earlier[-1].group if earlier else 0) or context.group
    drafts: list[Written] = []
    made = assembled(drafts, before, context.plan_index)
    while left:
        known = replace(_known(context, stage, (*earlier, made)), language=asker.spec.language)
        # A rest of half a group is written along with the group before it.
        due = until_due(left if len(left) <= size + size // 2 else left[:size])
        ended = frozenset(
            line.narrative
            for line in context.sheet.stages[stage.stage_index]
            if line.is_last and line.line < due[0].line
        )
        story = Story(known.ledger, known.preferences, context.stages, recalled_by((*earlier, made)), ended)
        lines = with_targets(due, story, f"{context.rng_key}/{stage.stage_index}")
        left = left[len(lines) :]
        awaited = tuple(slot for slot in story.awaited if all(slot != line.recalls for line in lines))
        if stage is context.stages[-1] and not any(may_tell_any_outcome(line) for line in left):
            awaited = ()
        group = _Group(lines, left, awaited)
        written, was_accepted = await _write_group(asker.within(f"l{lines[0].line}"), context, known, group)
        size = _next_size(size, context.group, was_accepted=was_accepted)
        drafts += written
        made = assembled(drafts, before, context.plan_index)
    if not drafts:
        raise ReplyError(f"{asker.unit_key}, prompt 'sub_plan': no reply had a line that could be used", kind="schema")
    return made.model_copy(update={"group": size})


def _next_size(size: int, first: int, *, was_accepted: bool) -> int:
    if was_accepted:
        return min(size + max(size // 2, 1), first * LARGEST_GROUP)
    return max(size * 2 // 3, 1)


def _known(context: PlanContext, stage: Stage, parts: Sequence[Drafted]) -> Known:
    """Return what is known behind these parts of the plan."""
    frame, ledger = context.frame, ledger_of(parts, context.history)
    carried, standing = (frame.chapter.facts, frame.chapter.standing) if frame.chapter else ((), ())
    wishes = standing_bullets((*standing, *ledger.bullets))
    return Known(
        stage=stage,
        profile=frame.profile,
        ledger=ledger,
        history=context.history,
        values={line.fact_id: line.value for line in (*carried, *ledger.lines())},
        preferences=tuple(b for b in wishes if b.kind is BulletKind.PREFERENCE),
        labels=frozenset(n.label for n in frame.narratives),
    )


@dataclass(frozen=True)
class _Group:
    """Lines of a stage that are asked for together."""

    lines: tuple[SheetLine, ...]
    left: Sequence[SheetLine]
    """Lines of the stage behind these."""
    awaited: tuple[LedgerLine, ...]
    """Announced days of which none of these tells how they went."""


async def _write_group(asker: Asker, context: PlanContext, known: Known, group: _Group) -> tuple[list[Written], bool]:
    """Return the lines that could be written, with their words, and whether the first reply had all of them.

    Good drafts are kept, and only missing and faulty lines are asked for again. Lines that stay faulty are left out.
    """
    frame, lines = context.frame, group.lines
    inputs = SubPlanInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        narratives=frame.narratives,
        stages=context.stages,
        stage_index=known.stage.stage_index,
        earlier_bullets=known.ledger.bullets,
        lines=lines,
        lines_left=len(group.left),
        last_day=group.left[-1].day if group.left else None,
        awaited=group.awaited,
        chapter=frame.chapter,
    )
    was_accepted, is_first = True, True
    told = [content_words(bullet.text) for bullet in known.ledger.bullets[-LAST_TOLD:]]
    mender = Mender(known, told, is_copied=partial(asker.is_copied, "sub_plan", inputs))
    mends: dict[int, str] = {}

    def sift(kept: tuple[Written, ...], reply: SubPlanReply) -> Sifted[Written]:
        nonlocal was_accepted, is_first
        good, faults = {line.line: (line, draft) for line, draft in kept}, list[str]()
        drafts = {draft.line: draft for draft in reversed(reply.bullets)}
        for line in lines:
            if line.line in good:
                continue
            said = drafts.get(line.line)
            if said is None:
                faults.append(f"line {line.line} is missing")
                continue
            others = [d for _, d in good.values()]
            draft = mender.mended(said, line, others, is_last=not is_first)
            mends[line.line] = "" if draft is said else f"line {line.line}: {describe_changes(said, draft)}"
            found, words = list(faults_of(draft, line, known)), content_words(draft.text)
            if (same := repeated_line(draft, others)) is not None:
                found.append(f"line {line.line} repeats line {same}; each line is one new thing")
            elif any(same_words(words, earlier) for earlier in told):
                found.append(f"line {line.line} says again what was told before; each line is one new thing")
            faults += found
            if not found:
                good[line.line] = line, draft
        was_accepted, is_first = was_accepted and not faults, False
        return Sifted(tuple(good[number] for number in sorted(good)), tuple(faults))

    def rest(kept: tuple[Written, ...]) -> SubPlanInputs:
        written = {line.line for line, _ in kept}
        return inputs.model_copy(update={"lines": tuple(line for line in lines if line.line not in written)})

    task = ListTask(inputs, sift, rest, show=lambda item: f"{item[0].line}. {item[1].text}")
    try:
        written = await asker.listed("sub_plan", task, state=lambda: context.sheet)
    except ReplyError as exc:
        for line in lines:
            detail = f"line {line.line} of {lines[0].line} to {lines[-1].line}: {exc.reason}"
            asker.note(Incident(kind=IncidentKind.SKIPPED, prompt_id="sub_plan", detail=detail))
        return [], False
    taken = {line.line for line, _ in written}
    if detail := "; ".join(mend for number, mend in mends.items() if mend and number in taken):
        asker.note(Incident(kind=IncidentKind.MENDED, prompt_id="sub_plan", detail=detail))
    return list(written), was_accepted


def ledger_of(drafted: Iterable[Drafted], history: PlanHistory) -> Ledger:
    """Return the ledger of the sub-plans drafted so far, with the facts of earlier plans that they touch."""
    parts = tuple(drafted)
    assertions = tuple(a for d in parts for a in d.assertions)
    back = history.known({a.fact_id for a in assertions})
    return Ledger(tuple(d.sub_plan for d in parts), (*back, *(f for d in parts for f in d.facts)), assertions)


def recalled_by(drafted: Iterable[Drafted]) -> frozenset[str]:
    """Return the ids of the facts that the lines of some sub-plans come back to."""
    return frozenset(fact_id for d in drafted for fact_id in d.recalled)


def plan_of(drafted: Iterable[Drafted], plan_index: int = 0) -> Plan:
    """Return the plan made of its drafted sub-plans."""
    parts = tuple(drafted)
    return Plan(
        plan_index=plan_index,
        sub_plans=tuple(d.sub_plan for d in parts),
        facts=tuple(f for d in parts for f in d.facts),
        assertions=tuple(a for d in parts for a in d.assertions),
    )
