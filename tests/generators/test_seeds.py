from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from longbeam.errors import UserError
from longbeam.generators import CATALOGUE_DOMAINS, draw_timeline, load_catalogue, read_seeds_file, seeds_for
from longbeam.schemas import BenchmarkSpec, Category, Domain, Seed, Timeline

TOPICS = Path("/work/shared/data/topics")


def write(path: Path, *entries: object) -> str:
    path.write_text(json.dumps(entries), encoding="utf-8")
    return str(path)


def entry(title: str, **fields: object) -> dict[str, object]:
    return {"category": "Coding", "title": title, "theme": "a theme", "subtopics": ["one", "two"], **fields}


def test_catalogue_has_five_seeds_for_every_domain() -> None:
    seeds = load_catalogue()

    counts = Counter(seed.domain for seed in seeds)
    assert set(counts) == set(Domain)
    assert min(counts.values()) >= 5
    assert {len(seed.subtopics) for seed in seeds} == {8}
    assert all(len(set(seed.subtopics)) == 8 for seed in seeds)
    assert {seed.source for seed in seeds} == {"catalogue"}


@pytest.mark.skipif(not TOPICS.is_dir(), reason="the published topics are not on this machine")
def test_catalogue_shares_no_title_with_beam() -> None:
    beam = {seed.title.casefold() for path in TOPICS.iterdir() for seed in read_seeds_file(path)[0]}

    assert not beam & {seed.title.casefold() for seed in load_catalogue()}


def test_domains_take_turns_and_every_entry_comes_before_any_comes_again() -> None:
    seeds, warnings = seeds_for(BenchmarkSpec(name="b"), 19 * 6)

    assert warnings == []
    assert [seed.domain for seed in seeds] == list(CATALOGUE_DOMAINS) * 6
    # the smallest domain has six entries, so six rounds repeat none
    assert len({seed.title for seed in seeds}) == 19 * 6


def test_named_domains_take_turns_with_their_weights() -> None:
    spec = BenchmarkSpec(name="b", domains=(Domain.MATH, Domain.MATH, Domain.SPORT))

    seeds, _ = seeds_for(spec, 6)

    assert [seed.domain for seed in seeds] == [Domain.MATH, Domain.MATH, Domain.SPORT] * 2
    assert len({seed.title for seed in seeds}) == 6


def test_growing_a_benchmark_changes_no_earlier_seed() -> None:
    spec = BenchmarkSpec(name="b", seed=7)

    assert seeds_for(spec, 200)[0][:30] == seeds_for(spec, 30)[0]


def test_another_benchmark_seed_draws_other_entries() -> None:
    first, second = (seeds_for(BenchmarkSpec(name="b", seed=n), 19)[0] for n in (1, 2))

    assert [s.domain for s in first] == [s.domain for s in second]
    assert first != second


def test_a_seeds_file_is_taken_in_order_and_round_again(tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", entry("A", id=4), entry("B"), entry("C", category="Sports"))

    seeds, warnings = seeds_for(BenchmarkSpec(name="b", seeds_file=path), 4)

    assert [seed.title for seed in seeds] == ["A", "B", "C", "A"]
    assert [seed.source for seed in seeds] == ["s.json#4", "s.json#2", "s.json#3", "s.json#4"]
    assert warnings == []


def test_named_domains_choose_among_the_entries_of_a_seeds_file(tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", entry("A"), entry("B", category="Sport"))

    seeds, _ = seeds_for(BenchmarkSpec(name="b", seeds_file=path, domains=(Domain.SPORT,)), 2)

    assert [seed.title for seed in seeds] == ["B", "B"]
    with pytest.raises(UserError, match="no entry of the domains asked for: cooking"):
        seeds_for(BenchmarkSpec(name="b", seeds_file=path, domains=(Domain.COOKING,)), 2)


def test_a_timeline_too_short_for_the_length_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    # 500K has ten sub-plans, which need 30 days
    path = write(tmp_path / "s.json", entry("A", timeline="2024-03-01 - 2024-03-20"))

    with pytest.raises(UserError, match=r"'A' \(s.json#1\): timeline .* has 19 days; 10 sub-plans need at least 30"):
        seeds_for(BenchmarkSpec(name="b", seeds_file=path, length=500_000), 1)


@pytest.mark.skipif(not TOPICS.is_dir(), reason="the published topics are not on this machine")
@pytest.mark.parametrize(("name", "count"), [("100k", 20), ("500k", 35), ("1M", 35), ("10M", 10)])
def test_the_published_topics_are_read_without_a_warning(name: str, count: int) -> None:
    seeds, warnings = read_seeds_file(TOPICS / f"{name}_topics.json")

    assert (len(seeds), warnings) == (count, [])
    assert Domain.GENERAL not in {seed.domain for seed in seeds}


@pytest.mark.skipif(not TOPICS.is_dir(), reason="the published topics are not on this machine")
def test_modes_and_timelines_of_the_published_topics() -> None:
    seeds, _ = read_seeds_file(TOPICS / "10M_topics.json")

    assert Counter(seed.mode for seed in seeds) == {None: 5, "hierarchical": 4, "sequential": 1}
    assert Timeline(start=date(2022, 5, 1), end=date(2023, 5, 31)) in {seed.timeline for seed in seeds}


def test_drawn_timelines_lie_in_their_bounds() -> None:
    for category, sub_plans, least, most in ((Domain.SPORT, 10, 250, 450), (Domain.CODING, 3, 60, 105)):
        seed = next(s for s in load_catalogue() if s.domain is category)
        for index in range(300):
            timeline = draw_timeline(0, index, seed, sub_plans)
            assert least <= timeline.days <= most
            assert date(2019, 1, 1) <= timeline.start < timeline.end <= date(2025, 12, 31)


def test_drawn_timelines_spread_over_years_and_weekdays() -> None:
    seed = load_catalogue()[0]

    starts = [draw_timeline(3, index, seed, 3).start for index in range(21)]

    assert len(set(starts)) == 21
    assert set(Counter(day.weekday() for day in starts).values()) == {3}
    # 21 starts along the golden ratio over seven years: about three in each
    assert {day.year for day in starts} == set(range(2019, 2026))
    assert max(Counter(day.year for day in starts).values()) <= 4


def test_a_drawn_timeline_depends_on_benchmark_seed_and_conversation() -> None:
    seed = load_catalogue()[0]

    assert draw_timeline(0, 1, seed, 5) == draw_timeline(0, 1, seed, 5)
    assert len({(draw_timeline(n, i, seed, 5).start) for n in range(3) for i in range(3)}) == 9


def test_a_given_timeline_is_kept() -> None:
    timeline = Timeline(start=date(2001, 1, 1), end=date(2001, 3, 1))
    seed = Seed(domain=Domain.MATH, title="t", theme="t", subtopics=("s",), timeline=timeline)

    assert seed.category is Category.MATH
    assert draw_timeline(0, 0, seed, 3) == timeline
    with pytest.raises(UserError, match="20 sub-plans need at least 60"):
        draw_timeline(0, 0, seed, 20)
