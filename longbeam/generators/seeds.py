"""Seeds of conversations: from the built-in catalogue, a seeds file, or a model; code draws their timelines."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from longbeam.errors import ProviderError, UserError
from longbeam.generators.layout import most_sub_plans, plan_lengths, sub_plans_for
from longbeam.generators.probes.evidence import words_of
from longbeam.generators.seeds_file import parse_seeds, read_seeds_file
from longbeam.generators.tuning import PLANNING
from longbeam.models import Asker
from longbeam.prompts.calls import SeedDraft, SeedsInputs, SeedsReply
from longbeam.schemas import BenchmarkSpec, Category, Domain, OwnDomain, Seed, Timeline

__all__ = ["CATALOGUE_DOMAINS", "draw_timeline", "load_catalogue", "read_seeds_file", "seeds_for"]

CATALOGUE = Path(__file__).parent / "data" / "seeds.json"
CATALOGUE_DOMAINS = tuple(domain for domain in Domain if domain is not Domain.GENERAL)
"""The nineteen domains that are taken in turn if a spec names none."""

WRITTEN_SEEDS = "written.json"
"""Name in messages of the seeds that the planner wrote for a domain of the spec's own."""

FIRST_DAY = dt.date(2019, 1, 1)
LAST_DAY = dt.date(2025, 12, 31)
"""Bounds of drawn timelines."""

_DAYS_PER_SUB_PLAN = {Category.GENERAL: (25, 45), Category.CODING: (20, 35), Category.MATH: (20, 35)}
_MOST_DAYS = 2_400
"""Upper limit of a drawn timeline; it leaves some months of choice between FIRST_DAY and LAST_DAY."""
_LEAST_DAYS_PER_SUB_PLAN = 3
"""Lower limit of a given timeline: anchors strictly increase, with days between them."""


@lru_cache(maxsize=1)
def load_catalogue() -> tuple[Seed, ...]:
    """Return the built-in seeds, at least five per domain."""
    seeds, warnings = parse_seeds(CATALOGUE.read_text(encoding="utf-8"), name=CATALOGUE.name, source="catalogue")
    if warnings:
        raise ValueError(f"the built-in catalogue has faults: {warnings[0]}")
    return tuple(seeds)


def seeds_for(spec: BenchmarkSpec, count: int, *, copy: Path | None = None) -> tuple[list[Seed], list[str]]:
    """Return the seeds of conversations 0..count-1, and warnings about the seeds file.

    The entries of a seeds file are used in order (only those of `spec.domains`, if any are named), and again from
    the start when they are exhausted. Without a file, domains take turns, and (spec.seed, domain, round) determine
    the entry of the catalogue. `spec.seeds_file` is read relative to the working folder;
    `copy` is read instead of it. A spec with a domain of its own and without a file has none before they are written.

    Raises UserError for a file that cannot be used, for one without an entry of the named domains, and for
    timelines too short for the length asked for.
    """
    if spec.seeds_file is None and (copy is None or spec.domain is None):
        return [] if spec.domain else _draw_from_catalogue(spec, count), []
    path = Path(spec.seeds_file or WRITTEN_SEEDS)
    seeds, warnings = read_seeds_file(copy or path, name=str(path))
    if spec.domain is not None:
        seeds = [seed if _is_elsewhere(seed, spec.domain) else _in_own(seed, spec.domain) for seed in seeds]
    if spec.domains:
        seeds = [seed for seed in seeds if seed.domain in spec.domains]
        if not seeds:
            raise UserError(
                f"seeds file {str(path)!r}: no entry of the domains asked for: {', '.join(spec.domains)}; "
                "add one, or leave `domains` out to use every entry"
            )
    chosen = [seeds[i % len(seeds)] for i in range(count)]
    for i, seed in enumerate(chosen):
        _check_timeline(seed, sub_plans_of(spec.of_conversation(i).length, seed.category))
    return chosen, warnings


def _is_elsewhere(seed: Seed, own: OwnDomain) -> bool:
    """Return whether a seed names another domain than the spec's own; one that names none belongs to that."""
    return seed.domain not in (own.name, Domain.GENERAL)


def _in_own(seed: Seed, own: OwnDomain) -> Seed:
    return seed.model_copy(update={"domain": own.name, "about": own.about})


def sub_plans_of(length: int, category: Category) -> int:
    """Return the number of sub-plans that a story's timeline must hold; plans may have different categories."""
    return sub_plans_for(length, category) if len(plan_lengths(length)) == 1 else most_sub_plans(length)


