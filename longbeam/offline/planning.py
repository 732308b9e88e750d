"""The offline writer as planner: personality, narratives, outline, bullets of a stage, special bullets."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TypeVar

from longbeam.offline.chapters import BEGINNING, beginning, bounds_of
from longbeam.offline.drawing import changed, misremembered
from longbeam.offline.language import fill, match, upper_first
from longbeam.offline.packs import (
    Pack,
    PackSlot,
    Preference,
    Standing,
    Thread,
    changed_preferences,
    fields_of,
    pack_for,
    threads_elsewhere,
    wishes,
)
from longbeam.offline.remarks import outcome_of, without_remark
from longbeam.offline.story import Story, StoryInputs, people_thread, story_of
from longbeam.offline.telling import WHOLE, StoryScene
from longbeam.prompts.calls import (
    AugmentInputs,
    AugmentReply,
    BulletDraft,
    ContradictionDraft,
    ContradictionTarget,
    Dependent,
    FactDraft,
    InstructionDraft,
    NarrativesInputs,
    NarrativesReply,
    NewSlot,
    OutlineInputs,
    OutlineReply,
    PersonalityInputs,
    PlanSheet,
    RevisionDraft,
    SheetLine,
    StageDraft,
    SubPlanInputs,
    SubPlanReply,
    UpdateDraft,
    UpdateTarget,
)
from longbeam.schemas import Bullet, BulletKind, Narrative, Person, Value, ValueKind
from longbeam.text import overlapping, values

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


def narratives(inputs: NarrativesInputs) -> NarrativesReply:
    """Return narratives: the pack's threads, the people around the user, and common ones up to the number asked for."""
    pack = pack_for(inputs.seed)
    threads = [*pack.threads, people_thread()]
    found = [Narrative(label=t.narrative, description=t.about, sub_labels=t.sub_labels) for t in threads]
    for label, about, sub_labels in _FRAME_NARRATIVES:
        if len(found) < max(inputs.at_least, min(inputs.at_most, len(threads) + 8)):
            found.append(Narrative(label=label, description=about, sub_labels=sub_labels))
    return NarrativesReply(narratives=found)


_WANTS = (
    "wants to be asked before things are settled",
    "wants to help, and to be thanked for it",
    "hopes that it will soon be over",
    "wants a part of it for themselves",
    "would rather have it done another way",
)
"""Wishes of people, as the outline states them."""


def outline(inputs: OutlineInputs) -> OutlineReply:
    """Return a title and a summary for each stage."""
    titles = ("A beginning", "First steps", "Under way", "Trouble", "A change of plan", "Catching up", "Steady work")
    count = len(inputs.stages)
    drafts = []
    for stage in inputs.stages:
        subtopic = inputs.seed.subtopics[stage.stage_index % len(inputs.seed.subtopics)]
        title = "The last stretch" if stage.stage_index == count - 1 else titles[stage.stage_index % len(titles)]
        wants = [_WANTS[(stage.stage_index + i) % len(_WANTS)] for i in range(len(stage.cast))]
        drafts.append(StageDraft(title=title, summary=f"{upper_first(subtopic)}, and what comes of it.", wants=wants))
    return OutlineReply(stages=drafts)


def sub_plan(inputs: SubPlanInputs, sheet: PlanSheet, conversation: str) -> SubPlanReply:
    """Return the lines asked for, out of the whole story of the plan; `conversation`: `seed/conversation_id`."""
    rng_key = conversation
    if inputs.chapter is not None and inputs.chapter.plan_index:
        rng_key = f"{rng_key}/p{inputs.chapter.plan_index}"
    pack, lines = pack_for(inputs.seed), sheet.stages[inputs.stage_index]
    story = _scenes_of(inputs, sheet, conversation, rng_key)
    scenes = deque(scene for stage in story[inputs.stage_index :] for scene in stage)
    preferences = iter(_preferences(pack, inputs, sheet, rng_key))
    asked, labels = {line.line: line for line in inputs.lines}, {n.label for n in inputs.narratives}
    drafts: list[BulletDraft] = []
    for line in lines:
        if line.kind is BulletKind.INTRODUCTION:
            draft = _introduction(pack, inputs, random.Random(f"{rng_key}/introduction"))
        elif line.kind is BulletKind.PREFERENCE:
            draft = next(preferences)
        elif line.part == "opening":
            draft = beginning(inputs)
        else:
            scene = scenes.popleft()
            draft = _event(scene)
            if line.line in asked and asked[line.line].outcome_of:
                draft = _with_outcome(draft, asked[line.line], {scene.thing, *(s.thing for s in scenes)}, inputs.people)
        if line.line in asked:
            narrative = draft.narrative if draft.narrative in labels else ""  # a short story has few narratives
            drafts.append(draft.model_copy(update={"line": line.line, "narrative": narrative}))
    return SubPlanReply(bullets=drafts)


