"""Guidelines for reviewers: text with examples per ability, in numbered versions.

Version 0 comes with longbeam (`guidelines.md`). Each text that a lead writes for a section makes the next version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from longbeam.abilities import ability_names, ability_of
from longbeam.review.log import BENCHMARK_ITEM
from longbeam.review.state import FINAL, ItemState, in_force
from longbeam.review.workspace import Workspace
from longbeam.schemas import EventKind, ReviewEvent

GUIDELINE = "guideline/"
"""Prefix of the target of `guided` events; the section follows."""
_HEADING = re.compile(r"(?m)^# (\w+)\s*$")


@dataclass(frozen=True, slots=True)
class Guideline:
    """The text for one ability, or `general`."""

    section: str
    text: str
    version: str
    """The version in which this section was last changed."""


def guidelines_in_force(workspace: Workspace) -> dict[str, Guideline]:
    """Return the guidelines in force by section."""
    found = {section: Guideline(section, text, "v0") for section, text in built_in().items()}
    for number, event in enumerate(_changes(workspace), 1):
        section = event.target.removeprefix(GUIDELINE)
        found[section] = Guideline(section, str(event.after), f"v{number}")
    return found


def current_version(workspace: Workspace) -> str:
    """Return the version in force: `v` and the number of changes and of undone changes, so that it never repeats."""
    return f"v{sum(e.kind in (EventKind.GUIDED, EventKind.UNDONE) for e in workspace.log.of_item(BENCHMARK_ITEM))}"


@cache
def built_in() -> dict[str, str]:
    """Return the sections that come with longbeam."""
    text = (Path(__file__).parent / "guidelines.md").read_text(encoding="utf-8")
    parts = _HEADING.split(text)[1:]
    return {section: body.strip() for section, body in zip(parts[::2], parts[1::2], strict=True)}


@dataclass(frozen=True, slots=True)
class GuidelineChange:
    """A section of the guidelines that was written anew."""

    section: str
    before: str
    after: str


def changed_since(workspace: Workspace, ability: str, version: str) -> list[GuidelineChange]:
    """Return the sections for an ability that were written anew after a version; none for no version."""
    if not re.fullmatch(r"v\d+", version) or version == current_version(workspace):
        return []
    then = int(version[1:])
    events = [e for e in workspace.log.of_item(BENCHMARK_ITEM) if e.kind in (EventKind.GUIDED, EventKind.UNDONE)]
    old = _texts(in_force(events[:then]))
    now = {section: guideline.text for section, guideline in guidelines_in_force(workspace).items()}
    found = []
    for section in ("general", ability):
        before, after = old.get(section, built_in().get(section, "")), now.get(section, "")
        if before != after:
            found.append(GuidelineChange(section, before, after))
    return found


def decided_under(state: ItemState) -> str:
    """Return the version of the guidelines under which an item was decided; empty if it is not decided."""
    return state.saved[-1].guideline_version if state.status in FINAL and state.saved else ""


def section_name(section: str) -> str:
    """Return the name of a section for people."""
    name = ability_of(section).shown_as if section in ability_names() else section.replace("_", " ")
    return f"{name[:1].upper()}{name[1:]}"


def _texts(events: Sequence[ReviewEvent]) -> dict[str, str]:
    return {e.target.removeprefix(GUIDELINE): str(e.after) for e in events if e.kind is EventKind.GUIDED}


def _changes(workspace: Workspace) -> list[ReviewEvent]:
    return [e for e in in_force(workspace.log.of_item(BENCHMARK_ITEM)) if e.kind is EventKind.GUIDED]
