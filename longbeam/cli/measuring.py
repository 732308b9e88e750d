"""Commands that measure memory systems: evaluate, report, judge-agreement."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

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
    refuse_nothing_sealed,
    warn_of_unfinished,
)
from longbeam.cli.display import Display, Target, display_for
from longbeam.errors import UserError
from longbeam.keys import UnitKey
from longbeam.schemas.defaults import DEFAULT_MODEL

ControlOption = Annotated[
    str | None,
    typer.Option("--control", help="Negative control: evidence-removed or swapped.", show_default=False),
]


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
    reader: Annotated[str, typer.Option("--reader", help="Model that answers from a context.")] = DEFAULT_MODEL,
    judge: Annotated[str, typer.Option("--judge", help="Model that judges answers.")] = DEFAULT_MODEL,
    extractor: Annotated[str, typer.Option("--extractor", help="Model that prepares memory systems.")] = DEFAULT_MODEL,
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
    """Prepare memory systems on the finished conversations, ask the probes, judge, score, and print the table.

    Replies are kept, so a killed evaluation continues where it stopped. Probes are asked in their reviewed form.
    """
    from longbeam.evaluation.arms import ablations, always_there, arms_of, variants
    from longbeam.evaluation.controls import find_control
    from longbeam.evaluation.table import as_json, render_table
    from longbeam.models.cost import CostMeter
    from longbeam.models.embedders.factory import make_embedder
    from longbeam.pipeline.evaluate.evaluating import EvaluationRequest, evaluation_spec
    from longbeam.pipeline.evaluate.evaluating import evaluate as run_evaluation
    from longbeam.pipeline.run.driver import limited_models
    from longbeam.review.outcomes import reviewed_probes
    from longbeam.schemas.evaluation import EvaluationRun, EvaluationSettings, Result
    from longbeam.store.layout import open_benchmark
    from longbeam.wiring import services

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    given = [*variants(variant, system), *(settings or ())]
    arms = [*always_there(), *arms_of(system, given, [*(grid or ()), *ablations(without, system)])]
    asked = EvaluationSettings(budget=budget, window=window, is_strict=not lenient, embedder=embedder)
    spec = evaluation_spec(benchmark.spec, reader=reader, judge=judge, extractor=extractor)
    vectors = make_embedder(embedder, spec) if embedder else None
    chosen = find_control(control)
    meter = CostMeter(services().make_model(spec, invocation_log=invocation_log), spec)

    async def measured(progress: Display) -> tuple[EvaluationRun, list[Result]]:
        async with limited_models(services().models(meter), spec) as models:
            request = EvaluationRequest(spec, arms, asked, chosen, reviewed_probes(benchmark))
            return await run_evaluation(benchmark, request, models, embedder=vectors, progress=progress)

    with display_for(sys.stderr, Target(len(benchmark.sealed_ids), 0)) as progress:
        run, results = asyncio.run(measured(progress))
    print(as_json(run, results) if json else render_table(run, results), end="")
    for failure in run.failures:
        print(f"failed: {failure}", file=sys.stderr)
    warn_of_unfinished(benchmark, out)
    return INCOMPLETE if run.failures else OK


@app.command(short_help="Report on an evaluation, as HTML or Markdown.")
def report(
    name: Name,
    html: Annotated[Path | None, typer.Option("--html", help="Self-contained HTML file to write.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Markdown file to write.")] = None,
    leaderboard: Annotated[
        Path | None, typer.Option("--leaderboard", help="JSON file in which to add or replace the systems.")
    ] = None,
    others: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="RESULTS.jsonl", help="Another results file to compare.", show_default=False),
    ] = None,
    control: ControlOption = None,
    against: Annotated[str, typer.Option("--against", help="System that the others are compared with.")] = "bm25",
    probes: Annotated[int, typer.Option("--probes", help="Probes per ability shown one by one.", min=0)] = 20,
    out: Out = DEFAULT_OUT,
) -> int:
    """Report on the last evaluation of a benchmark; without a file option, print the report as Markdown."""
    from longbeam.evaluation.controls import find_control
    from longbeam.evaluation.leaderboard import merged
    from longbeam.evaluation.report import render_html, render_markdown, sections_of
    from longbeam.evaluation.results import read_results, reworded
    from longbeam.pipeline.evaluate.evaluating import results_path
    from longbeam.review.outcomes import reviewed_probes
    from longbeam.store.files import write_atomically
    from longbeam.store.layout import open_benchmark

    benchmark = open_benchmark(out, name)
    path = results_path(benchmark, find_control(control))
    sections = sections_of([read_results(p) for p in [path, *(others or ())]], against=against, probes_shown=probes)
    now = reviewed_probes(benchmark)
    if now is not None and (stale := reworded(read_results(path).run.probes, now)):
        told = f"{len(stale)} of its probes were changed or taken out in the review since, {stale[0]} for one"
        print(f"the scores are out of date: {told}; run `longbeam evaluate {name}` again", file=sys.stderr)
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
    from longbeam.evaluation.agreement import agreement_of, render_agreement
    from longbeam.evaluation.results import read_results

    found = agreement_of(read_results(first), read_results(second))
    print(found.model_dump_json(indent=2) if json else render_agreement(found), end="\n" if json else "")
    return OK


@app.command("paging", short_help="Study cooperative paging on a benchmark, without a model.")
def paging(
    name: Name,
    tokens: Annotated[int, typer.Option("--tokens", help="Capacity of the context in tokens.", min=50)] = 2_000,
    pages: Annotated[
        int | None, typer.Option("--pages", help="Capacity in pages, as in the paper.", min=1, show_default=False)
    ] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="File to write.", show_default=False)] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="SVG file to write.", show_default=False)] = None,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Simulate boundaries, evictions, bookmark generators and formats; print accuracy and its components."""
    from longbeam.memory.paging.residency import Capacity
    from longbeam.memory.paging.study import render_study, run_study, workload_of
    from longbeam.memory.paging.study_plot import plot_study
    from longbeam.models.tokens import load_tokenizer
    from longbeam.pipeline.checking import sealed_conversations
    from longbeam.store.layout import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with sealed_conversations(benchmark) as readers:
        workloads = [workload_of(r.head.conversation_id, r.messages(), r.probes()) for r in readers]
    if not any(workload.questions for workload in workloads):
        raise UserError(f"benchmark {name!r} has no selected probe with evidence; there is nothing to page for")
    count = load_tokenizer(benchmark.spec.tokenizer).count
    study = run_study(name, workloads, count, Capacity(tokens=None if pages else tokens, pages=pages))
    text = study.model_dump_json(indent=2) + "\n" if json else render_study(study)
    _print_or_write(text, markdown)
    if plot is not None:
        _print_or_write(plot_study(study), plot)
    return OK