def _scenes_of(inputs: SubPlanInputs, sheet: PlanSheet, conversation: str, rng_key: str) -> Story:
    """Return the story of the plan; it is made once and kept for the calls of the other lines."""
    days = tuple((s.first_day, s.last_day) for s in inputs.stages)
    bounds = bounds_of(inputs.chapter)
    asked = StoryInputs(inputs.seed, inputs.people, days, sheet.stages, f"{rng_key}/story", bounds)
    newest = _newest_of(conversation)
    if not newest or newest[0][0] != asked:
        newest[:] = [(asked, story_of(asked))]
    return newest[0][1]


@lru_cache(maxsize=STORIES_KEPT)
def _newest_of(conversation: str) -> list[tuple[StoryInputs, Story]]:
    """Return the place of a conversation's newest story and its inputs."""
    return []


def _event(scene: StoryScene) -> BulletDraft:
    facts = []
    for name, value in scene.values.items():
        slot = scene.thread.slots.get(name)
        code = NewSlot(kind=value.kind, is_fixed=slot is None or name in scene.beat.fixed).code
        facts.append(FactDraft(slot=code, name=slot.attribute if slot else name, value=value.text))
    return BulletDraft(
        line=0,
        narrative=ENDING_LABEL if scene.thing == WHOLE else scene.thread.narrative,
        topic=scene.thing,
        text=scene.text,
        facts=facts,
    )


def _with_outcome(
    draft: BulletDraft, line: SheetLine, elsewhere: Collection[str], people: Sequence[Person]
) -> BulletDraft:
    """Return a draft that also says how an announced day went, unless it ends with a remark.

    `elsewhere`: things whose own scenes tell how their days went.
    """
    slot = line.recalls
    if slot is None or slot.value is None or slot.subject in elsewhere or without_remark(draft.text) != draft.text:
        return draft
    is_person = any(p.first_name == slot.subject for p in people)
    outcome = outcome_of(slot.subject, slot.attribute, slot.value, line.line, is_person=is_person)
    text = f"{draft.text} {outcome}"
    fact = FactDraft(slot=slot.fact_id, name=slot.attribute, value=slot.value.text)
    return draft.model_copy(update={"text": text, "facts": [*draft.facts, fact]})


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
    return BulletDraft(line=0, narrative=INTRODUCTION_LABEL, topic="who I am", text=text)


