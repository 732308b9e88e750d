"""Runs of evaluations that are kept: each has an id, a name, a date, the digest of what decided it, results and cost.

evaluation/runs/<id>/run.json               id, name, title, date, digest, cost
evaluation/runs/<id>/results.jsonl          settings and results, the same bytes whenever the same is evaluated
evaluation/runs/<id>/results.contexts.jsonl what the answers were made from
evaluation/runs/<id>/timings.json           measured seconds
evaluation/runs/last[-<control>]            id of the last run

The id begins with the digest. The same evaluation with the same results is the same run; with other results it is
another one, `-2` behind its id: nothing is replaced.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import UserError
from longbeam.evaluation.results import (
    RESULTS_FILE,
    TIMINGS_FILE,
    Evaluated,
    contexts_path,
    first_problem,
    read_results,
    write_results,
)
from longbeam.evaluation.table import kind_of
from longbeam.schemas import KeptRun, digest_of
from longbeam.store import write_atomically, write_recorded
from longbeam.terminal import counted, printable

RUNS_FOLDER = "runs"
_RUN_FILE = "run.json"
_DIGITS = 8
"""Hex digits of a digest that an id shows."""
_DECIDE = {"benchmark", "control", "reader", "judge", "settings", "systems", "versions", "described", "probes"}


def keep_run(folder: Path, one: Evaluated, *, name: str = "", title: str = "", now: dt.datetime) -> KeptRun:
    """Keep a run below an evaluation's folder and return it, or the one that has these results already.

    Its digest is of everything that decided it: probes, systems, models, settings, the control. Its cost is that of all
    its calls, those of earlier runs among them.
    """
    run = one.run
    digest = digest_of(run.model_dump(mode="json", include=_DECIDE))
    costs = [row.cost_usd for row in run.spending]
    about = KeptRun(
        name=name,
        title=title,
        made_at=now,
        benchmark=run.benchmark,
        control=run.control,
        reader=run.reader,
        systems=tuple(system for system in run.systems if kind_of(system) == "system"),
        conversations=run.conversations,
        probes=len(run.probes),
        cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        decided_by=digest,
    )
    for number in range(1, 10_000):
        run_id = digest[:_DIGITS] + (f"-{number}" if number > 1 else "")
        home = folder / RUNS_FOLDER / run_id
        kept = about.model_copy(update={"run_id": run_id})
        files = (_RUN_FILE, RESULTS_FILE, contexts_path(home / RESULTS_FILE).name, TIMINGS_FILE)
        if not all((home / file).exists() for file in files):  # new, or `verify --repair` removed one
            write_results(home / RESULTS_FILE, run, one.results)
            write_recorded(home / TIMINGS_FILE, one.timings.as_json())
            break
        stored = read_results(home / RESULTS_FILE)
        if stored.run == run and stored.results == one.results:
            with suppress(UserError):  # it is damaged: what is known now replaces it
                earlier = _kept(home / _RUN_FILE)
                kept = earlier.model_copy(update={k: v for k in ("name", "title") if (v := getattr(about, k))})
            break
    write_atomically(home / _RUN_FILE, kept.model_dump_json(indent=1) + "\n")  # last: a run without it is no run
    write_atomically(folder / RUNS_FOLDER / _last(run.control), kept.run_id + "\n")
    return kept


def _last(control: str) -> str:
    return f"last-{control}" if control else "last"


def last_results(folder: Path, control: str = "") -> Path:
    """Return the results of the last run; those of an older longbeam where no run is kept, which had one file."""
    try:
        run_id = (folder / RUNS_FOLDER / _last(control)).read_text(encoding="utf-8").strip()
    except OSError:
        return folder / control / RESULTS_FILE
    return folder / RUNS_FOLDER / Path(run_id).name / RESULTS_FILE


def kept_runs(folder: Path) -> list[KeptRun]:
    """Return the runs below an evaluation's folder that can be read, oldest first."""
    return read_runs(folder)[0]


def read_runs(folder: Path) -> tuple[list[KeptRun], list[str]]:
    """Return the runs below an evaluation's folder, oldest first, and a line on each that cannot be read."""
    runs: list[KeptRun] = []
    faults: list[str] = []
    for path in _run_files(folder):
        try:
            runs.append(_kept(path))
        except UserError as exc:
            faults.append(str(exc))
    return sorted(runs, key=lambda run: (run.made_at, run.run_id)), faults


def _run_files(folder: Path) -> list[Path]:
    return sorted((folder / RUNS_FOLDER).glob(f"*/{_RUN_FILE}"))


def _kept(path: Path) -> KeptRun:
    """Return what is kept of a run; UserError for a file that cannot be read. Its folder is its id."""
    try:
        return KeptRun.model_validate_json(path.read_bytes()).model_copy(update={"run_id": path.parent.name})
    except OSError as exc:
        problem = str(exc.strerror)
    except ValidationError as exc:
        problem = first_problem(exc)
    raise UserError(f"{path}: {problem}; remove its folder, or evaluate the same again, which writes the file anew")


def find_run(folder: Path, named: str) -> KeptRun:
    """Return what is kept of a run by its id, the beginning of one, its name, or `last`; UserError lists all runs."""
    if (path := folder / RUNS_FOLDER / named / _RUN_FILE) in _run_files(folder):
        return _kept(path)
    runs = kept_runs(folder)
    found = [run for run in runs if run.name == named]
    found = found or [run for run in runs if run.run_id.startswith(named)]
    if named == "last" and runs:
        last = last_results(folder)
        found = [run for run in runs if run.run_id == last.parent.name] or runs[-1:]
    if not found:
        known = ", ".join(run.run_id + (f" ({run.name})" if run.name else "") for run in runs) or "none"
        raise UserError(f"run {named!r}: there is no such run; runs are {known}")
    return found[-1]  # a name may be used again: the newest counts


def read_run(folder: Path, named: str) -> Evaluated:
    """Return the run that `find_run` finds, with its results."""
    kept = find_run(folder, named)
    return replace(read_results(folder / RUNS_FOLDER / kept.run_id / RESULTS_FILE), kept=kept)


def render_runs(name: str, runs: Sequence[KeptRun]) -> str:
    """Return the runs of a benchmark as a table; ends with a line break."""
    return printable("\n".join(_run_lines(name, runs)) + "\n")


def _run_lines(name: str, runs: Sequence[KeptRun]) -> Iterator[str]:
    yield f"{name}: {counted(len(runs), 'run')}"
    if runs:
        yield f"{'run':12} {'date':16} {'cost':>9} {'conv.':>5} {'probes':>6}  name; systems; reader"
    for run in runs:
        cost = "unknown" if run.cost_usd is None else f"${run.cost_usd:.4f}"
        what = "; ".join(filter(None, [" ".join(run.name.split()), ", ".join(run.systems), run.reader, run.control]))
        yield f"{run.run_id:12} {run.made_at:%Y-%m-%d %H:%M} {cost:>9} {run.conversations:5} {run.probes:6}  {what}"
