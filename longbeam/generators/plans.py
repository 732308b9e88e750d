"""The plan of a story before its words: an outline of its stages, and the events of each stage.

The writer tells what happens and what comes before what; code gives days (`story_graph.py`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from longbeam.generators.additions import with_asides
from longbeam.generators.layout import Layout
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.quotas import Quotas
from longbeam.generators.stages import StageSize, side_ordinals, sizes_of, told_somewhere, turns_told, window_of
from longbeam.generators.story_graph import (
    OPENING,
    SIDE,
    DayConflict,
    event_faults,
    relaxed,
    same_matter,
    side_faults,
    unclosed,
    with_days,
)
from longbeam.generators.tuning import PLANNING
from longbeam.models import Acceptance, Asker, ListTask, Sifted
from longbeam.prompts.calls import (
    SIDE_NARRATIVE,
    Chapter,
    EventDraft,
    EventsInputs,
    EventsReply,
    Link,
    OutlineInputs,
    OutlineReply,
    ProjectName,
    Stage,
    StageDraft,
    StageStory,
    StoryEvent,
    StoryGraph,
)
from longbeam.schemas import (
    CLOSING,
    BulletKind,
    Incident,
    IncidentKind,
    Narrative,
    Profile,
    Record,
    RelationshipGraph,
    Seed,
    digest_of,
)

OUTLINE_PROMPTS = ("outline",)
EVENTS_PROMPTS = ("events",)


class Frame(Record):
    """The setting of a story: seed, user, people and narratives."""

    seed: Seed
    profile: Profile
    relationships: RelationshipGraph
    narratives: tuple[Narrative, ...]
    chapter: Chapter | None = None
    """Part of the prompts about other plans; None in a conversation of one plan."""


async def write_outline(asker: Asker, frame: Frame, stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Return the stages as the outline tells them; what it leaves out comes in where least moves."""
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
    return outlined(frame, stages, reply.stages, names)


def outlined(
    frame: Frame, stages: Sequence[Stage], drafts: Sequence[StageDraft], names: tuple[ProjectName, ...] = ()
) -> tuple[Stage, ...]:
    """Return stages as drafts tell them, so that each narrative moves in one of them at least, and turns once."""
    people = [p.first_name for p in frame.relationships.people]
    # People whom nobody names may still have a side story; only where none is named does code deal them.
    named = [name for name in people if any(name in d.people for d in drafts)]
    casts = told_somewhere([d.people for d in drafts], named or people)
    moving = told_somewhere([d.narratives for d in drafts], [n.label for n in frame.narratives])
    told = []
    for stage, draft, cast, own in zip(stages, drafts, casts, moving, strict=True):
        wants = dict(zip(draft.people, draft.wants, strict=False))
        told.append(
            stage.model_copy(
                update={
                    "title": draft.title,
                    "summary": draft.summary,
                    "narratives": own,
                    "cast": cast,
                    "wants": tuple(wants.get(name, "") for name in cast),
                    "names": names,
                    "turns": tuple(draft.turns),
                }
            )
        )
    return turns_told(told)


