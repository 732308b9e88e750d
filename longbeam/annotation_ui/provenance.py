"""Provenance of a probe: one page to print, with evidence, checks, judgements and versions."""

from __future__ import annotations

import datetime as dt

from longbeam import __version__
from longbeam.annotation_ui.item_views import evidence_views
from longbeam.annotation_ui.links import item_href
from longbeam.keys import conversation_of
from longbeam.review.agreement import percent_agreement
from longbeam.review.checks import CheckRow, check_rows, known_findings
from longbeam.review.fold import probe_version
from longbeam.review.names import field_name
from longbeam.review.state import ItemState
from longbeam.review.statistics import label_of
from longbeam.review.workspace import Workspace
from longbeam.schemas.base import Record
from longbeam.schemas.probes import Nugget


class Judgement(Record):
    """Judgement of a person, a model or a check on one target; one table compares them all."""

    target: str
    name: str
    """Name of the target for people."""
    label: str
    score: float | None
    explanation: str
    annotator_kind: str
    """`HUMAN`, `LLM` or `CODE`."""
    annotator_id: str
    version: str
    """Version of the guidelines for people, of longbeam for checks."""
    at: dt.datetime | None


class CitedQuote(Record):
    """A piece of evidence as the page prints it."""

    message_key: str
    message_id: int | None
    role: str
    sent_at: dt.datetime | None
    part: str
    quote: str
    prefix: str
    suffix: str
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
    judgements: tuple[Judgement, ...]
    agreement: float | None
    """Share of pairs of reviewers who gave the same label; None below two reviewers, and while the item is blind."""
    sealed_version: str
    final_version: str
    longbeam_version: str


def provenance_view(workspace: Workspace, item_id: str) -> ProvenanceView:
    """Return the provenance of an item; opinions appear once the item is no longer blind."""
    state = workspace.state(item_id)
    conversation_id = conversation_of(item_id)
    conversation = workspace.conversation(conversation_id)
    probe = state.probe
    evidence = evidence_views(conversation, probe, state.base)
    is_checked, _, findings = known_findings(workspace, item_id, state, state.opinion(""))
    places = [e.message_id for e in evidence if e.message_id is not None]
    return ProvenanceView(
        item_id=item_id,
        href=item_href(item_id),
        benchmark=workspace.archive.name,
        conversation_id=conversation_id,
        conversation_title=conversation.title,
        ability=probe.ability,
        difficulty=probe.difficulty.value,
        status=state.status.value,
        question=probe.question,
        gold_answer=probe.gold_answer,
        rubric=probe.rubric,
        evidence=tuple(
            CitedQuote(
                message_key=e.message_key,
                message_id=e.message_id,
                role=e.message.role if e.message else "",
                sent_at=e.sent_at,
                part=e.part,
                quote=e.quote,
                prefix=e.anchor.prefix,
                suffix=e.anchor.suffix,
                content_hash=e.anchor.content_hash,
                nugget_ids=e.nugget_ids,
                attachment=e.attachment,
            )
            for e in evidence
        ),
        spread=max(places) - min(places) if places else 0,
        messages=len(conversation.lines),
        checks=tuple(check_rows(is_checked, findings)),
        judgements=(
            *_human(state),
            *(
                Judgement(
                    target="item",
                    name="the item",
                    label=f.severity.value,
                    score=None,
                    explanation=f.message,
                    annotator_kind="CODE",
                    annotator_id=f.check,
                    version=f"longbeam {__version__}",
                    at=None,
                )
                for f in findings
            ),
        ),
        agreement=_agreement(state),
        sealed_version=state.version,
        final_version=probe_version(probe),
        longbeam_version=__version__,
    )


def _human(state: ItemState) -> list[Judgement]:
    if not state.is_open:
        return []
    found = []
    for opinion in state.saved:
        who = {"annotator_kind": "HUMAN", "annotator_id": opinion.reviewer_id}
        at, version = opinion.saved_at, opinion.guideline_version
        explanation = ": ".join(part for part in (opinion.reason_code, opinion.note) if part)
        found.append(
            Judgement(
                target="item",
                name="the item",
                label=label_of(opinion),
                score=None,
                explanation=explanation,
                version=version,
                at=at,
                **who,
            )
        )
        found += [
            Judgement(
                target=f"nugget/{i}",
                name=field_name(opinion.probe, f"nugget/{i}"),
                label=label.value,
                score=None,
                explanation="",
                version=version,
                at=at,
                **who,
            )
            for i, label in opinion.labels.items()
        ]
    if state.adjudication is not None:
        decided = state.adjudication
        found.append(
            Judgement(
                target="item",
                name="the item",
                label=decided.verdict.value,
                score=decided.confidence,
                explanation=f"{decided.taxonomy.value}: {decided.note}",
                annotator_kind="HUMAN",
                annotator_id=f"{decided.reviewer_id} (lead)",
                version="",
                at=None,
            )
        )
    return found


def _agreement(state: ItemState) -> float | None:
    labels = {o.reviewer_id: label_of(o) for o in state.saved} if state.is_open else {}
    return percent_agreement([labels])