def _preferences(pack: Pack, inputs: SubPlanInputs, sheet: PlanSheet, rng_key: str) -> list[BulletDraft]:
    """Return the preferences of a stage: first those without an earlier form, then changed ones."""
    count = sum(line.kind is BulletKind.PREFERENCE for line in sheet.stages[inputs.stage_index])
    first = inputs.stage_index * count
    before = {(b.topic, b.condition): b for b in (inputs.chapter.standing if inputs.chapter else ())}
    order = _preference_order(pack, count * len(inputs.stages), before, rng_key)
    if inputs.chapter is not None:
        # Tastes change over the years: some preferences of earlier plans have changed by now.
        grown = [p for p in changed_preferences() if _is_as_it_was(p, before)]
        order = _without_overlaps([p.later for p in grown[:CHANGED_PER_PLAN] if p.later] + order)
    drafts = []
    for i in range(first, first + count):
        standing = order[i % len(order)]
        drafts.append(
            BulletDraft(
                line=0,
                narrative=PREFERENCES_LABEL,
                topic=standing.topic,
                text=_sentence(standing.tell[(i // len(order)) % len(standing.tell)]),
                condition=standing.condition,
                requirement=standing.requirement,
            )
        )
    return drafts


def _without_overlaps(order: Sequence[W]) -> list[W]:
    """Return wishes of which no question meets two; a changed one has the condition of the one that it replaces."""
    kept: list[W] = []
    for wish in order:
        own = wish.topic, wish.condition
        if all(own == (k.topic, k.condition) or not overlapping(wish.condition, k.condition) for k in kept):
            kept.append(wish)
    return kept


def _is_as_it_was(preference: Preference, before: Mapping[tuple[str, str], Bullet]) -> bool:
    told = before.get((preference.topic, preference.condition))
    return told is not None and told.requirement == preference.requirement


def _preference_order(pack: Pack, total: int, before: Mapping[tuple[str, str], Bullet], rng_key: str) -> list[Standing]:
    """Return the preferences of a conversation in order; about an eighth are changed ones, at the end.

    Preferences that change later are in the first half, so that each changes at least one stage after its first form.
    """
    every = _without_overlaps(_of_conversation(pack.preferences, wishes(pack).preferences, rng_key))
    drawn = [p for p in every if (p.topic, p.condition) not in before]
    if not drawn:  # Some forty plans use up all preferences: the current ones are told again.
        return [p if _is_as_it_was(p, before) else p.later or p for p in every]
    changing = [p for p in drawn if p.later]
    elders = changing[: max(min(len(changing), total // 8), total - len(drawn))]
    kept = [*elders, *(p for p in drawn if p not in elders)][: max(total - len(elders), 1)]
    half = max(len(elders), len(kept) // 2)
    early = kept[:half]
    random.Random(f"{rng_key}/preferences").shuffle(early)
    order: list[Standing] = [*early, *kept[half:]]
    return order + [p.later for p in elders if p.later]


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
    return AugmentReply(
        updates=[_update(pack, t, rng) for t in inputs.updates],
        contradictions=[_contradiction(pack, t, rng) for t in inputs.contradictions],
        instructions=_instructions(pack, inputs, rng_key),
        revisions=[_revision(d) for t in inputs.updates for d in t.dependents],
    )


def _instructions(pack: Pack, inputs: AugmentInputs, rng_key: str) -> list[InstructionDraft]:
    """Return the next instructions of the pack whose conditions overlap with no other wish.

    Where all are taken, which takes forty plans, the first ones are told again.
    """
    taken = list(inputs.taken_conditions)
    pool = _of_conversation(pack.instructions, wishes(pack).instructions, rng_key)
    drafts: list[tuple[Standing, int]] = []
    for _ in inputs.instructions:
        free = (s for s in pool if not any(overlapping(s.condition, condition) for condition in taken))
        used = [s for s in pool if s.condition in taken and all(s is not d for d, _ in drafts)]
        standing = next(free, None) or used[0]
        drafts.append((standing, taken.count(standing.condition)))
        taken.append(standing.condition)
    return [
        InstructionDraft(
            target_id=target.target_id,
            condition=standing.condition,
            requirement=standing.requirement,
            text=_sentence(standing.tell[times % len(standing.tell)]),
            topic=standing.topic,
        )
        for target, (standing, times) in zip(inputs.instructions, drafts, strict=True)
    ]


def _revision(dependent: Dependent) -> RevisionDraft:
    """Return a bullet that says only the values which a change leaves right."""
    told = dependent.bullet
    values_kept = [f"the {line.attribute} is {line.value.text}" for line in dependent.kept if line.value]
    text = "; ".join([f"I've gone on with {told.topic}", *values_kept])
    return RevisionDraft(bullet_id=told.bullet_id, text=_sentence(text))


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


MOVED_ANYWHERE = (
    "The {attribute} for {it} is {new} now",
    "I've settled on {new} as the {attribute} for {it}",
    "For {it} the {attribute} has become {new}",
)


NEVER_ANYWHERE = (
    "I've never settled anything about the {attribute} for {it}",
    "I've never given the {attribute} for {it} a thought",
)


MISREMEMBER_ANYWHERE = (
    "The {attribute} for {it} was {other}, as far as I remember",
    "For {it} the {attribute} was {other}",
)


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
    if target.variety == "other_value" and fact is not None and fact.value is not None:
        slot = slot_of(thread, fact.attribute) if thread else None
        other = misremembered(slot, fact.value, rng) if slot else _other_value(fact.value, rng)
        text = rng.choice(slot.misremember if slot and slot.misremember else MISREMEMBER_ANYWHERE)
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