def _faulty_names(reply: OutlineReply, stages: Sequence[Stage], taken: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the places of the names that cannot be used, each with what is wrong. People have the names `taken`."""
    taken = {name.casefold() for name in taken}
    for i, thing in enumerate(reply.names):
        name = thing.name.strip()
        if not name or len(name.split()) > PLANNING.most_name_words or any(c.isdigit() for c in name):
            yield i, f"{thing.name!r} is no name; a name has 1 to {PLANNING.most_name_words} words and no digits"
        elif name.casefold() in taken:
            yield i, f"the name {name!r} is taken; each thing and each person has a name of its own"
        elif not 1 <= thing.stage <= len(stages):
            yield i, f"the name {name!r} comes with stage {thing.stage}; stages are 1 to {len(stages)}"
        taken.add(name.casefold())


@dataclass(frozen=True)
class PlanContext:
    """Inputs that all stages of a plan are made from."""

    plan_index: int
    frame: Frame
    layout: Layout
    stages: tuple[Stage, ...]
    history: PlanHistory
    """The plans before this one."""
    group: int
    """Events that are worded together at first."""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of all of it; the history of a conversation grows, so its digest is taken anew."""
        own = self.plan_index, self.frame, self.layout, self.stages, self.group
        return digest_of(*own, self.history.digest)

    @cached_property
    def is_last(self) -> bool:
        """Whether no plan follows."""
        return self.frame.chapter is None or self.plan_index == len(self.frame.chapter.plan_seeds) - 1

    @cached_property
    def sizes(self) -> tuple[StageSize, ...]:
        """How much each stage tells."""
        return sizes_of(self.layout, self.plan_index, is_last=self.is_last)

    @cached_property
    def side(self) -> tuple[int, ...]:
        """Ordinals of the events that tell side stories."""
        return side_ordinals(self.sizes)

    @cached_property
    def quotas(self) -> Quotas:
        """Values that the abilities need from the plan."""
        return Quotas(self.layout.specials, self.layout.counts, self.frame.seed.category)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Labels of the narratives."""
        return tuple(n.label for n in self.frame.narratives)


# --- events -------------------------------------------------------------------------------------------------------


async def write_events(asker: Asker, context: PlanContext, earlier: Sequence[StageStory]) -> StageStory:
    """Return the events of the stage after those in `earlier`, with their days.

    Good events are kept, and only missing and faulty ones are asked for again. Of events that cannot all hold, the
    last one is told anew; where that does not help, it loses its links, and that is noted.
    """
    told = _Telling(context, StoryGraph(stages=tuple(earlier)))
    frame, size = context.frame, told.size
    has_asides = bool(asker.spec.probes.kinds_share) and asker.language.writes  # code words their questions in English
    inputs = EventsInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        narratives=frame.narratives,
        stages=context.stages,
        stage_index=told.stage.stage_index,
        earlier=_shown(told.before),
        open_matters=told.open_before,
        numbers=told.numbers,
        side=context.side,
        side_things=tuple(dict.fromkeys(e.thing for e in told.before.events() if e.part == SIDE)),
        counts=tuple(s.events for s in context.sizes),
        endings=context.sizes[-1].closing,
        going_on_until=told.window.going_on_until,
        closing_from=told.window.closing_from,
        log=next((s.log for s in earlier if s.log), ""),
        logged=tuple(entry for s in earlier for entry in s.entries),
        entries=size.entries if has_asides else 0,
        confidences=size.confidences if has_asides else 0,
        chapter=frame.chapter,
    )

    def rest(kept: tuple[StoryEvent, ...]) -> EventsInputs:
        own = {e.event_id for e in kept}
        numbers = tuple(n for n in told.numbers if f"e{n}" not in own)
        return inputs.model_copy(update={"numbers": numbers, "entries": 0, "confidences": 0})

    task = ListTask(inputs, told.sift, rest, show=_shown_as, least=max(size.events // 2, 1))
    written = await asker.listed("events", task)
    events, reasons = relaxed(written, told.window, told.placed)
    for reason in reasons:
        asker.note(Incident(kind=IncidentKind.MENDED, prompt_id="events", detail=f"links left out: {reason}"))
    own = {matter for e in events for matter in e.opens}
    open_still = [m for m in told.stays_open if m in own or m in told.open_before]
    story = StageStory(stage_index=told.stage.stage_index, events=events, stays_open=tuple(open_still))
    if not has_asides or told.first is None:
        return story
    kept, faults = with_asides(story, told.first, inputs)
    for fault in faults:
        asker.note(Incident(kind=IncidentKind.MENDED, prompt_id="events", detail=f"left out: {fault}"))
    return kept


def _shown_as(event: StoryEvent) -> str:
    return f"{event.event_id}, {event.narrative}, {event.thing}: {event.what}"


def _shown(graph: StoryGraph) -> tuple[StoryEvent, ...]:
    """Return the earlier events that a stage's writer sees."""
    events = graph.events()
    still = set(graph.open_matters())
    older = [e for e in events[: -PLANNING.earlier_shown] if still & set(e.opens)]
    return (*older, *events[-PLANNING.earlier_shown :])


@dataclass
class _Telling:
    """The events of one stage while replies tell them."""

    context: PlanContext
    before: StoryGraph
    """Events of the stages before."""
    rounds: int = 0
    stays_open: dict[str, None] = field(default_factory=dict)
    """Matters that have no end in this plan, in the order in which replies name them."""
    first: EventsReply | None = None
    """The first reply, which alone is asked for what the user tells beside the events."""

    def __post_init__(self) -> None:
        told = self.before.events()
        index = len(self.before.stages)
        self.stage, self.size = self.context.stages[index], self.context.sizes[index]
        first = 1 + sum(size.events for size in self.context.sizes[:index])
        self.numbers = tuple(range(first, first + self.size.events))
        country = self.context.frame.profile.country
        self.is_last_stage = index == len(self.context.stages) - 1
        self.window = window_of(self.stage, is_last=self.is_last_stage, country=country)
        self.placed = {e.event_id: e.day for e in told if e.day is not None}
        chapter = self.context.frame.chapter
        carried = chapter.open_matters if chapter and not index else ()
        self.open_before = (*carried, *self.before.open_matters())

    def sift(self, kept: tuple[StoryEvent, ...], reply: EventsReply) -> Sifted[StoryEvent]:
        """Join the events kept so far with the good ones of a reply, in the order of their numbers."""
        self.rounds += 1
        self.first = self.first or reply
        self.stays_open |= dict.fromkeys(m for m in map(str.strip, reply.stays_open) if m)
        good, faults = {e.event_id: e for e in kept}, list[str]()
        drafts = {event_number(draft.event): draft for draft in reversed(reply.events)}
        matters = (*self.open_before, *(m for e in kept for m in e.opens), *(m for d in reply.events for m in d.opens))
        for number in self.numbers:
            if f"e{number}" in good:
                continue
            if (draft := drafts.get(number)) is None:
                faults.append(f"e{number} is missing")
                continue
            event = self._event(number, draft, matters)
            ids = (f"e{n}" for n in self.numbers)
            found = list(event_faults(event, self.context.labels, (*self.placed, *ids)))
            if event.part == SIDE and self.rounds == 1:
                found += side_faults(event, self.before.events())
            if found:
                faults += found
            else:
                good[event.event_id] = event
        events = [good[f"e{n}"] for n in self.numbers if f"e{n}" in good]
        events = self._possible(events, faults)
        if not faults and self.rounds == 1:
            events = self._complete(events, faults)
        return Sifted(tuple(events), tuple(faults))

    def _event(self, number: int, draft: EventDraft, known: Sequence[str]) -> StoryEvent:
        names = [p.first_name for p in self.context.frame.relationships.people]
        people = tuple(name for name in names if name in set(map(str.strip, draft.people)))
        part = CLOSING if number > self.numbers[-1] - self.size.closing else ""
        if number == 1 and self.context.plan_index:
            part = OPENING
        if number in self.context.side:
            part = SIDE
        is_of_person = draft.of_a_person and people and not part
        return StoryEvent(
            event_id=f"e{number}",
            narrative=SIDE_NARRATIVE if part == SIDE else draft.narrative,
            thing=draft.thing.strip(),
            what=draft.what.strip(),
            people=people,
            kind=BulletKind.SIDE if part == SIDE else BulletKind.RELATIONSHIP if is_of_person else BulletKind.EVENT,
            part=part,
            after=tuple(
                Link(event=f"e{event_number(link.event)}", least=link.least_days, most=link.most_days)
                for link in draft.after
            ),
            on=None if part == OPENING else self._day(draft.on),
            open_on=draft.open_on,
            opens=() if part == SIDE else tuple(m.strip() for m in draft.opens if m.strip()),
            closes=() if part == SIDE else tuple(same_matter(m.strip(), known) for m in draft.closes if m.strip()),
            is_turn=draft.turning_point and part != SIDE,
            weight=draft.weight,
            figure=draft.figure,
        )

    def _day(self, text: str) -> dt.date | None:
        """Return a day that the story fixes; None for one that is no day of the stage."""
        try:
            day = dt.date.fromisoformat(text.strip())
        except ValueError:
            return None
        return day if self.window.first <= day <= self.window.last else None

    def _possible(self, events: list[StoryEvent], faults: list[str]) -> list[StoryEvent]:
        """Return events that can all have a day: one of each conflict is told anew, and later loses its links."""
        while self.rounds <= PLANNING.told_anew:
            try:
                with_days(events, self.window, self.placed)
                break
            except DayConflict as exc:
                left_out = [e for e in events if e.event_id in exc.event_ids][-1]
                faults.append(f"{left_out.event_id} has to be told anew: {exc}")
                events = [e for e in events if e is not left_out]
        return events

    def _complete(self, events: list[StoryEvent], faults: list[str]) -> list[StoryEvent]:
        """Return the events without those in whose place a turning point or an end is missing."""
        left_out = set[str]()
        for label in self.stage.turns:
            own = [e for e in events if e.narrative == label and not e.part]
            if not any(e.is_turn and e.narrative == label for e in events):
                free = [e for e in own or events if e.event_id not in left_out and not e.part]
                if free:
                    left_out.add(free[-1].event_id)
                    faults.append(f"{free[-1].event_id} has to be told anew as the turning point of {label!r}")
        if self.is_last_stage:
            for matter, event_id in unclosed(events, self.open_before, self.stays_open).items():
                where = event_id if event_id and event_id not in left_out else events[-1].event_id
                if where not in left_out:
                    left_out.add(where)
                    faults.append(
                        f"{where} has to be told anew: {matter!r} is opened and nothing closes it; close it, or name it"
                        " in `stays_open`"
                    )
        return [e for e in events if e.event_id not in left_out]


def event_number(event_id: str) -> int:
    """Return the ordinal in an event's id as a reply writes it; 0 without one."""
    found = re.search(r"\d+", event_id)
    return int(found[0]) if found else 0
