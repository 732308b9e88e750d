"""The offline writer as planner: personality, narratives, outline, events and their words, special bullets."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TypeVar

from longbeam.offline.chapters import BEGINNING, beginning, bounds_of, opening_thing
from longbeam.offline.drawing import changed, misremembered
from longbeam.offline.language import fill, match, phrases, upper_first
from longbeam.offline.own_logs import confidences_of, entries_of, log_of
from longbeam.offline.packs import (
    Pack,
    PackSlot,
    Standing,
    Thread,
    fields_of,
    pack_for,
    threads_elsewhere,
    wishes,
)
from longbeam.offline.story import Script, StoryInputs, draft_of, people_thread, scenes_of, script_of, side_told
from longbeam.offline.telling import WHOLE, StoryScene, without_remark
from longbeam.prompts.calls import (
    AugmentInputs,
    AugmentReply,
    BulletDraft,
    ContradictionDraft,
    ContradictionTarget,
    EventDraft,
    EventsInputs,
    EventsReply,
    FactDraft,
    LinkDraft,
    NarrativesInputs,
    NarrativesReply,
    NewSlot,
    OutlineInputs,
    OutlineReply,
    PersonalityInputs,
    StageDraft,
    StoryGraph,
    SubPlanInputs,
    SubPlanReply,
    UpdateDraft,
    UpdateTarget,
    WishDraft,
    WishTarget,
)
from longbeam.schemas import Bullet, BulletKind, Narrative, Person, Value, ValueKind
from longbeam.text import overlapping, values

W = TypeVar("W", bound=Standing)
SIDE_PARTS = 3
"""Events of a side story."""
WISHES_APART = 11
"""Offset in the list of wishes between one conversation of a benchmark and the next."""
STORIES_KEPT = 16
"""Conversations whose newest story is kept (0.3 MB each): as many as are open with 64 calls in flight."""
PREFERENCES_LABEL = "Ways of Working"
INTRODUCTION_LABEL = BEGINNING
ENDING_LABEL = "How It Came Out"
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiouAEIOU])(?!uni|use|eu|one)")
"""An `a` before a vowel, which a profession in a template can cause."""
_FRAME_NARRATIVES = (
    (INTRODUCTION_LABEL, "The person, their work and what brought them here", ("Background", "Motives", "Daily life")),
    (PREFERENCES_LABEL, "How the person likes to work and be answered", ("Preferences", "Habits", "Standing wishes")),
    (ENDING_LABEL, "What came of it all, what it cost and who helped", ("Results", "Costs", "Thanks")),
    ("Decisions and Second Thoughts", "Choices made, and choices made again", ("Options", "Regrets", "Reasons")),
    ("Time and Energy", "What fits into a week and what does not", ("Evenings", "Deadlines", "Rest")),
    ("Money and Means", "What it costs and what there is", ("Budgets", "Purchases", "Surprises")),
    ("Setbacks", "What goes wrong and what comes of it", ("Mistakes", "Delays", "Repairs")),
    ("Learning and Insight", "What is understood that was not before", ("Practice", "Feedback", "Doubts")),
    ("Milestones", "What is reached, and when", ("First results", "Turning points", "Endings")),
    ("Mood and Confidence", "How it feels along the way", ("Worry", "Pride", "Patience")),
    ("Tools and Places", "What is used and where things happen", ("Equipment", "Rooms", "Software")),
    ("Plans for Later", "What is meant to come after this", ("Ideas", "Promises", "Open ends")),
)


def personality(inputs: PersonalityInputs, rng: random.Random) -> str:
    """Return a paragraph that joins the traits with connectives."""
    subject = "She" if inputs.gender == "female" else "He"
    linkers = (
        "",
        "At the same time, ",
        "More than once, friends have noticed that ",
        "At work it shows that ",
        "",
        "And yet ",
    )
    sentences = []
    for linker, trait in zip(linkers, inputs.traits, strict=False):
        text = trait.strip().rstrip(".")
        head, _, rest = text.partition(" ")
        body = text if head.casefold() in {"she", "he", "they"} else f"{subject.lower()} {text[:1].lower()}{text[1:]}"
        if head.casefold() == "they":
            body = f"{subject.lower()} {rest}"
        sentences.append(upper_first(f"{linker}{body}") + ".")
    rng.shuffle(sentences)
    return " ".join(sentences)


def narratives(inputs: NarrativesInputs) -> NarrativesReply:
    """Return narratives: the pack's threads, the people around the user, and common ones up to the number asked for."""
    pack = pack_for(inputs.seed)
    threads = [*pack.threads, people_thread()]
    found = [Narrative(label=t.narrative, description=t.about, sub_labels=t.sub_labels) for t in threads]
    for label, about, sub_labels in _FRAME_NARRATIVES:
        if len(found) < max(inputs.at_least, min(inputs.at_most, len(threads) + 8)):
            found.append(Narrative(label=label, description=about, sub_labels=sub_labels))
    return NarrativesReply(narratives=found)


