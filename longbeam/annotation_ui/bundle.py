"""Bundle of a review: one folder with items and their evidence, which a browser opens without a server.

The reviewer's decisions come back as JSON lines for `longbeam reviews import`. Abstentions are left out, because a
window of messages cannot show that something is missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longbeam.abilities.record import Trait
from longbeam.abilities.registry import ability_of
from longbeam.annotation_ui.items import item_view
from longbeam.annotation_ui.review_views import guidelines_view
from longbeam.annotation_ui.templating import STATIC, page_environment
from longbeam.errors import UserError
from longbeam.formats.folders import replaced_folder
from longbeam.review.guidelines import current_version
from longbeam.review.people import Viewer
from longbeam.review.state import FINAL
from longbeam.review.workspace import Workspace
from longbeam.schemas.review import REASON_CODES, ReviewerRole

INDEX, SCRIPT, STYLE = "index.html", "bundle.js", "base.css"


@dataclass(frozen=True)
class BundleReport:
    """Numbers of a bundle."""

    items: int
    left_out: int
    """Number of abstentions."""


def write_bundle(workspace: Workspace, reviewer_id: str, target: Path, *, around: int = 3) -> BundleReport:
    """Write the folder for one reviewer: items that still want an opinion of theirs, `around` messages on each side.

    Raises UserError if there is nothing to review, or if `target` holds something else.
    """
    viewer = Viewer(reviewer_id, ReviewerRole.ANNOTATOR)
    items, left_out = [], 0
    for item_id in workspace.item_ids():
        state = workspace.state(item_id)
        if state.status in FINAL or state.opinion(reviewer_id).is_saved:
            continue
        if ability_of(state.base.ability).has(Trait.ABSTAINS):
            left_out += 1
        else:
            items.append(_item(workspace, viewer, item_id, around))
    if not items:
        raise UserError(f"nothing is left that {reviewer_id!r} could review away from the conversations")
    data = {
        "benchmark": workspace.archive.name,
        "reviewer_id": reviewer_id,
        "guideline_version": current_version(workspace),
        "reason_codes": REASON_CODES,
        "items": items,
    }
    page = (
        page_environment()
        .get_template("bundle.html")
        .render(
            data=_for_script(data),
            benchmark=workspace.archive.name,
            reviewer_id=reviewer_id,
            guidelines=guidelines_view(workspace).sections,
            count=len(items),
            style=(STATIC / STYLE).read_text(encoding="utf-8"),
        )
    )
    with replaced_folder(target, _why_not_ours) as folder:
        (folder / INDEX).write_text(page, encoding="utf-8")
        (folder / SCRIPT).write_text((STATIC / SCRIPT).read_text(encoding="utf-8"), encoding="utf-8")
    return BundleReport(len(items), left_out)


def _item(workspace: Workspace, viewer: Viewer, item_id: str, around: int) -> dict[str, Any]:
    view = item_view(workspace, viewer, item_id, k=around)
    shown = ("item_id", "name", "item_version", "ability", "difficulty", "question", "gold_answer")
    return {
        **{name: getattr(view, name) for name in shown},
        "probe_version": workspace.state(item_id).version,
        "rubric": [{"nugget_id": n.nugget_id, "text": n.text} for n in view.rubric],
        "findings": [f"{f.severity}: {f.message}" for f in view.findings],
        "messages": [
            {
                "message_id": m.message_id,
                "speaker": m.speaker,
                "sent_at": m.sent_at.isoformat(sep=" ", timespec="minutes"),
                "html": m.html,
                "is_evidence": bool(m.evidence_ids),
            }
            for m in view.context
        ],
    }


def _for_script(data: object) -> str:
    """Return JSON that may stand in a script element: nothing in it can end that element."""
    text = json.dumps(data, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _why_not_ours(folder: Path) -> str | None:
    names = set(_names(folder))
    return None if {INDEX, SCRIPT} >= names and names else "is not empty and not a former bundle"


def _names(folder: Path) -> Iterator[str]:
    return (p.relative_to(folder).as_posix() for p in folder.rglob("*"))
