"""All formats by name. A new format is a module with an `Importer` or `Exporter`, and one line here; other packages
add theirs as plug-ins.

Modules are named, not imported, so that `longbeam --help` lists the formats without loading them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from longbeam.errors import SpecError, UserError
from longbeam.plugins import load, offered, unfit

if TYPE_CHECKING:
    from pathlib import Path

    from longbeam.formats.exporting import Exporter
    from longbeam.formats.reading import Importer, ImportOptions
    from longbeam.schemas import GivenConversation

IMPORTS = {
    "beam": "longbeam.formats.beam:import_beam",
    "locomo": "longbeam.formats.locomo:import_locomo",
    "longmemeval": "longbeam.formats.longmemeval:import_longmemeval",
    "jsonl": "longbeam.formats.jsonl_read:import_jsonl",
    "chat": "longbeam.formats.chat:import_chat",
}
"""Module and function of each format that `import` reads."""

EXPORTS = {
    "jsonl": "longbeam.formats.jsonl:export_jsonl",
    "parquet": "longbeam.formats.jsonl:export_parquet",
    "beam": "longbeam.formats.beam:export_beam",
    "beam-json": "longbeam.formats.beam_json:export_beam_json",
    "huggingface": "longbeam.formats.huggingface:export_huggingface",
    "locomo": "longbeam.formats.locomo:export_locomo",
    "longmemeval": "longbeam.formats.longmemeval:export_longmemeval",
    "lmeb": "longbeam.formats.lmeb:export_lmeb",
}
"""Module and function of each format that `export` writes."""

ENTRY_POINTS = "longbeam.formats"
"""Group under which a package offers a `Format`: `name = "package.module:FORMAT"`."""


@dataclass(frozen=True)
class Format:
    """A format of another package; `read` serves `import`, `write` serves `export`."""

    read: Importer | None = None
    write: Exporter | None = None


def importer(name: str) -> Importer:
    """Return the function that reads a format; UserError if there is none."""
    return cast("Importer", _function(IMPORTS, name, "imported"))


def exporter(name: str) -> Exporter:
    """Return the function that writes a format; UserError if there is none."""
    return cast("Exporter", _function(EXPORTS, name, "exported"))


def _function(formats: Mapping[str, str], name: str, done: str) -> object:
    plug_ins = offered(ENTRY_POINTS, {*IMPORTS, *EXPORTS})
    if name in formats:
        module, _, function = formats[name].partition(":")
        return getattr(import_module(module), function)
    if name in plug_ins:
        found = load(ENTRY_POINTS, name)
        if not isinstance(found, Format):
            raise unfit(ENTRY_POINTS, name, "longbeam.formats.registry.Format")
        if done == "imported" and found.read:
            return _guarded(name, found.read)
        if done == "exported" and found.write:
            return found.write
    raise UserError(f"format {name!r} cannot be {done}; formats that can: {', '.join([*formats, *plug_ins])}")


def _guarded(name: str, read: Importer) -> Importer:
    """Return another package's reader, which raises SpecError where it gives anything but conversations."""
    from longbeam.schemas import GivenConversation

    def conversations(path: Path, options: ImportOptions) -> Iterator[GivenConversation]:
        given: object = read(path, options)
        for conversation in given if isinstance(given, Iterable) else (given,):
            if not isinstance(conversation, GivenConversation):
                kind = type(conversation).__name__
                raise SpecError(f"formats: {name!r} gives {kind} as a conversation; it must give GivenConversations")
            yield conversation

    return conversations


def advice_without_probes(name: str, imported_from: str, command_of: Callable[[str], str] | None = None) -> str:
    """Return what to do about a benchmark without probes, as a part of a sentence.

    `imported_from` is the format of an import, empty for a generated benchmark. `command_of` returns the line of a
    command on this benchmark; None: the command and the name.
    """
    line_of = command_of or (lambda command: f"longbeam {command} {name}")
    if imported_from == "chat":
        return f"make them with `{line_of('probe')}`"
    if imported_from:
        return f"its source, of the format {imported_from}, has none; `longbeam probe` makes probes for chats only"
    return f"`{line_of('status')}` says what is missing"