_WANTS = phrases("planning", "wants")
"""Wishes of people, as the outline states them."""


def outline(inputs: OutlineInputs) -> OutlineReply:
    """Return a title and a summary for each stage."""
    titles = ("A beginning", "First steps", "Under way", "Trouble", "A change of plan", "Catching up", "Steady work")
    count = len(inputs.stages)
    labels, people = [n.label for n in inputs.narratives], [p.first_name for p in inputs.people]
    drafts = []
    for stage in inputs.stages:
        i = stage.stage_index
        subtopic = inputs.seed.subtopics[i % len(inputs.seed.subtopics)]
        cast = people[i % 2 :: 2]
        draft = StageDraft(
            title="The last stretch" if i == count - 1 else titles[i % len(titles)],
            summary=f"{upper_first(subtopic)}, and what comes of it.",
            narratives=[*labels[:2], *labels[2 + i % 2 :: 2]],
            people=cast,
            wants=[_WANTS[(i + j) % len(_WANTS)] for j in range(len(cast))],
        )
        drafts.append(draft)
    return OutlineReply(stages=drafts)


@dataclass
class _Newest:
    """The newest story of a conversation, kept for the calls of its other events."""

    inputs: StoryInputs | None = None
    script: Script = ()
    days: str = ""
    """Digest of the graph that the scenes have their days from."""
    scenes: Mapping[str, StoryScene] = field(default_factory=dict)


def events(inputs: EventsInputs, conversation: str) -> EventsReply:
    """Return the events asked for, out of the whole script of the plan; `conversation`: `seed/conversation_id`."""
    told_of = inputs.counts, inputs.side, inputs.endings
    own, labels = _newest(inputs, told_of, conversation), [n.label for n in inputs.narratives]
    assert own.inputs is not None
    drafts = []
    for number in inputs.own_numbers:
        if number in inputs.side:
            drafts.append(_side_draft(own.inputs, number, inputs.side, labels[0]))
            continue
        step = own.script[own.inputs.numbers.index(number)]
        told = ENDING_LABEL if step.subject == WHOLE else step.thread.narrative
        narrative = told if told in labels else labels[number % len(labels)]  # a short story has few narratives
        drafts.append(draft_of(own.inputs, step, number, narrative))
    drafts = _with_turns(drafts, inputs)
    log = log_of(inputs, conversation) if inputs.entries else None
    return EventsReply(
        events=[d for d in drafts if int(d.event[1:]) in inputs.numbers],
        log=log.name if log else "",
        entries=list(entries_of(inputs, log, own.inputs.rng_key)) if log else [],
        confidences=list(confidences_of(inputs, conversation)),
    )


def _side(inputs: StoryInputs, number: int, side: Sequence[int]) -> tuple[Person, str, str]:
    """Return person, thing and text of an event of a side story; each has three."""
    story, part = divmod(side.index(number), SIDE_PARTS)
    return side_told(inputs.people, story, part, inputs.rng_key)


def _side_draft(inputs: StoryInputs, number: int, side: Sequence[int], narrative: str) -> EventDraft:
    person, thing, text = _side(inputs, number, side)
    at = side.index(number)
    after = [LinkDraft(event=f"e{side[at - 1]}", least_days=1)] if at % SIDE_PARTS else []
    return EventDraft(
        event=f"e{number}", narrative=narrative, thing=thing, what=text, people=[person.first_name], after=after
    )


