"""Commands that show what there is: list, show, sql."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from longbeam.cli.app import DEFAULT_OUT, OK, USER_ERROR, AsJson, Name, Out, app, command_line, refuse_nothing_sealed
from longbeam.errors import StoreError, UserError
from longbeam.terminal import counted, printable

if TYPE_CHECKING:
    import duckdb

    from longbeam.schemas import Message, Probe
    from longbeam.store import Benchmark, SealedConversation

WIDEST = 100
"""Characters of a line of text; longer lines are hard to read."""
_WIDEST_TABLE, _MOST_ROWS = 10_000, 10_000
"""Characters and rows of a table; further rows are counted. A terminal's width is kept."""


@app.command("list")
def list_(json: AsJson = False, out: Out = DEFAULT_OUT) -> int:
    """List the benchmarks of a folder, with their length, conversations and writers."""
    from json import dumps

    from longbeam.store import benchmark_names, open_benchmark

    rows = [_row(open_benchmark(out, name)) for name in benchmark_names(out)]
    if json:
        print(dumps(rows, indent=2))
        return OK
    if not rows:
        print(f"no benchmark in {out}. Make one with: longbeam generate")
        return OK
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        finished = f"{row['finished']} of {counted(int(row['conversations']), 'conversation')} finished"
        size = f"{row['length']:>10,} tokens" if row["length"] else f"{row['source']:>17}"
        print(f"{row['name']:<{width}}  {size}  {finished}  {', '.join(row['models'])}")
    return OK


def _row(benchmark: Benchmark) -> dict[str, Any]:
    from longbeam.pipeline import finished_ids

    spec = benchmark.spec
    try:
        finished = finished_ids(benchmark)
    except StoreError:  # a damaged work log is for `status` and `verify` to tell; the list goes on
        finished = benchmark.sealed_ids
    return {
        "name": spec.name,
        "length": spec.length if not spec.is_given else 0,
        "conversations": spec.conversations,
        "finished": len(finished),
        "models": [] if spec.is_given else _writers(benchmark),
        "source": spec.source,
    }


def _writers(benchmark: Benchmark) -> list[str]:
    """Return the models that wrote the sealed conversations; those of the spec where none is sealed or names any."""
    from longbeam.store import SealedConversation

    models: set[str] = set()
    for conversation_id in benchmark.sealed_ids:
        with suppress(StoreError), SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            models.update(author.model for author in sealed.head.authors)
    return sorted(models or benchmark.spec.models_in_use)


@app.command(short_help="Show messages, a probe or the plan of a benchmark.")
def show(
    name: Name,
    item: Annotated[
        str | None,
        typer.Argument(help="A conversation (c000), or a probe (c000/summarization.0).", show_default=False),
    ] = None,
    first: Annotated[int, typer.Option("--from", min=0, help="First message to show.")] = 0,
    count: Annotated[int, typer.Option("--count", min=1, help="Messages to show.")] = 6,
    plan: Annotated[bool, typer.Option("--plan", help="Show how the conversation was planned.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Self-contained page to write, with --plan.", show_default=False)
    ] = None,
    out: Out = DEFAULT_OUT,
) -> int:
    """Show a benchmark's probes; with c000, messages of a conversation; with c000/summarization.0, a whole probe.

    Probes are shown as reviewed: these are the probes that `evaluate` asks and `export` writes. With --plan, the
    events of the story with their days, its facts from when until when, and why others were not chosen to change.
    """
    if plan or html is not None:
        return _show_plan(name, item, html, out)
    from longbeam.formats import advice_without_probes
    from longbeam.review import reviewed_probes
    from longbeam.store import SealedConversation, open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    conversation_id, _, probe_id = (item or benchmark.sealed_ids[0]).partition("/")
    if conversation_id not in benchmark.sealed_ids:
        raise UserError(f"{conversation_id!r} is no finished conversation of {name!r}: {_few(benchmark.sealed_ids)}")
    advice = advice_without_probes(name, benchmark.spec.imported_from, lambda command: command_line(command, name, out))
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        if item is not None and not probe_id:
            lines = _message_lines(sealed, first, count)
        else:
            candidates = tuple(sealed.probes())
            reviewed = reviewed_probes(benchmark, [conversation_id])
            asked = reviewed[conversation_id] if reviewed else tuple(p for p in candidates if p.is_selected)
            if probe_id:
                lines = _probe_lines(sealed, {p.probe_id: p for p in (*candidates, *asked)}, probe_id, advice)
            else:
                ending = _ending(f"{name} {conversation_id}", out, "" if candidates else advice)
                title = f"{name}, {conversation_id}: {sealed.head.seed.title}"
                lines = chain([title], _overview(sealed, candidates, asked), ending)
        for line in lines:
            print(printable(line))
    return OK


