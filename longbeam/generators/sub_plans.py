"""The words of a story: the sub-plan of each stage, in which its events are bullets with their facts.

One call words some six events, given all bullets before; code says which values are still missing (`quotas.py`).
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from longbeam.errors import ReplyError
from longbeam.generators.bullets import (
    Drafted,
    Known,
    assembled,
    ended,
    faults_in_group,
    faults_of,
    is_cut,
    length_fault,
    repeated,
    same_words,
    told_on,
    value_of,
    values_without_fact,
    wrong_weekdays,
)
from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.plans import PlanContext, event_number
from longbeam.generators.story_graph import introduction
from longbeam.generators.tuning import PLANNING
from longbeam.models import Asker, ListTask, Sifted, answers_by_rule, describe_changes
from longbeam.prompts.calls import (
    BulletDraft,
    FactDraft,
    LedgerLine,
    Stage,
    StoryEvent,
    StoryGraph,
    SubPlanInputs,
    SubPlanReply,
)
from longbeam.schemas import CLOSING, Incident, IncidentKind, Plan, Role, Value
from longbeam.text import content_words, says, sentences

SUB_PLAN_PROMPTS = ("sub_plan",)

Written = tuple[StoryEvent, BulletDraft]
"""An event and its words."""


def ends_of(graph: StoryGraph, drafted: Iterable[Drafted], ledger: Ledger) -> dict[str, StoryEvent]:
    """Return the event that ended the matter of each fact, by the fact's id; facts whose matter goes on have none.

    A matter ends with the event that closes it or ends the story of its narrative: the fact's own, the first one behind
    it, or one before it if nothing has opened the matter again since.
    """
    events = graph.events()
    place = {e.event_id: i for i, e in enumerate(events)}
    ends = _Ends.of(events)
    of_bullet = {
        b.bullet_id: event_id for d in drafted for b, event_id in zip(d.sub_plan.bullets, d.events, strict=False)
    }
    found: dict[str, StoryEvent] = {}
    for fact in ledger.facts:
        setting = ledger.bullet[ledger.by_fact[fact.fact_id][0].bullet_id] if ledger.by_fact.get(fact.fact_id) else None
        if setting is None or (own := of_bullet.get(setting.bullet_id)) not in place:
            continue
        if (end := ends.after(fact.subject, setting.narrative, place[own])) is not None:
            found[fact.fact_id] = events[end]
    return found


@dataclass(frozen=True)
class _Ends:
    """Positions of the events that open and close each matter, and of those that end each narrative."""

    opening: Mapping[str, list[int]]
    closing: Mapping[str, list[int]]
    ending: Mapping[str, list[int]]

    @classmethod
    def of(cls, events: Sequence[StoryEvent]) -> _Ends:
        """Return the positions in a sequence of events."""
        opening, closing, ending = (defaultdict[str, list[int]](list) for _ in range(3))
        for i, event in enumerate(events):
            for positions, matters in ((opening, event.opens), (closing, event.closes)):
                for matter in matters:
                    positions[matter.casefold()].append(i)
            if event.part == CLOSING:
                ending[event.narrative].append(i)
        return cls(opening, closing, ending)

    def after(self, matter: str, narrative: str, at: int) -> int | None:
        """Return the position at which a matter is over for what is told of it at a position; None if it goes on."""
        name = matter.casefold()
        opened = max((i for i in self.opening.get(name, ()) if i <= at), default=0)
        its = (*self.closing.get(name, ()), *self.ending.get(narrative, ()))
        return min((i for i in its if i >= opened), default=None)


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
    before = replace(_known(context, stage, graph, earlier), language=asker.language)
    size = (earlier[-1].group if earlier else 0) or context.group
    drafts: list[Written] = []
    made = assembled(drafts, before, context.plan_index)
    while left:
        known = replace(_known(context, stage, graph, (*earlier, made)), language=asker.language)
        # A rest of half a group is written along with the group before it; the ending when all before it is known.
        due = left if len(left) <= size + size // 2 else left[:size]
        going_on = [e for e in due if e.part != CLOSING]
        due = going_on or due
        left = left[len(due) :]
        group = _Group(tuple(due), left[: PLANNING.following_shown], graph)
        written, was_accepted = await _write_group(asker.within(due[0].event_id), context, known, group)
        larger = min(size + max(size // 2, 1), context.group * PLANNING.largest_group)
        size = larger if was_accepted else max(size * 2 // 3, 1)
        drafts += written
        made = assembled(drafts, before, context.plan_index)
    if not drafts:
        raise ReplyError(
            f"{asker.unit_key}, prompt 'sub_plan': no reply had an event that could be used", kind="schema"
        )
    return made.model_copy(update={"group": size})


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
        """Return the events just behind these, and those later on that follow from them or close what they open."""
        ids = {e.event_id for e in self.next_ones}
        later = [e for e in self._later(self.events) if e.event_id not in ids]
        return (*self.next_ones, *later[: PLANNING.later_shown])

    def _later(self, events: Sequence[StoryEvent]) -> list[StoryEvent]:
        """Return the events behind some events of the plan that are about the same, follow, or close what they open."""
        own = {e.event_id for e in events}
        things = {m.casefold() for e in events for m in (e.thing, *e.opens)}
        told = self.graph.events()
        first = max((i + 1 for i, e in enumerate(told) if e.event_id in own), default=0)
        return [
            e
            for e in told[first:]
            if own & {a.event for a in e.after} or things & {m.casefold() for m in (e.thing, *e.closes)}
        ]

    def unkept(self, event: StoryEvent, draft: BulletDraft, known: Known) -> Iterator[str]:
        """Yield the days that a draft announces although nothing told on or behind them, in the plan, comes of them."""
        days = {e.day for e in self.graph.events() if e.day}
        told, last = event.day or dt.date.max, max(days, default=dt.date.min)
        until = max((e.day for e in self._later([event]) if e.day), default=dt.date.min)
        for fact in draft.facts:
            try:
                day = value_of(fact, event, known).date
            except ValueError:
                continue
            if day is not None and told < day <= last and day > until and day not in days:
                yield (
                    f"{event.event_id} announces {fact.value!r}, and no later event tells what came of it; name no day"
                    " that lies ahead, or that of a later event"
                )

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
        return tuple(own[-PLANNING.slots_shown :])


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
        quotas=context.quotas.menu(known.ledger, group.share_told(), events),
        chapter=frame.chapter,
    )
    was_accepted, is_first = True, True
    by_rule = answers_by_rule(asker.spec, asker.spec.model_for(Role.PLANNER))
    told = [content_words(bullet.text) for bullet in known.ledger.bullets[-PLANNING.last_told :]]
    mender = Mender(known, told, is_copied=partial(asker.is_copied, "sub_plan", inputs))
    mends: dict[str, str] = {}

    def sift(kept: tuple[Written, ...], reply: SubPlanReply) -> Sifted[Written]:
        nonlocal was_accepted, is_first
        good, faults = {event.event_id: (event, draft) for event, draft in kept}, list[str]()
        drafts = {f"e{event_number(draft.event)}": draft for draft in reversed(reply.bullets)}
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
            unkept = group.unkept(event, draft, known) if is_first and not by_rule else ()
            found = [*faults_of(draft, event, known), *faults_in_group(draft, event, good.values()), *unkept]
            words = content_words(draft.text)
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


@dataclass(frozen=True)
class Mender:
    """Corrects the drafts of one group of events."""

    known: Known
    told: Sequence[frozenset[str]]
    """Content words of the texts of the story that no event repeats."""
    is_copied: Callable[[str], bool]
    """Returns whether a text is copied from the prompt's instructions or example."""

    def mended(
        self, draft: BulletDraft, event: StoryEvent, others: Iterable[BulletDraft], *, is_last: bool
    ) -> BulletDraft:
        """Return a draft as it can be taken; the same draft if there is nothing to correct, or nothing that can be.

        `others`: the group's other events. Facts that cannot be read, and sentences that say a fact of the event beside
        a value that is none, are left to the model, and so is a text that wrong values are the most of; `is_last`: it
        had its chance, and code leaves them out.
        """
        facts = dict(self._readable(draft, event))
        told = [*self.told, *(content_words(other.text) for other in others)]
        kept: list[str] = []
        wrong: list[str] = []
        spans = sentences(draft.text)
        whole = spans[:-1] if is_cut(draft.text) else spans
        for start, end in whole:
            sentence = draft.text[start:end]
            if length_fault(" ".join((*kept, sentence)), event):
                break
            words = content_words(sentence)
            if any(same_words(words, other) for other in told) or self.is_copied(sentence):
                continue
            if self._has_wrong_values(sentence, draft, event, facts.values(), is_last=is_last):
                wrong.append(sentence)
                continue
            kept.append(sentence)
            told.append(words)
        if not is_last and _is_most([draft.text[start:end] for start, end in spans], wrong):
            return draft
        text = draft.text if len(kept) == len(spans) else " ".join(kept)
        missing = [draft.facts[i] for i, value in facts.items() if not says(text, value)]
        if missing and self.known.language.writes:
            text = " ".join((*filter(None, [ended(text)]), *(self._clause(fact, draft, event) for fact in missing)))
        update = {
            "text": text,
            "facts": [fact for i, fact in enumerate(draft.facts) if i in facts or not is_last],
        }
        mended = draft.model_copy(update=update)
        return draft if not text or mended == draft else mended

    def _readable(self, draft: BulletDraft, event: StoryEvent) -> Iterator[tuple[int, Value]]:
        """Yield the places of the facts that have a name and a value that can be read, with that value.

        None is a fact of the example.
        """
        for i, fact in enumerate(draft.facts):
            is_named = fact.name.strip() or self.known.fact(fact.slot)
            if not is_named or self.is_copied(f"{fact.name}: {fact.value}"):
                continue
            if (value := self._value(fact, event)) is not None:
                yield i, value

    def _value(self, fact: FactDraft, event: StoryEvent) -> Value | None:
        try:
            return value_of(fact, event, self.known)
        except ValueError:
            return None

    def _has_wrong_values(
        self, sentence: str, draft: BulletDraft, event: StoryEvent, values: Iterable[Value], *, is_last: bool
    ) -> bool:
        if not is_last and any(says(sentence, value) for value in values):
            return False
        part = draft.model_copy(update={"text": sentence})
        return any(wrong_weekdays(sentence, told_on(event))) or bool(
            values_without_fact(part, event, self.known, [*values])
        )

    def _clause(self, fact: FactDraft, draft: BulletDraft, event: StoryEvent) -> str:
        known = self.known.fact(fact.slot)
        name, thing = (known.attribute, known.subject) if known else (fact.name.strip(), event.thing)
        of = f" of {thing}" if thing and not content_words(thing) <= content_words(name) else ""
        value, present = self._value(fact, event), self.known.values.get(fact.slot)
        is_new = present is not None and value is not None and not value.means_same_as(present)
        words = f"the new {name}" if is_new else name
        return f"{words[0].upper()}{words[1:]}{of}: {fact.value.strip()}."


def _is_most(sentences_of_text: Sequence[str], wrong: Sequence[str]) -> bool:
    """Return whether some sentences are what a text is about: the first one, the longest, or over half of its words."""
    words = [len(sentence.split()) for sentence in sentences_of_text]
    without = sum(len(sentence.split()) for sentence in wrong)
    is_main = any(s == sentences_of_text[0] or len(s.split()) == max(words) for s in wrong)
    return is_main or 2 * without > sum(words)