def _with_turns(drafts: list[EventDraft], inputs: EventsInputs) -> list[EventDraft]:
    """Return events of which one is the turning point of each narrative that turns in the stage."""
    turns, last = inputs.stages[inputs.stage_index].turns, len(drafts) - inputs.closing
    told = [(i, d) for i, d in enumerate(drafts[:last]) if int(d.event[1:]) not in inputs.side]
    for label in turns:
        own = [i for i, d in told if d.narrative == label]
        free = [i for i, d in told if not drafts[i].turning_point and d.narrative not in turns and i]
        if place := [*own, *free[::-1]][:1]:
            changed_to = {"narrative": label, "turning_point": True}
            drafts[place[0]] = drafts[place[0]].model_copy(update=changed_to)
    return drafts


def sub_plan(inputs: SubPlanInputs, graph: StoryGraph, conversation: str) -> SubPlanReply:
    """Return the words of the events asked for, out of the whole story of the plan."""
    own = _newest(inputs, (graph.counts, graph.side, graph.endings), conversation)
    pack = pack_for(inputs.seed)
    assert own.inputs is not None
    if own.days != graph.digest:
        own.days, own.scenes = graph.digest, scenes_of(own.inputs, own.script, graph)
    drafts = []
    for event in inputs.events:
        if event.kind is BulletKind.INTRODUCTION:
            draft = _introduction(pack, inputs, random.Random(f"{_rng_key(inputs, conversation)}/introduction"))
        elif event.kind is BulletKind.SIDE:
            _, _, text = _side(own.inputs, int(event.event_id[1:]), graph.side)
            draft = BulletDraft(event="", text=text)
        elif event.event_id not in own.scenes:
            draft = beginning(inputs)
        else:
            draft = _event(own.scenes[event.event_id])
        drafts.append(draft.model_copy(update={"event": event.event_id}))
    return SubPlanReply(bullets=drafts)


def _rng_key(inputs: EventsInputs | SubPlanInputs, conversation: str) -> str:
    later = inputs.chapter.plan_index if inputs.chapter is not None else 0
    return f"{conversation}/p{later}" if later else conversation


def _newest(
    inputs: EventsInputs | SubPlanInputs, told: tuple[tuple[int, ...], tuple[int, ...], int], conversation: str
) -> _Newest:
    """Return the story of the plan; its script is made once and kept for the calls of the other events.

    `told`: the events of each stage, the ordinals of those of side stories, and the number of those that end the plan.
    """
    counts, side, closing = told
    own = [sum(n in side for n in range(1 + sum(counts[:i]), 1 + sum(counts[: i + 1]))) for i in range(len(counts))]
    asked = StoryInputs(
        seed=inputs.seed,
        people=inputs.people,
        stages=tuple((s.first_day, s.last_day) for s in inputs.stages),
        counts=tuple(count - beside for count, beside in zip(counts, own, strict=True)),
        side=side,
        closing=closing,
        rng_key=f"{_rng_key(inputs, conversation)}/story",
        bounds=bounds_of(inputs.chapter),
        opening=opening_thing(inputs.chapter),
    )
    newest = _newest_of(conversation)
    if newest.inputs != asked:
        newest.inputs, newest.script, newest.days = asked, script_of(asked), ""
    return newest


@lru_cache(maxsize=STORIES_KEPT)
def _newest_of(conversation: str) -> _Newest:
    """Return the place of a conversation's newest story."""
    return _Newest()


def _event(scene: StoryScene) -> BulletDraft:
    facts = []
    for name, value in scene.values.items():
        slot = scene.thread.slots.get(name)
        code = NewSlot(kind=value.kind, is_fixed=slot is None or name in scene.beat.fixed).code
        facts.append(FactDraft(slot=code, name=slot.attribute if slot else name, value=value.text))
    return BulletDraft(event="", text=scene.text, facts=facts)


def _introduction(pack: Pack, inputs: SubPlanInputs, rng: random.Random) -> BulletDraft:
    profile = inputs.profile
    theme = inputs.seed.theme.rstrip(".")
    fields = {
        "name": profile.name,
        "age": str(profile.age),
        "profession": profile.profession.lower() if profile.profession.istitle() else profile.profession,
        "city": profile.city,
        "theme": theme[:1].lower() + theme[1:] if not theme.split(" ")[0][1:].isupper() else theme,
    }
    text = rng.choice(pack.intro).format(**fields)
    text = _ARTICLE.sub(r"\1n ", text.replace(f" as {fields['profession']}", f" as a {fields['profession']}"))
    return BulletDraft(event="", text=text)


