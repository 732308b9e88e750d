"""Commands that measure memory systems: evaluate, report, judge-agreement."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from errno import EINVAL
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from longbeam.cli.app import (
    DEFAULT_OUT,
    INCOMPLETE,
    OK,
    USER_ERROR,
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
from longbeam.stopping import OTHERS, run_stoppable
from longbeam.terminal import printable

if TYPE_CHECKING:
    from longbeam.evaluation import Arm, Evaluated
    from longbeam.library import MeasuringOptions
    from longbeam.schemas import EvaluationRun, Result

LEAST_BUDGET = 100
"""Fewest tokens of context that an evaluation allows."""


def _option(flag: str, said: str, metavar: str | None = None, **more: Any) -> Any:  # Any: what typer reads
    """Return an option whose help has no default."""
    return typer.Option(flag, help=said, metavar=metavar, show_default=False, **more)


def _model_option(flag: str, said: str) -> Any:  # Any: what typer reads
    return _option(flag, f"{said} [default: the spec's, else {DEFAULT_MODEL}].")


ControlOption = Annotated[str | None, _option("--control", "Negative control: evidence-removed or swapped.")]
_NAMED = "Benchmark's name, or an evaluation file, EVAL.toml."
_SYSTEMS = "Systems, comma-separated, as SYSTEM or NAME=SYSTEM; floors are always included."
_GRID = "Several values of a setting; every combination runs."
_WITHOUT = "Also run light or cogcanvas without each of these parts."
_VARIANT = "released: systems with the faults of their released code."
_SPEC = "Spec to take models, endpoints, sampling, limits and batches from."
_BUDGET = "Tokens of context; several, comma-separated, give a curve."
_GOING_ON = "; what was answered is kept, and the same command goes on"
_ESTIMATE = "Print expected calls, tokens, cost and time instead of evaluating."


@app.command(short_help="Measure memory systems on a benchmark.")
def evaluate(
    name: Annotated[str, typer.Argument(metavar="NAME", help=_NAMED, show_default=False)],
    system: Annotated[str, typer.Option("--system", help=_SYSTEMS)] = "long_context,rag",
    settings: Annotated[list[str] | None, _option("--set", "A setting of a system.", "SYSTEM.SETTING=VALUE")] = None,
    grid: Annotated[list[str] | None, _option("--grid", _GRID, "SYSTEM.SETTING=V1,V2")] = None,
    without: Annotated[str, _option("--without", _WITHOUT, "PART,...")] = "",
    variant: Annotated[str, _option("--variant", _VARIANT)] = "",
    spec: Annotated[Path | None, _option("--spec", _SPEC, "SPEC.toml")] = None,
    reader: Annotated[str | None, _model_option("--reader", "Model that answers from a context")] = None,
    judge: Annotated[str | None, _model_option("--judge", "Model that judges, such as similarity")] = None,
    extractor: Annotated[str | None, _model_option("--extractor", "Model that prepares memory systems")] = None,
    embedder: Annotated[str, _option("--embedder", "minilm, hashed, st:NAME or openai:NAME.")] = "",
    budget: Annotated[str, typer.Option("--budget", help=_BUDGET)] = "4000",
    window: Annotated[int, typer.Option("--window", help="Tokens of the reader's window.", min=1_000)] = 128_000,
    lenient: Annotated[bool, _option("--lenient", "Judge with the lenient prompt.")] = False,
    control: ControlOption = None,
    split: Annotated[str, _option("--split", "Part of `longbeam split` to ask: train, validation or test.")] = "",
    parallel: Annotated[int, typer.Option("--parallel", help="Conversations evaluated side by side.", min=1)] = 1,
    estimate: Annotated[bool, _option("--estimate", _ESTIMATE)] = False,
    max_cost: Annotated[float | None, _option("--max-cost", "Most USD to spend; the run stops before.")] = None,
    fresh: Annotated[bool, _option("--fresh", "Prepare and ask again, whatever is stored.")] = False,
    run_name: Annotated[str, _option("--name", "Name of the run in `longbeam runs`.")] = "",
    title: Annotated[str, _option("--title", "Title of its report.")] = "",
    limit: Annotated[int | None, _option("--limit", "Probes to ask, stratified by ability.", min=1)] = None,
    fail_below: Annotated[
        list[str] | None, _option("--fail-below", "Exit code 1 below this score.", "SYSTEM=SCORE")
    ] = None,
    save: Annotated[Path | None, _option("--save", "Write these options as a file.", "EVAL.toml")] = None,
    isolate: Annotated[bool, _option("--isolate", "Run each product of yours in a process of its own.")] = False,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
    invocation_log: InvocationLog = None,
) -> int:
    """Prepare memory systems on the finished conversations, ask the probes, judge, score, and print the table.

    Replies are kept, so a killed or stopped evaluation continues where it stopped. Probes are asked in their reviewed
    form.
    """
    from longbeam.evaluation import ablations, arms_of, render_grid, render_judges, variants
    from longbeam.library import MeasuringOptions, read_evaluation, write_evaluation

    options = MeasuringOptions(spec=spec, reader=reader, judge=judge, extractor=extractor, embedder=embedder,
                               budget=_budgets(budget), window=window, is_lenient=lenient, control=control,
                               parallel=parallel, max_cost_usd=max_cost, is_fresh=fresh, is_isolated=isolate,
                               name=run_name, title=title, limit=limit, split=split)  # fmt: skip
    output = _Output(out, json, estimate, [_gate(text) for text in fail_below or ()], invocation_log)
    if name.endswith(".toml"):
        named = read_evaluation(Path(name))
        code = max(_evaluate_one(one.benchmark, one.arms, {**options, **one.options}, output) for one in named)
        if len(output.done) > 1:
            text = render_grid(output.done) + render_judges(output.done)
            print(printable(text), end="", file=sys.stderr if json else sys.stdout)
        return code
    with _stdout_of_results():
        sets = [*variants(variant, system), *(settings or ())]
        arms = arms_of(system, sets, [*(grid or ()), *ablations(without, system)])
    if save is not None:
        write_evaluation(save, name, arms, options)
    return _evaluate_one(name, arms, options, output)


@dataclass(frozen=True)
class _Output:
    """How an evaluation is shown, and what its exit code depends on."""

    out: Path
    json: bool
    estimate: bool
    gates: Sequence[tuple[str, float]]
    invocation_log: Path | None
    done: list[tuple[EvaluationRun, Sequence[Result]]] = field(default_factory=list)
    """Evaluations of a file, for the table of all."""


def _evaluate_one(name: str, arms: Sequence[Arm], options: MeasuringOptions, how: _Output) -> int:
    """Evaluate one benchmark, print its table, and return the exit code."""
    from longbeam.errors import RunStopped
    from longbeam.evaluation import as_json, grouped_failures, last_results, render_table
    from longbeam.library import measurement_of
    from longbeam.pipeline.evaluate import evaluation_folder, render_estimate
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(how.out, name)
    refuse_nothing_sealed(benchmark, how.out)
    json = how.json
    with _stdout_of_results() as shown:
        measurement = measurement_of(benchmark, arms, options)
        asked = len(measurement.benchmark.sealed_ids)
        if how.estimate:
            expected = run_stoppable(measurement.estimate())
            print(expected.model_dump_json(indent=2) + "\n" if json else render_estimate(expected), end="", file=shown)
            return OK
        meter = measurement.make_meter(how.invocation_log)
        print(measurement.models_line, file=sys.stderr if json else shown, flush=True)
        try:
            with display_for(sys.stderr, Target(asked, 0)) as progress:
                run, results = run_stoppable(measurement.run(meter, progress), tell=progress.waiting)
        except RunStopped as exc:
            print(f"stopped: {exc}{OTHERS.suspicion or _GOING_ON}", file=sys.stderr)
            return INCOMPLETE
        print(as_json(run, results) if json else printable(render_table(run, results)), end="", file=shown)
        how.done.append((run, results))
        kept = last_results(evaluation_folder(benchmark), run.control).parent.name
        print(f"run {kept}; {meter.spent_line}", file=sys.stderr if json else shown)
        for failure in grouped_failures(run.failures):
            print(f"failed: {printable(failure)}", file=sys.stderr)
        warn_of_unfinished(benchmark, how.out)
        is_whole = not run.failures and all(result.score("paper") is not None for result in results)
        return max(OK if is_whole else INCOMPLETE, _gated(run, results, how.gates))


def _gate(text: str) -> tuple[str, float]:
    """Return a system and the score that it must reach; UserError for a text that is none."""
    system, equals, score = text.rpartition("=")
    try:
        least = float(score)
    except ValueError:
        least = -1.0
    if not (equals and system and 0 <= least <= 1):
        raise UserError(f"--fail-below {text!r}: write SYSTEM=SCORE with a score from 0 to 1, such as rag=0.6")
    return system, least


def _gated(run: EvaluationRun, results: Sequence[Result], gates: Sequence[tuple[str, float]]) -> int:
    """Return 1 if a system is below its gate, 2 if the judge may not rank or has no such system, else 0; say why."""
    from longbeam.evaluation import calibration_of, rows_of

    rows = {row.system: row for row in rows_of(results)}
    judged = calibration_of(list(rows.values()), run.judge)
    code = OK
    for system, least in gates:
        score = rows[system].score if system in rows else None
        if not judged.can_score or score is None:
            why = f"no such system, there are {', '.join(rows)}" if system not in rows else "the judge cannot score"
            print(f"gate {system}={least:g}: undecided: {why}", file=sys.stderr)
            code = USER_ERROR
        elif score < least:
            print(f"gate {system}={least:g}: failed: {score:.3f}", file=sys.stderr)
            code = max(code, INCOMPLETE)
    return code


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
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN]...", help="Runs to report on [default: the last].", show_default=False),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Self-contained HTML file to write.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Markdown file to write.")] = None,
    others: Annotated[list[Path] | None, _option("--with", "Another results file to compare.", "RESULTS.jsonl")] = None,
    control: ControlOption = None,
    against: Annotated[
        str, typer.Option("--against", help="Systems, comma-separated, that the others are compared with.")
    ] = "bm25",
    probes: Annotated[int, typer.Option("--probes", help="Probes per ability shown one by one.", min=0)] = 20,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Report on runs of a benchmark: the last one, or those that are named (`longbeam runs`).

    Without a file option, print its tables on a terminal, and the report as Markdown into a pipe or a file.
    """
    from longbeam.evaluation import (
        find_control,
        read_results,
        read_run,
        render_html,
        render_markdown,
        render_table,
        report_json,
        reworded,
        sections_of,
    )
    from longbeam.pipeline.evaluate import evaluation_folder, results_path
    from longbeam.review import reviewed_probes
    from longbeam.store import open_benchmark, write_atomically

    benchmark = open_benchmark(out, name)
    path = results_path(benchmark, find_control(control))
    baselines = [part for part in (p.strip() for p in against.split(",")) if part]
    folder = evaluation_folder(benchmark)
    files = [read_run(folder, run) for run in runs] if runs else [_last_run(path, folder)]
    files += [read_results(p) for p in others or ()]
    sections = sections_of(files, against=baselines, probes_shown=probes)
    now = reviewed_probes(benchmark)
    if now is not None and (stale := reworded(files[0].run.probes, now)):
        told = f"{len(stale)} of its probes were changed or taken out in the review since, {stale[0]} for one"
        print(f"the scores are out of date: {told}; run `longbeam evaluate {name}` again", file=sys.stderr)
    written = []
    if html is not None:
        written.append((html, render_html(sections)))
    if markdown is not None:
        written.append((markdown, render_markdown(sections)))
    for file, text in written:
        write_atomically(file, text)
        print(f"written to {file}", file=sys.stderr if json else sys.stdout)
    if json:
        print(report_json(sections), end="")
    elif not written and sys.stdout.isatty():
        print(printable("\n".join(render_table(file.run, file.results) for file in files)), end="")
        print(f"\nThe whole report: {command_line('report', f'{name} --html report.html', out)}")
    elif not written:
        print(printable(render_markdown(sections)), end="")
    return OK


