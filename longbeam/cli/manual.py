"""`longbeam serve-manual`: an endpoint whose replies are written by hand, and the commands of those who write them."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from longbeam.cli.app import DEFAULT_OUT, INCOMPLETE, OK, app
from longbeam.errors import UserError, require_extra

manual = typer.Typer(
    help="Serve an OpenAI-compatible endpoint whose replies people or other programs write (docs/manual.md).",
    invoke_without_command=True,
    rich_markup_mode=None,
)
app.add_typer(manual, name="serve-manual", short_help="Serve an endpoint whose replies are written by hand.")

QueueFolder = Annotated[Path, typer.Option("--queue", metavar="DIR", help="Folder of the queue.")]
DEFAULT_QUEUE = DEFAULT_OUT / ".manual"
Writer = Annotated[str, typer.Option("--writer", help="Name of who writes, for claims.")]
Number = Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the request.", show_default=False)]
Prompt = Annotated[str, typer.Option("--prompt", help="Requests of this prompt only.", show_default=False)]
_LOOK_S = 0.3
_BLOCK = re.compile(r"@@@ (\d+)\s*")
"""Line before each of several replies."""


@manual.callback()
def serve_manual(
    context: typer.Context,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 8100,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", metavar="DIR", help="Also write requests as files there, and read replies.", show_default=False
        ),
    ] = None,
    queue: QueueFolder = DEFAULT_QUEUE,
) -> int:
    """Serve until stopped, where no command is named."""
    require_extra("review", "this server", "fastapi", "uvicorn", "jsonschema")
    if (command := context.invoked_subcommand) is not None:
        context.default_map = {command: {"queue": str(queue)}}  # `--queue` may stand before the command, too
        return OK
    from longbeam.manual import run_server

    def announce(base_url: str) -> None:
        print(f"LISTENING {base_url}/v1", flush=True)
        print(f"The requests: {base_url}/", flush=True)

    asyncio.run(run_server(queue, folder, port, announce))
    return OK


@manual.command("pending")
def pending(prompt: Prompt = "", queue: QueueFolder = DEFAULT_QUEUE) -> int:
    """List the requests without a reply."""
    from longbeam.manual import Queue, headline

    now = time.time()
    with closing(Queue(queue)) as opened:
        for slot in opened.unanswered(prompt):
            state = slot.state(now) + (f" by {slot.writer}" if slot.state(now) == "claimed" else "")
            print(f"{headline(slot)}: {state}{'' if slot.clients else ', no client waits'}")
    return OK


@manual.command("next")
def take_next(
    most: Annotated[int, typer.Option("--most", help="Requests to claim at most.", min=1)] = 1,
    wait: Annotated[float, typer.Option("--wait", metavar="SECONDS", help="Wait for the first one.", min=0)] = 0,
    claim: Annotated[float, typer.Option("--claim", metavar="SECONDS", help="Keep others away so long.", min=1)] = 900,
    writer: Writer = "anyone",
    prompt: Prompt = "",
    queue: QueueFolder = DEFAULT_QUEUE,
) -> int:
    """Claim requests and print them; texts that the writer was shown before are shortened. Exit code 1: none waits."""
    from longbeam.manual import Queue, as_markdown

    until = time.monotonic() + wait
    with closing(Queue(queue)) as opened:
        while not (claimed := opened.claim(writer, most, prompt=prompt, lasts_s=claim)):
            if (left := until - time.monotonic()) <= 0:
                held = [
                    s.name
                    for s in opened.unanswered(prompt)
                    if s.writer == writer and s.state(time.time()) == "claimed"
                ]
                told = f"; {writer} holds {', '.join(held)}: `show` prints them" if held else ""
                print(f"no request waits{told}", file=sys.stderr)
                return INCOMPLETE
            time.sleep(min(left, _LOOK_S))
        for slot in claimed:
            print(as_markdown(slot, opened.unseen(writer, slot)))
    return OK


@manual.command("show")
def show(number: Number, queue: QueueFolder = DEFAULT_QUEUE) -> int:
    """Print one request whole, and its reply if it has one."""
    from longbeam.manual import Queue, as_markdown

    with closing(Queue(queue)) as opened:
        slot = opened.slot(number)
    print(as_markdown(slot), end="" if slot.reply is None else f"\n## Reply\n\n{slot.reply}\n")
    return OK


@manual.command("reply")
def reply(
    number: Annotated[
        int | None, typer.Argument(metavar="[NUMBER]", help="Request of the one reply.", show_default=False)
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="File with the reply [default: standard input].", show_default=False)
    ] = None,
    writer: Writer = "anyone",
    queue: QueueFolder = DEFAULT_QUEUE,
) -> int:
    """Send a reply, or several: without NUMBER, each follows a line `@@@ NNNN`. Exit code 1: one was refused."""
    from longbeam.manual import Queue, name_of

    text = sys.stdin.read() if file is None else _text_of(file)
    given = _blocks_of(text) if number is None else [(number, text)]
    refused = 0
    with closing(Queue(queue)) as opened:
        for asked, said in given:
            try:
                opened.reply(asked, said, writer)
            except UserError as exc:
                refused += 1
                print(f"refused: {exc}")
            else:
                print(f"accepted: {name_of(asked)}")
    return INCOMPLETE if refused else OK


@manual.command("reopen")
def reopen(number: Number, queue: QueueFolder = DEFAULT_QUEUE) -> int:
    """Drop an accepted reply or a claim, so that the request can be answered anew."""
    from longbeam.manual import Queue

    with closing(Queue(queue)) as opened:
        opened.reopen(number)
    return OK


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise UserError(f"{file}: cannot be read as UTF-8 text: {exc}") from exc


def _blocks_of(text: str) -> list[tuple[int, str]]:
    """Return each reply of a text with its number; UserError if the text does not begin with a line `@@@ NNNN`."""
    blocks: list[tuple[int, list[str]]] = []
    for line in text.splitlines(keepends=True):
        if found := _BLOCK.fullmatch(line):
            blocks.append((int(found[1]), []))
        elif line.startswith("@@@"):
            raise UserError(
                f"the line {line.strip()[:40]!r} names no request; write it like `@@@ 0007`. Nothing was sent"
            )
        elif blocks:
            blocks[-1][1].append(line)
        elif line.strip():
            raise UserError(
                f"the text begins with {line.strip()[:40]!r}; give a NUMBER, or begin with a line `@@@ 0007`"
            )
    if not blocks:
        raise UserError("there is no reply in the text")
    return [(number, "".join(lines)) for number, lines in blocks]
