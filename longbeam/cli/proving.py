"""Commands on finished conversations: validate, stats, split, export, import."""

from __future__ import annotations

import sys
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

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
from longbeam.cli.display import Display, Target, display_for
from longbeam.errors import UserError
from longbeam.formats import ENTRY_POINTS, EXPORTS, IMPORTS, LOCOMO_SESSIONS
from longbeam.plugins import offered
from longbeam.stopping import run_stoppable
from longbeam.terminal import counted
from longbeam.text import language_of


class FormatCommand(TyperCommand):
    """A command with a parameter `format`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # Any: Typer carries a Click of its own
        """Write the help, with the formats of other packages behind longbeam's own."""
        names = ", ".join(offered(ENTRY_POINTS, {*EXPORTS, *IMPORTS}))
        for parameter in self.params:
            told = getattr(parameter, "help", None)
            if names and parameter.name == "format" and told and names not in told:
                parameter.help = f"{told.rstrip('.')}; of other packages: {names}."  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


if TYPE_CHECKING:
    from longbeam.pipeline.evaluate import ModelChecksRun
    from longbeam.schemas import BenchmarkSpec, FormFigure
    from longbeam.store import Benchmark

MOST_FINDINGS = 40
"""Findings that `validate` prints; `--json` has all."""


class Chat(StrEnum):
    """Version of a chat of BEAM's, which has two."""

    FULL = "full"
    TRUNCATED = "truncated"


@app.command(short_help="Check every finished conversation.")
def validate(
    name: Name,
    json: AsJson = False,
    html: Annotated[
        Path | None, typer.Option(help="Write the findings to this file as a page to read and print.")
    ] = None,
    model_checks: Annotated[
        bool, typer.Option("--model-checks", help="Also run the checks that ask a model, which cost calls.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", help="Model of these checks [default: the spec's checker].", show_default=False),
    ] = None,
    spec_file: Annotated[
        Path | None,
        typer.Option(
            "--spec",
            metavar="SPEC.toml",
            help="Spec to take the checker, endpoints, sampling, limits and batches of these checks from.",
            show_default=False,
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="Most USD to spend on these checks; they stop before.", show_default=False),
    ] = None,
    form: Annotated[
        bool,
        typer.Option("--form", help="Measure instead what the form of messages gives away; needs longbeam[form]."),
    ] = False,
    out: Out = DEFAULT_OUT,
    invocation_log: InvocationLog = None,
) -> int:
    """Check every finished conversation; exit 1 if there is an error finding or an unfinished conversation.

    Earlier findings of model-backed checks are listed as long as their probes have not changed.
    """
    from longbeam.pipeline import (
        check_and_store,
        findings_json,
        load_evaluation_spec,
        measure_form_and_store,
        render_findings,
        render_left_out,
        write_findings_page,
    )
    from longbeam.pipeline.evaluate import checking_spec
    from longbeam.store import open_benchmark
    from longbeam.validation import form_json, render_form

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    if form:
        figures = measure_form_and_store(benchmark)
        print(form_json(figures) if json else render_form(figures), end="")
        return INCOMPLETE if warn_of_unfinished(benchmark, out) else OK
    given = None if spec_file is None else load_evaluation_spec(spec_file, name)
    spec = checking_spec(benchmark.spec, model, max_cost, given)
    failed = _ask_models(benchmark, spec, invocation_log) if model_checks else False
    findings = check_and_store(benchmark)
    checked = len(benchmark.sealed_ids)
    print(findings_json(findings) if json else render_findings(name, checked, findings, MOST_FINDINGS), end="")
    if html is not None:
        write_findings_page(benchmark, findings, html)
        print(f"written to {html}", file=sys.stderr if json else sys.stdout)
    print(render_left_out(language_of(benchmark.spec.language)), end="", file=sys.stderr if json else sys.stdout)
    unfinished = warn_of_unfinished(benchmark, out)
    has_errors = any(finding.severity == "error" for finding in findings)
    return INCOMPLETE if has_errors or unfinished or failed else OK


