"""The plan of a story: an outline of its stages, the events of each stage, and then their words with their facts.

The writer tells what happens and what comes before what; code gives days (`story_graph.py`) and says which values are
still missing (`quotas.py`). Then one call words some six events, given the outline and the bullets before them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from longbeam.errors import ReplyError
from longbeam.generators.bullets import Drafted, Known, assembled, faults_of, repeated, same_words
from longbeam.generators.draft_mends import Mender
from longbeam.generators.layout import Layout
from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.quotas import Demand
from longbeam.generators.stages import StageSize, side_ordinals, sizes_of, told_somewhere, turns_told, window_of
from longbeam.generators.story_graph import (
    OPENING,
    SIDE,
    SIDE_NARRATIVE,
    DayConflict,
    event_faults,
    introduction,
    relaxed,
    same_matter,
    side_faults,
    unclosed,
    with_days,
)
from longbeam.models import Acceptance, Asker, ListTask, Sifted, describe_changes
from longbeam.prompts.calls import (
    BulletDraft,
    Chapter,
    EventDraft,
    EventsInputs,
    EventsReply,
    LedgerLine,
    Link,
    OutlineInputs,
    OutlineReply,
    ProjectName,
    Stage,
    StageDraft,
    StageStory,
    StoryEvent,
    StoryGraph,
    SubPlanInputs,
    SubPlanReply,
)
from longbeam.schemas import (
    CLOSING,
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
EVENTS_PROMPTS = ("events",)
SUB_PLAN_PROMPTS = ("sub_plan",)
MOST_NAME_WORDS = 5
"""Words of the name of a thing."""
LARGEST_GROUP = 3
"""How many times as large as at first a group may become."""
LAST_TOLD = 60
"""Bullets of the story whose sentences a small model might repeat: more than it is shown."""
EARLIER_SHOWN = 40
"""Events of earlier stages that a stage's writer sees, the newest, beside those that opened what is open."""
TOLD_ANEW = 2
"""Times that events which cannot all hold are told anew; after that they lose their links."""
FOLLOWING_SHOWN, LATER_SHOWN = 3, 8
"""Events just behind a group that its writer sees, and later ones that follow from it."""
SLOTS_SHOWN = 24
"""Values of a group's matters that its writer sees, the newest."""


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
        if not name or len(name.split()) > MOST_NAME_WORDS or any(c.isdigit() for c in name):
            yield i, f"{thing.name!r} is no name; a name has 1 to {MOST_NAME_WORDS} words and no digits"
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
    def demand(self) -> Demand:
        """Values that the abilities need from the plan."""
        return Demand(self.layout.specials, self.frame.seed.category)

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
        chapter=frame.chapter,
    )

    def rest(kept: tuple[StoryEvent, ...]) -> EventsInputs:
        own = {e.event_id for e in kept}
        numbers = tuple(n for n in told.numbers if f"e{n}" not in own)
        return inputs.model_copy(update={"numbers": numbers})

    task = ListTask(inputs, told.sift, rest, show=_shown_as, least=max(size.events // 2, 1))
    written = await asker.listed("events", task)
    events, reasons = relaxed(written, told.window, told.placed)
    for reason in (*told.reasons, *reasons):
        asker.note(Incident(kind=IncidentKind.MENDED, prompt_id="events", detail=f"links left out: {reason}"))
    own = {matter for e in events for matter in e.opens}
    open_still = [m for m in told.stays_open if m in own or m in told.open_before]
    return StageStory(stage_index=told.stage.stage_index, events=events, stays_open=tuple(open_still))


def _shown_as(event: StoryEvent) -> str:
    return f"{event.event_id}, {event.narrative}, {event.thing}: {event.what}"


def _shown(graph: StoryGraph) -> tuple[StoryEvent, ...]:
    """Return the earlier events that a stage's writer sees."""
    events = graph.events()
    still = set(graph.open_matters())
    older = [e for e in events[:-EARLIER_SHOWN] if still & set(e.opens)]
    return (*older, *events[-EARLIER_SHOWN:])


@dataclass
class _Telling:
    """The events of one stage while replies tell them."""

    context: PlanContext
    before: StoryGraph
    """Events of the stages before."""
    rounds: int = 0
    reasons: list[str] = field(default_factory=list)
    """Why links were left out."""
    stays_open: dict[str, None] = field(default_factory=dict)
    """Matters that have no end in this plan, in the order in which replies name them."""

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
        self.stays_open |= dict.fromkeys(m for m in map(str.strip, reply.stays_open) if m)
        good, faults = {e.event_id: e for e in kept}, list[str]()
        drafts = {_number(draft.event): draft for draft in reversed(reply.events)}
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
                Link(event=f"e{_number(link.event)}", least=link.least_days, most=link.most_days)
                for link in draft.after
            ),
            on=None if part == OPENING else self._day(draft.on),
            open_on=draft.open_on,
            opens=() if part == SIDE else tuple(m.strip() for m in draft.opens if m.strip()),
            closes=() if part == SIDE else tuple(same_matter(m.strip(), known) for m in draft.closes if m.strip()),
            is_turn=draft.turning_point and part != SIDE,
            weight=draft.weight,
        )

    def _day(self, text: str) -> dt.date | None:
        """Return a day that the story fixes; None for one that is no day of the stage."""
        try:
            day = dt.date.fromisoformat(text.strip())
        except ValueError:
            return None
        return day if self.window.first <= day <= self.window.last else None

    def _possible(self, events: list[StoryEvent], faults: list[str]) -> list[StoryEvent]:
        """Return events that can all have a day: one of each conflict is told anew, later it loses its links."""
        while True:
            try:
                with_days(events, self.window, self.placed)
                return events
            except DayConflict as exc:
                if self.rounds > TOLD_ANEW:
                    relaxed_events, reasons = relaxed(events, self.window, self.placed)
                    self.reasons += reasons
                    links = {e.event_id: e for e in relaxed_events}
                    return [links[e.event_id].model_copy(update={"day": None}) for e in events]
                left_out = [e for e in events if e.event_id in exc.event_ids][-1]
                faults.append(f"{left_out.event_id} has to be told anew: {exc}")
                events = [e for e in events if e is not left_out]

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


