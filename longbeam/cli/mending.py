"""Commands that mend: repair, for error findings, and verify, for damaged files."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longbeam.cli.app import (
    DEFAULT_OUT,
    INCOMPLETE,
    OK,
    AsJson,
    InvocationLog,
    Name,
    Out,
    app,
    command_line,
    refuse_nothing_sealed,
    say_stopped,
    warn_of_unfinished,
)
from longbeam.errors import UserError
from longbeam.stopping import run_stoppable
from longbeam.terminal import counted

if TYPE_CHECKING:
    from longbeam.pipeline.repair import RepairReport
    from longbeam.store import Benchmark


@app.command(short_help="Repair messages and probes with error findings.")
def repair(
    name: Name,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the planned repairs and their cost, and change nothing.")
    ] = False,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Imports: remove probes with errors from the selection.")
    ] = False,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=9, help="Attempts to repair what is still wrong.")] = 3,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", help="Most USD to spend; the run stops before.", show_default=False)
    ] = None,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
    invocation_log: InvocationLog = None,
) -> int:
    """Check the finished conversations, repair error findings, and check again; exit 1 if errors are left.

    Faulty messages are rewritten one by one; the next candidates replace faulty probes. Everything else stays.
    """
    from longbeam.pipeline import with_overrides
    from longbeam.store import Benchmark, open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    is_import = benchmark.spec.is_given
    if withdraw and not is_import:
        raise UserError(
            f"--withdraw is for imports; {name!r} was generated: `repair` puts other probes in the places of bad ones"
        )
    if max_cost is not None:
        benchmark = Benchmark(with_overrides(benchmark.spec, {"limits": {"max_cost_usd": max_cost}}), benchmark.root)
    if dry_run:
        return _say_plan(benchmark)
    try:
        report = _repaired(benchmark, rounds, withdraw, invocation_log)
    except KeyboardInterrupt as exc:
        return say_stopped(exc, command_line("repair", name, out))
    print(report.model_dump_json(indent=2) if json else _text(report), end="\n" if json else "")
    unfinished = warn_of_unfinished(benchmark, out)
    return INCOMPLETE if report.left or report.stopped or unfinished else OK


@app.command(short_help="Verify that a benchmark's files are as they were written.")
def verify(
    name: Name,
    repair: Annotated[
        bool, typer.Option("--repair", help="Drop what is damaged; `resume` makes it again, or asks again.")
    ] = False,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Check every file of a benchmark by its checksums; exit 1 if a file is damaged and was not repaired.

    A repair sets a damaged work log or review log aside and keeps what is sound of it. No model is asked.
    """
    from longbeam.pipeline import render_reports, verify as verified

    reports = verified(out, name, repairs=repair)
    if json:
        print("[\n" + ",\n".join(report.model_dump_json() for report in reports) + "\n]")
    else:
        print(render_reports(name, reports), end="")
    if all(report.is_sound for report in reports):
        return OK
    if not repair and not json:
        print(f"Repair it with: {command_line('verify', f'{name} --repair', out)}", file=sys.stderr)
    return INCOMPLETE


def _say_plan(benchmark: Benchmark) -> int:
    from longbeam.pipeline import check_and_store
    from longbeam.pipeline.repair import left_of, render_plan, repairs_of
    from longbeam.review import rejections_of

    findings = check_and_store(benchmark)
    rejected = rejections_of(benchmark)
    wanted = repairs_of(benchmark, findings, rejected)
    if benchmark.spec.is_given:
        for conversation_id, repairs in wanted.items():
            for probe_id, reason in repairs.probes.items():
                print(f"{conversation_id} {probe_id}: would be withdrawn with --withdraw ({reason})")
    else:
        print(render_plan(benchmark, wanted), end="")
    for line in left_of(benchmark, findings, wanted):
        print(f"cannot be mended: {line}")
    return INCOMPLETE if wanted or any(finding.severity == "error" for finding in findings) else OK


def _repaired(benchmark: Benchmark, rounds: int, withdraw: bool, invocation_log: Path | None) -> RepairReport:
    from longbeam.pipeline.repair import repair, repair_import
    from longbeam.pipeline.run import open_meter
    from longbeam.review import rejections_of
    from longbeam.wiring import services

    rejected = partial(rejections_of, benchmark)
    if benchmark.spec.is_given:
        return repair_import(benchmark, withdraws=withdraw, rejected=rejected)
    models = services().models(open_meter(benchmark, services(), invocation_log=invocation_log))
    return run_stoppable(repair(benchmark, models, rejected=rejected, rounds=rounds))


def _text(report: RepairReport) -> str:
    lines = [*report.done, *(f"left: {line}" for line in report.left)]
    if report.stopped:
        lines.append(f"stopped: {report.stopped}")
    lines.append(
        f"{report.name}: {counted(len(report.conversations), 'conversation')} sealed again, "
        f"{counted(report.calls, 'model call')}; {counted(len(report.left), 'error')} left"
    )
    return "\n".join(lines) + "\n"


@app.command(short_help="Take a text out of a benchmark, and of all that was made of it.")
def purge(
    name: Name,
    text: Annotated[list[str], typer.Option("--text", help="Text to remove, in any case; may be repeated.")],
    out: Out = DEFAULT_OUT,
) -> int:
    """Put `[removed]` in place of a text in conversations, probes, seeds and reviews, and delete what else holds it.

    Work logs, checks and evaluations that hold it are deleted. Then every file of the benchmark is searched.
    """
    from longbeam.pipeline import purge as purge_texts
    from longbeam.store import open_benchmark

    report = purge_texts(open_benchmark(out, name), text)
    for path in report.rewritten:
        print(f"rewritten  {path}")
    for path in report.deleted:
        print(f"deleted    {path}")
    if report.left:
        left = ", ".join(report.left[:5])
        raise UserError(f"{name}: these files still hold the text: {left}; delete them, or move them elsewhere")
    print(f"{name}: {counted(report.searched, 'file')} searched; the text is in none of them")
    return OK
