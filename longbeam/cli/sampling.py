"""The command on the samples that are shipped in the package: sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longbeam.cli.app import DEFAULT_OUT, OK, Out, app, command_line
from longbeam.terminal import counted

if TYPE_CHECKING:
    from longbeam.pipeline import GivenReport, Sample


@app.command(short_help="List or unpack the samples of the package.")
def sample(
    chosen: Annotated[
        str | None, typer.Argument(metavar="[SAMPLE]", help="Sample to unpack.", show_default=False)
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="Name of the benchmark [default: the sample's].", show_default=False)
    ] = "",
    opens: Annotated[bool, typer.Option("--open", help="Start the review of the unpacked sample.")] = False,
    port: Annotated[int, typer.Option("--port", help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    out: Out = DEFAULT_OUT,
) -> int:
    """List the samples, or unpack one; `validate`, `show`, `review`, `evaluate` and `export` work on it."""
    from longbeam.pipeline import sample_named, samples

    if chosen is None:
        found = samples()
        for one in found:
            counts = one.counts
            print(f"{one.name}: {one.about.title}; {counts['tokens']:,} tokens, {counted(counts['probes'], 'probe')}")
            read = f"probes read by {one.about.readers}" if one.about.readers else "probes not read yet"
            print(f"  written by {one.about.writer}; {read}; {one.about.licence}")
        print("Unpack one with: longbeam sample NAME" if found else "This package has no sample.")
        return OK
    given = sample_named(chosen)
    name = name or given.name
    if not (opens and (out / name).exists()):
        report = unpack_with_review(given, out, name)
        print(f"{name}: {counted(report.messages, 'message')}, {report.tokens:,} tokens, {report.probes} probes")
        print(f"Read it with: {command_line('show', name, out)} or {command_line('review', name, out)}")
    if opens:
        from longbeam.cli.reviewing import review

        return review(name, port=port, out=out)
    return OK


def unpack_with_review(given: Sample, out: Path, name: str) -> GivenReport:
    """Make a benchmark of a sample, with the opinions of those who have read it."""
    from longbeam.pipeline import unpack
    from longbeam.review import import_log

    report = unpack(given, out, name)
    if given.reviews is not None:
        import_log(report.benchmark.reviews_path, given.reviews)
    return report
