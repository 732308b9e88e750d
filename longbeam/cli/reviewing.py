"""Commands of the human review: review, and reviews export, import, backup, bundle, passports."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longbeam.cli.app import DEFAULT_OUT, OK, Name, Out, app, command_line, refuse_nothing_sealed
from longbeam.cli.making import generate_here
from longbeam.errors import UserError, require_extra
from longbeam.terminal import counted

if TYPE_CHECKING:
    from pydantic import JsonValue

    from longbeam.review import RubricJudge
    from longbeam.schemas import ReviewerRole
    from longbeam.store import Benchmark


WEB = ("fastapi", "itsdangerous", "markdown_it", "nh3", "uvicorn")
"""Libraries of the extra `review`."""


@app.command(short_help="Review a benchmark in the browser.")
def review(
    name: Annotated[str | None, typer.Argument(help="The benchmark's name.", show_default=False)] = None,
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen on; one that other machines can reach needs personal links."),
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option("--port", help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    reviewer: Annotated[
        list[str] | None,
        typer.Option("--reviewer", metavar="NAME[:lead]", help="A reviewer; may be repeated.", show_default=False),
    ] = None,
    overlap: Annotated[
        int | None, typer.Option("--overlap", min=1, max=9, help="Opinions wanted of each probe.", show_default=False)
    ] = None,
    min_searches: Annotated[
        int | None,
        typer.Option("--min-searches", min=0, max=20, help="Searches that an abstention needs.", show_default=False),
    ] = None,
    every_nugget: Annotated[
        bool | None,
        typer.Option("--every-nugget/--any-nugget", help="Whether each nugget must be judged.", show_default=False),
    ] = None,
    with_links: Annotated[
        bool, typer.Option("--with-links", help="Require a personal link from everybody, on this machine too.")
    ] = False,
    link_days: Annotated[
        int, typer.Option("--link-days", min=1, max=365, help="Days that a personal link lets its reviewer in.")
    ] = 14,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", help="Certificate (PEM) to serve HTTPS with.", show_default=False),
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="Private key (PEM) of the certificate.", show_default=False)
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Another host name of this server; may be repeated.", show_default=False),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Review a small benchmark with planted faults, to learn how.")
    ] = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Serve the review pages until stopped; they show conversations as soon as they are finished."""
    require_extra("review", "longbeam review", *WEB)
    from longbeam.annotation_ui import Certificate, Reach, ServerOptions, is_loopback, serve

    if (name is None) != demo:
        raise UserError("name the benchmark to review, or use --demo for a small one with planted faults; not both")
    benchmark = _training_set(out) if name is None else _benchmark_or_sample(out, name)
    if not benchmark.sealed_ids:
        print("No conversation is finished yet; the pages show each one as soon as it is.", file=sys.stderr)
    reviewers = _reviewers(reviewer or ())
    if not reviewers and (with_links or not is_loopback(host)):
        raise UserError(
            f"--host {host}: only people with a personal link get in there; name who reviews with "
            "--reviewer ana --reviewer bo:lead"
        )
    if (certificate is None) != (key is None):
        raise UserError("--certificate and --key go together: name both files, or neither")
    settings = {"overlap": overlap, "min_searches": min_searches, "every_nugget": every_nugget}
    given: dict[str, JsonValue] = {key: value for key, value in settings.items() if value is not None}
    if shipped := _shipped_reviewers(benchmark):
        given["shipped"] = list(shipped)
    pair = Certificate(certificate, key) if certificate and key else None
    reach = Reach(host, with_links, reviewers, frozenset(allow_host or ()), link_days, pair is not None)
    if pair is None and not is_loopback(host):
        print(
            "The links cross the network unencrypted; use --certificate and --key, or a tunnel (ssh -L) to here.",
            file=sys.stderr,
        )
    serve(benchmark, lexical_judge(), ServerOptions(reach, port, given, pair), _announce)
    return OK


