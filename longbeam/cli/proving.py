"""Commands on finished conversations: validate, stats, export, import."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from longbeam.cli.app import (
    DEFAULT_OUT,
    INCOMPLETE,
    OK,
    AsJson,
    Name,
    Out,
    app,
    command_line,
    refuse_nothing_sealed,
    warn_of_unfinished,
)
from longbeam.formats.registry import EXPORTS, IMPORTS
from longbeam.terminal import counted

MOST_FINDINGS = 40
"""Findings that `validate` prints; `--json` has all."""


class Chat(StrEnum):
    """Which of BEAM's two versions of a chat."""

    FULL = "full"
    TRUNCATED = "truncated"


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
    refuse_nothing_sealed(benchmark, out)
    findings = check_and_store(benchmark)
    checked = len(benchmark.sealed_ids)
    print(findings_json(findings) if json else render_findings(name, checked, findings, MOST_FINDINGS), end="")
    if html is not None:
        write_findings_page(benchmark, findings, html)
        print(f"written to {html}", file=sys.stderr if json else sys.stdout)
    print(render_left_out(benchmark.spec.language), end="", file=sys.stderr if json else sys.stdout)
    unfinished = warn_of_unfinished(benchmark, out)
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
    refuse_nothing_sealed(benchmark, out)
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
    warn_of_unfinished(benchmark, out)
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
    """Write the finished conversations and their selected probes as files, as they were reviewed."""
    from longbeam.annotation_ui.exporting import reviewed_conversations
    from longbeam.formats.registry import exporter
    from longbeam.pipeline.benchmark import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with reviewed_conversations(benchmark) as reviewed:
        report = exporter(format)(
            reviewed.readers, benchmark.spec, to, reviews=reviewed.statuses, reviewed_only=reviewed_only
        )
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
    warn_of_unfinished(benchmark, out)
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
    report = import_benchmark(importer(format)(path, options), name, out, format, licence, tokenizer)
    benchmark = report.benchmark
    print(
        f"{name}: {counted(report.conversations, 'conversation')}, {counted(report.messages, 'message')}, "
        f"{report.tokens:,} tokens, {counted(report.probes, 'probe')}; in {benchmark.root}"
    )
    if report.notes:
        print(f"{counted(report.notes, 'finding')} on the source; see: {command_line('validate', name, out)}")
    return OK
