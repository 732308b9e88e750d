"""The `longbeam` command: arguments in, exit codes out.

Exit codes: 0 done; 1 failed units, unfinished conversations or error findings; 2 a mistake of the user, said in
one line; 130 stopped with Ctrl-C. Everything heavy is imported inside the commands, so that help is instant.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from longbeam import __version__
from longbeam.errors import LongbeamError, UserError
from longbeam.formats.registry import EXPORTS, IMPORTS
from longbeam.terminal import Display, Target, counted, display_for

if TYPE_CHECKING:
    from longbeam.models.cost import CostMeter
    from longbeam.pipeline.benchmark import Benchmark
    from longbeam.pipeline.outlook import Outlook
    from longbeam.pipeline.run import RunSummary
    from longbeam.schemas.spec import BenchmarkSpec

OK, INCOMPLETE, USER_ERROR, INTERRUPTED = 0, 1, 2, 130
DEFAULT_NAME = "demo"
DEFAULT_OUT = Path("output")
MOST_FINDINGS = 40
"""Findings that `validate` prints; `--json` has all."""

# Typer's usage errors have a public subclass only; Typer 0.29 carries a Click of its own.
USAGE_ERROR: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


class Runner(StrEnum):
    """What drives the pipeline; the result is the same."""

    PREFECT = "prefect"
    INLINE = "inline"


class Chat(StrEnum):
    """Which of BEAM's two versions of a chat."""

    FULL = "full"
    TRUNCATED = "truncated"