def _number(event_id: str) -> int:
    found = re.search(r"\d+", event_id)
    return int(found[0]) if found else 0


# --- words --------------------------------------------------------------------------------------------------------


Written = tuple[StoryEvent, BulletDraft]
"""An event and its words."""


def ends_of(graph: StoryGraph, drafted: Iterable[Drafted], ledger: Ledger) -> dict[str, StoryEvent]:
    """Return the event that ended the matter of each fact, by the fact's id; facts whose matter goes on have none.

    A matter ends with the event that closes it or ends the story of its narrative: the fact's own, the first one behind
    it, or one before it if nothing has opened the matter again since.
    """
    place = {e.event_id: i for i, e in enumerate(graph.events())}
    of_bullet = {
        b.bullet_id: event_id for d in drafted for b, event_id in zip(d.sub_plan.bullets, d.events, strict=False)
    }
    found: dict[str, StoryEvent] = {}
    for fact in ledger.facts:
        setting = ledger.bullet[ledger.by_fact[fact.fact_id][0].bullet_id] if ledger.by_fact.get(fact.fact_id) else None
        if setting is None or (own := of_bullet.get(setting.bullet_id)) not in place:
            continue
        if (event := _end_of(fact.subject, setting.narrative, graph.events(), place[own])) is not None:
            found[fact.fact_id] = event
    return found


def _end_of(matter: str, narrative: str, events: Sequence[StoryEvent], at: int) -> StoryEvent | None:
    """Return the event with which a matter is over for what is told of it at a position; None if it goes on."""
    name, end = matter.casefold(), None
    for i, event in enumerate(events):
        if i <= at and name in map(str.casefold, event.opens):
            end = None
        is_its = name in map(str.casefold, event.closes) or (event.part == CLOSING and event.narrative == narrative)
        if is_its and end is None:
            end = event
        if i >= at and end is not None:
            return end
    return None


