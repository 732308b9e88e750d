"""Findings of an item, each with a link to its cause, and a row for every check of probes (X1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.fold import CHECKS_TARGET, Opinion, in_force, probe_version
from longbeam.annotation_ui.state import ItemState
from longbeam.annotation_ui.views import CheckRow, FindingView, MessageLink
from longbeam.schemas.findings import Finding, Severity
from longbeam.schemas.review import EventKind, ReviewEvent
from longbeam.validation.base import Scope
from longbeam.validation.registry import all_checks

_NUGGET_ID = re.compile(r"\b[\w.-]+\.n\d+\b")
_OF_QUESTION = frozenset({"question_leaks"})
_OF_EVIDENCE = frozenset({"evidence", "evidence_parts"})
_OF_RUBRIC = frozenset({"rubric", "nuggets"})
_WORST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def known_findings(desk: Desk, item_id: str, state: ItemState, opinion: Opinion) -> tuple[bool, bool, list[Finding]]:
    """Return whether checks ran on the item, whether they ran on it as it stands, and what they found.

    The reviewer's last re-check wins over `validate`, which sees the sealed and selected probes only.
    """
    last = _last_check(state, opinion)
    if last is not None:
        after = last.after if isinstance(last.after, dict) else {}
        listed = after.get("findings")
        found = [Finding.model_validate(f) for f in listed] if isinstance(listed, list) else []
        return True, after.get("content") == probe_version(opinion.probe), found
    conversation_id, _, probe_id = item_id.partition("/")
    is_checked = desk.archive.is_checked and state.base.is_selected
    found = desk.findings(conversation_id, probe_id)
    return is_checked or bool(found), CHECKS_TARGET not in opinion.stale, found


def finding_views(desk: Desk, conversation_id: str, item_id: str, findings: Sequence[Finding]) -> list[FindingView]:
    """Return findings as they are shown, worst first."""
    docs = {check.name: check.doc for check in all_checks()}
    ids = desk.conversation(conversation_id).ids if findings else {}
    ranked = sorted(findings, key=lambda f: _WORST.index(f.severity))
    return [
        FindingView(
            check=f.check,
            severity=f.severity.value,
            doc=docs.get(f.check_name, ""),
            message=f.message,
            href=cause_of(f),
            messages=tuple(message_links(conversation_id, item_id, f.evidence, ids)),
        )
        for f in ranked
    ]


def cause_of(finding: Finding) -> str:
    """Return the place on the item page that a finding is about."""
    check = finding.check_name
    if check in _OF_RUBRIC and (match := _NUGGET_ID.search(finding.message)):
        return f"#nugget-{match.group()}"
    if check in _OF_QUESTION:
        return "#question"
    if check in _OF_EVIDENCE:
        return f"#evidence-{finding.evidence[0]}" if finding.evidence else "#evidence"
    return "#rubric" if check in _OF_RUBRIC else "#gold-answer"


def message_links(conversation_id: str, item_id: str, keys: Sequence[str], ids: Mapping[str, int]) -> list[MessageLink]:
    """Return links to the messages of these keys that exist."""
    return [
        MessageLink(message_key=k, message_id=ids[k], href=message_href(conversation_id, ids[k], item_id))
        for k in keys
        if k in ids
    ]


def message_href(conversation_id: str, message_id: int, item_id: str = "") -> str:
    """Return the address of a message, with the evidence of an item marked."""
    place = f"/conversations/{conversation_id}/messages/{message_id}"
    return f"{place}?item={quote(item_id, safe='')}" if item_id else place


def item_href(item_id: str) -> str:
    """Return the address of an item's page."""
    conversation_id, _, probe_id = item_id.partition("/")
    return f"/items/{conversation_id}/{quote(probe_id, safe='')}"


def check_rows(is_checked: bool, findings: Sequence[Finding]) -> list[CheckRow]:
    """Return one row per check of probes, in the order of the registry."""
    counts = Counter(f.check_name for f in findings)
    worst: dict[str, Severity] = {}
    for finding in sorted(findings, key=lambda f: _WORST.index(f.severity)):
        worst.setdefault(finding.check_name, finding.severity)
    return [
        CheckRow(
            check=check.name,
            doc=check.doc,
            state=worst[check.name].value if check.name in worst else "ok" if is_checked else "not_run",
            count=counts[check.name],
        )
        for check in all_checks()
        if check.scope is Scope.PROBE
    ]


def _last_check(state: ItemState, opinion: Opinion) -> ReviewEvent | None:
    own = [
        e
        for e in in_force(state.events)
        if e.kind is EventKind.CHECKED and e.reviewer_id == opinion.reviewer_id and e.probe_version == state.version
    ]
    return own[-1] if own else None
