"""Commands that measure memory systems: evaluate, report, judge-agreement."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any, TextIO

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
    warn_of_unfinished,
)
from longbeam.cli.display import Target, display_for
from longbeam.errors import UserError
from longbeam.schemas import DEFAULT_MODEL
from longbeam.stopping import run_stoppable

LEAST_BUDGET = 100
"""Fewest tokens of context that an evaluation allows."""
ControlOption = Annotated[
    str | None,
    typer.Option("--control", help="Negative control: evidence-removed or swapped.", show_default=False),
]


def _model_option(flag: str, what: str) -> Any:  # Any: what typer reads out of an annotation
    return typer.Option(flag, help=f"{what} [default: the spec's, else {DEFAULT_MODEL}].", show_default=False)


@app.command(short_help="Measure memory systems on a benchmark.")
def evaluate(
    name: Name,
    system: Annotated[
        str, typer.Option("--system", help="Systems, comma-separated; the floors are always included.")
    ] = "long_context,rag",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SYSTEM.SETTING=VALUE", help="A setting of a system.", show_default=False),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="SYSTEM.SETTING=V1,V2",
            help="Several values of a setting; every combination runs.",
            show_default=False,
        ),
    ] = None,
    without: Annotated[
        str,
        typer.Option(
            "--without",
            metavar="PART,...",
            help="Also run light or cogcanvas without each of these parts.",
            show_default=False,
        ),
    ] = "",
    variant: Annotated[
        str,
        typer.Option("--variant", help="released: systems with the faults of their released code.", show_default=False),
    ] = "",
    spec_file: Annotated[
        Path | None,
        typer.Option(
            "--spec",
            metavar="SPEC.toml",
            help="Spec to take models, endpoints, sampling, limits and batches from.",
            show_default=False,
        ),
    ] = None,
    reader: Annotated[str | None, _model_option("--reader", "Model that answers from a context")] = None,
    judge: Annotated[str | None, _model_option("--judge", "Model that judges, such as similarity")] = None,
    extractor: Annotated[str | None, _model_option("--extractor", "Model that prepares memory systems")] = None,
    embedder: Annotated[
        str, typer.Option("--embedder", help="minilm, hashed, st:NAME or openai:NAME.", show_default=False)
    ] = "",
    budget: Annotated[
        str, typer.Option("--budget", help="Tokens of context; several, comma-separated, give a curve.")
    ] = "4000",
    window: Annotated[int, typer.Option("--window", help="Tokens of the reader's window.", min=1_000)] = 128_000,
    lenient: Annotated[bool, typer.Option("--lenient", help="Judge with the lenient prompt.")] = False,
    control: ControlOption = None,
    parallel: Annotated[int, typer.Option("--parallel", help="Conversations evaluated side by side.", min=1)] = 1,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print expected calls, tokens and cost instead of evaluating.")
    ] = False,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", help="Most USD to spend; the run stops before.", show_default=False)
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Prepare and ask again, whatever is stored.")] = False,
    isolate: Annotated[
        bool, typer.Option("--isolate", help="Run each product of yours in a process of its own.")
    ] = False,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
    invocation_log: InvocationLog = None,
) -> int:
    """Prepare memory systems on the finished conversations, ask the probes, judge, score, and print the table.

    Replies are kept, so a killed or stopped evaluation continues where it stopped. Probes are asked in their reviewed
    form.
    """
    from longbeam.errors import RunStopped
    from longbeam.evaluation import ablations, always_there, arms_of, as_json, grouped_failures, render_table, variants
    from longbeam.library import MeasuringOptions, measurement_of
    from longbeam.pipeline.evaluate import render_estimate
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with _stdout_of_results() as shown:
        given = [*variants(variant, system), *(settings or ())]
        arms = [*always_there(), *arms_of(system, given, [*(grid or ()), *ablations(without, system)])]
        options = MeasuringOptions(
            spec=spec_file,
            reader=reader,
            judge=judge,
            extractor=extractor,
            embedder=embedder,
            budget=_budgets(budget),
            window=window,
            is_lenient=lenient,
            control=control,
            parallel=parallel,
            max_cost_usd=max_cost,
            is_fresh=fresh,
            is_isolated=isolate,
        )
        measurement = measurement_of(benchmark, arms, options)
        if estimate:
            expected = run_stoppable(measurement.estimate())
            print(expected.model_dump_json(indent=2) + "\n" if json else render_estimate(expected), end="", file=shown)
            return OK
        meter = measurement.make_meter(invocation_log)
        print(measurement.models_line, file=sys.stderr if json else shown, flush=True)
        try:
            with display_for(sys.stderr, Target(len(benchmark.sealed_ids), 0)) as progress:
                run, results = run_stoppable(measurement.run(meter, progress), tell=progress.waiting)
        except RunStopped as exc:
            print(f"stopped: {exc}; what was answered is kept, and the same command goes on", file=sys.stderr)
            return INCOMPLETE
        print(as_json(run, results) if json else render_table(run, results), end="", file=shown)
        print(meter.spent_line, file=sys.stderr if json else shown)
        for failure in grouped_failures(run.failures):
            print(f"failed: {failure}", file=sys.stderr)
        warn_of_unfinished(benchmark, out)
        is_whole = not run.failures and all(result.score("paper") is not None for result in results)
        return OK if is_whole else INCOMPLETE


def _budgets(text: str) -> list[int]:
    """Return the budgets that stand between commas; UserError for one that is none."""
    found = []
    for part in text.split(","):
        if not part.strip().isdecimal() or int(part) < LEAST_BUDGET:
            raise UserError(f"--budget {part.strip()!r}: write tokens of context, {LEAST_BUDGET} or more, such as 4000")
        found.append(int(part))
    return found


@contextmanager
def _stdout_of_results() -> Iterator[TextIO]:
    """Yield stdout for the results; what anything else prints, in any thread, goes to stderr.

    Memory classes may print when they are imported and whenever they run, which would break `--json`.
    """
    stdout = sys.stdout
    with redirect_stdout(sys.stderr):
        yield stdout


@app.command(short_help="Report on an evaluation, as HTML or Markdown.")
def report(
    name: Name,
    html: Annotated[Path | None, typer.Option("--html", help="Self-contained HTML file to write.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Markdown file to write.")] = None,
    others: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="RESULTS.jsonl", help="Another results file to compare.", show_default=False),
    ] = None,
    control: ControlOption = None,
    against: Annotated[
        str, typer.Option("--against", help="Systems, comma-separated, that the others are compared with.")
    ] = "bm25",
    pages: Annotated[
        Path | None, typer.Option("--pages", metavar="DIR", help="Folder for one page a probe.", show_default=False)
    ] = None,
    probes: Annotated[int, typer.Option("--probes", help="Probes per ability shown one by one.", min=0)] = 20,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Report on the last evaluation of a benchmark.

    Without a file option, print its tables on a terminal, and the report as Markdown into a pipe or a file.
    """
    from longbeam.evaluation import (
        find_control,
        read_results,
        render_html,
        render_markdown,
        render_probe,
        render_table,
        report_json,
        reworded,
        sections_of,
    )
    from longbeam.pipeline.evaluate import results_path
    from longbeam.review import reviewed_probes
    from longbeam.store import open_benchmark, write_atomically

    benchmark = open_benchmark(out, name)
    path = results_path(benchmark, find_control(control))
    baselines = [part for part in (p.strip() for p in against.split(",")) if part]
    files = [read_results(p) for p in [path, *(others or ())]]
    sections = sections_of(files, against=baselines, probes_shown=probes)
    now = reviewed_probes(benchmark)
    if now is not None and (stale := reworded(read_results(path).run.probes, now)):
        told = f"{len(stale)} of its probes were changed or taken out in the review since, {stale[0]} for one"
        print(f"the scores are out of date: {told}; run `longbeam evaluate {name}` again", file=sys.stderr)
    written = []
    if html is not None:
        written.append((html, render_html(sections)))
    if markdown is not None:
        written.append((markdown, render_markdown(sections)))
    if pages is not None:
        every = sections_of(files, against=baselines, probes_shown=sys.maxsize)
        written += [
            (pages / section.evaluated.label.replace(" ", "-") / f"{probe.conversation_id}.{probe.probe_id}.html",
             render_probe(section, probe, results))
            for section in every
            for probe, results in section.drilled
        ]  # fmt: skip
    for file, text in written:
        write_atomically(file, text)
        print(f"written to {file}", file=sys.stderr if json else sys.stdout)
    if json:
        print(report_json(sections), end="")
    elif not written and sys.stdout.isatty():
        print("\n".join(render_table(file.run, file.results) for file in files), end="")
        print(f"\nThe whole report: {command_line('report', f'{name} --html report.html', out)}")
    elif not written:
        print(render_markdown(sections), end="")
    return OK