def _of_conversation(own: Sequence[W], every: Sequence[W], rng_key: str) -> list[W]:
    """Return the pack's own wishes, from another start in each conversation of a benchmark, then the common ones.

    Common wishes fit any domain. If they came first, all conversations of a benchmark would have the same wishes.
    """
    benchmark, _, conversation = rng_key.partition("/")
    ordinal = int("".join(c for c in conversation if c.isdigit()) or 0)
    found = []
    for pool in (own, every[len(own) :]):
        order = list(pool)
        random.Random(f"{benchmark}/wishes").shuffle(order)
        begin = ordinal * WISHES_APART % max(len(order), 1)
        found += order[begin:] + order[:begin]
    return found


def _sentence(text: str) -> str:
    text = upper_first(text.strip())
    return text if text[-1] in ".!?" else text + "."


# --- special bullets ----------------------------------------------------------------------------------------


def augment(inputs: AugmentInputs, rng: random.Random, rng_key: str) -> AugmentReply:
    """Return the wording of the chosen targets; the stages of `rng_key` share one list of wishes."""
    pack = pack_for(inputs.seed)
    return AugmentReply(
        updates=[_update(pack, t, rng) for t in inputs.updates],
        contradictions=[_contradiction(pack, t, rng) for t in inputs.contradictions],
        wishes=list(_wishes(pack, inputs, rng_key)),
    )


def _wishes(pack: Pack, inputs: AugmentInputs, rng_key: str) -> Iterator[WishDraft]:
    """Yield the next wishes of the pack whose conditions overlap with no other one.

    Tastes change: one preference of a stage is the later form of one that may be replaced. Where all wishes are taken,
    which takes forty plans, the first ones are told again.
    """
    taken = list(inputs.taken_conditions)
    pools: Mapping[BulletKind, Sequence[Standing]] = {
        BulletKind.PREFERENCE: _of_conversation(pack.preferences, wishes(pack).preferences, rng_key),
        BulletKind.INSTRUCTION: _of_conversation(pack.instructions, wishes(pack).instructions, rng_key),
    }
    grown = _grown(pack, inputs)
    told: list[Standing] = []
    for target in inputs.wishes:
        if grown is not None and target.kind is BulletKind.PREFERENCE:
            yield _wish(target, grown, 0)
            grown = None
            continue
        pool = pools[target.kind]
        free = (s for s in pool if not any(overlapping(s.condition, condition) for condition in taken))
        used = [s for s in pool if s.condition in taken and all(s is not d for d in told)] or pool
        standing = next(free, None) or used[0]
        told.append(standing)
        yield _wish(target, standing, taken.count(standing.condition))
        taken.append(standing.condition)


def _grown(pack: Pack, inputs: AugmentInputs) -> Standing | None:
    """Return the later form of the oldest preference that may be replaced and has one."""
    later = {p.condition: p.later for p in wishes(pack).preferences if p.later}
    return next((later[b.condition] for b in inputs.replaceable if _is_first_form(b, later)), None)


def _is_first_form(bullet: Bullet, later: Mapping[str, Standing]) -> bool:
    return bullet.condition in later and later[bullet.condition].requirement != bullet.requirement


def _wish(target: WishTarget, standing: Standing, times: int) -> WishDraft:
    return WishDraft(
        target_id=target.target_id,
        condition=standing.condition,
        requirement=standing.requirement,
        text=_sentence(standing.tell[times % len(standing.tell)]),
        topic=standing.topic,
        line=target.lines[0],
    )


def thread_of(pack: Pack, bullet: Bullet) -> Thread | None:
    """Return the thread of the pack or of the people that tells a bullet, or an earlier plan's; None if unknown.

    A story has fewer narratives than its pack has threads, so that many bullets have the narrative of another thread.
    """
    own = (*pack.threads, people_thread())
    named = [t for t in own if bullet.topic in t.things] or [t for t in own if not t.things and _tells(t, bullet)]
    found = [t for t in named or own if t.narrative == bullet.narrative] or named
    return found[0] if found else threads_elsewhere().get(bullet.narrative)


def _tells(thread: Thread, bullet: Bullet) -> bool:
    told = chain.from_iterable((*beat.tell, *beat.deny) for beat in thread.beats)
    changed_later = chain.from_iterable((*slot.moved, *slot.misremember) for slot in thread.slots.values())
    return any(match_beat(template, bullet) is not None for template in chain(told, changed_later))


def slot_of(thread: Thread, attribute: str) -> PackSlot | None:
    """Return the slot with this attribute; None if there is none."""
    return next((s for s in thread.slots.values() if s.attribute == attribute), None)


