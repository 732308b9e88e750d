"""Conversations of many plans, told offline: seeds of the plans, beginnings of later plans, summaries.

Sequential plans each have a subject of their own. Hierarchical plans are phases of one storyline: they have its
subject and its aspects, divide the things of its pack between them, and come back to things of earlier phases. Each
touches another side of life (money, family, law, health), whose pack is told along with it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from longbeam.offline.language import lower_first, phrases, upper_first, within_sentence
from longbeam.offline.packs import Pack, Thread, load_pack, pack_for, pack_paths
from longbeam.offline.telling import NO_BOUNDS, Bounds
from longbeam.prompts.calls import (
    BulletDraft,
    Chapter,
    FactDraft,
    PlanSeedDraft,
    PlanSeedsInputs,
    PlanSeedsReply,
    PlanSummaryInputs,
    SeedDraft,
    SeedsInputs,
    SeedsReply,
    SubPlanInputs,
)
from longbeam.schemas import Domain, PlanSeed, Seed, Strategy
from longbeam.text import times, values

_SMALL = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"})


def seeds(inputs: SeedsInputs) -> SeedsReply:
    """Return the next seeds whose titles are not taken; fewer than asked for if there are no more.

    Their order depends on the domain alone, so that a second request continues the first.
    """
    drafts = list(_drafts(inputs.domain))
    random.Random(f"titles/{inputs.domain}").shuffle(drafts)
    taken = {title.casefold() for title in inputs.taken}
    return SeedsReply(seeds=[d for d in drafts if d.title.casefold() not in taken][: inputs.count])


def _drafts(domain: str) -> Iterator[SeedDraft]:
    """Yield seeds of the packs of a domain; for one of the user's own those of any, which are about something else."""
    packs = [load_pack(path) for path in pack_paths()]
    for pack in [p for p in packs if p.domain == domain] or packs:
        yield from _of_pack(pack)


