"""All suites. A new one is a module that holds a `Suite`, and one line here.

Modules are named, not imported, so that `longbeam --help` lists the suites without loading them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

from longbeam.errors import UserError

if TYPE_CHECKING:
    from longbeam.generators.suites.base import Suite
    from longbeam.schemas import Record

SUITES: Mapping[str, str] = {
    "agentic": "longbeam.generators.suites.agentic:AGENTIC",
    "canvas_hard": "longbeam.generators.suites.planted:CANVAS_HARD",
    "canvas_long": "longbeam.generators.suites.planted:CANVAS_LONG",
    "canvas_multihop": "longbeam.generators.suites.multihop:CANVAS_MULTIHOP",
    "canvas_paraphrased": "longbeam.generators.suites.planted:CANVAS_PARAPHRASED",
    "canvas_standard": "longbeam.generators.suites.planted:CANVAS_STANDARD",
    "paging": "longbeam.generators.suites.paging:PAGING",
}
"""Module and object of each suite."""


def find_suite(name: str) -> Suite:
    """Return the suite with this name; UserError if there is none."""
    if name not in SUITES:
        raise UserError(f"suite {name!r} is unknown; there are {', '.join(SUITES)}")
    module, _, attribute = SUITES[name].partition(":")
    return cast("Suite", getattr(import_module(module), attribute))


def suite_settings(name: str, suite: Suite, given: Iterable[str]) -> Record:
    """Return a suite's settings from texts such as `length=128K`; UserError names the one that does not fit."""
    from pydantic import ValidationError

    values: dict[str, str] = {}
    for text in given:
        setting, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"setting {text!r}: write SETTING=VALUE, as in length=128K")
        values[setting.strip()] = value.strip()
    try:
        return suite.settings.model_validate(values)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        where = ".".join(str(part) for part in error["loc"]) or "settings"
        allowed = ", ".join(suite.settings.model_fields)
        raise UserError(f"{name}: {where} = {error['input']!r}: {error['msg']}; settings are {allowed}") from exc