def _ask_models(benchmark: Benchmark, spec: BenchmarkSpec, invocation_log: Path | None) -> bool:
    """Run the model-backed checks; return whether some of them failed."""
    from longbeam.pipeline.evaluate import refuse_rules, run_model_checks
    from longbeam.pipeline.run import limited_models, meter_of_checks
    from longbeam.wiring import services

    refuse_rules(benchmark, spec)
    models = services().models(meter_of_checks(benchmark, spec, services(), invocation_log=invocation_log))

    async def asked(progress: Display) -> ModelChecksRun:
        async with limited_models(models, spec) as limited:
            return await run_model_checks(benchmark, spec, limited, progress=progress)

    with display_for(sys.stderr, Target(len(benchmark.sealed_ids), 0)) as progress:
        run = run_stoppable(asked(progress), tell=progress.waiting)
    replayed = f", {run.replayed:,} replies from the journal" if run.replayed else ""
    print(f"model-backed checks: {counted(run.calls, 'model call')}{replayed}", file=sys.stderr)
    for failure in run.failures:
        print(f"failed: {failure}", file=sys.stderr)
    if run.stopped:
        print(f"stopped: {run.stopped}; what was answered is kept", file=sys.stderr)
    return bool(run.failures or run.stopped)


@app.command()
def stats(
    name: Name,
    json: AsJson = False,
    to: Annotated[Path | None, typer.Option(help="Write to this file instead of the terminal.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write charts and tables to this file as one page.")] = None,
    out: Out = DEFAULT_OUT,
) -> int:
    """Print a benchmark's tables beside BEAM's published ones."""
    from longbeam.pipeline import count_and_store
    from longbeam.store import open_benchmark, write_atomically
    from longbeam.validation import as_json, render_page, render_text

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    statistics = count_and_store(benchmark)
    text = as_json(statistics) if json else render_text(statistics)
    if html is not None:
        write_atomically(html, render_page(name, statistics))
        print(f"written to {html}", file=sys.stderr if json else sys.stdout)
    if to is None and (json or html is None):
        print(text, end="")
    elif to is not None:
        write_atomically(to, text)
        print(f"written to {to}")
    if not language_of(language := benchmark.spec.language).reads_days:
        print(
            f"{language}: BEAM's columns are of English conversations, and only English names of months and days are "
            "masked",
            file=sys.stderr,
        )
    warn_of_unfinished(benchmark, out)
    return OK


