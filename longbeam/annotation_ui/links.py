"""Addresses of pages, and findings with a link to the place that each of them is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from longbeam.annotation_ui.views import FindingView, MessageLink
from longbeam.keys import ItemId
from longbeam.review import WORST_FIRST, Workspace, field_name
from longbeam.schemas import Finding
from longbeam.validation import all_checks

_PLACES = {"#question": "the question", "#gold-answer": "the gold answer", "#rubric": "the rubric"}
_NUGGET_ID = re.compile(r"\b[\w.-]+\.n\d+\b")
_OF_QUESTION = frozenset({"question_leaks", "question_wording"})
_OF_EVIDENCE = frozenset({"evidence", "evidence_parts"})
_OF_RUBRIC = frozenset({"rubric", "nuggets"})


def conversation_href(conversation_id: str) -> str:
    """Return the address of a conversation's page."""
    return f"/conversations/{conversation_id}"


def finding_views(
    workspace: Workspace, conversation_id: str, item_id: str, findings: Sequence[Finding]
) -> list[FindingView]:
    """Return the findings of an item as its page shows them, worst first."""
    docs = {check.name: check.doc for check in all_checks()}
    ids = workspace.conversation(conversation_id).ids if findings else {}
    ranked = sorted(findings, key=lambda f: WORST_FIRST.index(f.severity))
    return [
        FindingView.taken_from(
            f,
            doc=docs.get(f.check_name, ""),
            href=(href := finding_href(f)),
            place=_PLACES.get(href)
            or ("the evidence" if href.startswith("#evidence") else field_name(None, f"nugget/{href[8:]}")),
            messages=tuple(message_links(conversation_id, item_id, f.evidence, ids)),
        )
        for f in ranked
    ]


def finding_href(finding: Finding) -> str:
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
    conversation_id, probe_id = ItemId.parse(item_id)
    return f"/items/{conversation_id}/{quote(probe_id, safe='')}"