MOVED_ANYWHERE = phrases("planning", "moved_anywhere")


NEVER_ANYWHERE = phrases("planning", "never_anywhere")


MISREMEMBER_ANYWHERE = phrases("planning", "misremember_anywhere")
LASTING_ANYWHERE = phrases("planning", "lasting_anywhere")
"""The same of a name or a version, which lasts where an amount or a day was once."""


def _update(pack: Pack, target: UpdateTarget, rng: random.Random) -> UpdateDraft:
    thread = thread_of(pack, target.bullet)
    slot = slot_of(thread, target.fact.attribute) if thread else None
    old, told = target.fact.value, target.place.day
    if slot is None or old is None:
        new = _other_value(old, rng, after=told)
    else:
        # A postponed date lies ahead of the day on which the change is told.
        new = changed(slot, old, rng, after=told if target.bullet.happens_on < (old.date or told) else None)
    fields = {"it": target.bullet.topic, "new": new.text, "attribute": target.fact.attribute}
    template = rng.choice(slot.moved if slot and slot.moved else MOVED_ANYWHERE)
    return UpdateDraft(target_id=target.target_id, value=new.text, text=_sentence(fill(template, fields)))


def _other_value(old: Value | None, rng: random.Random, *, after: dt.date = dt.date.min) -> Value:
    """Return another value where no slot says which are possible; a day behind `after`."""
    if old is not None and old.date is not None:
        return values.date_value(max(old.date, after) + dt.timedelta(days=rng.randint(3, 14)))
    if old is None or old.number is None:
        return values.plain("something else")
    amount = round(old.number * rng.choice([0.6, 0.75, 1.25, 1.5]), 2)
    if old.kind is ValueKind.MONEY:
        return values.money(round(amount), old.unit)
    if old.kind is ValueKind.DURATION:
        return values.duration(max(1, round(amount)), old.unit)
    if old.kind is ValueKind.RATIO:
        return values.ratio(round(min(amount, 0.98), 2))
    return values.number(max(1, round(amount)), old.unit)


def _contradiction(pack: Pack, target: ContradictionTarget, rng: random.Random) -> ContradictionDraft:
    """Return a slip of the kind that is asked for, in the words of the target's beat or slot if these have any."""
    thread = thread_of(pack, target.bullet)
    fact, fields = target.fact, {"it": target.bullet.topic, "attribute": "details"}
    if fact is not None:
        fields["attribute"] = fact.attribute
    if target.slip.variety == "other_value" and fact is not None and fact.value is not None:
        slot = slot_of(thread, fact.attribute) if thread else None
        told = target.bullet.happens_on
        other = misremembered(slot, fact.value, rng, told) if slot else _other_value(fact.value, rng)
        anywhere = LASTING_ANYWHERE if slot and slot.choose else MISREMEMBER_ANYWHERE
        text = rng.choice(slot.misremember if slot and slot.misremember else anywhere)
        text = fill(text, {**fields, "other": other.text})
        return ContradictionDraft(target_id=target.target_id, text=_sentence(text), value=other.text)
    denials = _denials(thread, target.bullet, fields) if thread else []
    text = rng.choice(denials or [fill(t, fields) for t in NEVER_ANYWHERE])
    return ContradictionDraft(target_id=target.target_id, text=_sentence(text))


def _denials(thread: Thread, bullet: Bullet, fields: dict[str, str]) -> list[str]:
    """Return the flat denials of the beat that a bullet tells."""
    for beat in thread.beats:
        found = next((f for t in beat.tell if (f := match_beat(t, bullet)) is not None), None)
        if found is not None and beat.deny:
            known = {**found, **fields}
            return [fill(t, _safe(known, t)) for t in beat.deny]
    return []


def _safe(fields: dict[str, str], template: str) -> dict[str, str]:
    return {name: fields.get(name, "it") for name in fields_of(template)} | fields


def match_beat(template: str, bullet: Bullet) -> dict[str, str] | None:
    """Return the fields with which a beat's `tell` gives this bullet's text; None if none do."""
    body = template if template[-1] in ".!?" else template + "."
    for text in dict.fromkeys((bullet.text, without_remark(bullet.text))):
        found = match(upper_first(body), text)
        if found is None and body.startswith("{"):
            found = match(body, text)
        if found is not None:
            return found
    return None
