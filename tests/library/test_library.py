"""The Python library on one benchmark of 16K, made once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import longbeam
from longbeam.schemas import Exchange


class Newest:
    """The last exchanges."""

    def __init__(self, _settings: object, _tools: object) -> None:
        self.kept: list[Exchange] = []

    def add(self, exchange: Exchange, timestamp: object) -> None:
        self.kept.append(exchange)

    def search(self, query: str, k: int) -> list[str]:
        return [exchange.messages[0].content for exchange in self.kept[-k:]]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    longbeam.run(longbeam.generate(out=str(folder), name="nb", length="16K", probes_per_ability=1))
    return folder


@pytest.fixture(scope="module")
def made(out: Path) -> longbeam.LoadedBenchmark:
    return longbeam.run(longbeam.load("nb", out=out))


def test_a_benchmark_is_opened_by_name_by_folder_and_by_strings(out: Path, made: longbeam.LoadedBenchmark) -> None:
    assert longbeam.run(longbeam.load(str(out / "nb"))).root == made.root == out / "nb"
    assert longbeam.open_benchmark(str(out), "nb").root == made.root
    with pytest.raises(longbeam.UserError, match="no benchmark 'other'"):
        longbeam.run(longbeam.load("other", out=out))


def test_probes_are_the_selected_candidates(made: longbeam.LoadedBenchmark) -> None:
    assert len(made.probes) == 10
    assert len(made.candidates) > len(made.probes)
    assert [p for p in made.candidates if p.is_selected] == list(made.probes)
    assert made["c000"].probes[0] == made[0].probes[0] == made.probes[0]


@pytest.mark.parametrize("table", ["probes", "candidates", "messages"])
def test_tables_have_a_row_for_each_record(
    made: longbeam.LoadedBenchmark, table: longbeam.library.benchmark.TableName
) -> None:
    frame, arrow = made.to_pandas(table), made.to_arrow(table)
    assert len(frame) == arrow.num_rows == len(getattr(made, table))
    assert list(frame.columns) == arrow.column_names
    assert set(frame["conversation_id"]) == {"c000"}


def test_pandas_is_asked_for_by_name(made: longbeam.LoadedBenchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(longbeam.UserError, match=r"to_pandas needs pandas, .*longbeam\[tables\]"):
        made.to_pandas()


def test_a_notebook_shows_a_table_and_escapes_it(made: longbeam.LoadedBenchmark) -> None:
    assert "<caption>nb: 1 conversation</caption>" in made._repr_html_()
    assert "10 probes" in made.probes._repr_html_()
    assert longbeam.Table(["<"], "sign", lambda: [{"sign": "<b>"}])._repr_html_().count("&lt;b&gt;") == 1


async def test_run_works_where_a_loop_runs(out: Path) -> None:
    assert longbeam.run(longbeam.load("nb", out=out)).name == "nb"


async def test_findings_are_a_table(made: longbeam.LoadedBenchmark) -> None:
    findings = await longbeam.validate(made)
    assert not [f for f in findings if f.severity == "error"]


async def test_systems_are_names_and_classes(made: longbeam.LoadedBenchmark) -> None:
    found = await longbeam.evaluate(made, ["rag", Newest], settings={"rag": {"k": 3}}, budget=2_000)
    scores = found.scores()
    assert found.failures == ()
    assert {"rag[k=3]", "Newest", "blank", "gold"} <= scores.keys()
    assert (scores["gold"] or 0) > (scores["blank"] or 0)
    assert "Newest" in set(found.table.to_pandas()["system"])
    with pytest.raises(longbeam.UserError, match="settings of 'light': systems are rag"):
        await longbeam.evaluate(made, "rag", settings={"light": {}})


async def test_an_export_is_loaded_in_one_line(made: longbeam.LoadedBenchmark, tmp_path: Path) -> None:
    report = await longbeam.export(made, tmp_path / "beam", format="beam")
    loaded = await longbeam.load("beam", tmp_path / "beam")
    assert (report.probes, len(loaded.messages)) == (len(loaded.probes), len(made.messages))
    kept = await longbeam.import_benchmark("beam", str(tmp_path / "beam"), "kept", out=str(tmp_path))
    assert kept.root == tmp_path / "kept"
    folder = loaded.root
    del loaded
    assert not folder.exists()


async def test_an_unfinished_benchmark_is_refused(tmp_path: Path) -> None:
    spec = longbeam.BenchmarkSpec(name="none", length=16_000)
    benchmark = longbeam.create_benchmark(spec, str(tmp_path))
    with pytest.raises(longbeam.UserError, match="'none' has no finished conversation"):
        await longbeam.validate(benchmark)


class Dicts(Newest):
    """Returns dicts, as many vendors do."""

    def search(self, query: str, k: int) -> list[str]:
        return [{"text": said} for said in super().search(query, k)]  # type: ignore[misc]


async def test_a_class_that_returns_another_kind_of_thing_fails_alone(made: longbeam.LoadedBenchmark) -> None:
    found = await longbeam.evaluate(made, ["rag", Dicts])
    assert {"rag", "blank", "gold"} <= found.scores().keys()
    assert "Dicts" not in found.scores()
    assert len(found.run.failures) == len(made.probes)
    (failure,) = found.failures
    assert failure.startswith("answer/Dicts (10 probes): ")
    assert "test_library:Dicts.search returned a list of dicts; return texts" in failure