def _benchmark_or_sample(out: Path, name: str) -> Benchmark:
    """Return a benchmark; a sample of this name is unpacked first if there is no such benchmark."""
    from longbeam.cli.sampling import unpack_with_review
    from longbeam.pipeline import samples
    from longbeam.store import benchmark_names, open_benchmark

    if name not in benchmark_names(out):
        for sample in samples():
            if sample.name == name:
                print(f"Unpacking the sample {name} into {out / name}.", file=sys.stderr)
                unpack_with_review(sample, out, name)
    return open_benchmark(out, name)


def _shipped_reviewers(benchmark: Benchmark) -> Sequence[str]:
    """Return the reviewers whose opinions came with a sample; empty for a benchmark that was no sample."""
    from longbeam.pipeline import samples
    from longbeam.review import from_jsonl
    from longbeam.store import read_text, stored_events

    if benchmark.spec.imported_from != "jsonl":
        return []
    here = {e.event_id: e.reviewer_id for e in stored_events(benchmark.reviews_path)}
    for sample in samples():
        shipped = [e for _, e in from_jsonl(read_text(sample.reviews), str(sample.reviews))] if sample.reviews else []
        if shipped and all(e.event_id in here for e in shipped):
            return sorted({e.reviewer_id for e in shipped if e.item_id})
    return []


MOST_SKIPPED = 20
"""Lines about events that were left out of an import."""
DEMO = "review-demo"
DEMO_FAULTS = 20


def _training_set(out: Path) -> Benchmark:
    """Return the training set in a folder of benchmarks; it is made first if it is not there."""
    from longbeam.pipeline import check_and_store
    from longbeam.review import TRAINING_FILE, keep_training, plant_faults
    from longbeam.schemas import BenchmarkSpec
    from longbeam.store import SealedConversation, create_benchmark, open_benchmark, seal_conversation

    if (out / DEMO / TRAINING_FILE).exists():
        return open_benchmark(out, DEMO)
    print(f"Making {out / DEMO}: two short conversations with {DEMO_FAULTS} planted faults.", file=sys.stderr)
    spec = BenchmarkSpec(name=DEMO, length=16_000, conversations=2)
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        sound = generate_here(spec, Path(scratch))
        sealed = {i: stack.enter_context(SealedConversation(sound.sealed_path(i))) for i in sound.sealed_ids}
        probes, planted = plant_faults({i: list(s.probes()) for i, s in sealed.items()}, DEMO_FAULTS)
        made = create_benchmark(spec, out)
        for conversation_id, conversation in sealed.items():
            path = made.sealed_path(conversation_id)
            path.unlink(missing_ok=True)
            seal_conversation(path, conversation.head, conversation.messages(), probes[conversation_id])
    check_and_store(made)
    keep_training(made.root, planted)
    return made


def _announce(base: str, links: Mapping[str, str]) -> None:
    """Print the address, and the personal link of each reviewer."""
    print(f"LISTENING {base}", flush=True)
    for who, link in links.items():
        print(f"link of {who}: {link}", flush=True)
    if not links:
        print("Open it in a browser; stop with Ctrl-C. What is saved is kept.", file=sys.stderr)


def lexical_judge() -> RubricJudge:
    """Return the judge of rubric trials: deterministic, without a model."""
    from longbeam.review import RubricJudge
    from longbeam.wiring import services

    return RubricJudge("lexical", services().judge_nugget)


def _reviewers(given: Sequence[str]) -> dict[str, ReviewerRole]:
    """Read `NAME` and `NAME:lead`."""
    from longbeam.schemas import ReviewerRole

    found = {}
    for text in given:
        name, _, role = text.partition(":")
        if not name.strip() or role not in ("", *ReviewerRole):
            raise UserError(f"--reviewer {text!r}: write NAME or NAME:lead; roles are {', '.join(ReviewerRole)}")
        found[name.strip()] = ReviewerRole(role or ReviewerRole.ANNOTATOR)
    return found


reviews_app = typer.Typer(help="The log of a review: export it, or import another one.", no_args_is_help=True)
app.add_typer(reviews_app, name="reviews", short_help="Export and import the log of a review.")