def ideas_for(spec_seed: int, conversation_index: int, main: Seed, count: int) -> tuple[Seed, ...]:
    """Return `count` seeds of the catalogue that the plans of one conversation may draw on, the main one first.

    Domains take turns in the conversation's own order, so that neighbouring plans have different subjects; no entry
    repeats while others are left.
    """
    rng = random.Random(f"{spec_seed}/ideas/{conversation_index}")
    by_domain: dict[str, list[Seed]] = defaultdict(list)
    for seed in load_catalogue():
        if seed.title != main.title:
            by_domain[seed.domain].append(seed)
    domains: list[str] = [d for d in CATALOGUE_DOMAINS if d is not main.domain]
    rng.shuffle(domains)
    domains.append(main.domain)
    for entries in by_domain.values():
        rng.shuffle(entries)
    ideas = [main.model_copy(update={"timeline": None})]
    for i in range(count - 1):
        entries = by_domain[domains[i % len(domains)]]
        ideas.append(entries[(i // len(domains)) % len(entries)])
    return tuple(ideas)


def draw_timeline(spec_seed: int, conversation_index: int, seed: Seed, sub_plans: int) -> Timeline:
    """Return the seed's timeline, or one drawn for the conversation.

    Drawn ones lie within 2019 to 2025, 20 to 45 days per sub-plan by category; fewer where a long story would not
    fit into these years. Start days follow the golden ratio through them, so that even a few conversations spread;
    each seven conversations in a row start on the seven days of the week.

    Raises UserError if a given timeline leaves fewer than three days per sub-plan.
    """
    if seed.timeline is not None:
        _check_timeline(seed, sub_plans)
        return seed.timeline
    draw = random.Random(f"{spec_seed}/timeline/{conversation_index}")
    least, most = _DAYS_PER_SUB_PLAN[seed.category]
    length = sum(draw.randint(least, most) for _ in range(sub_plans))
    length = min(length, _MOST_DAYS)
    latest = (LAST_DAY - FIRST_DAY).days - length - 6
    if length < _LEAST_DAYS_PER_SUB_PLAN * sub_plans:
        raise ValueError(f"{sub_plans} sub-plans do not fit between {FIRST_DAY} and {LAST_DAY}")
    start = FIRST_DAY + dt.timedelta(days=_spread(spec_seed, conversation_index, latest + 1))
    start += dt.timedelta(days=(_weekday(spec_seed, conversation_index) - start.weekday()) % 7)
    return Timeline(start=start, end=start + dt.timedelta(days=length))


def _spread(spec_seed: int, index: int, size: int) -> int:
    # Kronecker sequence with the golden ratio, in integers: 0x9E3779B97F4A7C15 / 2**64 is its fraction.
    origin = random.Random(f"{spec_seed}/timeline").getrandbits(64)
    return ((origin + index * 0x9E3779B97F4A7C15) % 2**64) * size >> 64


def _weekday(spec_seed: int, index: int) -> int:
    week, day = divmod(index, 7)
    order = list(range(7))
    random.Random(f"{spec_seed}/timeline/week/{week}").shuffle(order)
    return order[day]


def _check_timeline(seed: Seed, sub_plans: int) -> None:
    needed = _LEAST_DAYS_PER_SUB_PLAN * sub_plans
    if seed.timeline is not None and seed.timeline.days < needed:
        raise UserError(
            f"seed {seed.title!r} ({seed.source}): timeline {seed.timeline.start} to {seed.timeline.end} has "
            f"{seed.timeline.days} days; {sub_plans} sub-plans need at least {needed}. Lengthen or remove it."
        )


def _draw_from_catalogue(spec: BenchmarkSpec, count: int) -> list[Seed]:
    by_domain: dict[str, list[Seed]] = defaultdict(list)
    for seed in load_catalogue():
        by_domain[seed.domain].append(seed)
    domains = spec.domains or CATALOGUE_DOMAINS
    taken: dict[Domain, int] = defaultdict(int)
    drawn = []
    for index in range(count):
        domain = domains[index % len(domains)]
        drawn.append(_draw_entry(spec.seed, by_domain[domain], domain, taken[domain]))
        taken[domain] += 1
    return drawn


def _draw_entry(spec_seed: int, entries: list[Seed], domain: Domain, rank: int) -> Seed:
    # Each pass over a domain's entries has its own order, and uses every entry once.
    passed, place = divmod(rank, len(entries))
    order = list(range(len(entries)))
    random.Random(f"{spec_seed}/seeds/{domain.value}/{passed}").shuffle(order)
    return entries[order[place]]


DAYS_PER_MONTH = 30.44


@dataclass(frozen=True)
class WrittenSeeds:
    """New seeds of one domain."""

    domain: str
    asked: int
    seeds: tuple[Seed, ...]
    duplicates: int
    """Drafts left out because they resembled a seed that was there."""
    problem: str = ""
    """Reason why the model gave no more; empty if it gave all that were asked for, or had none left."""


async def write_seeds(asker: Asker, domain: str | OwnDomain, count: int, known: Sequence[Seed] = ()) -> WrittenSeeds:
    """Return up to `count` new seeds of a domain that resemble neither each other nor the known ones.

    Missing seeds are asked for again, in up to `PLANNING.seed_rounds` calls more than the minimum; an empty
    reply ends the calls.
    """
    own = domain if isinstance(domain, OwnDomain) else None
    domain = domain.name if isinstance(domain, OwnDomain) else domain
    taken = [*(s for s in load_catalogue() if s.domain == domain), *known]
    found: list[Seed] = []
    refused: list[str] = []
    for round_ in range(PLANNING.seed_rounds + count // PLANNING.seeds_at_once):
        missing = min(PLANNING.seeds_at_once, count - len(found))
        if missing == 0:
            break
        inputs = SeedsInputs(
            domain=domain,
            subject=str(domain).replace("_", " "),
            about=own.about if own else "",
            count=missing,
            taken=(*(s.title for s in (*taken, *found)), *refused),
        )
        try:
            reply: SeedsReply = await asker.structured("seeds", inputs, place=f"round{round_}")
        except ProviderError as exc:
            return WrittenSeeds(domain, count, tuple(found), len(refused), str(exc))
        if not reply.seeds:
            break
        for draft in reply.seeds[:missing]:
            seed = _seed_of(draft, domain, asker.spec.seed)
            seed = _in_own(seed, own) if own else seed
            if any(are_near_duplicates(seed, other) for other in (*taken, *found)):
                refused.append(seed.title)
            else:
                found.append(seed)
    return WrittenSeeds(domain, count, tuple(found), len(refused))


def _seed_of(draft: SeedDraft, domain: str, rng_seed: int) -> Seed:
    title = " ".join(draft.title.split())
    return Seed(
        domain=domain,
        title=title,
        theme=" ".join(draft.theme.split()),
        subtopics=tuple(" ".join(s.split()) for s in draft.subtopics),
        timeline=timeline_of(draft.start_month, draft.months, f"{rng_seed}/{domain}/{title}"),
    )


def timeline_of(start_month: int, months: int, rng_key: str) -> Timeline:
    """Draw a first day in this month of a year, and the last day so many months later, within 2019 to 2025.

    The month belongs to the story; year and day are drawn, because models begin nearly every story on four days (BEAM).
    """
    rng = random.Random(f"{rng_key}/timeline")
    length = dt.timedelta(days=round(months * DAYS_PER_MONTH))
    years = [
        year for year in range(FIRST_DAY.year, LAST_DAY.year + 1) if dt.date(year, start_month, 28) + length <= LAST_DAY
    ]
    start = dt.date(rng.choice(years), start_month, rng.randint(1, 28))
    return Timeline(start=start, end=start + length)


def are_near_duplicates(one: Seed, other: Seed) -> bool:
    """Return whether two seeds share most words of their titles, or many of all their words."""
    titles = _overlap(one.title, other.title)
    return titles >= PLANNING.title_overlap or _overlap(_text_of(one), _text_of(other)) >= PLANNING.seed_overlap


def _overlap(one: str, other: str) -> float:
    a, b = words_of(one), words_of(other)
    return len(a & b) / len(a | b) if a | b else 1.0


def _text_of(seed: Seed) -> str:
    return " ".join((seed.title, seed.theme, *seed.subtopics))


def seeds_as_json(seeds: Sequence[Seed]) -> str:
    """Return the text of a seeds file that `read_seeds_file` reads, with a final newline."""
    return json.dumps([_entry(i, s) for i, s in enumerate(seeds, 1)], ensure_ascii=False, indent=2) + "\n"


def _entry(number: int, seed: Seed) -> dict[str, object]:
    timeline = {"timeline": f"{seed.timeline.start} - {seed.timeline.end}"} if seed.timeline else {}
    return {
        "id": number,
        "domain": str(seed.domain),
        "title": seed.title,
        "theme": seed.theme,
        "subtopics": list(seed.subtopics),
        **timeline,
    }
