"""The story of a conversation as it was planned: events with days, facts with intervals, and what was chosen of them.

`longbeam show NAME --plan` prints it and draws it. Events come from the work log, because the artifact store holds
no account of how a conversation was planned. An unfinished conversation is shown as far as it is planned.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from longbeam.errors import UserError
from longbeam.generators import Augmented, Drafted, Ledger, PassedOver, augmented_plan, ends_of
from longbeam.generators.sub_plans import plan_of
from longbeam.keys import plan_index_of
from longbeam.pages import PAGE_END, page_start
from longbeam.prompts.calls import Stage, StageStory, StoryEvent, StoryGraph, Weight
from longbeam.schemas import CLOSING, Bullet, BulletKind, Fact, Plan, Probe, Stance
from longbeam.store import Benchmark, SealedConversation, WorkLog
from longbeam.terminal import counted

MARKS = {Stance.UPDATES: "changes to", Stance.DENIES: "is contradicted by"}
"""Words for what a special bullet does to a fact."""
GUTTER, RIGHT, WIDTH = 290, 250, 1400
"""Pixels of the picture left of the days, right of them, and altogether."""
LANE, BAR, NEAR = 54, 18, 15
"""Pixels of a narrative, of a fact, and between two events that do not overlap."""


@dataclass(frozen=True)
class FactLife:
    """The interval of a fact: from the day of its first statement until an event ends its matter."""

    fact: Fact
    first: dt.date
    last: dt.date | None
    """None: nothing ends it in the plan."""
    ended_by: str
    told: tuple[tuple[dt.date, Stance, str], ...]
    """Day, stance and value of each statement; an empty value denies the whole fact."""
    probe_ids: tuple[str, ...]

    @property
    def name(self) -> str:
        """Subject, attribute and first value."""
        return f"{self.fact.subject}, {self.fact.attribute}: {self.told[0][2]}"


@dataclass(frozen=True)
class PlannedStory:
    """One plan of a conversation: the graph of its events, the plan made of them, and what the chooser passed over."""

    plan_index: int
    stages: tuple[Stage, ...]
    graph: StoryGraph
    drafted: tuple[Drafted, ...]
    plan: Plan
    """With its special bullets."""
    facts: Mapping[str, Fact]
    """Facts of this plan and of those before it."""
    refused: tuple[PassedOver, ...]
    probes: tuple[Probe, ...]
    """Selected probes; none before the conversation is finished."""

    @cached_property
    def ledger(self) -> Ledger:
        """Ledger of the plan, with the facts of earlier plans that it touches."""
        touched = dict.fromkeys(a.fact_id for a in self.plan.assertions)
        return Ledger(self.plan.sub_plans, tuple(self.facts[i] for i in touched), self.plan.assertions)

    @cached_property
    def event_of(self) -> dict[str, str]:
        """Event that each bullet tells."""
        pairs = (zip(d.sub_plan.bullets, d.events, strict=False) for d in self.drafted)
        return {bullet.bullet_id: event_id for own in pairs for bullet, event_id in own}

    @cached_property
    def probes_of(self) -> dict[str, list[str]]:
        """Selected probes that rest on each event."""
        found: dict[str, list[str]] = defaultdict(list)
        for probe in self.probes:
            for event_id in dict.fromkeys(self.event_of.get(b, "") for b in probe.bullet_ids):
                found[event_id].append(probe.probe_id)
        return found

    @cached_property
    def lives(self) -> tuple[FactLife, ...]:
        """Facts with their intervals, oldest first."""
        ends = ends_of(self.graph, self.drafted, self.ledger)
        found = []
        for fact in self.ledger.facts:
            own = self.ledger.by_fact[fact.fact_id]
            told = [
                (self.ledger.bullet[a.bullet_id].happens_on, a.stance, a.value.text if a.value else "") for a in own
            ]
            end = ends.get(fact.fact_id)
            probe_ids = (p.probe_id for p in self.probes if fact.fact_id in p.fact_ids)
            first = told[0][0]
            # What is told of a matter that is over by then ends on its own day.
            last, ended_by = (max(end.day or first, first), end.event_id) if end else (None, "")
            found.append(FactLife(fact, first, last, ended_by, tuple(told), tuple(probe_ids)))
        return tuple(sorted(found, key=lambda life: life.first))

    @property
    def matters(self) -> str:
        """Numbers of matters that the plan opens and closes, and of facts of earlier plans that it comes back to."""
        opened = {m for e in self.graph.events() for m in e.opens}
        closed = {m for e in self.graph.events() for m in e.closes}
        back = sum(plan_index_of(fact.fact_id) != self.plan_index for fact in self.ledger.facts)
        told = f"{len(opened)} opened, {len(opened & closed)} of them closed, {len(closed - opened)} others closed"
        return f"Matters: {told}; facts of earlier plans: {back}"

    @cached_property
    def wishes(self) -> tuple[Bullet, ...]:
        """Instructions and preferences."""
        kinds = {BulletKind.INSTRUCTION, BulletKind.PREFERENCE}
        return tuple(b for b in self.ledger.bullets if b.kind in kinds)


def read_stories(benchmark: Benchmark, conversation_id: str) -> tuple[PlannedStory, ...]:
    """Return the plans of a conversation; raises UserError where it has none that is a graph of events."""
    path, probes = benchmark.work_path(conversation_id), tuple[Probe, ...]()
    if not path.exists():
        raise UserError(
            f"{benchmark.spec.name}, {conversation_id}: its work log is not there, and events are kept there"
        )
    if conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            probes = tuple(p for p in sealed.probes() if p.is_selected)
    stories, facts = list[PlannedStory](), dict[str, Fact]()
    with WorkLog.open_read_only(path) as log:
        keys = log.units.keys("plan")
        told = [key for key in keys if key.endswith(".events")]
        if not told:
            raise UserError(
                f"{benchmark.spec.name}, {conversation_id}: it was planned before stories were graphs of events, or not"
                f" at all; its text is shown without --plan"
            )
        for plan_index in dict.fromkeys(plan_index_of(key) for key in told):
            own = [key for key in keys if key.startswith(f"p{plan_index}.")]
            units = log.units
            drafted = tuple(units.records("plan", Drafted, unit_keys=own))
            augmented = tuple(units.records("plan", Augmented, unit_keys=own))
            plan = augmented_plan(plan_of(drafted, plan_index), augmented)
            facts |= {fact.fact_id: fact for fact in plan.facts}
            stories.append(
                PlannedStory(
                    plan_index=plan_index,
                    stages=tuple(units.records("plan", Stage, unit_keys=own)),
                    graph=StoryGraph(stages=tuple(units.records("plan", StageStory, unit_keys=own))),
                    drafted=drafted,
                    plan=plan,
                    facts=dict(facts),
                    refused=tuple(r for a in augmented for r in a.refused),
                    probes=probes,
                )
            )
    return tuple(stories)


# --- text ---------------------------------------------------------------------------------------------------------


def story_lines(story: PlannedStory) -> Iterator[str]:
    """Yield a plan as lines of text: events, facts, wishes, and the options that were not chosen with the reasons."""
    events = story.graph.events()
    yield f"Plan {story.plan_index}: {counted(len(events), 'event')}, {counted(len(story.lives), 'fact')}"
    yield story.matters
    for stage in story.graph.stages:
        about = next((s for s in story.stages if s.stage_index == stage.stage_index), None)
        days = f", {about.first_day} to {about.last_day}: {about.title}" if about else ""
        yield f"\nStage {stage.stage_index + 1}{days}"
        for event in stage.events:
            yield from _event_lines(event, story.probes_of.get(event.event_id, ()))
        if stage.stays_open:
            yield f"  stays open: {'; '.join(stage.stays_open)}"
    yield "\nFacts"
    for life in story.lives:
        yield from _fact_lines(life)
    if story.wishes:
        yield "\nWishes"
    for wish in story.wishes:
        yield f"  {wish.happens_on}  {wish.kind}: {wish.condition}: {wish.requirement}"
    yield from _refusal_lines(story)


def _event_lines(event: StoryEvent, probe_ids: Sequence[str]) -> Iterator[str]:
    day = f"{event.day:%a} {event.day}" if event.day else "no day"
    people = f" [{', '.join(event.people)}]" if event.people else ""
    yield f"  {event.event_id:<4} {day}  {event.narrative} / {event.thing}: {event.what}{people}"
    if notes := "; ".join(_notes(event, probe_ids)):
        yield f"       {notes}"


def _notes(event: StoryEvent, probe_ids: Sequence[str]) -> Iterator[str]:
    if event.part:
        yield event.part
    if event.is_turn:
        yield "turning point"
    if event.weight is not Weight.USUAL:
        yield str(event.weight)
    for link in event.after:
        most = f" to {link.most}" if link.most is not None else " or more"
        yield f"{link.least}{most} days after {link.event}"
    if event.opens:
        yield f"opens {', '.join(event.opens)}"
    if event.closes:
        yield f"closes {', '.join(event.closes)}"
    if probe_ids:
        yield f"probes {', '.join(probe_ids)}"


def _fact_lines(life: FactLife) -> Iterator[str]:
    until = f"until {life.last} ({life.ended_by})" if life.last else "to the end"
    once = ", once" if life.fact.is_fixed else ""
    yield f"  {life.fact.fact_id:<8} {life.name} ({life.fact.kind}{once}), from {life.first} {until}"
    for day, stance, value in life.told:
        if stance in MARKS:
            yield f"           {day}: {MARKS[stance]} {value or 'a denial'}"
    if life.probe_ids:
        yield f"           probes {', '.join(life.probe_ids)}"


def _refusal_lines(story: PlannedStory) -> Iterator[str]:
    if not story.refused:
        return
    yield "\nNot chosen"
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for refusal in story.refused:
        reasons[refusal.use, refusal.reason].append(refusal.of)
    for (use, reason), of in sorted(reasons.items(), key=lambda one: (one[0][0], -len(one[1]))):
        yield f"  {use}, {reason}: {', '.join(of)}"


# --- picture ------------------------------------------------------------------------------------------------------

_STYLE = """
.story { overflow-x: auto; } .story svg { min-width: 1000px; width: 100%; height: auto; }
.story text { fill: var(--ink); font: 11px var(--face); } .story .soft { fill: var(--soft); }
.lane, .tick { stroke: var(--line); } .after { fill: none; stroke: var(--edge); opacity: .55; }
.event { fill: var(--card); stroke: var(--accent); stroke-width: 1.5; } .event.turn { fill: var(--accent); }
.event.closing { stroke: var(--good); } .event.unforgettable { stroke-width: 3; }
.life { fill: var(--wash); stroke: var(--edge); stroke-width: .5; }
.updates { fill: var(--good); } .denies { fill: var(--bad); } .probe { fill: var(--warn); }
"""


def story_page(title: str, stories: Sequence[PlannedStory]) -> str:
    """Return a page that stands alone, with the picture and the text of each plan."""
    parts = [page_start(title, "longbeam", _STYLE), f"<h1>{escape(title)}</h1>", _LEGEND]
    for story in stories:
        if len(stories) > 1:
            parts.append(f"<h2>Plan {story.plan_index}</h2>")
        text = "\n".join(story_lines(story))
        parts += [f'<div class="story">{_Picture(story).drawn()}</div>']
        parts.append(f"<details><summary>The same in words</summary><pre>{escape(text)}</pre></details>")
    return "\n".join([*parts, PAGE_END])


_LEGEND = (
    "<p>Circles are events of a narrative, lines lead to the events that must come before. Filled: the turning point;"
    " a thick edge: nobody forgets it; green: the end. Bars are facts, from their first statement until an event ends"
    " their matter. A triangle is an update, a cross a contradiction, a diamond an event that a selected probe rests"
    " on; the probes on a fact stand right of it.</p>"
)


@dataclass(frozen=True)
class _Picture:
    story: PlannedStory

    @cached_property
    def days(self) -> tuple[dt.date, dt.date]:
        """First and last day."""
        told = [e.day for e in self.story.graph.events() if e.day] + [b.happens_on for b in self.story.ledger.bullets]
        return min(told), max(told)

    def x(self, day: dt.date) -> float:
        first, last = self.days
        return GUTTER + (WIDTH - GUTTER - RIGHT) * (day - first).days / max((last - first).days, 1)

    @cached_property
    def places(self) -> dict[str, tuple[float, float]]:
        """Place of each event: its day, and a row in the lane of its narrative in which nothing is near."""
        found: dict[str, tuple[float, float]] = {}
        ends: dict[tuple[str, int], float] = {}
        for event in self.story.graph.events():
            if event.day is None:
                continue
            at = self.x(event.day)
            row = min(range(3), key=lambda r: (ends.get((event.narrative, r), 0) > at - NEAR, r))
            ends[event.narrative, row] = at
            found[event.event_id] = at, 40 + LANE * self.lanes.index(event.narrative) + 14 * row
        return found

    @cached_property
    def lanes(self) -> list[str]:
        """Narratives in the order in which they begin."""
        return list(dict.fromkeys(e.narrative for e in self.story.graph.events()))

    def drawn(self) -> str:
        """Return the picture as SVG."""
        below = 40 + LANE * len(self.lanes)
        height = below + BAR * (len(self.story.lives) + 1)
        label = f"events of plan {self.story.plan_index} by narrative over time, and its facts"
        parts = [f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {height}">']
        parts += [*self._calendar(height), *self._lanes(), *self._links(), *self._events(), *self._facts(below + BAR)]
        return "\n".join([*parts, "</svg>"])

    def _calendar(self, height: int) -> Iterator[str]:
        first, last = self.days
        step = max((last - first).days // 8, 1)
        for passed in range(0, (last - first).days + 1, step):
            day = first + dt.timedelta(days=passed)
            yield f'<line class="tick" x1="{self.x(day):.0f}" x2="{self.x(day):.0f}" y1="16" y2="{height}"/>'
            yield f'<text class="soft" x="{self.x(day) + 2:.0f}" y="12">{day}</text>'

    def _lanes(self) -> Iterator[str]:
        for i, narrative in enumerate(self.lanes):
            y = 40 + LANE * i
            yield f'<text x="4" y="{y + 4}">{escape(_cut(narrative))}</text>'
            yield f'<line class="lane" x1="0" x2="{WIDTH}" y1="{y + LANE - 13}" y2="{y + LANE - 13}"/>'

    def _links(self) -> Iterator[str]:
        for event in self.story.graph.events():
            for link in event.after:
                if event.event_id in self.places and link.event in self.places:
                    (x1, y1), (x2, y2) = self.places[link.event], self.places[event.event_id]
                    yield f'<path class="after" d="M{x1:.0f},{y1:.0f} Q{x1:.0f},{y2:.0f} {x2:.0f},{y2:.0f}"/>'

    def _events(self) -> Iterator[str]:
        for event in self.story.graph.events():
            if event.event_id not in self.places:
                continue
            (x, y), probes = self.places[event.event_id], self.story.probes_of.get(event.event_id, ())
            marks = ("turn" * event.is_turn, "closing" * (event.part == CLOSING), str(event.weight))
            lines = "\n".join(_event_lines(event, probes))
            yield f'<g><title>{escape(lines)}</title><circle class="event {" ".join(filter(None, marks))}"'
            yield f' cx="{x:.0f}" cy="{y:.0f}" r="4.5"/>{_diamond(x, y - 9) if probes else ""}</g>'

    def _facts(self, top: int) -> Iterator[str]:
        for i, life in enumerate(self.story.lives):
            y, x = top + BAR * i, self.x(life.first)
            wide = max(self.x(life.last or self.days[1]) - x, 2)
            lines = "\n".join(_fact_lines(life))
            yield f'<g><title>{escape(lines)}</title><text x="4" y="{y + 10}">{escape(_cut(life.name))}</text>'
            yield f'<rect class="life" x="{x:.0f}" y="{y + 2}" width="{wide:.0f}" height="{BAR - 7}" rx="3"/>'
            for day, stance, _ in life.told:
                if stance in MARKS:
                    yield _mark(stance, self.x(day), y + 7)
            yield f'<text class="soft" x="{WIDTH - RIGHT + 6}" y="{y + 10}">'
            yield f"{escape(', '.join(life.probe_ids))}</text></g>"


def _cut(text: str, most: int = 44) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _mark(stance: Stance, x: float, y: float) -> str:
    if stance is Stance.UPDATES:
        return f'<path class="updates" d="M{x - 5:.0f},{y + 5:.0f}h10l-5,-10z"/>'
    arm = "l2,-2l3,3l3,-3l2,2l-3,3l3,3l-2,2l-3,-3l-3,3l-2,-2l3,-3z"
    return f'<path class="denies" d="M{x - 5:.0f},{y - 3:.0f}{arm}"/>'


def _diamond(x: float, y: float) -> str:
    return f'<path class="probe" d="M{x:.0f},{y - 4:.0f}l4,4l-4,4l-4,-4z"/>'