def _of_pack(pack: Pack) -> Iterator[SeedDraft]:
    """Yield seeds: two things of a thread make a title, the sub-labels of this and another thread the subtopics."""
    threads = [t for t in pack.threads if t.things]
    for i, thread in enumerate(threads):
        for j, (first, second) in enumerate(pairwise(thread.things)):
            if j % 2:
                continue  # each thing is in one title
            other = threads[(i + j // 2 + 1) % len(threads)]
            rng = random.Random(f"{pack.pack}/{thread.thread}/{j}")
            yield SeedDraft(
                title=f"{thread.narrative}: from {_titled(first)} to {_titled(second)}",
                theme=thread.about,
                subtopics=_subtopics(thread, other),
                start_month=rng.randint(1, 12),
                months=rng.randint(4, 9),
            )


def _subtopics(thread: Thread, other: Thread) -> list[str]:
    return list(dict.fromkeys((*thread.sub_labels, *other.sub_labels)))


def _titled(thing: str) -> str:
    first, *rest = thing.split()
    return " ".join([first, *(w if w in _SMALL else w[:1].upper() + w[1:] for w in rest)])


PHASES = phrases("chapters", "phases")
BEGINNING = "Who I Am"
"""Narrative of introductions and of the first bullet of a later plan."""
SIDES_OF_LIFE = (Domain.RELATIONSHIP, Domain.HEALTH, Domain.INVESTMENT, Domain.HOME, Domain.LEGAL, Domain.CAREER)
"""Domains that the phases of a storyline touch, in turn."""
FIRST_SHARE = 0.4
"""Share of the pack's things that the first plan of a storyline tells; the other plans share the rest."""
OTHER_PLANS_NAMED = 12
"""Number of neighbouring plans whose subjects a plan's seed names as reserved."""
NAMED_BEHIND = 3
"""Subtopics of the previous plan that the beginning of a plan names."""
CHARACTERS_PER_TOKEN = 4
_LONG_AGO = 260
"""Characters of each earlier plan's summary that are kept, except for the newest."""


def plan_seeds(inputs: PlanSeedsInputs) -> PlanSeedsReply:
    """Return a seed for each plan: subjects in the order of the ideas, and reserved things that no two plans share."""
    phased = inputs.strategy is Strategy.HIERARCHICAL
    topics = [_phase_title(inputs, i) if phased else idea.title for i, idea in enumerate(inputs.ideas)]
    topics = _told_apart(topics)
    shares = _shares(inputs) if phased else [[] for _ in topics]
    owned: set[str] = set()
    drafts = []
    for i, (topic, idea) in enumerate(zip(topics, inputs.ideas, strict=True)):
        aspects = inputs.seed.subtopics if phased else idea.subtopics
        own = [s for s in (*shares[i], *aspects) if s.casefold() not in owned] or [topic]
        owned |= {s.casefold() for s in own}
        drafts.append(
            PlanSeedDraft(
                domain=_drafted(inputs.seed.domain if phased else idea.domain),
                touches=_touched(inputs.seed, i) if phased else None,
                topic=topic,
                theme=_theme(inputs, i),
                subtopics=list(inputs.seed.subtopics if phased else idea.subtopics),
                phase=_phase(i, len(topics)) if phased else _stage(i, len(topics)),
                tense=_tense(topics, i),
                can_mention=own,
                cannot_mention=[t for t in _neighbours(topics, i) if t.casefold() not in owned],
            )
        )
    return PlanSeedsReply(plans=drafts)


def _drafted(domain: str) -> Domain:
    """Return a domain as a draft names it; a user's own is set by code."""
    return domain if isinstance(domain, Domain) else Domain.GENERAL


def _phase(i: int, count: int) -> str:
    return PHASES[i * (len(PHASES) - 1) // max(count - 1, 1)]


def _touched(seed: Seed, i: int) -> Domain:
    """Return the side of life that a phase touches; none in the first."""
    sides = [side for side in SIDES_OF_LIFE if side != seed.domain]
    return sides[(i - 1) % len(sides)] if i else Domain.GENERAL


def _stage(i: int, count: int) -> str:
    return "where it begins" if i == 0 else "where it has led" if i == count - 1 else f"stage {i + 1} of {count}"


def _phase_title(inputs: PlanSeedsInputs, i: int) -> str:
    return f"{inputs.seed.title}: {_phase(i, len(inputs.ideas))}"


def _theme(inputs: PlanSeedsInputs, i: int) -> str:
    if i == 0 or inputs.strategy is Strategy.SEQUENTIAL:
        return inputs.ideas[i].theme
    now, next_ = (lower_first(inputs.seed.subtopics[(i + j) % len(inputs.seed.subtopics)]) for j in (0, 1))
    return f"{inputs.seed.theme.rstrip('.')}; {_phase(i, len(inputs.ideas))}: {now} and {next_}"


def _told_apart(topics: list[str]) -> list[str]:
    """Return the topics with a number added to repeated ones."""
    seen: Counter[str] = Counter()
    apart = []
    for topic in topics:
        seen[topic] += 1
        apart.append(topic if seen[topic] == 1 else f"{topic}, part {seen[topic]}")
    return apart


def _tense(topics: list[str], i: int) -> str:
    past = f"{topics[i - 1]} is behind; " if i else "Nothing of this has begun; "
    later = "what comes of it is not known" if i + 1 < len(topics) else "what is still open is settled"
    return upper_first(f"{past}these months are about {topics[i]}, and {later}.")


def _neighbours(topics: list[str], i: int) -> list[str]:
    near = sorted((j for j in range(len(topics)) if j != i), key=lambda j: (abs(j - i), j))
    return [topics[j] for j in sorted(near[:OTHER_PLANS_NAMED])]


def _shares(inputs: PlanSeedsInputs) -> list[list[str]]:
    """Return the things of the storyline's pack, divided over its plans."""
    things = [thing for thread in pack_for(inputs.seed).threads for thing in thread.things]
    random.Random(inputs.seed.digest).shuffle(things)
    count = len(inputs.ideas)
    first = round(len(things) * FIRST_SHARE)
    rest = things[first:]
    others = count - 1
    return [things[:first], *(rest[len(rest) * i // others : len(rest) * (i + 1) // others] for i in range(others))]


def bounds_of(chapter: Chapter | None) -> Bounds:
    """Return the bounds that other plans set to a plan's story."""
    if chapter is None:
        return NO_BOUNDS
    own = {t.casefold() for t in chapter.plan_seed.can_mention}
    others = {t.casefold() for s in chapter.plan_seeds for t in s.can_mention} - own
    told = {t.casefold() for s in chapter.plan_seeds[: chapter.plan_index] for t in s.can_mention}
    goes_on = chapter.strategy is Strategy.HIERARCHICAL
    return Bounds(
        forbidden=frozenset(others - told if goes_on else others),
        shared=frozenset(others | own),
        passed=_passed(chapter),
        settled=frozenset((f.subject, f.attribute) for f in chapter.facts if f.is_fixed),
        known=tuple((f.subject, f.attribute, f.value) for f in chapter.facts if f.value is not None),
        is_last=chapter.plan_index == len(chapter.plan_seeds) - 1,
    )


def _passed(chapter: Chapter) -> int:
    """Return the number of earlier plans of the same pack, which told the same things that no plan owns."""
    pack = _told_from(chapter.plan_seed, chapter)
    return sum(_told_from(s, chapter) == pack for s in chapter.plan_seeds[: chapter.plan_index])


def _told_from(plan_seed: PlanSeed, chapter: Chapter) -> str:
    seed = Seed(
        domain=plan_seed.touches or plan_seed.domain,
        title=plan_seed.topic,
        theme=plan_seed.theme,
        subtopics=plan_seed.subtopics,
    )
    return pack_for(seed).pack


def beginning(inputs: SubPlanInputs) -> BulletDraft:
    """Return the first bullet of a later plan: what is over, what begins, the user's age."""
    chapter = inputs.chapter
    assert chapter is not None
    theme = lower_first(chapter.plan_seed.theme.rstrip("."))
    # Several subtopics, as a list: a single one ("all that about needs") would want an article.
    behind = chapter.plan_seeds[chapter.plan_index - 1].subtopics[:NAMED_BEHIND]
    before = ", ".join(within_sentence(s) for s in behind)
    rng = random.Random(f"{inputs.seed.title}/{chapter.plan_index}")
    told = next((f for f in chapter.facts if f.subject == "me" and f.attribute == "age"), None)
    facts, aged = [], ""
    if told is not None and told.value is not None and told.value.number != inputs.profile.age:
        age = values.number(inputs.profile.age)
        facts = [FactDraft(slot=told.fact_id, name=told.attribute, value=age.text)]
        aged = f" I've turned {age.text} in the meantime."
    text = rng.choice(
        (
            f"{upper_first(before)}: all that is behind me for now. These days it's about this: {theme}.{aged}",
            f"After all that ({before}) I've got something else on my plate: {theme}.{aged}",
            f"I haven't had much to do with the old subjects lately: {before}. Now it's this: {theme}.{aged}",
        )
    )
    return BulletDraft(event="e1", text=text, facts=facts)


def opening_thing(chapter: Chapter | None) -> str:
    """Return the thing of the first event of a later plan; empty for a first plan."""
    is_later = chapter is not None and chapter.plan_index
    return within_sentence(chapter.plan_seed.subtopics[0]) if chapter is not None and is_later else ""


def plan_summary(inputs: PlanSummaryInputs) -> str:
    """Return an excerpt of earlier bullets in place of a model's summary; older plans are cut shorter."""
    room = inputs.max_tokens * CHARACTERS_PER_TOKEN
    before = [f"{line[: _LONG_AGO - 1].rstrip()}" for line in inputs.summary.splitlines() if line]
    days = f"{times.format_date(inputs.plan_seed.timeline.start)} to {times.format_date(inputs.plan_seed.timeline.end)}"
    head = f"{days}: {inputs.plan_seed.topic}."
    step = max(len(inputs.bullets) // 12, 1)
    own = " ".join([head, *(text for text in inputs.bullets[::step])])
    kept = "\n".join(before)[-room // 2 :]
    return "\n".join(part for part in (kept, own[: room - len(kept)]) if part)
