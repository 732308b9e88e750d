"""Folders that need no server: a bundle of items to review elsewhere, and passports of released questions.

A passport is one page about one probe, to print and to cite: evidence, checks, judgements and versions. Its address in
the folder follows from its conversation and its probe alone. Decisions made in a bundle come back as JSON lines for
`longbeam reviews import`; abstentions are left out of it, because a window of messages cannot show that something is
missing.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from longbeam import __version__
from longbeam.abilities import Trait, ability_of
from longbeam.annotation_ui.items import evidence_views, item_view, messages_around
from longbeam.annotation_ui.links import item_href
from longbeam.annotation_ui.rendering import STATIC, page_environment, without_markdown
from longbeam.annotation_ui.reviews import guidelines_view
from longbeam.errors import UserError
from longbeam.formats import replaced_folder
from longbeam.keys import ItemId, conversation_of
from longbeam.review import (
    FINAL,
    READER,
    UNFIT,
    Anchor,
    CheckRow,
    ItemState,
    Viewer,
    Workspace,
    check_rows,
    current_version,
    field_name,
    known_findings,
    label_of,
    percent_agreement,
    probe_version,
    shown_status,
    status_of,
)
from longbeam.schemas import ITEM_TARGET, NUGGET, REASON_CODES, Finding, Nugget, Record, ReviewerRole


class JudgementView(Record):
    """Judgement of a person, a model or a check on one target; one table compares them all."""

    target: str = ITEM_TARGET
    name: str = "the item"
    """Name of the target for people."""
    label: str
    score: float | None = None
    explanation: str = ""
    annotator_kind: str
    """`HUMAN`, `LLM` or `CODE`."""
    annotator_id: str
    version: str = ""
    """Version of the guidelines for people, of longbeam for checks."""
    at: dt.datetime | None = None


class CitedQuote(Record):
    """A piece of evidence as the page prints it."""

    message_key: str
    message_id: int | None
    speaker: str
    sent_at: dt.datetime | None
    role: str
    """What the message is to the answer, for people; empty: it supports it."""
    quote: str
    prefix: str
    suffix: str
    around: tuple[str, str]
    """Whole words before and behind the quote, without markdown, for reading."""
    content_hash: str
    nugget_ids: tuple[str, ...]
    attachment: str


class ProvenanceView(Record):
    """One page about one probe, in its final state."""

    item_id: str
    href: str
    benchmark: str
    conversation_id: str
    conversation_title: str
    ability: str
    difficulty: str
    status: str
    question: str
    gold_answer: str
    rubric: tuple[Nugget, ...]
    evidence: tuple[CitedQuote, ...]
    spread: int
    messages: int
    """Messages of the conversation."""
    checks: tuple[CheckRow, ...]
    judgements: tuple[JudgementView, ...]
    agreement: float | None
    """Share of pairs of reviewers who gave the same label; None below two reviewers, and while the item is blind."""
    sealed_version: str
    final_version: str
    longbeam_version: str


def provenance_view(workspace: Workspace, item_id: str, viewer: Viewer = READER) -> ProvenanceView:
    """Return the provenance of an item; opinions appear once the item is no longer blind."""
    state = workspace.state(item_id)
    conversation_id = conversation_of(item_id)
    conversation = workspace.conversation(conversation_id)
    probe = state.probe
    evidence = evidence_views(conversation, probe)
    is_checked, _, findings = known_findings(workspace, item_id, state, state.opinion(""))
    places = [e.message_id for e in evidence if e.message_id is not None]
    is_open = state.is_open_to(viewer)
    return ProvenanceView.taken_from(
        probe,
        item_id=item_id,
        href=item_href(item_id),
        benchmark=workspace.archive.name,
        conversation_id=conversation_id,
        conversation_title=conversation.title,
        status=shown_status(state, viewer),
        evidence=tuple(
            CitedQuote.taken_from(
                e,
                speaker=e.message.speaker if e.message else "",
                prefix=e.anchor.prefix,
                suffix=e.anchor.suffix,
                around=_around(e.anchor),
                content_hash=e.anchor.content_hash,
            )
            for e in evidence
        ),
        spread=max(places) - min(places) if places else 0,
        messages=len(conversation.lines),
        checks=tuple(check_rows(is_checked, findings)),
        judgements=(*(_human(state) if is_open else ()), *map(_by_check, findings)),
        agreement=_agreement(state) if is_open else None,
        sealed_version=state.version,
        final_version=probe_version(probe),
        longbeam_version=__version__,
    )


def _by_check(finding: Finding) -> JudgementView:
    return JudgementView(
        label=finding.severity.value,
        explanation=finding.message,
        annotator_kind="CODE",
        annotator_id=finding.check,
        version=f"longbeam {__version__}",
    )


def _around(anchor: Anchor) -> tuple[str, str]:
    before, behind = without_markdown(anchor.prefix), without_markdown(anchor.suffix)
    first, last = before.partition(" ")[2], behind.rpartition(" ")[0]
    return (f"… {first} " if first else ""), (f" {last} …" if last else "")


def _human(state: ItemState) -> list[JudgementView]:
    found = []
    for opinion in state.saved:
        who: dict[str, Any] = {
            "annotator_kind": "HUMAN",
            "annotator_id": opinion.reviewer_id,
            "version": opinion.guideline_version,
            "at": opinion.saved_at,
        }
        explanation = ": ".join(part for part in (opinion.reason_code, opinion.note) if part)
        found.append(JudgementView(label=label_of(opinion), explanation=explanation, **who))
        for nugget_id, label in opinion.labels.items():
            target = f"{NUGGET}{nugget_id}"
            name = field_name(opinion.probe, target)
            found.append(JudgementView(target=target, name=name, label=label.value, **who))
    if state.adjudication is not None:
        decided = state.adjudication
        found.append(
            JudgementView(
                label=decided.verdict.value,
                score=decided.confidence,
                explanation=f"{decided.taxonomy.value}: {decided.note}",
                annotator_kind="HUMAN",
                annotator_id=f"{decided.reviewer_id} (lead)",
            )
        )
    return found


def _agreement(state: ItemState) -> float | None:
    return percent_agreement([{o.reviewer_id: label_of(o) for o in state.saved}])


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
        "reason_codes": list(REASON_CODES),
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
    with replaced_folder(target, _why_no_bundle) as folder:
        (folder / INDEX).write_text(page, encoding="utf-8")
        (folder / SCRIPT).write_text((STATIC / SCRIPT).read_text(encoding="utf-8"), encoding="utf-8")
    return BundleReport(len(items), left_out)


def _item(workspace: Workspace, viewer: Viewer, item_id: str, around: int) -> dict[str, Any]:
    view = item_view(workspace, viewer, item_id)
    conversation = workspace.conversation(view.conversation_id)
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
                "is_evidence": bool(m.evidence),
            }
            for m in messages_around(conversation, view.evidence, around)
        ],
    }


def _for_script(data: object) -> str:
    """Return JSON that may stand in a script element: nothing in it can end that element."""
    text = json.dumps(data, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _why_no_bundle(folder: Path) -> str | None:
    names = set(_names(folder))
    return None if {INDEX, SCRIPT} >= names and names else "is not empty and not a former bundle"


def _names(folder: Path) -> Iterator[str]:
    return (p.relative_to(folder).as_posix() for p in folder.rglob("*"))


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
    with replaced_folder(target, _why_no_passports) as folder:
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


def _why_no_passports(folder: Path) -> str | None:
    files = [p for p in folder.rglob("*") if p.is_file()]
    is_former = (folder / INDEX).exists() and all(p.suffix in (".html", ".json", ".css") for p in files)
    return None if is_former else "is not empty and holds no former passports"
