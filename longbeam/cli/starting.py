"""The command that begins a benchmark of one's own: init writes a spec, seeds and, if wanted, people into a folder."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from longbeam.cli.app import OK, app
from longbeam.errors import UserError
from longbeam.schemas import DEFAULT_MODEL

SPEC_FILE, SEEDS_FILE, PEOPLE_FILE = "spec.toml", "seeds.toml", "people.csv"


@dataclass(frozen=True)
class _World:
    """Answers to the five questions."""

    name: str
    domain: str
    about: str
    length: str
    model: str
    has_people: bool


@app.command(short_help="Begin a benchmark of your own: write a spec, seeds and people to edit.")
def init(
    folder: Annotated[Path, typer.Argument(help="Folder to write into.")] = Path(),
    name: Annotated[str | None, typer.Option(help="Benchmark name [default: the folder's].")] = None,
    domain: Annotated[
        str | None, typer.Option(help="A built-in domain, or the name of your own.", show_default=False)
    ] = None,
    about: Annotated[
        str | None, typer.Option(help="Paragraph on your own domain: what people do there.", show_default=False)
    ] = None,
    length: Annotated[str | None, typer.Option(help="Tokens per conversation [default: 16K].")] = None,
    model: Annotated[str | None, typer.Option(help="Model, as in openai:NAME [default: rules].")] = None,
    people: Annotated[
        bool | None, typer.Option("--people/--no-people", help="Write people.csv to say who the users are.")
    ] = None,
) -> int:
    """Write a commented spec.toml, a seeds.toml and, if wanted, people.csv for `longbeam generate` in that folder.

    What no option says is asked in a terminal, and otherwise has its default. Existing files are not overwritten.
    """
    for file in (SPEC_FILE, SEEDS_FILE, PEOPLE_FILE):
        if (folder / file).exists():
            raise UserError(f"{folder / file} exists; it is not overwritten. Name another folder, or edit the file")
    world = _asked(
        folder, _World(name or "", domain or "", about or "", length or "", model or "", bool(people)), people
    )
    texts = {SPEC_FILE: _spec_text(world), SEEDS_FILE: _seeds_text(world)}
    if world.has_people:
        texts[PEOPLE_FILE] = _PEOPLE
    _write(folder, texts)
    place = "" if folder == Path() else f"cd {folder} && "
    print(f"Edit them, then: {place}longbeam generate")
    return OK


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    """Write the files; UserError, and nothing is written, for an answer that no spec may hold."""
    from tempfile import TemporaryDirectory

    from longbeam.pipeline import check_spec, load_spec
    from longbeam.store import write_atomically

    with TemporaryDirectory(prefix="longbeam-init-") as scratch:
        for file, text in texts.items():
            (Path(scratch) / file).write_text(text, encoding="utf-8")
        try:
            check_spec(load_spec(Path(scratch) / SPEC_FILE))
        except UserError as exc:
            raise UserError(f"{str(exc).replace(f'{scratch}/', '')}. Nothing was written") from exc
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise UserError(f"{folder}: {exc.strerror}; name another folder") from exc
    for file, text in texts.items():
        write_atomically(folder / file, text)
        print(f"wrote {folder / file}")


def _asked(folder: Path, given: _World, people: bool | None) -> _World:
    """Return the answers; questions whose option is missing are asked in a terminal, and have defaults elsewhere."""
    asks: Callable[[str, str], str] = _ask if sys.stdin.isatty() else lambda _, default: default
    plain = re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-.") or "mine"
    name = given.name or asks("Name of the benchmark", plain)
    domain = given.domain or asks("Domain: built in (cooking, coding, ...) or a name of your own", "home_real_estate")
    about = given.about
    if not _is_built_in(domain) and not about:
        about = asks("What do people do there? A paragraph: values they name, what goes wrong, tools, tone", "")
        if not about:
            raise UserError(f"domain {domain!r} is not built in; say what people do there with --about 'a paragraph'")
    length = given.length or asks("Tokens per conversation (16K to 64M)", "16K")
    model = given.model or asks(f"Model ({DEFAULT_MODEL}, openai:NAME, ...)", DEFAULT_MODEL)
    has_people = people if people is not None else asks("Say who the users are, in people.csv? (y/n)", "n")[:1] in "yY"
    return _World(name, domain, about, length, model, has_people)


def _ask(question: str, default: str) -> str:
    return str(typer.prompt(question, default=default)).strip()


def _is_built_in(domain: str) -> bool:
    from longbeam.generators import domain_of

    return domain_of(domain) is not None


def _spec_text(world: _World) -> str:
    own = not _is_built_in(world.domain)
    # A language model writes the seeds of one's own domain; rules cannot.
    off = "# " if own and world.model != DEFAULT_MODEL else ""
    lines = [
        f"# {world.name}: made by `longbeam generate` in this folder. Every key but `name` has a default.",
        f"name = {_quoted(world.name)}",
        f"length = {_quoted(world.length)}  # tokens of message content per conversation: 16K to 64M",
        "conversations = 1",
        "# seed = 7  # of all randomness; without one it follows from the name",
        *([] if own else [f"domains = [{_quoted(world.domain)}]"]),
        f'{off}seeds_file = "{SEEDS_FILE}"  # what each conversation is about',
        f"# Without a file seeds are {'written by the planner' if own else 'drawn from the catalogue'}.",
        "probes_per_ability = 2  # 1 to 8 for each of the ten abilities",
    ]
    if own:
        lines += ["", "[domain]  # a domain of your own; planners and writers are told the paragraph"]
        lines += [f"name = {_quoted(world.domain)}", f"about = {_quoted(world.about)}"]
    if world.has_people:
        lines += ["", "[people]", f'table = "{PEOPLE_FILE}"  # who the users are, one a line, taken in turn']
    lines += [
        "",
        "[models]  # by role; `default` serves the others (docs/models.md)",
        f"default = {_quoted(world.model)}",
        '# [endpoints."openai:NAME"]  # where a model of that name is served',
        '# base_url = "http://127.0.0.1:8000/v1"',
        '# key_env = "MY_API_KEY"  # the variable that holds the key, never the key',
        "",
        "[limits]",
        "concurrency = 16  # model calls in flight",
        "# max_cost_usd = 5.0  # the run stops before it would spend more",
    ]
    return "\n".join(lines) + "\n"


def _seeds_text(world: _World) -> str:
    title, theme, subtopics = _first_seed(world)
    lines = [
        "# What conversations are about, taken in turn. Copy the table for a further one. More by the spec's model:",
        f"# longbeam seeds {_quoted(world.domain)} --spec {SPEC_FILE}",
        "",
        "[[seed]]",
        f"domain = {_quoted(world.domain)}",
        "# An undertaking that may fail, in four to ten words:",
        f"title = {_quoted(title)}",
        f"theme = {_quoted(theme)}",
        f"subtopics = {json.dumps(subtopics, ensure_ascii=False)}",
        '# timeline = "2024-03-01 - 2024-09-30"  # drawn where there is none',
    ]
    return "\n".join(lines) + "\n"


def _first_seed(world: _World) -> tuple[str, str, list[str]]:
    """Return title, theme and subtopics: of the catalogue for a built-in domain, else words to be replaced."""
    from longbeam.generators import domain_of, load_catalogue

    for seed in load_catalogue():
        if seed.domain == domain_of(world.domain):
            return seed.title, seed.theme, list(seed.subtopics)
    title = f"A First Undertaking in {world.domain.replace('_', ' ').title()}"
    return (
        title,
        "From the first request to the day it is done",
        [
            "What is wanted",
            "Who decides",
            "Dates",
            "Amounts",
            "What went wrong",
            "What was agreed",
            "Changes",
            "The result",
        ],
    )


def _quoted(text: str) -> str:
    """Return a TOML string; a JSON string is one."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


_PEOPLE = """profession,employer,country,city,age,language style,product,plan
support lead,Nordhafen Logistik,Germany,Hamburg,41,"short, formal",Ledger Cloud,Enterprise
IT administrator,Quay & Sons,United Kingdom,Bristol,34,"chatty, typos",Ledger Cloud,Team
"""
