"""All formats by name. A new format is a module with an `Importer` or `Exporter`, and one line here.

Modules are named, not imported, so that `longbeam --help` lists the formats without loading them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

from longbeam.errors import UserError

if TYPE_CHECKING:
    from longbeam.formats.exporting import Exporter
    from longbeam.formats.reading import Importer

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
    "parquet": "longbeam.formats.parquet:export_parquet",
    "beam": "longbeam.formats.beam:export_beam",
    "beam-json": "longbeam.formats.beam_json:export_beam_json",
    "huggingface": "longbeam.formats.huggingface:export_huggingface",
    "locomo": "longbeam.formats.locomo:export_locomo",
    "longmemeval": "longbeam.formats.longmemeval:export_longmemeval",
    "lmeb": "longbeam.formats.lmeb:export_lmeb",
}
"""Module and function of each format that `export` writes."""

LOCOMO_SESSIONS = 49
"""Sessions of a conversation that LoCoMo's own scripts read: they count from 1 to 49."""


def importer(name: str) -> Importer:
    """Return the function that reads a format; UserError if there is none."""
    return cast("Importer", _function(IMPORTS, name, "imported"))


def exporter(name: str) -> Exporter:
    """Return the function that writes a format; UserError if there is none."""
    return cast("Exporter", _function(EXPORTS, name, "exported"))


def _function(formats: Mapping[str, str], name: str, done: str) -> object:
    if name not in formats:
        raise UserError(f"format {name!r} cannot be {done}; formats that can: {', '.join(formats)}")
    module, _, function = formats[name].partition(":")
    return getattr(import_module(module), function)
