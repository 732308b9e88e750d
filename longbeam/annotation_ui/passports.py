"""Passports: the provenance of every released question as a folder of pages, each with its JSON beside it.

The folder needs no server, so that it can stand beside a released benchmark; the address of a question in it follows
from its conversation and its probe alone.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from longbeam.annotation_ui.provenance import provenance_view
from longbeam.annotation_ui.templating import STATIC, page_environment
from longbeam.errors import UserError
from longbeam.formats.folders import replaced_folder
from longbeam.keys import ItemId
from longbeam.review.outcomes import UNFIT, status_of
from longbeam.review.workspace import Workspace

INDEX, STYLE = "index.html", "base.css"


def write_passports(workspace: Workspace, target: Path) -> int:
    """Write the passports of all questions that an export has, and return how many.

    Raises UserError if there is none, or if `target` holds something else.
    """
    released = [i for i in workspace.item_ids() if status_of(workspace.state(i)) not in UNFIT]
    if not released:
        raise UserError(f"{workspace.archive.name}: the review left no question to release")
    environment = page_environment()
    page = environment.get_template("passport.html")
    with replaced_folder(target, _why_not_ours) as folder:
        (folder / STYLE).write_text((STATIC / STYLE).read_text(encoding="utf-8"), encoding="utf-8")
        rows = []
        for item_id in released:
            view = provenance_view(workspace, item_id)
            path = folder / _place_of(item_id)
            path.parent.mkdir(exist_ok=True)
            path.write_text(page.render(view=view), encoding="utf-8")
            path.with_name(f"{path.name.removesuffix('.html')}.json").write_text(
                view.model_dump_json(indent=1) + "\n", encoding="utf-8"
            )
            rows.append((quote(_place_of(item_id)), view))
        index = environment.get_template("passports.html").render(benchmark=workspace.archive.name, rows=rows)
        (folder / INDEX).write_text(index, encoding="utf-8")
    return len(released)


def _place_of(item_id: str) -> str:
    """Return the path of a passport in its folder: `c000/abstention.0.html`."""
    conversation_id, probe_id = ItemId.parse(item_id)
    return f"{quote(conversation_id, safe='')}/{quote(probe_id, safe='')}.html"


def _why_not_ours(folder: Path) -> str | None:
    files = [p for p in folder.rglob("*") if p.is_file()]
    is_former = (folder / INDEX).exists() and all(p.suffix in (".html", ".json", ".css") for p in files)
    return None if is_former else "is not empty and holds no former passports"
