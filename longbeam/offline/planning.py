"""The offline writer as planner: personality, narratives, outline, bullets of a stage, special bullets."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from longbeam.offline.chapters import BEGINNING, beginning, bounds_of
from longbeam.offline.drawing import changed
from longbeam.offline.language import fill, match, upper_first
from longbeam.offline.packs import (
    Pack,
    Preference,
    Slot,
    Standing,
    Thread,
    changed_preferences,
    fields_of,
    pack_for,
    threads_elsewhere,
    wishes,
)
from longbeam.offline.remarks import without_remark
from longbeam.offline.story import Story, StoryInputs, people_thread, story_of
from longbeam.offline.telling import WHOLE, Scene
from longbeam.prompts.calls.persona import NarrativesInputs, NarrativesReply, PersonalityInputs
from longbeam.prompts.calls.plans import (
    AugmentInputs,
    AugmentReply,
    BulletDraft,
    ContradictionDraft,
    ContradictionTarget,
    FactDraft,
    InstructionDraft,
    OutlineInputs,
    OutlineReply,
    StageDraft,
    SubPlanInputs,
    SubPlanReply,
    UpdateDraft,
    UpdateTarget,
)
from longbeam.schemas.plans import CLOSING, Bullet, BulletKind, Narrative, Stance, Value, ValueKind, slot_key
from longbeam.text import values
from longbeam.text.matching import says

W = TypeVar("W", bound=Standing)
WISHES_APART = 11
"""Offset in the list of wishes between one conversation of a benchmark and the next."""
STORIES_KEPT = 16
"""Conversations whose newest story is kept (0.3 MB each): as many as are open with 64 calls in flight."""
CHANGED_PER_PLAN = 3
"""Number of preferences of earlier plans that change in one plan."""
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


def narratives(inputs: NarrativesInputs, rng: random.Random) -> NarrativesReply:
    """Return narratives: the pack's threads, the people around the user, and common ones up to the number asked for."""
    pack = pack_for(inputs.seed)
    threads = [*pack.threads, people_thread()]
    found = [Narrative(label=t.narrative, description=t.about, sub_labels=t.sub_labels) for t in threads]
    for label, about, sub_labels in _FRAME_NARRATIVES:
        if len(found) < max(inputs.at_least, min(inputs.at_most, len(threads) + 8)):
            found.append(Narrative(label=label, description=about, sub_labels=sub_labels))
    return NarrativesReply(narratives=found)


def outline(inputs: OutlineInputs, rng: random.Random) -> OutlineReply:
    """Return a title and a summary for each stage."""
    titles = ("A beginning", "First steps", "Under way", "Trouble", "A change of plan", "Catching up", "Steady work")
    count = len(inputs.stages)
    drafts = []
    for stage in inputs.stages:
        subtopic = inputs.seed.subtopics[stage.stage_index % len(inputs.seed.subtopics)]
        title = "The last stretch" if stage.stage_index == count - 1 else titles[stage.stage_index % len(titles)]
        drafts.append(StageDraft(title=title, summary=f"{upper_first(subtopic)}, and what comes of it."))
    return OutlineReply(stages=drafts)


def sub_plan(inputs: SubPlanInputs, conversation: str) -> SubPlanReply:
    """Return a stage's part of the story, with introduction and preferences; `conversation`: `seed/conversation_id`."""
    rng_key = conversation
    if inputs.chapter is not None and inputs.chapter.plan_index:
        rng_key = f"{rng_key}/p{inputs.chapter.plan_index}"
    pack = pack_for(inputs.seed)
    scenes = _scenes_of(inputs, conversation, rng_key)[inputs.stage_index]
    known = {slot_key(f.subject, f.attribute): f.fact_id for f in inputs.ledger}
    events = [_event(scene, known) for scene in scenes]
    preferences = _preferences(pack, inputs, rng_key)
    drafts: list[BulletDraft] = []
    first = beginning(inputs)
    if first is not None:
        drafts.append(first)
    going_on = sum(e.variety != CLOSING for e in events)
    if inputs.counts["introduction"]:
        drafts.append(_introduction(pack, inputs, random.Random(f"{rng_key}/introduction")))
    for i, event in enumerate(events, 1):
        drafts.append(event)
        due = len(preferences) * i // (going_on + 1) if i < going_on else len(preferences)
        while sum(d.kind is BulletKind.PREFERENCE for d in drafts) < due:
            done = sum(d.kind is BulletKind.PREFERENCE for d in drafts)
            drafts.append(preferences[done].model_copy(update={"happens_on": event.happens_on}))
    return SubPlanReply(bullets=drafts)


def _scenes_of(inputs: SubPlanInputs, conversation: str, rng_key: str) -> Story:
    """Return the story of the plan; it is made once and kept for the calls of the other stages."""
    counts = inputs.counts
    events = counts["event"] + counts["introduction"]
    rooms = tuple((events - (s.stage_index == 0), counts["relationship"]) for s in inputs.stages)
    days = tuple((s.first_day, s.last_day) for s in inputs.stages)
    bounds = bounds_of(inputs.chapter)
    asked = StoryInputs(inputs.seed, inputs.people, days, rooms, f"{rng_key}/story", bounds)
    newest = _newest_of(conversation)
    if not newest or newest[0][0] != asked:
        newest[:] = [(asked, story_of(asked))]
    return newest[0][1]


