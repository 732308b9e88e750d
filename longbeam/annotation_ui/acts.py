"""Acts on items: each is looked at (who, which version, which gates) and becomes one event of the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import JsonValue, ValidationError

from longbeam.annotation_ui import leases
from longbeam.annotation_ui.anchors import anchor_at, evidence_id_of, find_quote
from longbeam.annotation_ui.changes import opinion_at, opinion_changes
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.errors import Refusal, invalid, not_found
from longbeam.annotation_ui.fold import EVIDENCE, ITEMS_TARGET, MESSAGE, NUGGET, TEXT_TARGETS, Opinion
from longbeam.annotation_ui.gates import gates_of
from longbeam.annotation_ui.guidelines import current_version
from longbeam.annotation_ui.items import evidence_views
from longbeam.annotation_ui.log import new_event, next_redo, next_undo
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.state import ItemState
from longbeam.annotation_ui.views import Act
from longbeam.schemas.probes import Difficulty, Evidence
from longbeam.schemas.review import ITEM_TARGET, EventKind, NuggetLabel, ReviewEvent, Verdict

VERSIONED = frozenset({EventKind.JUDGED, EventKind.EDITED, EventKind.EVIDENCE_ADDED, EventKind.EVIDENCE_REMOVED})
"""Acts that change what a save is compared with; an act on an old version is refused."""
LEASED = VERSIONED | {EventKind.DRAFTED}
MOST_CHARS = 100_000


def act_on_item(desk: Desk, viewer: Viewer, item_id: str, act: Act) -> ReviewEvent:
    """Append the event of an act and return it.

    Raises Refusal: 403 without a name, 404, 409 `leased` (others are at it), 409 `stale` with the differences,
    409 `gates` (not to be accepted yet), 422 for an act that makes no sense. KeyError if there is no such item.
    """
    viewer.require_write()
    desk.log.refresh()
    state = desk.state(item_id)
    opinion = state.opinion(viewer.reviewer_id)
    make = _MAKERS.get(act.kind)
    if make is None:
        raise invalid(f"acts of kind {act.kind.value!r} have an address of their own")
    if act.kind in LEASED and not _is_leads_edit(viewer, act):
        leases.take(desk, item_id, viewer)
    if act.kind in VERSIONED:
        _check_version(state, opinion, act.item_version)
    target, before, after = make(desk, item_id, opinion, act)
    if act.kind is EventKind.JUDGED and target == ITEM_TARGET:
        _check_gates(desk, item_id, state, opinion, act)
    (event,) = desk.log.append(
        new_event(
            act.kind,
            item_id,
            viewer.reviewer_id,
            target=target,
            before=before,
            after=after,
            item_version=opinion.version,
            probe_version=state.version,
            reason_code=act.reason_code,
            note=act.note,
            guideline_version=current_version(desk),
            active_ms=act.active_ms,
        )
    )
    if act.kind is EventKind.JUDGED and target == ITEM_TARGET and after is not None:
        desk.log.store.release_lease(item_id, viewer.reviewer_id)
    return event


def open_item(desk: Desk, viewer: Viewer, item_id: str) -> ReviewEvent:
    """Take the lease and record that the item was opened; keeps the sealed probe where this version is new."""
    viewer.require_write()
    state = desk.state(item_id)
    leases.take(desk, item_id, viewer)
    opinion = state.opinion(viewer.reviewer_id)
    is_known = any(e.kind is EventKind.OPENED and e.probe_version == state.version for e in state.events)
    (event,) = desk.log.append(
        new_event(
            EventKind.OPENED,
            item_id,
            viewer.reviewer_id,
            after=None if is_known else _snapshot(desk, item_id, state),
            item_version=opinion.version,
            probe_version=state.version,
            guideline_version=current_version(desk),
        )
    )
    return event


def _snapshot(desk: Desk, item_id: str, state: ItemState) -> dict[str, Any]:
    """Return the sealed probe and the anchors of its quotes: what a later version is compared with."""
    conversation = desk.conversation(item_id.partition("/")[0])
    anchors = [e.anchor.model_dump() for e in evidence_views(conversation, state.base, state.base) if e.quote.strip()]
    return {"probe": state.base.model_dump(mode="json"), "anchors": anchors}


def undo(desk: Desk, viewer: Viewer) -> ReviewEvent | None:
    """Take back the viewer's last act, on whichever item; None if there is none. Returns the act."""
    return _take_back(desk, viewer, next_undo)


def redo(desk: Desk, viewer: Viewer) -> ReviewEvent | None:
    """Take back the viewer's last undo if nothing was done since; None otherwise. Returns the act made again."""
    found = _take_back(desk, viewer, next_redo)
    return desk.log.event(found.target) if found else None


