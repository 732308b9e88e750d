"""Artifacts as text for the reader, in the paper's three forms."""

from __future__ import annotations

import json
from typing import Literal

from longbeam.memory.cogcanvas.artifacts import MARKS, Artifact
from longbeam.schemas.dialogue import MessageRole
from longbeam.text.times import format_date

Form = Literal["compact", "markdown", "json"]
_MARKDOWN_CITATION, _JSON_CITATION = 150, 100
"""Characters of a citation, at most."""


def written(artifact: Artifact, form: Form) -> str:
    """Return an artifact as text: `[D] **May 8, 2023**: ...`, a list item with its citation, or a JSON object."""
    day = format_date(artifact.said_at.date())
    if form == "json":
        shown = {"type": artifact.kind, "said_on": day, "by": artifact.source, "content": artifact.content,
                 "quote": _cut(artifact.citation, _JSON_CITATION)}  # fmt: skip
        if artifact.event_time:
            shown["time"] = artifact.event_time.text
        return json.dumps(shown, ensure_ascii=False)
    by = f" ({artifact.source})" if artifact.source == MessageRole.ASSISTANT.value else ""
    line = f"[{MARKS[artifact.kind]}] **{day}**{by}: {artifact.content}{_when(artifact)}"
    if form == "markdown" and artifact.citation and artifact.citation not in artifact.content:
        return f'- {line}\n  > "{_cut(artifact.citation, _MARKDOWN_CITATION)}"'
    return f"- {line}" if form == "markdown" else line


def _when(artifact: Artifact) -> str:
    """Return the time that a phrase such as `last Friday` means; empty if the content names the time itself."""
    time = artifact.event_time
    if time is None or time.text in artifact.content or str(time.first.year) in artifact.event_time_raw:
        return ""
    return f" ({artifact.event_time_raw}: {time.text})"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