@lru_cache(maxsize=STORIES_KEPT)
def _newest_of(conversation: str) -> list[tuple[StoryInputs, Story]]:
    """Return the place of a conversation's newest story and its inputs."""
    return []


def _event(scene: Scene, known: Mapping[str, str]) -> BulletDraft:
    facts = []
    for name, value in scene.values.items():
        slot = scene.thread.slots.get(name)
        attribute = slot.attribute if slot else name
        facts.append(
            FactDraft(
                fact_id=known.get(slot_key(scene.subject, attribute), ""),
                subject=scene.subject,
                attribute=attribute,
                stance=_stance(scene, name),
                value=value,
                is_fixed=slot is None or name in scene.beat.fixed,
            )
        )
    is_person = scene.thread is people_thread()
    return BulletDraft(
        kind=BulletKind.RELATIONSHIP if is_person else BulletKind.EVENT,
        narrative=ENDING_LABEL if scene.thing == WHOLE else scene.thread.narrative,
        topic=scene.thing,
        text=scene.text,
        happens_on=scene.day,
        facts=facts,
        variety=CLOSING if scene.is_closing else "",
    )


def _stance(scene: Scene, name: str) -> Stance:
    if name in scene.recalled:
        return Stance.MENTIONS
    return Stance.UPDATES if name in scene.beat.updates and not scene.is_closing else Stance.SETS


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
    said = [
        ("full name", Value(kind=ValueKind.NAME, text=profile.name)),
        ("age", values.number(profile.age)),
        ("profession", Value(kind=ValueKind.NAME, text=fields["profession"])),
        ("home city", Value(kind=ValueKind.NAME, text=profile.city)),
    ]
    return BulletDraft(
        kind=BulletKind.INTRODUCTION,
        narrative=INTRODUCTION_LABEL,
        topic="who I am",
        text=text,
        happens_on=inputs.stages[0].first_day,
        facts=[
            FactDraft(subject="me", attribute=attribute, value=value, is_fixed=attribute == "full name")
            for attribute, value in said
            if says(text, value)
        ],
    )