async def write_sub_plan(asker: Asker, context: PlanContext, graph: StoryGraph, earlier: Sequence[Drafted]) -> Drafted:
    """Return the sub-plan after those in `earlier`: its events, worded in groups.

    A group that is accepted at once makes the next one larger, a refused one smaller. That follows from the replies
    alone, so that a resumed run, which reads the same replies from the journal, asks for the same groups.
    """
    index = len(earlier)
    stage = context.stages[index]
    left = list(graph.stages[index].events)
    if context.sizes[index].is_introduced:
        left.insert(0, introduction(stage.first_day))
    before = replace(_known(context, stage, graph, earlier), language=asker.spec.language)
    size = (earlier[-1].group if earlier else 0) or context.group
    drafts: list[Written] = []
    made = assembled(drafts, before, context.plan_index)
    while left:
        known = replace(_known(context, stage, graph, (*earlier, made)), language=asker.spec.language)
        # A rest of half a group is written along with the group before it; the ending when all before it is known.
        due = left if len(left) <= size + size // 2 else left[:size]
        going_on = [e for e in due if e.part != CLOSING]
        due = going_on or due
        left = left[len(due) :]
        group = _Group(tuple(due), left[:FOLLOWING_SHOWN], graph)
        written, was_accepted = await _write_group(asker.within(due[0].event_id), context, known, group)
        size = _next_size(size, context.group, was_accepted=was_accepted)
        drafts += written
        made = assembled(drafts, before, context.plan_index)
    if not drafts:
        raise ReplyError(
            f"{asker.unit_key}, prompt 'sub_plan': no reply had an event that could be used", kind="schema"
        )
    return made.model_copy(update={"group": size})


