"""The folder of a benchmark: made, opened, changed within what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.errors import DamageError, SpecError, StoreError, UserError
from longbeam.pipeline.run import seeds_of
from longbeam.schemas import BenchmarkSpec, Strategy
from longbeam.store import create_benchmark, open_benchmark, write_spec


@pytest.fixture
def spec() -> BenchmarkSpec:
    """One short conversation."""
    return BenchmarkSpec.model_validate({"name": "short", "seed": 5, "length": "16K", "domains": ["coding"]})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where benchmarks land."""
    return tmp_path / "output"


def test_create_then_open_gives_the_same_spec(spec: BenchmarkSpec, out: Path) -> None:
    create_benchmark(spec, out)
    assert open_benchmark(out, "short").spec == spec


def test_open_unknown_name_says_which_there_are(spec: BenchmarkSpec, out: Path) -> None:
    create_benchmark(spec, out)
    with pytest.raises(UserError, match=r"no benchmark 'other' in .*: there is short"):
        open_benchmark(out, "other")


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "a" * 65])
def test_names_with_path_characters_are_refused(name: str, out: Path) -> None:
    with pytest.raises(UserError, match="allowed"):
        open_benchmark(out, name)


@pytest.mark.parametrize(
    ("field", "value"),
    [("seed", 6), ("length", 32_000), ("domains", ("math",)), ("tokenizer", "cl100k_base")],
)
def test_fixed_fields_may_not_change(field: str, value: object, spec: BenchmarkSpec, out: Path) -> None:
    create_benchmark(spec, out)
    with pytest.raises(SpecError, match=f"{field} cannot change from"):
        create_benchmark(spec.model_copy(update={field: value}), out)
    assert open_benchmark(out, "short").spec == spec


def test_a_benchmark_that_is_continued_without_a_seed_keeps_its_own(out: Path) -> None:
    create_benchmark(BenchmarkSpec(name="old", seed=0), out)
    assert create_benchmark(BenchmarkSpec(name="old", conversations=2), out).spec.seed == 0
    assert open_benchmark(out, "old").spec.seed == 0


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"strategy": "hierarchical"}, {}, 'strategy cannot change from "hierarchical" to none once'),
        ({"domains": ["coding"]}, {"domains": ["math", "sport"]}, r'from \["coding"\] to \["math", "sport"\]'),
        ({"language": "German"}, {}, 'language cannot change from "German" to "English"'),
    ],
)
def test_a_refused_change_shows_values_as_a_spec_writes_them(
    before: dict[str, object], after: dict[str, object], words: str, out: Path
) -> None:
    long = {"name": "long", "length": "2M"}
    create_benchmark(BenchmarkSpec.model_validate({**long, **before}), out)
    with pytest.raises(SpecError, match=words):
        create_benchmark(BenchmarkSpec.model_validate({**long, **after}), out)


def test_strategy_of_a_single_plan_may_change(spec: BenchmarkSpec, out: Path) -> None:
    create_benchmark(spec.model_copy(update={"strategy": Strategy.HIERARCHICAL}), out)
    assert create_benchmark(spec, out).spec.strategy is None


def test_the_name_of_an_import_cannot_be_generated(spec: BenchmarkSpec, out: Path) -> None:
    (out / "short").mkdir(parents=True)
    write_spec(out / "short", spec.model_copy(update={"length": 0, "imported_from": "chat", "models": {}}))
    with pytest.raises(SpecError, match="benchmark 'short' was imported from the chat format; there is nothing to gen"):
        create_benchmark(spec, out)


def test_conversations_may_grow_but_not_fall(spec: BenchmarkSpec, out: Path) -> None:
    create_benchmark(spec.model_copy(update={"conversations": 3}), out)
    assert create_benchmark(spec.model_copy(update={"conversations": 5}), out).spec.conversations == 5
    with pytest.raises(SpecError, match="cannot fall from 5 to 3"):
        create_benchmark(spec.model_copy(update={"conversations": 3}), out)


def test_broken_spec_file_is_one_clear_line(spec: BenchmarkSpec, out: Path) -> None:
    create_benchmark(spec, out)
    (out / "short" / "spec.json").write_text("{")
    with pytest.raises(DamageError, match=r"spec\.json: is damaged: .*verify NAME --repair` puts a copy back"):
        open_benchmark(out, "short")
    (out / "short" / "spec.json.sha256").unlink()  # as an older longbeam left it
    with pytest.raises(StoreError, match=r"spec\.json is not a spec this version can read"):
        open_benchmark(out, "short")


def test_unwritable_folder_is_one_clear_line(spec: BenchmarkSpec, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot make .* choose another --out"):
        create_benchmark(spec, tmp_path / "file")


SEEDS = '[{"category": "Coding", "title": "A bot", "theme": "writing a bot", "subtopics": ["setup", "tests"]}]'


def test_seeds_file_is_copied_and_its_place_does_not_matter(spec: BenchmarkSpec, out: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "seeds.json", tmp_path / "moved.json"
    first.write_text(SEEDS)
    made = create_benchmark(spec.model_copy(update={"domains": (), "seeds_file": str(first)}), out)
    first.rename(second)
    assert [s.title for s in seeds_of(made)] == ["A bot"]
    again = create_benchmark(spec.model_copy(update={"domains": (), "seeds_file": str(second)}), out)
    assert [s.title for s in seeds_of(again)] == ["A bot"]


def test_probes_of_a_short_plan_may_not_change(spec: BenchmarkSpec, out: Path) -> None:
    short = spec.model_copy(update={"length": 127_999, "probes_per_ability": 2})
    create_benchmark(short, out)
    with pytest.raises(SpecError, match="probes_per_ability cannot change from 2 to 3 once it exists"):
        create_benchmark(short.model_copy(update={"probes_per_ability": 3}), out)
    long = spec.model_copy(update={"name": "long", "length": 128_000, "probes_per_ability": 2})
    create_benchmark(long, out)
    assert create_benchmark(long.model_copy(update={"probes_per_ability": 3}), out).spec.probes_per_ability == 3


def test_changed_seeds_are_refused(spec: BenchmarkSpec, out: Path, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.json"
    seeds.write_text(SEEDS)
    of_file = spec.model_copy(update={"domains": (), "seeds_file": str(seeds)})
    create_benchmark(of_file, out)
    seeds.write_text(SEEDS.replace("A bot", "Another bot"))
    with pytest.raises(SpecError, match="are not those it was begun with"):
        create_benchmark(of_file, out)