def _preferences(pack: Pack, inputs: SubPlanInputs, rng_key: str) -> list[BulletDraft]:
    """Return the preferences of a stage: first those without an earlier form, then changed ones."""
    count = inputs.counts["preference"]
    first = inputs.stage_index * count
    before = {(b.topic, b.condition): b for b in (inputs.chapter.standing if inputs.chapter else ())}
    order = _preference_order(pack, count * len(inputs.stages), before, rng_key)
    if inputs.chapter is not None:
        # Tastes change over the years: some preferences of earlier plans have changed by now.
        grown = [p for p in changed_preferences() if _is_as_it_was(p, before)]
        order = [(p.later, "evolved") for p in grown[:CHANGED_PER_PLAN] if p.later] + order
    drafts = []
    for i in range(first, first + count):
        standing, variety = order[i % len(order)]
        drafts.append(
            BulletDraft(
                kind=BulletKind.PREFERENCE,
                narrative=PREFERENCES_LABEL,
                topic=standing.topic,
                text=_sentence(standing.tell[(i // len(order)) % len(standing.tell)]),
                happens_on=inputs.stages[inputs.stage_index].first_day,
                condition=standing.condition,
                requirement=standing.requirement,
                variety=variety,
            )
        )
    return drafts


def _is_as_it_was(preference: Preference, before: Mapping[tuple[str, str], Bullet]) -> bool:
    told = before.get((preference.topic, preference.condition))
    return told is not None and told.requirement == preference.requirement


def _preference_order(
    pack: Pack, total: int, before: Mapping[tuple[str, str], Bullet], rng_key: str
) -> list[tuple[Standing, str]]:
    """Return the preferences of a conversation in order; about an eighth are changed ones, at the end.

    Preferences that change later are in the first half, so that each changes at least one stage after its first form.
    """
    every = _of_conversation(pack.preferences, wishes(pack).preferences, rng_key)
    drawn = [p for p in every if (p.topic, p.condition) not in before]
    if not drawn:  # Some forty plans use up all preferences: the current ones are told again.
        return [(p if _is_as_it_was(p, before) else p.later or p, "") for p in every]
    changing = [p for p in drawn if p.later]
    elders = changing[: max(min(len(changing), total // 8), total - len(drawn))]
    kept = [*elders, *(p for p in drawn if p not in elders)][: max(total - len(elders), 1)]
    half = max(len(elders), len(kept) // 2)
    early = kept[:half]
    random.Random(f"{rng_key}/preferences").shuffle(early)
    order: list[tuple[Standing, str]] = [(p, "") for p in (*early, *kept[half:])]
    return order + [(p.later, "evolved") for p in elders if p.later]


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
    """Return the wording of chosen updates and contradictions; the stages of `rng_key` share one list of wishes."""
    pack = pack_for(inputs.seed)
    taken = {condition.casefold() for condition in inputs.taken_conditions}
    pool = _of_conversation(pack.instructions, wishes(pack).instructions, rng_key)
    offered = [s for s in pool if s.condition.casefold() not in taken] or pool
    instructions = []
    before = inputs.instructions * inputs.stage.stage_index  # Every stage asks for the same number.
    for i in range(before, before + inputs.instructions):
        standing = offered[i % len(offered)]
        instructions.append(
            InstructionDraft(
                condition=standing.condition,
                requirement=standing.requirement,
                text=_sentence(standing.tell[(i // len(offered)) % len(standing.tell)]),
                topic=standing.topic,
            )
        )
    return AugmentReply(
        updates=[_update(pack, t, inputs.stage.last_day, rng) for t in inputs.updates],
        contradictions=[_contradiction(pack, t, rng) for t in inputs.contradictions],
        instructions=instructions,
    )


def thread_of(pack: Pack, narrative: str) -> Thread | None:
    """Return the thread of a narrative: of the pack, of the people, or of an earlier plan's pack; None if unknown."""
    own = next((t for t in (*pack.threads, people_thread()) if t.narrative == narrative), None)
    return own or threads_elsewhere().get(narrative)


def slot_of(thread: Thread, attribute: str) -> Slot | None:
    """Return the slot with this attribute; None if there is none."""
    return next((s for s in thread.slots.values() if s.attribute == attribute), None)


MOVED_ANYWHERE = (
    "The {attribute} for {it} is {new} now",
    "I've settled on {new} as the {attribute} for {it}",
    "For {it} the {attribute} has become {new}",
)


NEVER_ANYWHERE = (
    "I've never settled anything about the {attribute} for {it}",
    "I've never mentioned a {attribute} for {it}, because there is none",
    "I've never given the {attribute} for {it} a thought",
)


def _update(pack: Pack, target: UpdateTarget, told: dt.date, rng: random.Random) -> UpdateDraft:
    thread = thread_of(pack, target.bullet.narrative)
    slot = slot_of(thread, target.fact.attribute) if thread else None
    old = target.fact.value
    if slot is None or old is None:
        new = _other_value(target.fact.value, rng)
    else:
        # A change may be told on any day of the stage, so a postponed date lies after the stage's last day.
        new = changed(slot, old, rng, after=told if target.bullet.happens_on < (old.date or told) else None)
    fields = {"it": target.bullet.topic, "new": new.text, "attribute": target.fact.attribute}
    template = rng.choice(slot.moved if slot and slot.moved else MOVED_ANYWHERE)
    return UpdateDraft(target_id=target.target_id, value=new, text=_sentence(fill(template, fields)))


def _other_value(old: Value | None, rng: random.Random) -> Value:
    if old is None or old.number is None:
        return Value(kind=ValueKind.TEXT, text="something else")
    amount = round(old.number * rng.choice([0.6, 0.75, 1.25, 1.5]), 2)
    if old.kind is ValueKind.MONEY:
        return values.money(round(amount), old.unit)
    if old.kind is ValueKind.DURATION:
        return values.duration(max(1, round(amount)), old.unit)
    if old.kind is ValueKind.RATIO:
        return values.ratio(round(min(amount, 0.98), 2))
    return values.number(max(1, round(amount)), old.unit)


def _contradiction(pack: Pack, target: ContradictionTarget, rng: random.Random) -> ContradictionDraft:
    """Return a contradiction of the target's beat, of the requested variety if the beat has one."""
    thread = thread_of(pack, target.bullet.narrative)
    options: dict[str, list[tuple[str, Value | None]]] = {}
    fields = {"it": target.bullet.topic}
    if thread is not None:
        for beat in thread.beats:
            found = next((f for t in beat.tell if (f := match_beat(t, target.bullet)) is not None), None)
            if found is None:
                continue
            known = {**found, **fields}
            for variety, texts in (("never_statement", beat.deny), ("not_yet", beat.not_yet)):
                if texts:
                    options[variety] = [(fill(t, _safe(known, t)), None) for t in texts]
        slot = slot_of(thread, target.fact.attribute) if target.fact else None
        if slot and slot.misremember and target.fact and target.fact.value:
            other = changed(slot, target.fact.value, rng)
            options["other_value"] = [(fill(t, {**fields, "other": other.text}), other) for t in slot.misremember]
    if not options:
        named = {**fields, "attribute": target.fact.attribute if target.fact else "details"}
        options["never_statement"] = [(fill(t, named), None) for t in NEVER_ANYWHERE]
    variety = target.variety if target.variety in options else sorted(options)[0]
    text, value = rng.choice(options[variety])
    return ContradictionDraft(target_id=target.target_id, text=_sentence(text), value=value, variety=variety)


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