def _show_plan(name: str, item: str | None, html: Path | None, out: Path) -> int:
    from longbeam.pipeline import read_stories, story_lines, story_page
    from longbeam.store import open_benchmark, write_atomically

    benchmark = open_benchmark(out, name)
    conversation_id = item or benchmark.conversation_ids[0]
    if conversation_id not in benchmark.conversation_ids:
        raise UserError(f"{conversation_id!r} is no conversation of {name!r}: {_few(benchmark.conversation_ids)}")
    stories = read_stories(benchmark, conversation_id)
    title = f"The story of {name}, {conversation_id}"
    if html is not None:
        write_atomically(html, story_page(title, stories))
        print(f"written to {html}")
        return OK
    for line in chain([title], *map(story_lines, stories)):
        print(printable(line))
    return OK


def _overview(sealed: SealedConversation, candidates: Sequence[Probe], asked: Sequence[Probe]) -> Iterator[str]:
    if (profile := sealed.head.profile) is not None:
        yield from _wrapped(f"The user: {profile.name}. {profile.personality}")
    yield ""
    for probe in asked:
        yield from _wrapped(probe.question, f"{probe.probe_id}: ")
    asked_ids = {p.probe_id for p in asked}
    if left_out := [p.probe_id for p in candidates if p.is_selected and p.probe_id not in asked_ids]:
        yield ""
        yield from _wrapped(f"Rejected or not settled in the review: {', '.join(left_out)}")


def _ending(item: str, out: Path, advice: str) -> Iterator[str]:
    """Yield the next commands; `advice` where there are no probes."""
    messages_of = command_line("show", item, out)
    if advice:
        yield f"There are no probes: {advice}"
        yield f"Messages: {messages_of}"
    else:
        yield f"\nOne probe whole: {command_line('show', f'{item}/PROBE', out)}; messages: {messages_of}"


def _message_lines(sealed: SealedConversation, first: int, count: int) -> Iterator[str]:
    messages = list(islice(sealed.messages(), first, first + count))
    if not messages:
        raise UserError(f"--from {first}: the conversation has {sum(1 for _ in sealed.messages()):,} messages")
    for message in messages:
        yield _heading(message)
        yield from _wrapped(message.content)
        yield ""


def _probe_lines(sealed: SealedConversation, probes: Mapping[str, Probe], probe_id: str, advice: str) -> Iterator[str]:
    if not probes:
        raise UserError(f"no probe {probe_id!r}: there are no probes; {advice}")
    if (probe := probes.get(probe_id)) is None:
        raise UserError(f"no probe {probe_id!r}: there is {_few(tuple(probes))}")
    yield from _wrapped(probe.question, "Question: ")
    yield from _wrapped(probe.gold_answer, "Gold answer: ")
    yield f"\nRubric ({probe.ability.replace('_', ' ')}, {probe.difficulty}):"
    for nugget in probe.rubric:
        yield from _wrapped(nugget.text, "- ")
    cited = {evidence.message_key for evidence in probe.evidence}
    messages = {m.message_key: m for m in sealed.messages() if m.message_key in cited}
    yield f"\nEvidence ({counted(len(probe.evidence), 'message')}):" if cited else "\nEvidence: none"
    for evidence in probe.evidence:
        yield f"  {evidence.part}: {_heading(messages[evidence.message_key])}"
        yield from _wrapped(evidence.quote or messages[evidence.message_key].content, "    ")