def _take_back(
    desk: Desk, viewer: Viewer, choose: Callable[[list[ReviewEvent], str], ReviewEvent | None]
) -> ReviewEvent | None:
    viewer.require_write()
    desk.log.refresh()
    found = choose(desk.log.events(), viewer.reviewer_id)
    if found is None:
        return None
    event = new_event(
        EventKind.UNDONE,
        found.item_id,
        viewer.reviewer_id,
        target=found.event_id,
        item_version=found.item_version,
        probe_version=found.probe_version,
    )
    desk.log.append(event)
    return found


def _is_leads_edit(viewer: Viewer, act: Act) -> bool:
    """A lead prepares the final version of an item that has all its opinions; a verdict needs a place like any."""
    return viewer.is_lead and act.kind is not EventKind.JUDGED


def _check_version(state: ItemState, opinion: Opinion, version: str) -> None:
    if version == opinion.version:
        return
    own = [e for e in state.events if e.reviewer_id == opinion.reviewer_id and e.probe_version == state.version]
    then = opinion_at(state.base, opinion.reviewer_id, own, version)
    changes = opinion_changes(then, opinion) if then is not None else ()
    text = "the item has changed since this page was loaded" if then else "the item was sealed anew with another text"
    raise Refusal(409, "stale", text, changes=changes, item_version=opinion.version)


def _check_gates(desk: Desk, item_id: str, state: ItemState, opinion: Opinion, act: Act) -> None:
    if not (isinstance(act.after, dict) and act.after.get("verdict") == Verdict.ACCEPT.value):
        return
    closed = [
        gate
        for gate in gates_of(desk, item_id, state, opinion)
        if not (gate.can_override and gate.code in act.override and act.note.strip())
    ]
    if closed:
        raise Refusal(409, "gates", closed[0].message, gates=closed, item_version=opinion.version)


# --- one maker per kind: (target, before, after) -----------------------------------------------------------

Made = tuple[str, JsonValue, JsonValue]