app = typer.Typer(
    help="Benchmarks of long conversational memory: generate, check, review, export, evaluate.",
    epilog="Begin with `longbeam generate`: one conversation of 128K tokens with its probes, offline.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(help="The benchmark's name.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="Folder that holds the benchmarks.")]
RunnerOption = Annotated[
    Runner, typer.Option("--runner", help="prefect: with its pages and records; inline: plain Python, faster.")
]
Concurrency = Annotated[int | None, typer.Option("--concurrency", help="Model calls in flight.", show_default=False)]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", help="Stop before more USD than this are spent.", show_default=False)
]
InvocationLog = Annotated[Path | None, typer.Option("--invocation-log", hidden=True)]
ControlOption = Annotated[
    str | None,
    typer.Option("--control", help="Negative control: evidence-removed or swapped.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"longbeam {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass  # its help is the app's


@app.command(short_help="Make a benchmark, or go on with one.")
def generate(
    spec_file: Annotated[
        Path | None, typer.Argument(metavar="SPEC.toml", help="Spec file; options win over it.")
    ] = None,
    name: Annotated[str | None, typer.Option(help=f"Benchmark name [default: {DEFAULT_NAME}].")] = None,
    length: Annotated[str | None, typer.Option(help="Tokens per conversation: 16K to 64M [default: 128K].")] = None,
    strategy: Annotated[
        str | None,
        typer.Option(help="Beyond 1M: sequential (stages of a life) or hierarchical (phases of a storyline)."),
    ] = None,
    conversations: Annotated[int | None, typer.Option(help="How many [default: 1].")] = None,
    seeds: Annotated[Path | None, typer.Option(help="JSON file of seeds, instead of the catalogue.")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Domain to draw from; may be repeated.")] = None,
    model: Annotated[str | None, typer.Option(help="Model of all roles [default: offline].")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness [default: 0].")] = None,
    runner: RunnerOption = Runner.PREFECT,
    concurrency: Concurrency = None,
    max_cost: MaxCost = None,
    out: Out = DEFAULT_OUT,
    invocation_log: InvocationLog = None,
) -> int:
    """Make a benchmark, or go on with one: conversations with probes, gold answers, rubrics and evidence."""
    from longbeam.pipeline.spec_file import load_spec

    overrides: dict[str, Any] = {
        "name": name if name is not None or spec_file is not None else DEFAULT_NAME,
        "length": length,
        "strategy": strategy,
        "conversations": conversations,
        "seeds_file": str(seeds) if seeds is not None else None,
        "domains": domain or None,
        "models": {"default": model} if model is not None else None,
        "seed": seed,
        "limits": _limits(concurrency, max_cost),
    }
    spec = load_spec(spec_file, {key: value for key, value in overrides.items() if value is not None})
    benchmark = _create(spec, out)
    return _run_and_report(benchmark, runner, out, invocation_log)


@app.command(short_help="Write new seeds of some domains.")
def seeds(
    domains: Annotated[list[str], typer.Argument(metavar="DOMAIN...", help="Domains, such as cooking or coding.")],
    count: Annotated[int, typer.Option("--count", min=1, max=200, help="Seeds of each domain.")] = 10,
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="JSON file to write [default: print them].")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model that writes them [default: offline].")] = None,
    spec_file: Annotated[
        Path | None,
        typer.Option("--spec", metavar="SPEC.toml", help="Spec to take models and language from."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness [default: 0].")] = None,
) -> int:
    """Write titles, themes, subtopics and timelines that no built-in seed resembles, for `generate --seeds FILE`.

    Replies are kept in output/.seeds: what was stopped goes on where it was, and the same command gives the same seeds.
    """
    from longbeam.pipeline.seeding import domains_of, make_seeds, render_report
    from longbeam.pipeline.spec_file import load_spec
    from longbeam.store.files import write_atomically

    if file is not None and file.exists():
        raise UserError(f"{file} exists; seeds are made to be edited, so it is not overwritten. Name another file")
    given = {"name": "seeds", "models": {"default": model} if model is not None else None, "seed": seed}
    spec = load_spec(spec_file, {key: value for key, value in given.items() if value is not None})
    written = asyncio.run(make_seeds(spec, domains_of(domains), count, DEFAULT_OUT / ".seeds"))
    if file is not None:
        write_atomically(file, written.text)
    else:
        print(written.text, end="")
    print(render_report(written, file), end="", file=sys.stderr if file is None else sys.stdout)
    return OK if written.is_complete else INCOMPLETE


@app.command(short_help="Go on with a benchmark that was stopped.")
def resume(
    name: Name,
    runner: RunnerOption = Runner.PREFECT,
    concurrency: Concurrency = None,
    max_cost: MaxCost = None,
    out: Out = DEFAULT_OUT,
    invocation_log: InvocationLog = None,
) -> int:
    """Go on with a benchmark that was stopped or has failed units; what is done is not done again."""
    from longbeam.pipeline.benchmark import open_benchmark

    spec = open_benchmark(out, name).spec
    if spec.imported_from:
        raise UserError(f"benchmark {name!r} was imported ({spec.imported_from}); there is nothing to resume")
    if (limits := _limits(concurrency, max_cost)) is not None:
        from longbeam.pipeline.spec_file import with_overrides

        spec = with_overrides(spec, {"limits": limits})
    return _run_and_report(_create(spec, out), runner, out, invocation_log)


@app.command()
def status(name: Name, json: AsJson = False, out: Out = DEFAULT_OUT) -> int:
    """Show how far a benchmark is, also while it is being made."""
    from longbeam.pipeline.benchmark import open_benchmark
    from longbeam.pipeline.run import STAGES
    from longbeam.pipeline.status import benchmark_status, render_status

    benchmark = open_benchmark(out, name)
    if benchmark.spec.imported_from and not json:
        count = counted(len(benchmark.sealed_ids), "conversation")
        print(f"{name}: imported ({benchmark.spec.imported_from}), {count}; nothing is left to do")
        return OK
    found = benchmark_status(benchmark)
    if json:
        print(found.model_dump_json(indent=2))
        return OK
    print(render_status(found, STAGES), end="")
    if found.finished < len(found.conversations):
        print(f"Go on with: {_command('resume', name, out)}")
    return OK


@app.command(short_help="Check every finished conversation.")
def validate(
    name: Name,
    json: AsJson = False,
    html: Annotated[
        Path | None, typer.Option(help="Write the findings to this file as a page to read and print.")
    ] = None,
    out: Out = DEFAULT_OUT,
) -> int:
    """Check every finished conversation; exit 1 if there is an error finding or an unfinished conversation."""
    from longbeam.pipeline.benchmark import open_benchmark
    from longbeam.pipeline.checking import (
        check_and_store,
        findings_json,
        render_findings,
        render_left_out,
        write_findings_page,
    )

    benchmark = open_benchmark(out, name)
    _refuse_nothing_sealed(benchmark, out)
    findings = check_and_store(benchmark)
    checked = len(benchmark.sealed_ids)
    print(findings_json(findings) if json else render_findings(name, checked, findings, MOST_FINDINGS), end="")
    if html is not None:
        write_findings_page(benchmark, findings, html)
        print(f"written to {html}", file=sys.stderr if json else sys.stdout)
    print(render_left_out(benchmark.spec.language), end="", file=sys.stderr if json else sys.stdout)
    unfinished = _warn_of_unfinished(benchmark, out)
    has_errors = any(finding.severity == "error" for finding in findings)
    return INCOMPLETE if has_errors or unfinished else OK


@app.command()
def stats(
    name: Name,
    json: AsJson = False,
    to: Annotated[Path | None, typer.Option(help="Write to this file instead of the terminal.")] = None,
    out: Out = DEFAULT_OUT,
) -> int:
    """Print a benchmark's tables beside BEAM's published ones."""
    from longbeam.pipeline.benchmark import open_benchmark
    from longbeam.pipeline.checking import count_and_store
    from longbeam.schemas.spec import ENGLISH
    from longbeam.store.files import write_atomically
    from longbeam.validation.statistics import as_json
    from longbeam.validation.statistics_text import render_text

    benchmark = open_benchmark(out, name)
    _refuse_nothing_sealed(benchmark, out)
    statistics = count_and_store(benchmark)
    text = as_json(statistics) if json else render_text(statistics)
    if to is None:
        print(text, end="")
    else:
        write_atomically(to, text)
        print(f"written to {to}")
    if (language := benchmark.spec.language) != ENGLISH:
        print(
            f"{language}: BEAM's columns are of English conversations, and only English names of months and days are "
            "masked",
            file=sys.stderr,
        )
    _warn_of_unfinished(benchmark, out)
    return OK


@app.command(short_help="Write a benchmark as files.")
def export(
    name: Name,
    to: Annotated[Path, typer.Option("--to", help="Folder to write; a former export there is replaced.")],
    format: Annotated[str, typer.Option("--format", help=f"One of: {', '.join(EXPORTS)}.")] = "jsonl",
    reviewed_only: Annotated[
        bool, typer.Option("--reviewed-only", help="Only probes that a reviewer accepted or edited.")
    ] = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Write the finished conversations and their selected probes as files."""
    from longbeam.formats.registry import exporter
    from longbeam.pipeline.benchmark import open_benchmark
    from longbeam.pipeline.checking import sealed_conversations

    benchmark = open_benchmark(out, name)
    _refuse_nothing_sealed(benchmark, out)
    with sealed_conversations(benchmark) as readers:
        report = exporter(format)(readers, benchmark.spec, to, reviewed_only=reviewed_only)
    print(
        f"{to}: {counted(report.conversations, 'conversation')}, {counted(report.messages, 'message')}, "
        f"{report.tokens:,} tokens, {counted(report.probes, 'probe')}; begin with {to / 'README.md'}"
    )
    for count, reason in ((report.rejected, "rejected in review"), (report.not_reviewed, "not reviewed")):
        if count:
            print(f"left out: {counted(count, 'probe')} {reason}")
    for warning in report.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    _warn_of_unfinished(benchmark, out)
    return OK


@app.command("serve-offline", short_help="Serve the offline writer over HTTP, with faults.")
def serve_offline(
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[SETTING=VALUE]...", help="Settings; see below.", show_default=False)
    ] = None,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 8000,
) -> int:
    """Serve the offline writer at an OpenAI-compatible address, for runs whose endpoint says `offline_writer = true`.

    Settings, such as latency_ms=50 failing=0.05, are described in docs/models.md; POST /control changes them.
    """
    from longbeam.models.loopback.server import serve
    from longbeam.models.loopback.settings import parse_settings
    from longbeam.prompts.declarations import default_registry

    def announce(base_url: str) -> None:
        print(f"LISTENING {base_url}", flush=True)

    asyncio.run(serve(default_registry(), parse_settings(settings or []), port=port, on_ready=announce))
    return OK


@app.command("import", short_help="Read somebody else's benchmark.")
def import_(
    format: Annotated[str, typer.Argument(help=f"One of: {', '.join(IMPORTS)}.", show_default=False)],
    path: Annotated[Path, typer.Argument(help="File or folder to read.", show_default=False)],
    name: Annotated[str, typer.Option("--name", help="Name of the benchmark to make.", show_default=False)],
    chat: Annotated[
        Chat, typer.Option("--chat", help="BEAM: which version of a chat, where there are two.")
    ] = Chat.FULL,
    licence: Annotated[str, typer.Option("--licence", help="Licence of the data, to be stated in exports.")] = "",
    tokenizer: Annotated[str, typer.Option("--tokenizer", help="What tokens are counted with.")] = "o200k_base",
    out: Out = DEFAULT_OUT,
) -> int:
    """Read somebody else's benchmark; `validate`, `stats`, `review` and `export` work on it as on our own."""
    from longbeam.formats.reading import ImportOptions
    from longbeam.formats.registry import importer
    from longbeam.pipeline.importing import import_benchmark

    options = ImportOptions(tokenizer=tokenizer, full_chat=chat is Chat.FULL)
    report = import_benchmark(importer(format)(path, options), name, out, format, licence, options)
    benchmark = report.benchmark
    print(
        f"{name}: {counted(report.conversations, 'conversation')}, {counted(report.messages, 'message')}, "
        f"{report.tokens:,} tokens, {counted(report.probes, 'probe')}; in {benchmark.root}"
    )
    if report.notes:
        print(f"{counted(report.notes, 'finding')} on the source; see: {_command('validate', name, out)}")
    return OK


@app.command(short_help="Measure memory systems on a benchmark.")
def evaluate(
    name: Name,
    system: Annotated[
        str, typer.Option("--system", help="Systems, comma-separated; the floors are always there.")
    ] = "long_context,rag",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SYSTEM.SETTING=VALUE", help="A setting of a system.", show_default=False),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid", metavar="SYSTEM.SETTING=V1,V2", help="Several values; every combination runs.", show_default=False
        ),
    ] = None,
    without: Annotated[
        str,
        typer.Option("--without", metavar="PART,...", help="Also LIGHT without each of these.", show_default=False),
    ] = "",
    reader: Annotated[str, typer.Option("--reader", help="Model that answers from a context.")] = "offline",
    judge: Annotated[str, typer.Option("--judge", help="Model that judges answers.")] = "offline",
    extractor: Annotated[str, typer.Option("--extractor", help="Model that systems prepare with.")] = "offline",
    embedder: Annotated[
        str, typer.Option("--embedder", help="minilm, hashed, st:NAME or openai:NAME.", show_default=False)
    ] = "",
    budget: Annotated[int, typer.Option("--budget", help="Tokens of context.", min=100)] = 4_000,
    window: Annotated[int, typer.Option("--window", help="Tokens of the reader's window.", min=1_000)] = 128_000,
    lenient: Annotated[bool, typer.Option("--lenient", help="Judge with the lenient prompt.")] = False,
    control: ControlOption = None,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
    invocation_log: InvocationLog = None,
) -> int:
    """Prepare memory systems on the finished conversations, ask them the probes, judge, score, print the table.

    What was asked already is not asked again; a killed evaluation goes on where it was.
    """
    from longbeam.evaluation.arms import ablations, always_there, arms_of
    from longbeam.evaluation.controls import find_control
    from longbeam.evaluation.table import as_json, render_table
    from longbeam.models.cost import CostMeter
    from longbeam.models.embedders.factory import make_embedder
    from longbeam.models.factory import make_model
    from longbeam.pipeline.benchmark import Benchmark, open_benchmark
    from longbeam.pipeline.evaluating import evaluate as run_evaluation
    from longbeam.pipeline.evaluating import evaluation_spec
    from longbeam.pipeline.run import limited_model
    from longbeam.schemas.evaluation import EvaluationRun, EvaluationSettings, Result

    benchmark = open_benchmark(out, name)
    _refuse_nothing_sealed(benchmark, out)
    arms = [*always_there(), *arms_of(system, settings or (), [*(grid or ()), *ablations(without)])]
    asked = EvaluationSettings(budget=budget, window=window, is_strict=not lenient, embedder=embedder)
    spec = evaluation_spec(benchmark.spec, reader=reader, judge=judge, extractor=extractor)
    vectors = make_embedder(embedder, spec) if embedder else None
    chosen = find_control(control)
    meter = CostMeter(make_model(spec, invocation_log=invocation_log), spec)

    async def measured(progress: Display) -> tuple[EvaluationRun, list[Result]]:
        async with limited_model(Benchmark(spec, benchmark.root), meter) as model:
            return await run_evaluation(
                benchmark, spec, arms, asked, model, embedder=vectors, control=chosen, progress=progress
            )

    with display_for(sys.stderr, Target(len(benchmark.sealed_ids), 0)) as progress:
        run, results = asyncio.run(measured(progress))
    print(as_json(run, results) if json else render_table(run, results), end="")
    for failure in run.failures:
        print(f"failed: {failure}", file=sys.stderr)
    _warn_of_unfinished(benchmark, out)
    return INCOMPLETE if run.failures else OK


@app.command(short_help="Report on an evaluation, as HTML or Markdown.")
def report(
    name: Name,
    html: Annotated[Path | None, typer.Option("--html", help="HTML file to write; it needs nothing else.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Markdown file to write.")] = None,
    leaderboard: Annotated[
        Path | None, typer.Option("--leaderboard", help="JSON file to add the systems to, or to replace them in.")
    ] = None,
    others: Annotated[
        list[Path] | None,
        typer.Option(
            "--with", metavar="RESULTS.jsonl", help="Another results file to set beside it.", show_default=False
        ),
    ] = None,
    control: ControlOption = None,
    against: Annotated[str, typer.Option("--against", help="System that differences are taken from.")] = "bm25",
    probes: Annotated[int, typer.Option("--probes", help="Probes per ability shown one by one.", min=0)] = 20,
    out: Out = DEFAULT_OUT,
) -> int:
    """Report on the last evaluation of a benchmark; without a file to write, print it as Markdown."""
    from longbeam.evaluation.controls import find_control
    from longbeam.evaluation.leaderboard import merged
    from longbeam.evaluation.report import render_html, render_markdown, sections_of
    from longbeam.evaluation.results import read_results
    from longbeam.pipeline.benchmark import open_benchmark
    from longbeam.pipeline.evaluating import results_path
    from longbeam.store.files import write_atomically

    path = results_path(open_benchmark(out, name), find_control(control))
    sections = sections_of([read_results(p) for p in [path, *(others or ())]], against=against, probes_shown=probes)
    written = []
    if html is not None:
        written.append((html, render_html(sections)))
    if markdown is not None:
        written.append((markdown, render_markdown(sections)))
    if leaderboard is not None:
        old = leaderboard.read_text(encoding="utf-8") if leaderboard.exists() else ""
        written.append((leaderboard, merged(old, sections, str(leaderboard))))
    for file, text in written:
        write_atomically(file, text)
        print(f"written to {file}")
    if not written:
        print(render_markdown(sections), end="")
    return OK


@app.command("judge-agreement", short_help="Say how far two judges agree.")
def judge_agreement(
    first: Annotated[Path, typer.Argument(metavar="A.jsonl", help="Results file.", show_default=False)],
    second: Annotated[
        Path,
        typer.Argument(metavar="B.jsonl", help="Results of the same answers under another judge.", show_default=False),
    ],
    json: AsJson = False,
) -> int:
    """Print how far two judges agree on the same answers: share of equal verdicts, Cohen's kappa, by ability."""
    from longbeam.evaluation.agreement import agreement_of, render_agreement
    from longbeam.evaluation.results import read_results

    found = agreement_of(read_results(first), read_results(second))
    print(found.model_dump_json(indent=2) if json else render_agreement(found), end="\n" if json else "")
    return OK


class Gives(StrEnum):
    """What a search of the memory server gives."""

    PASSAGES = "passages"
    CONTEXT = "context"


@app.command("serve-memory", short_help="Serve a memory system to other harnesses.")
def serve_memory(
    system: Annotated[str, typer.Argument(help="A system, as `evaluate --system` names it.", show_default=False)],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SYSTEM.SETTING=VALUE", help="A setting of the system.", show_default=False),
    ] = None,
    gives: Annotated[
        Gives, typer.Option("--give", help="passages: one by one; context: what a reader would see, as one memory.")
    ] = Gives.PASSAGES,
    budget: Annotated[int, typer.Option("--budget", help="Tokens of a context.", min=100)] = 4_000,
    extractor: Annotated[str, typer.Option("--extractor", help="Model that the system prepares with.")] = "offline",
    embedder: Annotated[str, typer.Option("--embedder", help="Embedding model, as for `evaluate`.")] = "",
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 8888,
    out: Out = DEFAULT_OUT,
) -> int:
    """Serve a memory system at the three routes that mem0's memory-benchmarks call (docs/evaluation.md)."""
    from longbeam.pipeline.memory_server import run_server
    from longbeam.pipeline.spec_file import load_spec

    spec = load_spec(None, {"name": "memory-server", "models": {"default": extractor}})

    def announce(base_url: str) -> None:
        print(f"LISTENING {base_url}", flush=True)

    asyncio.run(
        run_server(
            system,
            settings or (),
            spec,
            out / ".memory-server",
            embedder_name=embedder,
            gives=gives.value,
            budget=budget,
            port=port,
            on_ready=announce,
        )
    )
    return OK


@app.command(short_help="Say what a spec would cost, without asking any model.")
def estimate(
    spec_file: Annotated[
        Path | None, typer.Argument(metavar="SPEC.toml", help="Spec file; options win over it.")
    ] = None,
    length: Annotated[str | None, typer.Option(help="Tokens per conversation: 16K to 1M [default: 128K].")] = None,
    conversations: Annotated[int | None, typer.Option(help="How many [default: 1].")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Domain to draw from; may be repeated.")] = None,
    model: Annotated[str | None, typer.Option(help="Model of all roles [default: offline].")] = None,
    json: AsJson = False,
) -> int:
    """Print calls, tokens and cost by stage and role, from an offline rehearsal of the same spec."""
    from longbeam.pipeline.outlook import estimate_of, render_estimate
    from longbeam.pipeline.rehearsal import rehearse
    from longbeam.pipeline.spec_file import load_spec

    overrides: dict[str, Any] = {
        "name": DEFAULT_NAME if spec_file is None else None,
        "length": length,
        "conversations": conversations,
        "domains": domain or None,
        "models": {"default": model} if model is not None else None,
    }
    spec = load_spec(spec_file, {key: value for key, value in overrides.items() if value is not None})
    found = estimate_of(spec, asyncio.run(rehearse(spec)))
    print(found.model_dump_json(indent=2) if json else render_estimate(found), end="\n" if json else "")
    return OK


# --- what the commands share ------------------------------------------------------------------------------


def _limits(concurrency: int | None, max_cost_usd: float | None) -> dict[str, Any] | None:
    given = {"concurrency": concurrency, "max_cost_usd": max_cost_usd}
    return {name: value for name, value in given.items() if value is not None} or None


def _create(spec: BenchmarkSpec, out: Path) -> Benchmark:
    """Make or take up the benchmark, after everything that may be wrong with its spec has been looked at."""
    from longbeam.generators.seeds import seeds_for
    from longbeam.models.factory import make_model
    from longbeam.models.tokens import load_tokenizer
    from longbeam.pipeline.benchmark import create_benchmark

    load_tokenizer(spec.tokenizer)
    make_model(spec)
    _, warnings = seeds_for(spec, spec.conversations)
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return create_benchmark(spec, out)


def _run_and_report(benchmark: Benchmark, runner: Runner, out: Path, invocation_log: Path | None) -> int:
    name = benchmark.spec.name
    try:
        summary = _run(benchmark, runner, invocation_log)
    except KeyboardInterrupt:
        print(f"\nstopped; nothing is lost. Go on with: {_command('resume', name, out)}", file=sys.stderr)
        return INTERRUPTED
    return report_run(benchmark, summary, out)


def _run(benchmark: Benchmark, runner: Runner, invocation_log: Path | None) -> RunSummary:
    from longbeam.pipeline.metering import open_meter

    spec = benchmark.spec
    meter = open_meter(benchmark, invocation_log=invocation_log)
    outlook = _outlook(benchmark, meter)
    try:
        with display_for(sys.stderr, Target(spec.conversations, spec.length), outlook) as progress:
            if runner is Runner.INLINE:
                from longbeam.pipeline.run import run_inline

                return asyncio.run(run_inline(benchmark, progress=progress, model=meter))
            from longbeam.flows.runner import run_with_prefect

            return asyncio.run(run_with_prefect(benchmark, progress=progress, model=meter))
    finally:
        if outlook is not None:
            outlook.save()
            print(f"used {outlook.line()}", file=sys.stderr)


def _outlook(benchmark: Benchmark, meter: CostMeter) -> Outlook | None:
    """What the run will cost, said before it begins; None where nothing is worth counting."""
    from longbeam.pipeline.outlook import Outlook, is_worth_rehearsing, rehearsal_of, unfit_cap

    if not is_worth_rehearsing(benchmark.spec):
        return None
    outlook = Outlook(benchmark, meter, rehearsal_of(benchmark))
    print(f"{benchmark.spec.name}: used {outlook.line()}", file=sys.stderr)
    if warning := unfit_cap(outlook):
        print(f"warning: {warning}", file=sys.stderr)
    return outlook


def report_run(benchmark: Benchmark, summary: RunSummary, out: Path) -> int:
    """Say what was done and what to do next; return the exit code."""
    from longbeam.pipeline.status import describe_failure

    name = benchmark.spec.name
    replayed = f", {summary.replayed:,} replies from the journal" if summary.replayed else ""
    done = f"{name}: {summary.finished} of {counted(summary.conversations, 'conversation')} finished, "
    done += f"{counted(summary.calls, 'model call')}{replayed}"
    if summary.finished < summary.conversations or summary.failures:
        print(done, file=sys.stderr)
        for conversation_id, unit in summary.failures:
            print(f"  {conversation_id} {describe_failure(unit)}", file=sys.stderr)
        if summary.stopped:
            print(f"stopped: {summary.stopped}", file=sys.stderr)
        print(
            f"{'Go on' if summary.stopped else 'Try what failed again'} with: {_command('resume', name, out)}",
            file=sys.stderr,
        )
        return INCOMPLETE
    print(f"{done}; in {benchmark.root}")
    target = benchmark.root / "export"
    print("Next:")
    print(f"  {_command('validate', name, out)}")
    print(f"  {_command('stats', name, out)}")
    print(f"  {_command('export', f'{name} --format jsonl --to {shlex.quote(str(target))}', out)}")
    return OK


def _refuse_nothing_sealed(benchmark: Benchmark, out: Path) -> None:
    if not benchmark.sealed_ids:
        name = benchmark.spec.name
        raise UserError(f"benchmark {name!r} has no finished conversation; go on with: {_command('resume', name, out)}")


def _warn_of_unfinished(benchmark: Benchmark, out: Path) -> bool:
    """Say on stderr that conversations are missing, and return whether there are any."""
    missing = len(benchmark.conversation_ids) - len(benchmark.sealed_ids)
    if missing:
        print(
            f"{missing} of {len(benchmark.conversation_ids)} conversations are not finished and not counted; "
            f"go on with: {_command('resume', benchmark.spec.name, out)}",
            file=sys.stderr,
        )
    return missing > 0


def _command(command: str, name: str, out: Path) -> str:
    """A command line to copy."""
    return " ".join(["longbeam", command, name, *(["--out", shlex.quote(str(out))] if out != DEFAULT_OUT else [])])


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors of the user become one line on stderr."""
    try:
        code = app(args=list(arguments), prog_name="longbeam", standalone_mode=False)
    except UserError as exc:
        return _complain(str(exc), USER_ERROR)
    except LongbeamError as exc:
        return _complain(str(exc), INCOMPLETE)
    except USAGE_ERROR as exc:
        message = exc.format_message() if hasattr(exc, "format_message") else str(exc)
        return _complain(f"{message.rstrip('.')}. See `longbeam --help`", USER_ERROR) if message else USER_ERROR
    except (KeyboardInterrupt, typer.Abort):
        return _complain("stopped", INTERRUPTED)
    except OSError as exc:
        if exc.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        return _complain(f"{exc.filename or 'the disk'}: {exc.strerror}; nothing that was done is lost", USER_ERROR)
    return code if isinstance(code, int) else OK


def _complain(message: str, code: int) -> int:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return code


def main() -> NoReturn:
    """Run the command line of this process; being terminated is being stopped with Ctrl-C."""
    # Records hold no cycles: looking for some after every 700 of them took 0.5 s of a run of 2,000 calls; this 0.1 s.
    gc.set_threshold(20_000)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # Shells start background jobs so; being terminated must stop those cleanly, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = INCOMPLETE
    sys.exit(code)
