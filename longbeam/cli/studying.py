"""Studies of papers, without a model: `longbeam study paging|canvas|controlled|cmv`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from longbeam.cli.app import DEFAULT_OUT, INCOMPLETE, OK, AsJson, Name, Out, app, refuse_nothing_sealed
from longbeam.errors import UserError
from longbeam.keys import UnitKey
from longbeam.stopping import run_stoppable

study = typer.Typer(
    help="Studies of four papers on a benchmark, without a model.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(study, name="study", short_help="Repeat the studies of four papers, without a model.")


ENOUGH_QUESTIONS = 200
"""Questions of which a share is known to 7 percentage points: 1.96 * sqrt(.25 / 200)."""


@study.command("paging", short_help="Study cooperative paging on a benchmark, without a model.")
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
    from longbeam.evaluation import plot_paging
    from longbeam.memory.paging import Capacity, render_study, run_study, workload_of
    from longbeam.models import load_tokenizer
    from longbeam.pipeline import sealed_conversations
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with sealed_conversations(benchmark) as readers:
        workloads = [workload_of(r.head.conversation_id, r.messages(), r.probes()) for r in readers]
    if not any(workload.questions for workload in workloads):
        raise UserError(f"benchmark {name!r} has no selected probe with evidence; there is nothing to page for")
    if (asked := sum(len(workload.questions) for workload in workloads)) < ENOUGH_QUESTIONS:
        print(
            f"{asked} questions tell only large differences apart (the paper asks some 159 in each of 20 settings, "
            "3,176); more: `longbeam suite paging --name NAME --conversations 20`, some 13 a conversation",
            file=sys.stderr,
        )
    count = load_tokenizer(benchmark.spec.tokenizer).count
    study = run_study(name, workloads, count, Capacity(tokens=None if pages else tokens, pages=pages))
    text = study.model_dump_json(indent=2) + "\n" if json else render_study(study)
    _print_or_write(text, markdown)
    if plot is not None:
        _print_or_write(plot_paging(study), plot)
    return OK


@study.command("controlled", short_help="Score a controlled suite and its floors, without a judge.")
def controlled(name: Name, json: AsJson = False, out: Out = DEFAULT_OUT) -> int:
    """Print exact, fuzzy, keyword, pass, causal and impact scores of the floors and of the last evaluation."""
    import json as jsons

    from longbeam.evaluation import controlled_rows, keywords_of, read_results, render_rows
    from longbeam.pipeline import sealed_conversations
    from longbeam.pipeline.evaluate import results_path
    from longbeam.schemas import WholeConversation, is_language_model
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with sealed_conversations(benchmark) as readers:
        told = [WholeConversation.of(reader) for reader in readers]
    if not benchmark.spec.suite and not all(keywords_of(p) for c in told for p in c.probes if p.evidence):
        raise UserError(f"{name!r} is no controlled suite; make one with `longbeam suite canvas_standard --name NAME`")
    if not any(keywords_of(probe) for c in told for probe in c.probes):
        raise UserError(
            f"benchmark {name!r} has no gold of a few words; make one with `longbeam suite canvas_standard`"
        )
    path = results_path(benchmark)
    evaluated = read_results(path) if path.exists() else None
    rows = controlled_rows(told, evaluated.results if evaluated else ())
    if evaluated and not is_language_model(evaluated.run.reader):
        print(
            "no language model answered: a rule quotes one sentence, which is no reason, so that causal and impact say "
            f"nothing of a system; answer with `longbeam evaluate {name} --reader MODEL`, such as openai:NAME",
            file=sys.stderr,
        )
    print(jsons.dumps([row.model_dump() for row in rows], indent=2) if json else render_rows(name, rows), end="")
    return OK


@study.command("canvas", short_help="Measure CogCanvas's retrieval recall at equal budgets, without a model.")
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
    from longbeam.memory import Tools
    from longbeam.memory.cogcanvas import recall_study, render_recall
    from longbeam.models import Asker, load_tokenizer
    from longbeam.models.embedders import make_embedder
    from longbeam.pipeline import sealed_conversations
    from longbeam.pipeline.evaluate import stored_embedder
    from longbeam.prompts import default_registry
    from longbeam.schemas import WholeConversation
    from longbeam.store import open_benchmark
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
        study = run_stoppable(recall_study(name, told, tools, budgets=budgets, categories=categories))
    if not study.questions:
        raise UserError(f"benchmark {name!r} has no selected probe of category {category or 'other than abstention'}")
    text = study.model_dump_json(indent=2) + "\n" if json else render_recall(study)
    _print_or_write(text, markdown)
    return OK


@study.command("cmv", short_help="Measure which facts of agentic sessions survive trimming.")
def survival(
    name: Name,
    thresholds: Annotated[str, typer.Option("--threshold", help="Characters, comma-separated.")] = (
        "50,200,500,1000,2000,5000"
    ),
    released: Annotated[bool, typer.Option("--released", help="Trim like the paper's released code.")] = False,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Print the share of facts of an agentic benchmark that survive trimming, by place and threshold."""
    from longbeam.memory.cmv import Variant, measure, render_survival
    from longbeam.models import load_tokenizer
    from longbeam.pipeline import sealed_conversations
    from longbeam.store import open_benchmark

    try:
        chosen = [int(part) for part in thresholds.split(",")]
    except ValueError:
        raise UserError(f"--threshold {thresholds!r}: write whole numbers, as in 200,500") from None
    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    variant = Variant.RELEASED if released else Variant.MENDED
    with sealed_conversations(benchmark) as readers:
        given = ((list(r.messages()), list(r.probes())) for r in readers)
        found = measure(given, chosen, variant, load_tokenizer(benchmark.spec.tokenizer).count)
    print(found.model_dump_json(indent=2) if json else render_survival(name, found), end="\n" if json else "")
    if not found.kept:
        print(f"{name} plants no facts by place; make one with: longbeam suite agentic --name NAME", file=sys.stderr)
        return INCOMPLETE
    return OK


def _print_or_write(text: str, file: Path | None) -> None:
    from longbeam.store import write_atomically

    if file is None:
        print(text, end="")
    else:
        write_atomically(file, text)
        print(f"written to {file}")
