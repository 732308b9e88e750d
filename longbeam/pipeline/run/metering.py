"""The meter of a run: it begins with what the journals of all conversations hold."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from longbeam.models import CostMeter
from longbeam.pipeline.services import Services
from longbeam.schemas import BenchmarkSpec, Usage, summed
from longbeam.store import Benchmark, HeldElsewhere, WorkLog, has_replies, take_back


def open_meter(benchmark: Benchmark, services: Services, *, invocation_log: Path | None = None) -> CostMeter:
    """Return the models of a benchmark's spec behind a meter, with everything in the journals counted.

    Raises SpecError for a model that cannot be run, and for a cap where a price is missing.
    """
    model = services.make_model(benchmark.spec, invocation_log=invocation_log, home=benchmark.root)
    return CostMeter(model, benchmark.spec, before=journalled_usage(benchmark))


def meter_of_checks(
    benchmark: Benchmark, spec: BenchmarkSpec, services: Services, *, invocation_log: Path | None = None
) -> CostMeter:
    """Return the models of a spec of checks behind a meter, with what checks cost before counted."""
    before = summed(row for i in benchmark.conversation_ids for row in checks_usage(benchmark, i))
    model = services.make_model(spec, invocation_log=invocation_log, home=benchmark.root)
    return CostMeter(model, spec, before=before)


def evaluation_usage(benchmark: Benchmark) -> list[Usage]:
    """Return what the evaluations of a benchmark have used, those under negative controls among them."""
    rows: list[Usage] = []
    for path in evaluation_logs(benchmark):
        with WorkLog.open_read_only(path) as log:
            rows += log.journal.usage()
    return summed(rows)


def evaluation_logs(benchmark: Benchmark) -> list[Path]:
    """Return the work logs of a benchmark's evaluations, those under negative controls among them."""
    found = sorted((benchmark.root / "evaluation").rglob("*.sqlite"))
    return [path for path in found if path.stem in benchmark.conversation_ids]


def journalled_usage(benchmark: Benchmark) -> list[Usage]:
    """Return what the journals hold, over all conversations, by stage, role, prompt and model."""
    rows: list[Usage] = []
    for conversation_id in benchmark.conversation_ids:
        path, folder = benchmark.work_path(conversation_id), benchmark.lease_folder(conversation_id)
        if path.exists() or has_replies(folder):
            # Opened for writing: a file of an older longbeam is brought up to date, which reading cannot do.
            with WorkLog.open(path) as log:
                with suppress(HeldElsewhere):  # counted when its worker has ended
                    take_back(folder, log)
                rows += log.journal.usage()
    return summed(rows)


def checks_usage(benchmark: Benchmark, conversation_id: str) -> list[Usage]:
    """Return calls and tokens of a conversation's checks."""
    path = benchmark.checks_path(conversation_id)
    if not path.exists():
        return []
    with WorkLog.open_read_only(path) as log:
        return log.journal.usage()