def _last_run(path: Path, folder: Path) -> Evaluated:
    """Return the last run; a results file of an older longbeam where no run is kept."""
    from longbeam.evaluation import read_results, read_run

    return read_run(folder, path.parent.name) if path.is_relative_to(folder / "runs") else read_results(path)


@app.command(short_help="List the runs of a benchmark's evaluations.")
def runs(name: Name, json: AsJson = False, out: Out = DEFAULT_OUT) -> int:
    """List the runs that are kept: id, date, cost, name, systems, reader."""
    import json as jsons

    from longbeam.evaluation import read_runs, render_runs
    from longbeam.pipeline.evaluate import evaluation_folder
    from longbeam.store import open_benchmark

    folder = evaluation_folder(open_benchmark(out, name))
    found, damaged = read_runs(folder)
    shown = jsons.dumps([run.model_dump(mode="json") for run in found], indent=2) + "\n"
    print(shown if json else render_runs(name, found), end="")
    for line in damaged:
        print(f"damaged: {printable(line)}", file=sys.stderr)
    return INCOMPLETE if damaged else OK


@app.command(short_help="Look at runs in the browser.")
def view(
    name: Name,
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="Run to open first [default: the list of runs].", show_default=False)
    ] = "",
    port: Annotated[int, typer.Option("--port", help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    opens: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
    out: Out = DEFAULT_OUT,
) -> int:
    """Serve the kept runs on this machine until stopped: ranking, curves, heat map, each probe with what was read."""
    import webbrowser

    from longbeam.cli.reviewing import WEB
    from longbeam.errors import require_extra

    require_extra("review", "longbeam view", *WEB)
    from longbeam.annotation_ui import serve_runs
    from longbeam.evaluation import find_run
    from longbeam.pipeline.evaluate import evaluation_folder
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    path = f"/runs/{find_run(evaluation_folder(benchmark), run).run_id}" if run else ""

    def announce(base: str) -> None:
        print(f"LISTENING {base}{path}", flush=True)
        if opens:
            webbrowser.open(base + path)

    serve_runs(benchmark, port, announce)
    return OK


@app.command(short_help="Compare two runs, probe by probe.")
def compare(
    name: Name,
    before: Annotated[
        str, typer.Argument(metavar="RUN", help="Run: an id, its beginning, a name.", show_default=False)
    ],
    now: Annotated[
        str, typer.Argument(metavar="RUN", help="Run that is compared with it.", show_default=False)
    ] = "last",
    system: Annotated[str, typer.Option("--system", help="Systems, comma-separated [default: all of both].")] = "",
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Print each system's paired difference, with its interval, corrected p, and the probes that it won or lost."""
    import json as jsons
    from dataclasses import asdict

    from longbeam.evaluation import compare_runs, names_in, read_run, render_pairs
    from longbeam.pipeline.evaluate import evaluation_folder
    from longbeam.store import open_benchmark

    folder = evaluation_folder(open_benchmark(out, name))
    first, second = read_run(folder, before), read_run(folder, now)
    pairs = compare_runs(first, second, names_in(system))
    if json:
        print(jsons.dumps([asdict(pair) for pair in pairs], indent=2))
    else:
        print(printable(render_pairs(pairs, first, second)), end="")
    return OK


@app.command(short_help="Say how many conversations a difference needs.")
def power(
    name: Name,
    systems: Annotated[str, typer.Option("--systems", metavar="A,B", help="The two systems.", show_default=False)],
    difference: Annotated[
        float, typer.Option("--difference", help="Difference of scores to see.", min=0.001, max=1)
    ] = 0.05,
    run: Annotated[str, typer.Option("--run", help="Run whose spread counts.")] = "last",
    out: Out = DEFAULT_OUT,
) -> int:
    """Print how many conversations are needed to see a difference of two systems, and what they would cost."""
    from longbeam.evaluation import conversations_needed, names_in, read_run
    from longbeam.pipeline.evaluate import evaluation_folder
    from longbeam.store import open_benchmark

    named = names_in(systems)
    if len(named) != 2:
        raise UserError(f"--systems {systems!r}: name two systems, such as rag,light")
    one = read_run(evaluation_folder(open_benchmark(out, name)), run)
    needed, spread = conversations_needed(one, named[0], named[1], difference)
    cost = one.kept.cost_usd if one.kept else None
    told = "at an unknown cost" if cost is None else f"about ${cost / one.run.conversations * needed:,.2f} to evaluate"
    print(
        f"to see a difference of {difference:g} between {named[0]} and {named[1]} you need about {needed:,} "
        f"conversations, {told} (their difference varies by {spread:.3f} between {one.run.conversations} conversations)"
    )
    return OK


@app.command(short_help="Collect results files in one table.")
def leaderboard(
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RESULTS.jsonl]...", help="Results files to add.", show_default=False),
    ] = None,
    board: Annotated[Path, typer.Option("--board", help="JSON file with the rows.")] = Path("leaderboard.json"),
    markdown: Annotated[Path | None, _option("--markdown", "Markdown file to write.")] = None,
) -> int:
    """Check results files, add their systems to a leaderboard or replace them, and print it.

    A file is refused if its scores are not those of its verdicts, or if answers are missing.
    """
    from longbeam.evaluation import merged, read_results, render_board, rows_in
    from longbeam.store import is_recorded, write_atomically, write_recorded

    try:
        if board.exists() and not (board.is_file() or board.is_dir()):
            raise OSError(EINVAL, "Is a pipe or a device")  # which may never end
        text = board.read_text(encoding="utf-8") if board.exists() else ""
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "is no text"
        raise UserError(f"--board {board}: {reason}; name the JSON file with the rows") from exc
    if board.exists() and not is_recorded(board):
        print(
            f"warning: {board} was changed since `longbeam leaderboard` wrote it; its rows are as submitted",
            file=sys.stderr,
        )
    if results:
        text = merged(text, [read_results(path) for path in results], str(board))
        write_recorded(board, text)
    elif not text:
        raise UserError(f"--board {board}: has no rows yet; name results files to begin one")
    shown = render_board(rows_in(text, str(board)))
    if markdown is None:
        print(shown, end="")
    else:
        write_atomically(markdown, shown)
        print(f"written to {markdown}")
    return OK


@app.command("judge-agreement", short_help="Measure the agreement of judges.")
def judge_agreement(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS.jsonl...", help="The same answers under two or more judges.", show_default=False
        ),
    ],
    json: AsJson = False,
) -> int:
    """Print the agreement of each two judges on the same answers: share of equal verdicts and Cohen's kappa.

    Of two judges by ability, with their verdicts against each other.
    """
    from longbeam.evaluation import agreement_of, read_results, render_agreements

    if len(files) < 2:
        raise UserError("judge-agreement: name the results of two judges or more")
    found = [agreement_of(*pair) for pair in combinations(map(read_results, files), 2)]
    if json:
        shown = (
            found[0].model_dump_json(indent=2)
            if len(found) == 1
            else f"[{','.join(f.model_dump_json() for f in found)}]"
        )
        print(shown)
    else:
        print(render_agreements(found), end="")
    return OK
