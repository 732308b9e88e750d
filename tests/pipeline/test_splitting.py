"""Splits by conversation: shares, stories that stay together, domains that are spread, and who reads a part."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.errors import UserError
from longbeam.pipeline import Split, in_part, read_split, render_split, split_benchmark
from longbeam.schemas import BenchmarkSpec, Domain
from longbeam.store import Benchmark, create_benchmark, seal_conversation
from tests.tiny import tiny_conversation

DOMAINS = (Domain.TRIP, Domain.CODING)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Ten conversations of two domains; the first two tell one story."""
    out = tmp_path_factory.mktemp("split")
    made = create_benchmark(BenchmarkSpec(name="tiny", length=16_000, conversations=10), out)
    for place, conversation_id in enumerate(made.conversation_ids):
        one = tiny_conversation(conversation_id, domain=DOMAINS[place // 5])
        seed = one.head.seed.model_copy(update={"title": f"story {max(place, 1)}"})
        head = one.head.model_copy(update={"seed": seed})
        seal_conversation(made.sealed_path(conversation_id), head, one.said, one.asked)
    return made


def test_a_split_has_its_shares_and_spreads_domains(benchmark: Benchmark) -> None:
    split = split_benchmark(benchmark, (60, 20, 20), 7)
    assert {part: len(ids) for part, ids in split.parts.items()} == {"train": 6, "validation": 2, "test": 2}
    assert sorted(i for ids in split.parts.values() for i in ids) == list(benchmark.conversation_ids)
    assert all(any(i < "c005" for i in ids) and any(i >= "c005" for i in ids) for ids in split.parts.values())
    assert any({"c000", "c001"} <= set(ids) for ids in split.parts.values())  # they tell one story


def test_the_seed_decides_the_deal(benchmark: Benchmark) -> None:
    first = split_benchmark(benchmark, (60, 20, 20), 7)
    assert split_benchmark(benchmark, (60, 20, 20), 7) == first == read_split(benchmark)
    assert split_benchmark(benchmark, (60, 20, 20), 8).parts != first.parts


def test_a_part_is_a_benchmark_of_its_conversations(benchmark: Benchmark) -> None:
    split = split_benchmark(benchmark, (50, 0, 50), 7)
    assert set(split.parts) == {"train", "test"}
    assert in_part(benchmark, "test").sealed_ids == split.parts["test"]
    assert in_part(benchmark, "").sealed_ids == benchmark.sealed_ids
    with pytest.raises(UserError, match=r"^--split 'validation': the parts of tiny are train, test$"):
        in_part(benchmark, "validation")


def test_small_parts_of_few_conversations_get_one(out: Path) -> None:
    made = create_benchmark(BenchmarkSpec(name="few", length=16_000, conversations=3), out)
    for conversation_id in made.conversation_ids:
        one = tiny_conversation(conversation_id)
        seed = one.head.seed.model_copy(update={"title": conversation_id})
        seal_conversation(made.sealed_path(conversation_id), one.head.model_copy(update={"seed": seed}), one.said, ())
    assert {len(ids) for ids in split_benchmark(made, (90, 5, 5), 1).parts.values()} == {1}


@pytest.mark.parametrize("shares", [(), (1, 2), (0, 0, 0), (-1, 1, 1), (float("nan"), 1, 1), (float("inf"), 1, 1)])
def test_shares_that_are_none_are_refused(shares: tuple[float, ...], benchmark: Benchmark) -> None:
    with pytest.raises(UserError, match=r"^--shares: write three numbers, as in 60,20,20; 0 leaves a part out$"):
        split_benchmark(benchmark, shares, 1)


def test_too_few_stories_and_no_or_a_changed_file_are_named(benchmark: Benchmark, out: Path) -> None:
    (benchmark.root / "split.json").unlink(missing_ok=True)
    with pytest.raises(UserError, match=r"there is no split; make it with `longbeam split tiny`$"):
        in_part(benchmark, "test")
    split_benchmark(benchmark, (60, 20, 20), 7)
    path = benchmark.root / "split.json"
    path.write_text(path.read_text(encoding="utf-8").replace("c000", "c001"), encoding="utf-8")
    with pytest.raises(UserError, match="make it with `longbeam split tiny`"):
        read_split(benchmark)
    one = create_benchmark(BenchmarkSpec(name="one", length=16_000), out)
    made = tiny_conversation()
    seal_conversation(one.sealed_path("c000"), made.head, made.said, ())
    with pytest.raises(UserError, match=r"^one: 1 stories make no 3 parts; generate more, or leave a part"):
        split_benchmark(one, (60, 20, 20), 7)


def test_a_split_is_shown_by_part() -> None:
    split = Split(seed=1, shares={"train": 0.75, "test": 0.25}, parts={"train": ("c000", "c002"), "test": ("c001",)})
    assert render_split(split, {"train": (), "test": ()}).splitlines() == [
        "train          2  75%  c000 c002",
        "                  form: too few conversations to measure",
        "test           1  25%  c001",
        "                  form: too few conversations to measure",
    ]