def _next_size(size: int, first: int, *, was_accepted: bool) -> int:
    if was_accepted:
        return min(size + max(size // 2, 1), first * LARGEST_GROUP)
    return max(size * 2 // 3, 1)


def _known(context: PlanContext, stage: Stage, graph: StoryGraph, parts: Sequence[Drafted]) -> Known:
    """Return what is known behind these parts of the plan."""
    frame, ledger = context.frame, ledger_of(parts, context.history)
    carried = frame.chapter.facts if frame.chapter else ()
    ends = ends_of(graph, parts, ledger)
    told = {event_id for d in parts for event_id in d.events}
    return Known(
        stage=stage,
        profile=frame.profile,
        ledger=ledger,
        history=context.history,
        values={line.fact_id: line.value for line in (*carried, *ledger.lines())},
        over={fact_id: event.event_id for fact_id, event in ends.items() if event.event_id in told},
        people=frame.relationships.people,
    )


@dataclass(frozen=True)
class _Group:
    """Events of a stage that are worded together."""

    events: tuple[StoryEvent, ...]
    next_ones: Sequence[StoryEvent]
    """The events of the stage just behind these."""
    graph: StoryGraph

    def following(self) -> tuple[StoryEvent, ...]:
        """Return the events just behind these, and those later on that follow from them or close what they open.

        A day that a text announces is the day of such an event.
        """
        own = {e.event_id for e in self.events}
        things = {m.casefold() for e in self.events for m in (e.thing, *e.opens)}
        ids = own | {e.event_id for e in self.next_ones}
        told = [e.event_id for e in self.graph.events()]
        behind = self.graph.events()[max((told.index(i) + 1 for i in own if i in told), default=0) :]
        later = [
            e
            for e in behind
            if e.event_id not in ids
            and (own & {a.event for a in e.after} or things & {m.casefold() for m in (e.thing, *e.closes)})
        ]
        return (*self.next_ones, *later[:LATER_SHOWN])

    def share_told(self) -> float:
        """Return the share of the plan's events that is told behind the group."""
        ids = [e.event_id for e in self.graph.events()]
        return (ids.index(self.events[-1].event_id) + 1) / len(ids) if self.events[-1].event_id in ids else 0.0

    def slots(self, known: Known) -> tuple[LedgerLine, ...]:
        """Return the values of the group's matters, the newest."""
        things = {m.casefold() for e in self.events for m in (e.thing, *e.opens, *e.closes)}
        labels = {e.narrative for e in self.events}
        of_narrative = {b.topic.casefold() for b in known.ledger.bullets if b.narrative in labels}
        own = [
            line
            for line in known.ledger.lines()
            if line.subject.casefold() in things
            or (line.subject.casefold() in of_narrative and line.fact_id not in known.over)
        ]
        own.sort(key=lambda line: line.subject.casefold() in things)  # those of the things themselves are kept longest
        return tuple(own[-SLOTS_SHOWN:])


async def _write_group(asker: Asker, context: PlanContext, known: Known, group: _Group) -> tuple[list[Written], bool]:
    """Return the events that could be worded, with their words, and whether the first reply had all of them.

    Good drafts are kept, and only missing and faulty ones are asked for again. Those that stay faulty are left out.
    """
    frame, events = context.frame, group.events
    inputs = SubPlanInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        narratives=frame.narratives,
        stages=context.stages,
        stage_index=known.stage.stage_index,
        earlier_bullets=known.ledger.bullets,
        events=events,
        following=group.following(),
        slots=group.slots(known),
        quotas=context.demand.menu(known.ledger, group.share_told(), len(events), is_ending=events[0].part == CLOSING),
        chapter=frame.chapter,
    )
    was_accepted, is_first = True, True
    told = [content_words(bullet.text) for bullet in known.ledger.bullets[-LAST_TOLD:]]
    mender = Mender(known, told, is_copied=partial(asker.is_copied, "sub_plan", inputs))
    mends: dict[str, str] = {}

    def sift(kept: tuple[Written, ...], reply: SubPlanReply) -> Sifted[Written]:
        nonlocal was_accepted, is_first
        good, faults = {event.event_id: (event, draft) for event, draft in kept}, list[str]()
        drafts = {f"e{_number(draft.event)}": draft for draft in reversed(reply.bullets)}
        for event in events:
            name = event.event_id
            if name in good:
                continue
            said = drafts.get(name)
            if said is None:
                faults.append(f"{name} is missing")
                continue
            others = [d for _, d in good.values()]
            draft = mender.mended(said, event, others, is_last=not is_first)
            mends[name] = "" if draft is said else f"{name}: {describe_changes(said, draft)}"
            found, words = list(faults_of(draft, event, known)), content_words(draft.text)
            if same := repeated(draft, others):
                found.append(f"{name} repeats {same}; each event is one new thing")
            elif any(same_words(words, earlier) for earlier in told):
                found.append(f"{name} says again what was told before; each event is one new thing")
            faults += found
            if not found:
                good[name] = event, draft
        was_accepted, is_first = was_accepted and not faults, False
        return Sifted(tuple(good[e.event_id] for e in events if e.event_id in good), tuple(faults))

    def rest(kept: tuple[Written, ...]) -> SubPlanInputs:
        written = {event.event_id for event, _ in kept}
        return inputs.model_copy(update={"events": tuple(e for e in events if e.event_id not in written)})

    task = ListTask(inputs, sift, rest, show=lambda item: f"{item[0].event_id}. {item[1].text}")
    try:
        written = await asker.listed("sub_plan", task, state=lambda: group.graph)
    except ReplyError as exc:
        for event in events:
            detail = f"{event.event_id} of {events[0].event_id} to {events[-1].event_id}: {exc.reason}"
            asker.note(Incident(kind=IncidentKind.SKIPPED, prompt_id="sub_plan", detail=detail))
        return [], False
    taken = {event.event_id for event, _ in written}
    if detail := "; ".join(mend for name, mend in mends.items() if mend and name in taken):
        asker.note(Incident(kind=IncidentKind.MENDED, prompt_id="sub_plan", detail=detail))
    return list(written), was_accepted


def ledger_of(drafted: Iterable[Drafted], history: PlanHistory) -> Ledger:
    """Return the ledger of the sub-plans drafted so far, with the facts of earlier plans that they touch."""
    parts = tuple(drafted)
    assertions = tuple(a for d in parts for a in d.assertions)
    back = history.known({a.fact_id for a in assertions})
    return Ledger(tuple(d.sub_plan for d in parts), (*back, *(f for d in parts for f in d.facts)), assertions)


def plan_of(drafted: Iterable[Drafted], plan_index: int = 0) -> Plan:
    """Return the plan made of its drafted sub-plans."""
    parts = tuple(drafted)
    return Plan(
        plan_index=plan_index,
        sub_plans=tuple(d.sub_plan for d in parts),
        facts=tuple(f for d in parts for f in d.facts),
        assertions=tuple(a for d in parts for a in d.assertions),
    )