@reviews_app.command("export", short_help="Write the log as JSON lines.")
def export_reviews(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="File to write.", show_default=False)],
    out: Out = DEFAULT_OUT,
) -> int:
    """Write all review events of a benchmark, one a line."""
    from longbeam.review import export_log
    from longbeam.store import open_benchmark

    count = export_log(open_benchmark(out, name).reviews_path, file)
    print(f"{file}: {counted(count, 'event')}")
    return OK


@reviews_app.command("import", short_help="Add the events of a log.")
def import_reviews(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="File to read.", show_default=False)],
    out: Out = DEFAULT_OUT,
) -> int:
    """Add the events of another log of the same benchmark; events that are there already are not added again.

    Events that cannot be understood are named and left out.
    """
    from longbeam.review import import_log
    from longbeam.store import open_benchmark

    report = import_log(open_benchmark(out, name).reviews_path, file)
    print(f"{name}: {counted(report.new, 'new event')}, {report.known:,} known already")
    for line in report.skipped[:MOST_SKIPPED]:
        print(f"left out: {line}", file=sys.stderr)
    if len(report.skipped) > MOST_SKIPPED:
        print(f"left out: {len(report.skipped) - MOST_SKIPPED:,} more events", file=sys.stderr)
    if report.number:
        print(f"Take it back with: {command_line('reviews take-back', name, out)} {report.number}")
    return OK


@reviews_app.command("take-back", short_help="Take back an import.")
def take_back(
    name: Name,
    number: Annotated[int, typer.Argument(help="Number of the import, as `reviews import` prints it.")],
    out: Out = DEFAULT_OUT,
) -> int:
    """Undo all events that an import has added; the log keeps both."""
    from longbeam.review import take_back_import
    from longbeam.store import open_benchmark

    count = take_back_import(open_benchmark(out, name).reviews_path, number)
    print(f"{name}: {counted(count, 'event')} of import {number} taken back")
    return OK


@reviews_app.command("backup", short_help="Copy the log while the server runs.")
def back_up_reviews(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE.sqlite", help="New file to write.", show_default=False)],
    out: Out = DEFAULT_OUT,
) -> int:
    """Copy the whole log of a review into a new file; a server may go on writing meanwhile."""
    from longbeam.store import backup_reviews, open_benchmark

    count = backup_reviews(open_benchmark(out, name).reviews_path, file)
    print(f"{file}: {counted(count, 'event')}; to put it back, stop the server and copy it to reviews.sqlite")
    return OK


@reviews_app.command("bundle", short_help="Write a folder to review elsewhere.")
def bundle_reviews(
    name: Name,
    to: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write; a former bundle is replaced.")],
    reviewer: Annotated[str, typer.Option("--reviewer", help="Who will review.", show_default=False)],
    around: Annotated[int, typer.Option("--around", min=0, max=20, help="Messages on each side of the evidence.")] = 3,
    out: Out = DEFAULT_OUT,
) -> int:
    """Write the open items with their evidence as a page that needs no server; `reviews import` reads its decisions."""
    require_extra("review", "longbeam reviews bundle", *WEB)
    from longbeam.annotation_ui import write_bundle
    from longbeam.review import open_workspace
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with open_workspace(benchmark, lexical_judge()) as workspace:
        report = write_bundle(workspace, reviewer, to, around=around)
    print(f"{to}: {counted(report.items, 'item')} for {reviewer}; open {to / 'index.html'}")
    if report.left_out:
        print(f"left out: {counted(report.left_out, 'abstention')}; what is missing cannot be seen in a window")
    return OK


@reviews_app.command("passports", short_help="Write a page about each released question.")
def write_question_passports(
    name: Name,
    to: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write; former passports are replaced.")],
    out: Out = DEFAULT_OUT,
) -> int:
    """Write a page and a JSON file about each question that an export has: evidence, checks, judgements, versions."""
    require_extra("review", "longbeam reviews passports", *WEB)
    from longbeam.annotation_ui import write_passports
    from longbeam.review import open_workspace
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with open_workspace(benchmark, lexical_judge()) as workspace:
        count = write_passports(workspace, to)
    print(f"{to}: {counted(count, 'question')}; open {to / 'index.html'}")
    return OK