@app.command(short_help="Collect results files in one table.")
def leaderboard(
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RESULTS.jsonl]...", help="Results files to add.", show_default=False),
    ] = None,
    board: Annotated[Path, typer.Option("--board", help="JSON file with the rows.")] = Path("leaderboard.json"),
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Markdown file to write.", show_default=False)
    ] = None,
) -> int:
    """Check results files, add their systems to a leaderboard or replace them, and print it.

    A file is refused if its scores are not those of its verdicts, or if answers are missing.
    """
    from longbeam.evaluation import merged, read_results, render_board, rows_in
    from longbeam.store import is_recorded, write_atomically, write_recorded

    text = board.read_text(encoding="utf-8") if board.exists() else ""
    if board.exists() and not is_recorded(board):
        print(
            f"warning: {board} was changed since `longbeam leaderboard` wrote it; its rows are as submitted",
            file=sys.stderr,
        )
    if results:
        text = merged(text, [read_results(path) for path in results], str(board))
        write_recorded(board, text)
    elif not text:
        raise UserError(f"--board {board}: there is no such file; name results files to begin one")
    shown = render_board(rows_in(text, str(board)))
    if markdown is None:
        print(shown, end="")
    else:
        write_atomically(markdown, shown)
        print(f"written to {markdown}")
    return OK


@app.command("judge-agreement", short_help="Measure the agreement of two judges.")
def judge_agreement(
    first: Annotated[Path, typer.Argument(metavar="A.jsonl", help="Results file.", show_default=False)],
    second: Annotated[
        Path,
        typer.Argument(metavar="B.jsonl", help="Results of the same answers under another judge.", show_default=False),
    ],
    json: AsJson = False,
) -> int:
    """Print the agreement of two judges on the same answers: share of equal verdicts and Cohen's kappa, by ability."""
    from longbeam.evaluation import agreement_of, read_results, render_agreement

    found = agreement_of(read_results(first), read_results(second))
    print(found.model_dump_json(indent=2) if json else render_agreement(found), end="\n" if json else "")
    return OK
