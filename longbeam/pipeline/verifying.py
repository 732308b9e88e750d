"""Verification of a benchmark's files: each is as it was written, or its damage is named; and what repairs it.

A repair drops what is damaged, so that `resume` asks again for it. Nothing that a person made is dropped: a damaged
review log, and a damaged work log, are set aside, and an imported conversation stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from longbeam.errors import StoreError, UserError
from longbeam.pipeline.checking import make_again
from longbeam.schemas import Record
from longbeam.store import (
    BENCHMARK,
    SEALED_CONVERSATION,
    SEEDS,
    SPEC,
    SUFFIX,
    Benchmark,
    Kind,
    ReviewStore,
    Salvage,
    WorkLog,
    faults_of_replies,
    has_reviews,
    is_recorded,
    open_benchmark,
    read_whole,
    restore_copy,
    salvage_reviews,
    salvage_work_log,
)
from longbeam.terminal import counted

MOST_SHOWN = 5
"""Faults of a file that are printed; `--json` has all."""


class FileReport(Record):
    """Result for one file."""

    path: str
    """Path within the benchmark's folder."""
    faults: tuple[str, ...] = ()
    """Damage that was found; empty for a sound file."""
    repair: str = ""
    """Description of the repair; empty if there was none."""
    is_sound: bool
    """Whether the file is sound now."""


@dataclass(frozen=True)
class _File:
    """A file of a benchmark: how its faults are found, and how it is repaired."""

    path: Path
    faults: Callable[[Path], Iterator[str]]
    repair: Callable[[Path], str]
    """Returns what was done; empty if the file could not be repaired."""


def verify(out: Path, name: str, *, repairs: bool = False) -> list[FileReport]:
    """Return what is sound and what is damaged of a benchmark, file by file; with `repairs` also what was repaired.

    Raises UserError if there is no such benchmark.
    """
    root = out / name
    if not (root / SPEC).exists():
        open_benchmark(out, name)  # raises, with the names of the others
    reports = [_report(file, root, repairs=repairs) for file in _plain_files(root)]
    if all(report.is_sound for report in reports):
        files = list(_stores(open_benchmark(out, name)))
        reports += [_report(file, root, repairs=repairs) for file in files]
    return reports


def render_reports(name: str, reports: list[FileReport]) -> str:
    """Return the reports as text, one line a file and one a fault; ends a line."""
    width = max(len(report.path) for report in reports)
    lines = []
    for report in reports:
        state = report.repair or ("damaged" if report.faults else "sound")
        lines.append(f"{report.path.ljust(width)}  {state}")
        lines += [f"  {fault}" for fault in report.faults[:MOST_SHOWN]]
        if len(report.faults) > MOST_SHOWN:
            lines.append(f"  ... and {len(report.faults) - MOST_SHOWN} more; `--json` prints all")
    damaged, left = sum(bool(r.faults) for r in reports), sum(not r.is_sound for r in reports)
    lines.append(f"{name}: {counted(len(reports), 'file')}, {damaged} damaged, {damaged - left} repaired")
    return "\n".join(lines) + "\n"


def _report(file: _File, root: Path, *, repairs: bool) -> FileReport:
    faults = tuple(_found(file))
    done = file.repair(file.path) if faults and repairs else ""
    is_sound = not faults or (bool(done) and (not file.path.exists() or not any(_found(file))))
    return FileReport(path=str(file.path.relative_to(root)), faults=faults, repair=done, is_sound=is_sound)


def _found(file: _File) -> Iterator[str]:
    try:
        for fault in file.faults(file.path):
            yield " ".join(fault.split())[:300]
    except StoreError as exc:
        yield str(exc).removeprefix(f"{file.path}: ")


def _plain_files(root: Path) -> Iterator[_File]:
    """Yield the files that must be sound before the others can be found."""
    for path in (root / SPEC, root / SEEDS):
        if path.exists():
            yield _File(path, _faults_of_plain, _restored)


def _stores(benchmark: Benchmark) -> Iterator[_File]:
    root = benchmark.root
    reviews = benchmark.reviews_path
    logs = [p for folder in ("work", "checks", "evaluation") for p in sorted((root / folder).rglob("*.sqlite"))]
    for path in logs:
        if path.name != "vectors.sqlite":  # vectors are computed again where they are missing
            yield _File(path, _faults_of_log, _salvaged(salvage_work_log))
    for conversation_id in benchmark.sealed_ids:
        again = "" if benchmark.spec.is_given else "removed; `longbeam resume` makes it again"
        yield _File(benchmark.sealed_path(conversation_id), _faults_of_duck(SEALED_CONVERSATION), _removed(again))
    if benchmark.database_path.exists():
        yield _File(benchmark.database_path, _faults_of_duck(BENCHMARK), lambda _: _made_again(benchmark))
    if reviews.exists():
        yield _File(reviews, _faults_of_reviews, _salvaged(salvage_reviews))
    covered = {root / SPEC, root / SEEDS, benchmark.database_path, *map(benchmark.sealed_path, benchmark.sealed_ids)}
    for path in sorted(digests.with_name(digests.name.removesuffix(SUFFIX)) for digests in root.rglob(f"*{SUFFIX}")):
        if path not in covered and path.exists():  # results, contexts, timings and boards
            again = "removed; the same `longbeam evaluate` writes it again" if path.parent != root else ""
            yield _File(path, _faults_of_plain, _removed(again))
    for path in sorted(root.glob("leases/*/*.replies")):
        yield _File(path, faults_of_replies, _removed("removed; `longbeam resume` asks again"))


def _faults_of_plain(path: Path) -> Iterator[str]:
    if not is_recorded(path):
        yield "its SHA-256 is not the recorded one"


def _faults_of_log(path: Path) -> Iterator[str]:
    with WorkLog.open_read_only(path) as log:
        yield from log.verify()


def _faults_of_duck(kind: Kind) -> Callable[[Path], Iterator[str]]:
    def faults(path: Path) -> Iterator[str]:
        read_whole(path, kind)  # raises where a block is damaged
        return iter(())

    return faults


def _faults_of_reviews(path: Path) -> Iterator[str]:
    if not has_reviews(path):
        return
    with ReviewStore(path, read_only=True) as store:
        yield from store.faults()


def _restored(path: Path) -> str:
    return "restored from its copy" if restore_copy(path) else ""


def _salvaged(salvage: Callable[[Path], Salvage]) -> Callable[[Path], str]:
    def repair(path: Path) -> str:
        done = salvage(path)
        return f"repaired: {done.kept}; the damaged file is {done.aside.name}"

    return repair


def _removed(done: str) -> Callable[[Path], str]:
    def repair(path: Path) -> str:
        if done:
            path.unlink()
        return done

    return repair


def _made_again(benchmark: Benchmark) -> str:
    try:
        make_again(benchmark)
    except UserError:  # a conversation is damaged as well, and is left as it is
        return "removed; `longbeam validate` makes it again"
    return "made again"
