"""Damage of a benchmark's files is found, named and repaired; no export comes of a damaged file."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from longbeam.cli import OK, USER_ERROR, run
from longbeam.evaluation import last_results
from longbeam.pipeline import check_and_store, render_reports, verify
from longbeam.pipeline.run import run_inline
from longbeam.schemas import BenchmarkSpec
from longbeam.store import ReviewStore, create_benchmark, open_benchmark, stored_events, write_spec
from tests.e2e.killing import EXPORTED
from tests.review.events import accept
from tests.wired import offline

NAME = "short"
EVALUATED = ["evaluate", NAME, "--system", "rag"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished benchmark that was checked and reviewed."""
    out = tmp_path_factory.mktemp("sound")
    spec = BenchmarkSpec.model_validate({"name": NAME, "seed": 5, "length": "16K", "domains": ["coding"]})
    benchmark = create_benchmark(spec, out)
    asyncio.run(run_inline(benchmark, offline()))
    check_and_store(benchmark)
    with ReviewStore(benchmark.reviews_path) as store:
        store.append([accept() for _ in range(40)])
        store.fold()
    return out


@pytest.fixture(scope="module")
def before(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The export of the sound benchmark."""
    return exported(sound, tmp_path_factory.mktemp("before"))


@pytest.fixture
def out(sound: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(sound, tmp_path / "out"))


@pytest.fixture(scope="module")
def measured(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The benchmark with the results of an evaluation."""
    out = Path(shutil.copytree(sound, tmp_path_factory.mktemp("measured") / "out"))
    assert run([*EVALUATED, "--out", str(out)]) == OK
    return out


def exported(out: Path, to: Path) -> bytes:
    """What an export of exit code 0 holds; the code otherwise."""
    code = run(["export", NAME, "--out", str(out), "--to", str(to)])
    return b"".join((to / name).read_bytes() for name in EXPORTED) if code == OK else b"%d" % code


def flip(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(5):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def cut(path: Path, rng: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])


FILES = ["spec.json", "conversations/c000.duckdb", "work/c000.sqlite", "benchmark.duckdb", "reviews.sqlite"]
CASES = [
    *((name, flip) for name in ("spec.json", "work/c000.sqlite", "reviews.sqlite")),
    *(pytest.param(name, cut, marks=pytest.mark.slow) for name in FILES),
    *(pytest.param(name, flip, marks=pytest.mark.slow) for name in ("conversations/c000.duckdb", "benchmark.duckdb")),
]


def test_a_sound_benchmark_has_no_fault(out: Path) -> None:
    reports = verify(out, NAME)

    assert {report.path for report in reports} == set(FILES)
    assert all(report.is_sound and not report.faults for report in reports)
    assert render_reports(NAME, reports).endswith(f"{NAME}: 5 files, 0 damaged, 0 repaired\n")


@pytest.mark.parametrize(("name", "damage"), CASES)
def test_damage_is_found_and_repaired(
    out: Path, before: bytes, tmp_path: Path, name: str, damage: Callable[[Path, random.Random], None]
) -> None:
    events = stored_events(out / NAME / "reviews.sqlite")
    damage(out / NAME / name, random.Random(name))

    found = {r.path: r for r in verify(out, NAME)}
    assert found[name].faults
    assert not found[name].is_sound
    repaired = {r.path: r for r in verify(out, NAME, repairs=True)}
    assert repaired[name].repair
    assert all(report.is_sound for report in repaired.values())

    benchmark = open_benchmark(out, NAME)
    if name in ("conversations/c000.duckdb", "work/c000.sqlite"):
        asyncio.run(run_inline(benchmark, offline()))
    assert all(report.is_sound and not report.faults for report in verify(out, NAME))
    kept = stored_events(benchmark.reviews_path)
    assert {e.event_id for e in kept} <= {e.event_id for e in events}
    if name == "reviews.sqlite":
        assert list((out / NAME).glob("reviews.sqlite.damaged-1"))
    else:
        assert kept == events
        assert exported(out, tmp_path / "after") == before


@pytest.mark.parametrize("name", ["spec.json", "conversations/c000.duckdb", "reviews.sqlite"])
def test_no_export_comes_of_a_damaged_file(out: Path, before: bytes, tmp_path: Path, name: str) -> None:
    flip(out / NAME / name, random.Random(3))

    assert before != exported(out, tmp_path / "x") == b"%d" % USER_ERROR


@pytest.mark.parametrize("name", ["results.jsonl", "results.contexts.jsonl", "timings.json"])
def test_a_changed_score_context_or_time_is_not_sound(measured: Path, tmp_path: Path, name: str) -> None:
    out = Path(shutil.copytree(measured, tmp_path / "out"))
    run_folder = last_results(out / NAME / "evaluation").parent
    path = (run_folder / name).relative_to(out / NAME).as_posix()
    assert {r.path: r.is_sound for r in verify(out, NAME)}[path]
    changed = out / NAME / path
    text = changed.read_text()
    at = next(i for i, c in enumerate(text) if c.isdigit() and i > len(text) // 2)
    changed.write_text(f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}")

    (report,) = [r for r in verify(out, NAME) if not r.is_sound]
    assert (report.path, report.faults) == (path, ("its SHA-256 is not the recorded one",))
    assert all(r.is_sound for r in verify(out, NAME, repairs=True))
    assert run([*EVALUATED, "--out", str(out)]) == OK
    assert {r.path: r.is_sound for r in verify(out, NAME)}[path]


def test_a_board_that_was_changed_is_not_sound(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Path(shutil.copytree(measured, tmp_path / "out"))
    board = out / NAME / "board.json"
    results = str(last_results(out / NAME / "evaluation"))
    assert run(["leaderboard", results, "--board", str(board)]) == OK
    assert {r.path: r.is_sound for r in verify(out, NAME)}["board.json"]
    board.write_text(board.read_text().replace('"rag"', '"gar"'))
    assert not {r.path: r.is_sound for r in verify(out, NAME)}["board.json"]
    capsys.readouterr()
    assert run(["leaderboard", results, "--board", str(board.parent)]) == USER_ERROR
    assert "Is a directory; name the JSON file with the rows" in capsys.readouterr().err
    run(["leaderboard", "--board", str(board)])
    assert "was changed since `longbeam leaderboard` wrote it; its rows are as submitted" in capsys.readouterr().err


def test_an_imported_conversation_is_never_removed(out: Path) -> None:
    benchmark = open_benchmark(out, NAME)
    write_spec(benchmark.root, benchmark.spec.model_copy(update={"imported_from": "beam-json"}))
    flip(benchmark.sealed_path("c000"), random.Random(1))

    reports = {r.path: r for r in verify(out, NAME, repairs=True)}

    assert not reports["conversations/c000.duckdb"].is_sound
    assert benchmark.sealed_path("c000").exists()