def _judged(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    after = act.after if isinstance(act.after, dict) else {}
    if act.target == ITEM_TARGET:
        verdict = _choice(Verdict, after.get("verdict"), "verdict")
        if verdict is Verdict.REJECT and not act.reason_code:
            raise invalid("a rejection needs a reason_code")
        before = opinion.verdict.value if opinion.verdict else None
        return ITEM_TARGET, before and {"verdict": before}, {"verdict": verdict.value}
    nugget_id = _nugget_of(opinion, act.target)
    label = _choice(NuggetLabel, after["label"], "label") if after.get("label") else None
    old = opinion.labels.get(nugget_id)
    return act.target, old and {"label": old.value}, {"label": label.value if label else None}


def _edited(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    target, probe = act.target, opinion.probe
    if target in TEXT_TARGETS:
        text = _text(act.after)
        if target == "difficulty":
            _choice(Difficulty, text, "difficulty")
        return _changed(target, str(getattr(probe, target)), text)
    if target == ITEMS_TARGET:
        items = [_text(item) for item in act.after] if isinstance(act.after, list) else None
        if not items:
            raise invalid("details/items needs a list of texts")
        return _changed(target, list(probe.details.items), items)
    if target == f"{NUGGET}new":
        taken = {n.nugget_id for n in probe.rubric}
        number = next(i for i in range(len(taken) + 1000) if f"{probe.probe_id}.n{i}" not in taken)
        return f"{NUGGET}{probe.probe_id}.n{number}", None, _text(act.after)
    if target.startswith(NUGGET):
        nugget_id = _nugget_of(opinion, target)
        old = next(n.text for n in probe.rubric if n.nugget_id == nugget_id)
        if act.after is None:
            if len(probe.rubric) == 1:
                raise invalid("the last nugget cannot be removed; edit it, or reject the probe")
            return target, old, None
        return _changed(target, old, _text(act.after))
    raise invalid(
        f"nothing to edit at {target!r}; there are question, gold_answer, difficulty, details/items, nugget/ID"
    )


def _evidence_added(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    after = act.after if isinstance(act.after, dict) else {}
    conversation = desk.conversation(item_id.partition("/")[0])
    key = str(after.get("message_key", ""))
    message_id = conversation.ids.get(key)
    if message_id is None:
        raise not_found(f"message {key!r}")
    content = conversation.content(message_id)
    place = find_quote(content, str(after.get("quote", "")), str(after.get("prefix", "")), str(after.get("suffix", "")))
    if place is None:
        raise invalid(f"message {key} does not say {str(after.get('quote', ''))[:80]!r}")
    anchor = anchor_at(key, content, *place)
    known = {n.nugget_id for n in opinion.probe.rubric}
    given = after.get("nugget_ids")
    supported = [str(i) for i in given if i in known] if isinstance(given, list) else []
    group = after.get("group")
    evidence = _evidence(key, anchor.quote, str(after.get("part") or "support"), group, supported)
    if evidence_id_of(evidence) in {evidence_id_of(e) for e in opinion.probe.evidence}:
        raise invalid("this is cited already")
    places = [conversation.ids.get(e.message_key, -1) for e in opinion.probe.evidence]
    at = sum(p <= message_id for p in places)
    value: dict[str, Any] = {
        **evidence.model_dump(mode="json"),
        "at": at,
        "prefix": anchor.prefix,
        "suffix": anchor.suffix,
        "content_hash": anchor.content_hash,
    }
    return f"{EVIDENCE}{evidence_id_of(evidence)}", None, value


def _evidence(key: str, quote: str, part: str, group: JsonValue, nugget_ids: list[str]) -> Evidence:
    try:
        return Evidence.model_validate(
            {"message_key": key, "quote": quote, "part": part, "group": group, "nugget_ids": nugget_ids}
        )
    except ValidationError as exc:
        raise invalid(f"evidence: {exc.errors()[0]['msg']}") from exc


def _evidence_removed(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    wanted = act.target.removeprefix(EVIDENCE)
    for evidence in opinion.probe.evidence:
        if evidence_id_of(evidence) == wanted:
            return f"{EVIDENCE}{wanted}", evidence.model_dump(mode="json"), None
    raise not_found(f"evidence {wanted!r}")


def _drafted(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    if act.after is not None and len(str(act.after)) > MOST_CHARS:
        raise invalid(f"a draft has at most {MOST_CHARS:,} characters")
    return act.target, None, act.after


def _searched(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    after = act.after if isinstance(act.after, dict) else {}
    query = _text(after.get("query"))
    total, looked_at = after.get("total"), after.get("looked_at")
    seen = [i for i in looked_at if isinstance(i, int)][:1000] if isinstance(looked_at, list) else []
    value: dict[str, Any] = {
        "query": query,
        "total": total if isinstance(total, int) else 0,
        "looked_at": seen,
        "filters": after.get("filters"),
    }
    return ITEM_TARGET, None, value


def _said(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    """Comments, returns: the text is the note."""
    if not act.note.strip():
        raise invalid(f"{act.kind.value}: the note is empty")
    return _subject(desk, item_id, act.target), None, None


def _flagged(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    return _subject(desk, item_id, act.target), None, act.after is not False


def _cleared(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    if not act.target.startswith(MESSAGE):
        raise invalid("cleared: the target is message/KEY")
    return _subject(desk, item_id, act.target), None, None


def _chosen(desk: Desk, item_id: str, opinion: Opinion, act: Act) -> Made:
    return ITEM_TARGET, None, act.after is not False


def _subject(desk: Desk, item_id: str, target: str) -> str:
    if target.startswith(MESSAGE):
        key = target.removeprefix(MESSAGE)
        if key not in desk.conversation(item_id.partition("/")[0]).ids:
            raise not_found(f"message {key!r}")
    elif target != ITEM_TARGET and not target.startswith((NUGGET, EVIDENCE)) and target not in TEXT_TARGETS:
        raise invalid(f"target {target!r}: use item, question, gold_answer, nugget/ID, evidence/ID or message/KEY")
    return target


_MAKERS: dict[EventKind, Callable[[Desk, str, Opinion, Act], Made]] = {
    EventKind.JUDGED: _judged,
    EventKind.EDITED: _edited,
    EventKind.EVIDENCE_ADDED: _evidence_added,
    EventKind.EVIDENCE_REMOVED: _evidence_removed,
    EventKind.DRAFTED: _drafted,
    EventKind.SEARCHED: _searched,
    EventKind.CLEARED: _cleared,
    EventKind.FLAGGED: _flagged,
    EventKind.COMMENTED: _said,
    EventKind.RETURNED: _said,
    EventKind.CHOSEN: _chosen,
}


def _changed(target: str, before: Any, after: Any) -> Made:
    if before == after:
        raise invalid(f"{target}: nothing has changed")
    return target, before, after


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise invalid("a text is missing")
    if len(value) > MOST_CHARS:
        raise invalid(f"a text has at most {MOST_CHARS:,} characters")
    return value.strip()


def _nugget_of(opinion: Opinion, target: str) -> str:
    nugget_id = target.removeprefix(NUGGET)
    if nugget_id not in {n.nugget_id for n in opinion.probe.rubric}:
        raise not_found(f"nugget {nugget_id!r}")
    return nugget_id


def _choice(kind: Any, value: object, name: str) -> Any:
    try:
        return kind(value)
    except ValueError as exc:
        raise invalid(f"{name} {value!r}: there are {', '.join(kind)}") from exc