@app.command(short_help="Deal the conversations to train, validation and test.")
def split(
    name: Name,
    shares: Annotated[str, typer.Option("--shares", help="Shares of train, validation and test.")] = "60,20,20",
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of the deal [default: the benchmark's].", show_default=False)
    ] = None,
    form: Annotated[
        bool, typer.Option("--form/--no-form", help="Measure what the form of each part gives away.")
    ] = True,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Deal the finished conversations to train, validation and test, by conversation and never by probe.

    Writes split.json beside the benchmark; `evaluate` and `export` take a part with --split. Conversations of one seed
    stay together, and those of one domain are spread.
    """
    from longbeam.pipeline import form_by_part, render_split, split_benchmark
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    try:
        numbers = [float(part) for part in shares.split(",")]
    except ValueError:
        numbers = []
    found = split_benchmark(benchmark, numbers, benchmark.spec.seed if seed is None else seed)
    figures: dict[str, tuple[FormFigure, ...]] = {}
    if form:
        try:
            figures = form_by_part(benchmark, found)
        except UserError as exc:  # the split is made; only its figures need scikit-learn
            print(f"warning: {exc}", file=sys.stderr)
    if json:
        said = {part: [f.model_dump(mode="json") for f in of] for part, of in figures.items()}
        print(dumps({**found.model_dump(mode="json"), "form": said}, indent=1))
    else:
        print(render_split(found, figures), end="")
        print(f"written to {benchmark.root / 'split.json'}; evaluate one part with --split test")
    return INCOMPLETE if warn_of_unfinished(benchmark, out) else OK


@app.command(cls=FormatCommand, short_help="Write a benchmark as files.")
def export(
    name: Name,
    to: Annotated[Path, typer.Option("--to", help="Folder to write; an earlier export there is replaced.")],
    format: Annotated[str, typer.Option("--format", help=f"One of: {', '.join(EXPORTS)}.")] = "jsonl",
    reviewed_only: Annotated[
        bool, typer.Option("--reviewed-only", help="Only probes that a reviewer accepted or edited.")
    ] = False,
    split: Annotated[
        str,
        typer.Option(
            "--split", help="Part of `longbeam split` to write: train, validation or test.", show_default=False
        ),
    ] = "",
    most_sessions: Annotated[
        int,
        typer.Option("--most-sessions", min=0, help="locomo: days beyond this number are merged; 0: merge none."),
    ] = LOCOMO_SESSIONS,
    licence: Annotated[
        str | None,
        typer.Option(
            "--licence", help="Licence of the data, as in CC-BY-4.0 [default: the spec's].", show_default=False
        ),
    ] = None,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Write the finished conversations and their selected probes, in their reviewed form, as files."""
    from dataclasses import asdict

    from longbeam.formats import ExportOptions, exporter
    from longbeam.pipeline import in_part, stored_form
    from longbeam.review import reviewed_conversations
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with reviewed_conversations(in_part(benchmark, split)) as reviewed:
        options = ExportOptions(reviewed.statuses, reviewed_only, most_sessions, stored_form(benchmark))
        spec = benchmark.spec if licence is None else benchmark.spec.model_copy(update={"licence": licence})
        report = exporter(format)(reviewed.readers, spec, to, options)
    warn_of_unfinished(benchmark, out)
    if json:
        print(dumps(asdict(report), indent=2, default=str))
        return OK
    print(
        f"{to}: {counted(report.conversations, 'conversation')}, {counted(report.messages, 'message')}, "
        f"{report.tokens:,} tokens, {counted(report.probes, 'probe')}; begin with {to / 'README.md'}"
    )
    left_out = (
        (report.rejected, "rejected in review"),
        (report.unsettled, "edited or returned, and not judged since: finish them in `longbeam review`"),
        (report.not_reviewed, "not reviewed"),
    )
    for count, reason in left_out:
        if count:
            print(f"left out: {counted(count, 'probe')} {reason}")
    for warning in report.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return OK


@app.command("import", cls=FormatCommand, short_help="Import a benchmark of another format.")
def import_(
    format: Annotated[str, typer.Argument(help=f"One of: {', '.join(IMPORTS)}.", show_default=False)],
    path: Annotated[Path, typer.Argument(help="File or folder to read.", show_default=False)],
    name: Annotated[str, typer.Option("--name", help="Name of the benchmark to make.", show_default=False)],
    chat: Annotated[Chat, typer.Option("--chat", help="BEAM: version of the chat, if there are two.")] = Chat.FULL,
    join: Annotated[
        bool | None,
        typer.Option(
            "--join/--no-join",
            help="Chats: all of them are sessions of one conversation [default: where one person's export is read].",
            show_default=False,
        ),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Chats: replace names, e-mail addresses, telephone numbers and keys.")
    ] = False,
    redact_name: Annotated[
        list[str] | None,
        typer.Option("--redact-name", help="A further name to replace; may be repeated.", show_default=False),
    ] = None,
    licence: Annotated[str, typer.Option("--licence", help="Licence of the data, which exports name.")] = "",
    tokenizer: Annotated[str, typer.Option("--tokenizer", help="Tokenizer that counts tokens.")] = "o200k_base",
    out: Out = DEFAULT_OUT,
) -> int:
    """Import a benchmark; `validate`, `stats`, `review` and `export` work on it as on a generated one."""
    from longbeam.formats import ImportOptions, importer
    from longbeam.pipeline import Origin, import_benchmark
    from longbeam.text import Redaction, render_found

    if format != "chat" and (redact or redact_name or join is not None):
        raise UserError(f"--redact, --redact-name and --join are of chats, not of {format}")
    redaction = Redaction(redact_name or ()) if redact or redact_name else None
    options = ImportOptions(tokenizer, chat is Chat.FULL, join, redaction)
    report = import_benchmark(importer(format)(path, options), name, out, Origin(format, licence, tokenizer))
    benchmark = report.benchmark
    if redaction is not None:
        print(render_found(redaction.found()), end="")
    print(
        f"{name}: {counted(report.conversations, 'conversation')}, {counted(report.messages, 'message')}, "
        f"{report.tokens:,} tokens, {counted(report.probes, 'probe')}; in {benchmark.root}"
    )
    if report.notes:
        print(f"{counted(report.notes, 'finding')} on the source; see: {command_line('validate', name, out)}")
    return OK
