"""New seeds for a domain: a model writes titles, themes and subtopics; code draws timelines.

Near-duplicates are asked for again. BEAM's authors removed similar titles by hand (Listing 22); this module compares
words, within the result and with the catalogue.
"""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from longbeam.errors import ProviderError
from longbeam.generators.probes.evidence import words_of
from longbeam.generators.seeds import FIRST_DAY, LAST_DAY, load_catalogue
from longbeam.models.asking import Asker
from longbeam.prompts.calls.seeds import SeedDraft, SeedsInputs, SeedsReply
from longbeam.schemas.seeds import Domain, Seed, Timeline

TITLE_OVERLAP, OVERLAP = 0.5, 0.35
"""Least Jaccard index of the words of two titles, or of all words of two seeds, that makes them near-duplicates.

No two seeds of the catalogue reach half of either; BEAM's hundred titles reach 0.40 and 0.28."""
ROUNDS = 6
"""Extra calls for seeds that are still missing."""
AT_ONCE = 12
"""Seeds asked for in one call; in longer lists seeds begin to repeat each other."""
DAYS_PER_MONTH = 30.44


@dataclass(frozen=True)
class WrittenSeeds:
    """New seeds of one domain."""

    domain: Domain
    asked: int
    seeds: tuple[Seed, ...]
    duplicates: int
    """Drafts left out because they resembled a seed that was there."""
    problem: str = ""
    """Reason why the model gave no more; empty if it gave all that were asked for, or had none left."""


async def write_seeds(asker: Asker, domain: Domain, count: int, known: Sequence[Seed] = ()) -> WrittenSeeds:
    """Return up to `count` new seeds of a domain that resemble neither each other nor the known ones.

    Missing seeds are asked for again, in up to `ROUNDS` calls more than the minimum; an empty reply ends the calls.
    """
    taken = [*(s for s in load_catalogue() if s.domain is domain), *known]
    found: list[Seed] = []
    refused: list[str] = []
    for round_ in range(ROUNDS + count // AT_ONCE):
        missing = min(AT_ONCE, count - len(found))
        if missing == 0:
            break
        inputs = SeedsInputs(
            domain=domain,
            subject=domain.value.replace("_", " "),
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
            if any(are_near_duplicates(seed, other) for other in (*taken, *found)):
                refused.append(seed.title)
            else:
                found.append(seed)
    return WrittenSeeds(domain, count, tuple(found), len(refused))


def _seed_of(draft: SeedDraft, domain: Domain, rng_seed: int) -> Seed:
    title = " ".join(draft.title.split())
    return Seed(
        domain=domain,
        title=title,
        theme=" ".join(draft.theme.split()),
        subtopics=tuple(" ".join(s.split()) for s in draft.subtopics),
        timeline=timeline_of(draft.start_month, draft.months, f"{rng_seed}/{domain.value}/{title}"),
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
    return titles >= TITLE_OVERLAP or _overlap(_text_of(one), _text_of(other)) >= OVERLAP


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
        "domain": seed.domain.value,
        "title": seed.title,
        "theme": seed.theme,
        "subtopics": list(seed.subtopics),
        **timeline,
    }