@app.command("controlled", short_help="Score a controlled suite and its floors, without a judge.")
def controlled(name: Name, json: AsJson = False, out: Out = DEFAULT_OUT) -> int:
    """Print exact, fuzzy, keyword, pass, causal and impact scores of the floors and of the last evaluation."""
    import json as jsons

    from longbeam.evaluation.controlled import controlled_rows, keywords_of, render_rows
    from longbeam.evaluation.results import read_results
    from longbeam.pipeline.checking import sealed_conversations
    from longbeam.pipeline.evaluate.evaluating import results_path
    from longbeam.schemas.conversation import WholeConversation
    from longbeam.store.layout import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with sealed_conversations(benchmark) as readers:
        told = [WholeConversation.of(reader) for reader in readers]
    if not any(keywords_of(probe) for c in told for probe in c.probes):
        raise UserError(
            f"benchmark {name!r} has no gold of a few words; make one with `longbeam suite canvas_standard`"
        )
    path = results_path(benchmark)
    rows = controlled_rows(told, read_results(path).results if path.exists() else ())
    print(jsons.dumps([row.model_dump() for row in rows], indent=2) if json else render_rows(name, rows), end="")
    return OK


@app.command("canvas", short_help="Measure CogCanvas's retrieval recall at equal budgets, without a model.")
def canvas(
    name: Name,
    budget: Annotated[str, typer.Option("--budget", help="Budgets in tokens, comma-separated.")] = "500,1000,2000,4000",
    category: Annotated[
        str,
        typer.Option(
            "--category", help="Categories, comma-separated [default: all but abstention].", show_default=False
        ),
    ] = "",
    embedder: Annotated[
        str, typer.Option("--embedder", help="minilm, hashed, st:NAME or openai:NAME.", show_default=False)
    ] = "",
    markdown: Annotated[Path | None, typer.Option("--markdown", help="File to write.", show_default=False)] = None,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Measure artifacts, chunks and both, with and without the graph, and compare BM25, random turns and all text."""
    from longbeam.memory.base import Tools
    from longbeam.memory.cogcanvas.study import recall_study, render_recall
    from longbeam.models.asking import Asker
    from longbeam.models.embedders.factory import make_embedder
    from longbeam.models.tokens import load_tokenizer
    from longbeam.pipeline.checking import sealed_conversations
    from longbeam.pipeline.evaluate.evaluating import stored_embedder
    from longbeam.prompts.declarations import default_registry
    from longbeam.schemas.conversation import WholeConversation
    from longbeam.store.layout import open_benchmark
    from longbeam.wiring import services

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    budgets = [int(part) for part in budget.split(",") if part.strip().isdigit() and int(part) > 0]
    if len(budgets) != len(budget.split(",")):
        raise UserError(f"--budget {budget}: write numbers of tokens above 0 between commas, as in 500,1000")
    with sealed_conversations(benchmark) as readers:
        told = [WholeConversation.of(reader) for reader in readers]
    vectors = make_embedder(embedder, benchmark.spec) if embedder else None
    with stored_embedder(benchmark, vectors) as kept:
        models = services().models(services().stand_in())
        tools = Tools(
            count_tokens=load_tokenizer(benchmark.spec.tokenizer).count,
            asker=Asker(models, default_registry(), benchmark.spec, unit_key=UnitKey("canvas", "prepare", "cogcanvas")),
            embedder=kept,
        )
        categories = [part.strip() for part in category.split(",") if part.strip()]
        study = asyncio.run(recall_study(name, told, tools, budgets=budgets, categories=categories))
    if not study.questions:
        raise UserError(f"benchmark {name!r} has no selected probe of category {category or 'other than abstention'}")
    text = study.model_dump_json(indent=2) + "\n" if json else render_recall(study)
    _print_or_write(text, markdown)
    return OK


def _print_or_write(text: str, file: Path | None) -> None:
    from longbeam.store.files import write_atomically

    if file is None:
        print(text, end="")
    else:
        write_atomically(file, text)
        print(f"written to {file}")
