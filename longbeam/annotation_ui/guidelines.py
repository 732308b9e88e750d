"""Guidelines: what reviewers judge by, as text with examples per ability, in numbered versions.

Version 0 comes with longbeam (`guidelines.md`); a lead's text for the benchmark or for one ability makes the next.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.fold import in_force
from longbeam.annotation_ui.log import BENCHMARK_ITEM
from longbeam.annotation_ui.rendering import render
from longbeam.schemas.base import Record
from longbeam.schemas.review import EventKind, ReviewEvent

GENERAL = "general"
_HEADING = re.compile(r"(?m)^# (\w+)\s*$")


class GuidelineView(Record):
    """The text for one ability, or `general`."""

    section: str
    text: str
    html: str
    version: str
    """The version in which this section was last changed."""


class GuidelinesView(Record):
    """All sections as they are now."""

    version: str
    sections: tuple[GuidelineView, ...]


def guidelines_view(desk: Desk) -> GuidelinesView:
    """Return the guidelines in force."""
    texts = {section: (text, "v0") for section, text in built_in().items()}
    for number, event in enumerate(_changes(desk), 1):
        texts[event.target.removeprefix("guideline/")] = str(event.after), f"v{number}"
    sections = tuple(
        GuidelineView(section=section, text=text, html=render(text), version=version)
        for section, (text, version) in texts.items()
    )
    return GuidelinesView(version=current_version(desk), sections=sections)


def current_version(desk: Desk) -> str:
    """Return the version that judgements are made under now: `v` and the number of changes and of undone changes."""
    return f"v{sum(e.kind in (EventKind.GUIDED, EventKind.UNDONE) for e in desk.log.of_item(BENCHMARK_ITEM))}"


@cache
def built_in() -> dict[str, str]:
    """Return the sections that come with longbeam."""
    text = (Path(__file__).parent / "guidelines.md").read_text(encoding="utf-8")
    parts = _HEADING.split(text)[1:]
    return {section: body.strip() for section, body in zip(parts[::2], parts[1::2], strict=True)}


def _changes(desk: Desk) -> list[ReviewEvent]:
    return [e for e in in_force(desk.log.of_item(BENCHMARK_ITEM)) if e.kind is EventKind.GUIDED]
