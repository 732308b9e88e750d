"""Random damage to every file of a benchmark: no wrong export at exit code 0, and a repair gives the right one."""

from __future__ import annotations

import contextlib
import io
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from longbeam.cli import OK, run
from longbeam.store import ReviewStore
from tests.e2e.killing import EXPORTED, Bench
from tests.review.events import accept

SPEC = 'name = "harmed"\nseed = 11\nlength = "16K"\nconversations = 1\ndomains = ["coding"]\n'
NAME = "harmed"
TRIALS = 200
IN_ONE_TEST = 20
PAGE = 4096


def flip_one(data: bytearray, rng: random.Random) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def flip_five(data: bytearray, rng: random.Random) -> None:
    for _ in range(5):
        flip_one(data, rng)


def empty_page(data: bytearray, rng: random.Random) -> None:
    begin = rng.randrange(len(data)) // PAGE * PAGE
    data[begin : begin + PAGE] = bytes(len(data[begin : begin + PAGE]))


def cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


DAMAGES: tuple[Callable[[bytearray, random.Random], None], ...] = (flip_one, flip_five, flip_five, empty_page, cut)


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished benchmark that was checked and reviewed, one that was killed, and one whose sealed file is gone."""
    folder = tmp_path_factory.mktemp("states")
    spec = folder / f"{NAME}.toml"
    spec.write_text(SPEC)
    finished, unfinished = Bench(spec, folder / "finished"), Bench(spec, folder / "unfinished")
    finished.run()
    assert command(["validate", NAME, "--out", str(finished.out)])[0] in (0, 1)
    with ReviewStore(finished.out / NAME / "reviews.sqlite") as store:
        store.append([accept() for _ in range(10)])
        store.fold()
    assert unfinished.run_and_kill(len(finished.invocations()) // 2)
    unsealed = shutil.copytree(finished.out, folder / "unsealed")
    (unsealed / NAME / "conversations" / "c000.duckdb").unlink()
    return {"finished": finished.out, "unfinished": unfinished.out, "unsealed": unsealed}


@pytest.fixture(scope="module")
def right(states: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The export of the benchmark without damage."""
    exported = export(states["finished"], tmp_path_factory.mktemp("right") / "export")
    assert exported is not None
    return exported


def command(arguments: list[str]) -> tuple[int, str]:
    """Run a command here; return its exit code, and what it said on stderr."""
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        return run(arguments), said.getvalue()


def export(out: Path, to: Path) -> bytes | None:
    """Return the export; None unless the command ended with 0 and warned of nothing."""
    code, said = command(["export", NAME, "--out", str(out), "--to", str(to)])
    if code != OK or "not finished" in said:
        return None
    return b"".join((to / name).read_bytes() for name in EXPORTED)


def harm(out: Path, rng: random.Random) -> Path:
    """Damage one file of the benchmark, and return its path."""
    root = out / NAME
    files = sorted(p for p in root.rglob("*") if p.is_file() and p.stat().st_size and "export" not in p.parts)
    # Most files are small; what counts most are the stores.
    stores = [p for p in files if p.suffix in (".sqlite", ".duckdb") or p.name.endswith("-wal")]
    path = rng.choice(stores if rng.random() < 0.7 else files)
    data = bytearray(path.read_bytes())
    rng.choice(DAMAGES)(data, rng)
    path.write_bytes(data)
    return path


def trial(source: Path, folder: Path, right: bytes, rng: random.Random) -> str:
    """Damage a copy, continue it and export it; then repair, continue and export it. Return what came of it."""
    out = Path(shutil.copytree(source, folder / "out"))
    path = harm(out, rng).relative_to(out)
    resume = ["resume", NAME, "--runner", "inline", "--out", str(out)]
    code, said = command(resume)
    found = export(out, folder / "first")
    assert found in (None, right), f"{path}: a wrong export after exit code {code}: {said[-500:]}"
    command(["verify", NAME, "--repair", "--out", str(out)])
    repaired, said = command(resume)
    again = export(out, folder / "second")
    assert again in (None, right), f"{path}: a wrong export after a repair: {said[-500:]}"
    return f"{path}: {'right' if found else 'refused'}, then {'right' if again else f'refused ({repaired})'}"


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("first", range(0, TRIALS, IN_ONE_TEST))
def test_damage_never_gives_a_wrong_export(states: dict[str, Path], right: bytes, tmp_path: Path, first: int) -> None:
    results = []
    for seed in range(first, first + IN_ONE_TEST):
        rng = random.Random(seed)
        state = list(states)[seed % len(states)]
        folder = tmp_path / str(seed)
        folder.mkdir()
        results.append(f"{state} {trial(states[state], folder, right, rng)}")
        shutil.rmtree(folder)
    print("\n".join(results))
    # Whoever repairs gets the right benchmark, but where the damage is beyond repair.
    assert sum("then right" in result for result in results) >= IN_ONE_TEST * 0.9, results