def _heading(message: Message) -> str:
    place = "" if message.message_id is None else f"[{message.message_id}] "
    return f"{place}{message.speaker}, {message.sent_at:%A %d %B %Y, %H:%M}"


def _wrapped(text: str, lead: str = "") -> Iterator[str]:
    """Yield the lines of a text within the terminal's width, the first one behind `lead`."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    for i, line in enumerate(text.splitlines() or [""]):
        start = lead if not i else " " * len(lead)
        yield from textwrap.wrap(line, width, initial_indent=start, subsequent_indent=" " * len(lead)) or [""]


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:8]) + (f", ... ({len(names):,})" if len(names) > 8 else "")


@app.command(short_help="Query a benchmark with SQL.")
def sql(
    name: Name,
    query: Annotated[
        str | None, typer.Argument(help="A statement; without one a prompt reads them.", show_default=False)
    ] = None,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Query the finished conversations, findings, opinions and evaluations of a benchmark with SQL (DuckDB).

    Views: messages, probes, evidence, nuggets, findings, opinions, runs, answers and others; `dictionary` lists them
    with their columns. Nothing can be changed, and an open review may go on.
    """
    from longbeam.library import open_database
    from longbeam.store import open_benchmark

    benchmark = open_benchmark(out, name)
    refuse_nothing_sealed(benchmark, out)
    with open_database(benchmark) as db:
        if query is not None:
            _answer(db, query, as_json=json)
            return OK
        if sys.stdin.isatty():
            _greet(db)
        for statement in _statements():
            try:
                _answer(db, statement, as_json=json)
            except UserError as exc:
                print(exc, file=sys.stderr)
                if not sys.stdin.isatty():  # a script stops at its first mistake
                    return USER_ERROR
    return OK


def _greet(db: duckdb.DuckDBPyConnection) -> None:
    from longbeam.library import view_names

    with suppress(ImportError):
        import readline  # noqa: F401  # gives `input` a history
    print(f"Views: {', '.join(view_names(db))}.")
    print("Columns: describe messages; with explanations: select * from dictionary;")
    print("End a statement with a semicolon, and the session with Ctrl-D.")


def _statements() -> Iterator[str]:
    """Yield statements that are typed or piped in: up to a line that ends with a semicolon, or to the end."""
    held: list[str] = []
    is_typed = sys.stdin.isatty()
    while True:
        try:
            line = input("...> " if held else "sql> ") if is_typed else next(sys.stdin).rstrip("\n")
        except (EOFError, StopIteration):
            break
        except KeyboardInterrupt:  # forget what was typed, as shells do
            held = []
            print()
            continue
        if line.strip():
            held.append(line)
        if line.rstrip().endswith(";"):
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)


def _answer(db: duckdb.DuckDBPyConnection, statement: str, *, as_json: bool) -> None:
    """Print the result of a statement; UserError, in one line, if DuckDB refuses it."""
    import duckdb

    from longbeam.library import view_names

    try:
        # DuckDB's types do not say that a statement without rows, such as SET, gives None.
        result = cast("duckdb.DuckDBPyRelation | None", db.sql(statement))
        if result is None:
            return
        if as_json:
            from json import dumps

            rows = result.fetchall()
            print(dumps([dict(zip(result.columns, row, strict=True)) for row in rows], indent=1, default=str))
            return
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDEST_TABLE
        result.show(max_width=width, max_rows=_MOST_ROWS, max_col_width=max(40, width // 3))
    except duckdb.Error as exc:
        said = " ".join(str(exc).partition("LINE 1:")[0].split())
        hint = f" Views: {', '.join(view_names(db))}." if isinstance(exc, duckdb.CatalogException) else ""
        raise UserError(f"DuckDB refuses the statement: {said}{hint}") from exc
