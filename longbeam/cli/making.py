"""Commands that make a benchmark: generate, resume, status, estimate, seeds."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longbeam.cli.app import (
    DEFAULT_NAME,
    DEFAULT_OUT,
    INCOMPLETE,
    OK,
    AsJson,
    InvocationLog,
    Name,
    Out,
    app,
    command_line,
    say_stopped,
)
from longbeam.cli.display import Target, display_for
from longbeam.cli.starting import SPEC_FILE
from longbeam.errors import UserError
from longbeam.generators.suites import SUITES
from longbeam.schemas import DEFAULT_MODEL
from longbeam.stopping import run_stoppable
from longbeam.terminal import counted

if TYPE_CHECKING:
    from longbeam.flows import ClusterOptions
    from longbeam.models import CostMeter
    from longbeam.pipeline.cost import Outlook
    from longbeam.pipeline.run import RunSummary
    from longbeam.schemas import BenchmarkSpec
    from longbeam.store import Benchmark

LENGTH_HELP = "Tokens per conversation: 16K to 64M [default: 128K]."


class Runner(StrEnum):
    """Runner of the pipeline; the result is the same with each."""

    AUTO = "auto"
    PREFECT = "prefect"
    INLINE = "inline"
    DASK = "dask"


RunnerOption = Annotated[
    Runner,
    typer.Option(
        "--runner",
        help="prefect: its flow, with pages, retries and records; inline: plain Python; dask: many workers; "
        "auto: prefect where a server is configured, else inline.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="dask: workers of a cluster on this machine.", show_default=False),
]
Address = Annotated[
    str,
    typer.Option(
        "--address", help="dask: address of a running cluster, such as tcp://10.0.0.5:8786.", show_default=False
    ),
]
Host = Annotated[
    str, typer.Option("--host", help="dask: address at which workers reach this machine.", show_default=False)
]
Scratch = Annotated[str, typer.Option("--scratch", help="dask: folder on each worker's own disk.", show_default=False)]
Concurrency = Annotated[int | None, typer.Option("--concurrency", help="Model calls in flight.", show_default=False)]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", help="Most USD to spend; the run stops before.", show_default=False)
]


@app.command(short_help="Make a benchmark, or continue one.")
def generate(
    spec_file: Annotated[
        Path | None,
        typer.Argument(metavar="SPEC.toml", help="Spec file; options win over it [default: spec.toml here, if any]."),
    ] = None,
    name: Annotated[str | None, typer.Option(help=f"Benchmark name [default: {DEFAULT_NAME}].")] = None,
    length: Annotated[str | None, typer.Option(help=LENGTH_HELP)] = None,
    strategy: Annotated[
        str | None,
        typer.Option(help="Beyond 1M: sequential (stages of a life) or hierarchical (phases of a storyline)."),
    ] = None,
    conversations: Annotated[int | None, typer.Option(help="Number of conversations [default: 1].")] = None,
    seeds: Annotated[Path | None, typer.Option(help="JSON file of seeds, instead of the catalogue.")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Domain to draw from; may be repeated.")] = None,
    model: Annotated[str | None, typer.Option(help=f"Model of all roles [default: {DEFAULT_MODEL}].")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness [default: from the name].")] = None,
    hard: Annotated[bool, typer.Option("--hard", help="Prefer the probes that trivial memories answer least.")] = False,
    runner: RunnerOption = Runner.AUTO,
    workers: Workers = None,
    address: Address = "",
    host: Host = "",
    scratch: Scratch = "",
    concurrency: Concurrency = None,
    max_cost: MaxCost = None,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
    invocation_log: InvocationLog = None,
) -> int:
    """Make a benchmark, or continue one: conversations with probes, gold answers, rubrics and evidence."""
    from longbeam.pipeline import load_spec

    if spec_file is None and name is None and Path(SPEC_FILE).is_file():  # a folder of `longbeam init`
        spec_file = Path(SPEC_FILE)
        print(f"taking {spec_file} of this folder", file=sys.stderr)
    overrides: dict[str, Any] = {
        "name": name if name is not None or spec_file is not None else DEFAULT_NAME,
        "length": length,
        "strategy": strategy,
        "conversations": conversations,
        "seeds_file": str(seeds) if seeds is not None else None,
        "domains": domain or None,
        "models": {"default": model} if model is not None else None,
        "seed": seed,
        "probes": {"hard": True} if hard else None,
        "limits": _limits(concurrency, max_cost),
    }
    cluster = _cluster(runner, workers, address, host, scratch)
    spec = load_spec(spec_file, {key: value for key, value in overrides.items() if value is not None})
    return _run_and_report(_create(spec, out), _How(runner, invocation_log, cluster, json), out)


@app.command(short_help="Continue a benchmark that was stopped.")
def resume(
    name: Name,
    runner: RunnerOption = Runner.AUTO,
    workers: Workers = None,
    address: Address = "",
    host: Host = "",
    scratch: Scratch = "",
    concurrency: Concurrency = None,
    max_cost: MaxCost = None,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
    invocation_log: InvocationLog = None,
) -> int:
    """Continue a benchmark that was stopped or has failed units; finished conversations stay as they are."""
    from longbeam.pipeline.run import finished_conversations
    from longbeam.prompts import registry_for
    from longbeam.store import open_benchmark

    cluster = _cluster(runner, workers, address, host, scratch)
    spec = open_benchmark(out, name).spec
    if spec.is_given:
        raise UserError(f"benchmark {name!r} was {spec.source}; there is nothing to resume")
    if (limits := _limits(concurrency, max_cost)) is not None:
        from longbeam.pipeline import with_overrides

        spec = with_overrides(spec, {"limits": limits})
    benchmark = _create(spec, out)
    kept = finished_conversations(benchmark, registry_for(spec))
    code = _run_and_report(replace(benchmark, kept=kept), _How(runner, invocation_log, cluster, json), out)
    _renew_damaged(benchmark)
    return code


@app.command()
def status(name: Name, json: AsJson = False, out: Out = DEFAULT_OUT) -> int:
    """Show the progress of a benchmark, also during a run."""
    from longbeam.keys import STAGES
    from longbeam.pipeline import benchmark_status, render_evaluations, render_status, render_used
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    if benchmark.spec.is_given and not json:
        count = counted(len(benchmark.sealed_ids), "conversation")
        print(f"{name}: {benchmark.spec.source}, {count}; nothing is left to do")
        found = benchmark_status(benchmark)
        print(render_used(found) + render_evaluations(found), end="")
        return OK
    found = benchmark_status(benchmark)
    if json:
        print(found.model_dump_json(indent=2))
        return OK
    print(render_status(found, STAGES), end="")
    if found.finished < len(found.conversations):
        print(f"Go on with: {command_line('resume', name, out)}")
    return OK


@app.command(short_help="Estimate the cost of a spec, without calling a model.")
def estimate(
    spec_file: Annotated[
        Path | None, typer.Argument(metavar="SPEC.toml", help="Spec file; options win over it.")
    ] = None,
    length: Annotated[str | None, typer.Option(help=LENGTH_HELP)] = None,
    conversations: Annotated[int | None, typer.Option(help="Number of conversations [default: 1].")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Domain to draw from; may be repeated.")] = None,
    model: Annotated[str | None, typer.Option(help=f"Model of all roles [default: {DEFAULT_MODEL}].")] = None,
    json: AsJson = False,
) -> int:
    """Print calls, tokens and cost by stage and role, from a rehearsal of the same spec."""
    from longbeam.pipeline import load_spec
    from longbeam.pipeline.cost import estimate_of, rehearse, render_estimate
    from longbeam.wiring import services

    overrides: dict[str, Any] = {
        "name": DEFAULT_NAME if spec_file is None else None,
        "length": length,
        "conversations": conversations,
        "domains": domain or None,
        "models": {"default": model} if model is not None else None,
    }
    spec = load_spec(spec_file, {key: value for key, value in overrides.items() if value is not None})
    found = estimate_of(spec, run_stoppable(rehearse(spec, services())))
    print(found.model_dump_json(indent=2) if json else render_estimate(found), end="\n" if json else "")
    return OK


@app.command(short_help="Write new seeds of some domains.")
def seeds(
    domains: Annotated[
        list[str], typer.Argument(metavar="DOMAIN...", help="Domains, such as cooking, coding or your own.")
    ],
    count: Annotated[int, typer.Option("--count", min=1, max=200, help="Seeds of each domain.")] = 10,
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="JSON file to write [default: print them].")
    ] = None,
    model: Annotated[str | None, typer.Option(help=f"Model that writes the seeds [default: {DEFAULT_MODEL}].")] = None,
    spec_file: Annotated[
        Path | None,
        typer.Option("--spec", metavar="SPEC.toml", help="Spec to take models and language from."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of all randomness [default: of the spec, else a fixed one].")
    ] = None,
    about: Annotated[
        str, typer.Option("--about", help="Paragraph on a domain of your own: what people do there.")
    ] = "",
) -> int:
    """Write new seeds (title, theme, subtopics, timeline) for `generate --seeds FILE`; none resembles a built-in seed.

    Replies are kept in output/.seeds, so a stopped command continues, and the same command gives the same seeds.
    """
    from longbeam.pipeline import domains_of, load_spec, make_seeds, render_report
    from longbeam.store import write_atomically
    from longbeam.wiring import services

    if file is not None and file.exists():
        raise UserError(f"{file} exists; seeds are made to be edited, so it is not overwritten. Name another file")
    given = {"name": "seeds", "models": {"default": model} if model is not None else None, "seed": seed}
    spec = load_spec(spec_file, {key: value for key, value in given.items() if value is not None})
    folder = DEFAULT_OUT / ".seeds"
    models = services().models(services().make_model(spec, home=folder))
    written = run_stoppable(make_seeds(spec, domains_of(domains, spec.domain, about), count, folder, models))
    if file is not None:
        write_atomically(file, written.text)
    else:
        print(written.text, end="")
    print(render_report(written, file), end="", file=sys.stderr if file is None else sys.stdout)
    return OK if written.is_complete else INCOMPLETE


@app.command("suite", short_help="Make a controlled benchmark of planted facts.")
def make_suite(
    suite: Annotated[str, typer.Argument(help=f"One of: {', '.join(SUITES)}.", show_default=False)],
    name: Annotated[str, typer.Option("--name", help="Name of the benchmark to make.", show_default=False)],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SETTING=VALUE", help="A setting of the suite.", show_default=False),
    ] = None,
    conversations: Annotated[int, typer.Option(help="Number of conversations.", min=1, max=10_000)] = 1,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.", min=0)] = 0,
    out: Out = DEFAULT_OUT,
) -> int:
    """Make a controlled benchmark by rules, without a model; docs/suites.md describes the settings."""
    from longbeam.pipeline import SuiteBenchmark, make_suite as make

    report = make(SuiteBenchmark(name, suite, settings or (), conversations, seed), out)
    print(
        f"{name}: {counted(report.conversations, 'conversation')}, {counted(report.messages, 'message')}, "
        f"{report.tokens:,} tokens, {counted(report.probes, 'probe')}; in {report.benchmark.root}"
    )
    return OK


def _limits(concurrency: int | None, max_cost_usd: float | None) -> dict[str, Any] | None:
    given = {"concurrency": concurrency, "max_cost_usd": max_cost_usd}
    return {name: value for name, value in given.items() if value is not None} or None


def _create(spec: BenchmarkSpec, out: Path) -> Benchmark:
    """Return the new or existing benchmark, after all checks of its spec."""
    from longbeam.pipeline import check_spec
    from longbeam.store import create_benchmark
    from longbeam.wiring import services

    warnings = check_spec(spec)
    services().make_model(spec, home=out / spec.name)
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return create_benchmark(spec, out)


def _renew_damaged(benchmark: Benchmark) -> None:
    """Make a damaged `benchmark.duckdb` again; the checks are imported for it alone."""
    from longbeam.store import is_sound

    if benchmark.database_path.exists() and not is_sound(benchmark.database_path):
        from longbeam.pipeline import make_again

        make_again(benchmark)
        print(f"{benchmark.database_path}: was damaged, and was made again", file=sys.stderr)


def _cluster(runner: Runner, workers: int | None, address: str, host: str, scratch: str) -> ClusterOptions | None:
    """Return the cluster options; None for a runner without a cluster."""
    given = {"--workers": workers, "--address": address, "--host": host, "--scratch": scratch}
    if runner is Runner.DASK:
        if workers and address:
            raise UserError("--workers is of a cluster on this machine, --address of one that runs: give one of them")
        from longbeam.flows import ClusterOptions

        return ClusterOptions(workers=workers, address=address, host=host, scratch=scratch)
    if unfit := [name for name, value in given.items() if value]:
        raise UserError(f"{unfit[0]} is for --runner dask, not for {runner.value}")
    return None


def generate_here(spec: BenchmarkSpec, out: Path) -> Benchmark:
    """Generate a benchmark in this process and return it."""
    benchmark = _create(spec, out)
    _run(benchmark, _How(Runner.INLINE))
    return benchmark


@dataclass(frozen=True)
class _How:
    """How a run is made and reported."""

    runner: Runner
    invocation_log: Path | None = None
    cluster: ClusterOptions | None = None
    json: bool = False


def _run_and_report(benchmark: Benchmark, how: _How, out: Path) -> int:
    from longbeam.pipeline import kept_line

    name = benchmark.spec.name
    if how.runner is Runner.AUTO:
        from longbeam.flows import is_configured

        how = replace(how, runner=Runner.PREFECT if is_configured() else Runner.INLINE)
    if kept := kept_line(benchmark):
        print(kept, file=sys.stderr)
    try:
        summary = _run(benchmark, how)
    except KeyboardInterrupt as exc:
        return say_stopped(exc, command_line("resume", name, out))
    benchmark.require_spec()  # runners make folders where there are none
    if how.json:
        print(_summary_json(benchmark, summary))
    return report_run(benchmark, summary, out, is_quiet=how.json)


def _summary_json(benchmark: Benchmark, summary: RunSummary) -> str:
    from json import dumps

    failures = [{"conversation_id": i, **unit.model_dump(mode="json")} for i, unit in summary.failures]
    said = {**asdict(replace(summary, failures=())), "failures": failures}
    return dumps({"name": benchmark.spec.name, "root": str(benchmark.root), **said}, indent=2)


def _run(benchmark: Benchmark, how: _How) -> RunSummary:
    from longbeam.keys import STAGES
    from longbeam.pipeline.run import RunSummary, open_meter, run_inline
    from longbeam.wiring import services

    spec = benchmark.spec
    if len(benchmark.kept) == spec.conversations:
        return RunSummary(spec.conversations, spec.conversations, (), 0, 0)
    meter = open_meter(benchmark, services(), invocation_log=how.invocation_log)
    models = services().models(meter)
    outlook = _outlook(benchmark, meter)
    for detail in _subjects_unknown(benchmark):
        print(f"warning: {detail}", file=sys.stderr)
    try:
        target = Target(spec.conversations - len(benchmark.kept), spec.length, STAGES)
        with display_for(sys.stderr, target, outlook) as progress:
            if how.runner is Runner.INLINE:
                return run_stoppable(run_inline(benchmark, models, progress=progress), tell=progress.waiting)
            from longbeam.flows import Begun, run_with_prefect

            begun = Begun(benchmark, meter, models, progress, str(how.invocation_log or ""), how.cluster)
            return run_stoppable(run_with_prefect(begun, progress.say), tell=progress.waiting)
    finally:
        if outlook is not None:
            outlook.close()
            print(outlook.line(), file=sys.stderr)


def _subjects_unknown(benchmark: Benchmark) -> list[str]:
    """Return a line for each seed of whose subject a planner that answers by rule knows nothing."""
    from longbeam.generators import describe_unknown_subject
    from longbeam.models import answers_by_rule
    from longbeam.pipeline.run import conversations_of
    from longbeam.schemas import Role
    from longbeam.wiring import services

    spec = benchmark.spec
    if not answers_by_rule(spec, spec.model_for(Role.PLANNER)) or (spec.domain and not benchmark.kept_seeds()):
        return []
    tells = services().tells
    return [f"{i}: {describe_unknown_subject(s)}" for i, s in conversations_of(benchmark) if not tells(s)]


def _outlook(benchmark: Benchmark, meter: CostMeter) -> Outlook | None:
    """Print the expected cost before a run, and return its outlook; None if no model costs anything."""
    from longbeam.pipeline.cost import Outlook, is_worth_rehearsing, rehearsal_of, short_contexts, unfit_cap
    from longbeam.wiring import services

    if not is_worth_rehearsing(benchmark.spec):
        return None
    print(f"{benchmark.spec.name}: counting the calls of this spec in a rehearsal", file=sys.stderr)
    rehearsal = rehearsal_of(benchmark, services())
    outlook = Outlook(benchmark, meter, rehearsal)
    print(f"{benchmark.spec.name}: {outlook.line()}", file=sys.stderr)
    share = benchmark.spec.checks.gap_share
    print(
        f"{benchmark.spec.name}: a conversation is sealed with at most {share:.1%} of its parts missing, for which no"
        f" reply could be used or an endpoint's filter let none through ([checks] gap_share = {share:g})",
        file=sys.stderr,
    )
    warnings = [unfit_cap(outlook), *short_contexts(benchmark.spec, rehearsal)]
    for warning in filter(None, warnings):
        print(f"warning: {warning}", file=sys.stderr)
    return outlook


def report_run(benchmark: Benchmark, summary: RunSummary, out: Path, *, is_quiet: bool = False) -> int:
    """Print the result of a run and the next commands, if quiet only what is missing; return the exit code."""
    from longbeam.pipeline import describe_failures
    from longbeam.pipeline.run import describe_gaps, gaps_of

    name = benchmark.spec.name
    replayed = f", {summary.replayed:,} replies from the journal" if summary.replayed else ""
    done = f"{name}: {summary.finished} of {counted(summary.conversations, 'conversation')} finished, "
    done += f"{counted(summary.calls, 'model call')}{replayed}"
    gaps, allowed = gaps_of(benchmark), benchmark.spec.checks.gap_share
    if remade := ", ".join(f"{count:,} of stage {stage}" for stage, count in summary.remade.items() if count):
        print(f"{name}: units made anew, because prompts, rules or the spec changed since: {remade}", file=sys.stderr)
    if summary.finished < summary.conversations or summary.failures or gaps:
        print(done, file=sys.stderr)
        for conversation_id in dict.fromkeys(i for i, _ in summary.failures):
            for line in describe_failures([unit for i, unit in summary.failures if i == conversation_id]):
                print(f"  {conversation_id} {line}", file=sys.stderr)
        for conversation_id, share in gaps.items():
            print(f"  {describe_gaps(conversation_id, share, allowed)}", file=sys.stderr)
        if summary.stopped:
            print(f"stopped: {summary.stopped}", file=sys.stderr)
        if (
            not summary.stopped
            and summary.finished == summary.conversations
            and all(u.is_exhausted for _, u in summary.failures)
        ):
            next_step = f"Have what is missing made by: {command_line('repair', name, out)}"
        else:
            next_step = f"{'Go on' if summary.stopped else 'Try what failed again'} with: "
            next_step += command_line("resume", name, out)
        print(next_step, file=sys.stderr)
        return INCOMPLETE
    if is_quiet:
        return OK
    print(f"{done}; in {benchmark.root}")
    target = benchmark.root / "export"
    print("Next:")
    print(f"  {command_line('validate', name, out)}")
    print(f"  {command_line('stats', name, out)}")
    print(f"  {command_line('export', f'{name} --format jsonl --to {shlex.quote(str(target))}', out)}")
    return OK
