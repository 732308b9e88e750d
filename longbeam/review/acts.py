"""Acts on items: each act is checked (who, which version, which gates) and becomes one event of the log."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from pydantic import Field, JsonValue, ValidationError

from longbeam.keys import NuggetId, conversation_of
from longbeam.review.anchors import Anchor, anchor_at, cited_quotes, evidence_id_of, find_quote
from longbeam.review.archive import OpenConversation
from longbeam.review.checks import gates_of
from longbeam.review.guidelines import current_version
from longbeam.review.log import ActContent, SeenVersions, new_event, next_redo, next_undo, undoable
from longbeam.review.names import change_view, field_name
from longbeam.review.people import Body, PeopleProblem, Refusal, Viewer, invalid, not_found
from longbeam.review.queue import take_lease
from longbeam.review.rubric_trial import score_of
from longbeam.review.state import ItemState, Opinion, opinion_at, opinion_changes, text_at
from longbeam.review.workspace import Workspace
from longbeam.schemas import (
    EVIDENCE,
    ITEM_TARGET,
    ITEMS_TARGET,
    MESSAGE,
    NUGGET,
    TEXT_TARGETS,
    Change,
    Difficulty,
    EventKind,
    Evidence,
    NuggetLabel,
    ReviewEvent,
    Verdict,
)

VERSIONED = frozenset({EventKind.JUDGED, EventKind.EDITED, EventKind.EVIDENCE_ADDED, EventKind.EVIDENCE_REMOVED})
"""Acts that change the version of the item: they need a lease, and are refused on an old version."""
MOST_CHARS = 100_000


class ItemBody(Body):
    """Fields of every act on an item."""

    item_version: str = ""
    active_ms: int = Field(default=0, ge=0, le=86_400_000)
    act_id: str = Field(default="", max_length=64, pattern=r"^[\w-]*$")
    """Id of the event, chosen by the page: an act that is sent again because its answer was lost counts once."""


class Act(ItemBody):
    """An act of a reviewer on an item; the body of POST /api/items/{conversation_id}/{probe_id}/acts."""

    kind: EventKind
    target: str = Field(default="item", max_length=200)
    after: JsonValue = None
    base: JsonValue = None
    """`edited`: the text on which the edit began; the edit is refused if the field holds another text by now."""
    reason_code: str = Field(default="", max_length=64)
    note: str = Field(default="", max_length=20_000)
    override: tuple[str, ...] = ()
    """Codes of gates that are overridden; needs a note."""
    tab: str = Field(default="", max_length=64)
    """Tab of the browser: each has its own drafts."""


def act_on_item(workspace: Workspace, viewer: Viewer, item_id: str, act: Act) -> ReviewEvent:
    """Append the event of an act and return it.

    Raises Refusal: `forbidden` for a viewer without a name, `not_found`, `leased` (others have the item), `stale` with
    the differences, `gates` (the item may not be accepted yet), `invalid`. KeyError if there is no such item.
    """
    viewer.require_write()
    workspace.log.refresh()
    if (sent := _sent_before(workspace, viewer, item_id, act)) is not None:
        return sent
    state = workspace.state(item_id)
    opinion = state.opinion(viewer.reviewer_id)
    make = _CONTENT_MAKERS.get(act.kind)
    if make is None:
        raise invalid(f"acts of kind {act.kind.value!r} have an address of their own")
    # A draft takes nobody's place: typed words are kept whoever has the item.
    if act.kind in VERSIONED and not _is_leads_edit(viewer, act):
        take_lease(workspace, item_id, viewer)
    is_based = act.kind is EventKind.EDITED and act.base is not None
    if act.kind in VERSIONED and not is_based:
        _check_version(state, opinion, act.item_version)
    if is_based:  # an edit says on which text it began: only a change of that text stands in its way
        _check_base(opinion, act)
    target, before, after = make(workspace, item_id, opinion, act)
    if act.kind is EventKind.JUDGED and target == ITEM_TARGET:
        _check_gates(workspace, item_id, state, opinion, act)
    made = new_event(
        act.kind,
        item_id,
        viewer.reviewer_id,
        ActContent(target, before, after, act.reason_code, act.note, act.active_ms, act.tab),
        SeenVersions(opinion.version, state.version, current_version(workspace)),
    )
    (event,) = workspace.log.append(made.model_copy(update={"event_id": act.act_id}) if act.act_id else made)
    if act.kind is EventKind.JUDGED and target == ITEM_TARGET and after is not None:
        workspace.log.store.release_lease(item_id, viewer.reviewer_id)
    return event


def open_item(workspace: Workspace, viewer: Viewer, item_id: str) -> None:
    """Take the lease, and record the first time that this reviewer opens the item; a lead who looks takes no lease.

    The first such event of each sealed version keeps the probe and its anchors, so that later versions can be compared.
    """
    viewer.require_write()
    state = workspace.state(item_id)
    if not viewer.is_lead:
        take_lease(workspace, item_id, viewer)
    opinion = state.opinion(viewer.reviewer_id)
    before = [e for e in state.events if e.kind is EventKind.OPENED and e.probe_version == state.version]
    if any(e.reviewer_id == viewer.reviewer_id for e in before):
        return
    workspace.log.append(
        new_event(
            EventKind.OPENED,
            item_id,
            viewer.reviewer_id,
            ActContent(after=None if before else _snapshot(workspace, item_id, state)),
            SeenVersions(opinion.version, state.version, current_version(workspace)),
        )
    )


def _snapshot(workspace: Workspace, item_id: str, state: ItemState) -> dict[str, Any]:
    """Return the sealed probe and the anchors of its quotes, with which a later version is compared."""
    conversation = workspace.conversation(conversation_of(item_id))
    quotes = cited_quotes(conversation, state.base)
    anchors = [quote.anchor.model_dump() for quote in quotes if quote.evidence.quote.strip()]
    return {"probe": state.base.model_dump(mode="json"), "anchors": anchors}


def undo(workspace: Workspace, viewer: Viewer, event_id: str = "") -> ReviewEvent | None:
    """Undo the viewer's last act on any item, or the act named; None if there is nothing to undo.

    Raises Refusal `invalid` for an act that is not in force, is somebody else's, or is no decision.
    """
    if not event_id:
        return _take_back(workspace, viewer, next_undo)

    def named(events: list[ReviewEvent], reviewer_id: str) -> ReviewEvent | None:
        for event in undoable(events, reviewer_id):
            if event.event_id == event_id:
                return event
        raise invalid("this act cannot be undone: it is not yours, or was undone already")

    return _take_back(workspace, viewer, named)


def redo(workspace: Workspace, viewer: Viewer) -> ReviewEvent | None:
    """Undo the viewer's last undo and return the act that counts again; None if something was done since."""
    found = _take_back(workspace, viewer, next_redo)
    return workspace.log.event(found.target) if found else None


def _take_back(
    workspace: Workspace, viewer: Viewer, choose: Callable[[list[ReviewEvent], str], ReviewEvent | None]
) -> ReviewEvent | None:
    viewer.require_write()
    workspace.log.refresh()
    found = choose(workspace.log.events(), viewer.reviewer_id)
    if found is None:
        return None
    event = new_event(
        EventKind.UNDONE,
        found.item_id,
        viewer.reviewer_id,
        ActContent(target=found.event_id),
        SeenVersions(found.item_version, found.probe_version),
    )
    workspace.log.append(event)
    return found


def _is_leads_edit(viewer: Viewer, act: Act) -> bool:
    """Whether a lead prepares the final version of an item; such edits need no lease, a lead's own verdict does."""
    return viewer.is_lead and act.kind is not EventKind.JUDGED


def _sent_before(workspace: Workspace, viewer: Viewer, item_id: str, act: Act) -> ReviewEvent | None:
    """Return the event of an act that was sent before; Refusal `invalid` for the id of somebody else's act."""
    found = workspace.log.event(act.act_id) if act.act_id else None
    if found is not None and (found.reviewer_id, found.item_id) != (viewer.reviewer_id, item_id):
        raise invalid(f"act_id {act.act_id!r} is taken; choose a new one")
    return found


def _check_base(opinion: Opinion, act: Act) -> None:
    """Refuse an edit that began on another text than the field has now."""
    now = text_at(opinion.probe, act.target)
    if now != act.base and now != act.after:
        change = Change(target=act.target, before=act.base, after=now)
        message = "this text was changed meanwhile, in another tab or by undo"
        changes = (change_view(change, field_name(opinion.probe, act.target)),)
        raise Refusal(PeopleProblem(error="stale", message=message, changes=changes, item_version=opinion.version))


def _check_version(state: ItemState, opinion: Opinion, version: str) -> None:
    if version == opinion.version:
        return
    own = [e for e in state.events if e.reviewer_id == opinion.reviewer_id and e.probe_version == state.version]
    then = opinion_at(state.base, opinion.reviewer_id, own, version)
    found = opinion_changes(then, opinion) if then is not None else ()
    changes = [change_view(change, field_name(opinion.probe, change.target)) for change in found]
    text = "the item has changed since this page was loaded" if then else "the item was sealed anew with another text"
    raise Refusal(PeopleProblem(error="stale", message=text, changes=tuple(changes), item_version=opinion.version))


def _check_gates(workspace: Workspace, item_id: str, state: ItemState, opinion: Opinion, act: Act) -> None:
    if not (isinstance(act.after, dict) and act.after.get("verdict") == Verdict.ACCEPT.value):
        return
    closed = [
        gate
        for gate in gates_of(workspace, item_id, state, opinion)
        if not (gate.can_override and gate.code in act.override and act.note.strip())
    ]
    if closed:
        message = closed[0].message
        raise Refusal(PeopleProblem(error="gates", message=message, gates=tuple(closed), item_version=opinion.version))


Made = tuple[str, JsonValue, JsonValue]
"""Target, before and after of an event. One function per kind of act makes them, or raises Refusal."""


def _judged(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
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


def _edited(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
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
        fresh = (str(NuggetId(probe.probe_id, i)) for i in count())
        return f"{NUGGET}{next(i for i in fresh if i not in taken)}", None, _text(act.after)
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


def _evidence_added(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    after = act.after if isinstance(act.after, dict) else {}
    conversation = workspace.conversation(conversation_of(item_id))
    key, quote, prefix, suffix = (str(after.get(name, "")) for name in ("message_key", "quote", "prefix", "suffix"))
    message_id, anchor = anchor_of_quote(
        conversation, Anchor(message_key=key, quote=quote, prefix=prefix, suffix=suffix)
    )
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


def anchor_of_quote(conversation: OpenConversation, given: Anchor) -> tuple[int, Anchor]:
    """Return the message_id and the verbatim anchor of a quote as a reviewer selected it on a page.

    Raises Refusal: `not_found` for a message that does not exist, `invalid` for a quote that it does not contain.
    """
    message_id = conversation.ids.get(given.message_key)
    if message_id is None:
        raise not_found(f"message {given.message_key!r}")
    content = conversation.content(message_id)
    place = find_quote(content, given.quote, given.prefix, given.suffix)
    if place is None:
        raise invalid(f"message {given.message_key} does not say {given.quote[:80]!r}")
    return message_id, anchor_at(given.message_key, content, *place)


def _evidence(key: str, quote: str, part: str, group: JsonValue, nugget_ids: list[str]) -> Evidence:
    try:
        return Evidence.model_validate(
            {"message_key": key, "quote": quote, "part": part, "group": group, "nugget_ids": nugget_ids}
        )
    except ValidationError as exc:
        raise invalid(f"evidence: {exc.errors()[0]['msg']}") from exc


def _evidence_removed(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    wanted = act.target.removeprefix(EVIDENCE)
    for evidence in opinion.probe.evidence:
        if evidence_id_of(evidence) == wanted:
            return f"{EVIDENCE}{wanted}", evidence.model_dump(mode="json"), None
    raise not_found(f"evidence {wanted!r}")


def _drafted(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    if act.after is not None and len(str(act.after)) > MOST_CHARS:
        raise invalid(f"a draft has at most {MOST_CHARS:,} characters")
    return act.target, None, act.after


def _searched(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    after = act.after if isinstance(act.after, dict) else {}
    query, total = _text(after.get("query")), after.get("total")
    value: dict[str, Any] = {
        "query": query,
        "total": total if isinstance(total, int) else 0,
        "filters": after.get("filters"),
    }
    return ITEM_TARGET, None, value


def _looked(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    after = act.after if isinstance(act.after, dict) else {}
    ids = after.get("message_ids")
    total = len(workspace.conversation(conversation_of(item_id)).lines)
    seen = [i for i in ids if isinstance(i, int) and 0 <= i < total][:1000] if isinstance(ids, list) else []
    if not seen:
        raise invalid("looked: message_ids names no message of this conversation")
    value: dict[str, Any] = {"query": str(after.get("query", "")), "message_ids": seen}
    return ITEM_TARGET, None, value


def _solved(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    """Return a reviewer's own answer, given before seeing the gold, and its score by the rubric."""
    answer = _text(act.after.get("answer") if isinstance(act.after, dict) else None)
    score = score_of(workspace.judge, opinion.probe, answer) if workspace.judge is not None else None
    return ITEM_TARGET, None, {"answer": answer, "score": score}


def _said(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    """Return what a comment or a return keeps: its text is the note of the event."""
    if not act.note.strip():
        raise invalid(f"{act.kind.value}: the note is empty")
    return _subject(workspace, item_id, act.target), None, None


def _flagged(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    return _subject(workspace, item_id, act.target), None, act.after is not False


def _cleared(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    if not act.target.startswith(MESSAGE):
        raise invalid("cleared: the target is message/KEY")
    return _subject(workspace, item_id, act.target), None, None


def _chosen(workspace: Workspace, item_id: str, opinion: Opinion, act: Act) -> Made:
    return ITEM_TARGET, None, act.after is not False


def _subject(workspace: Workspace, item_id: str, target: str) -> str:
    if target.startswith(MESSAGE):
        key = target.removeprefix(MESSAGE)
        if key not in workspace.conversation(conversation_of(item_id)).ids:
            raise not_found(f"message {key!r}")
    elif target != ITEM_TARGET and not target.startswith((NUGGET, EVIDENCE)) and target not in TEXT_TARGETS:
        raise invalid(f"target {target!r}: use item, question, gold_answer, nugget/ID, evidence/ID or message/KEY")
    return target


_CONTENT_MAKERS: dict[EventKind, Callable[[Workspace, str, Opinion, Act], Made]] = {
    EventKind.JUDGED: _judged,
    EventKind.EDITED: _edited,
    EventKind.EVIDENCE_ADDED: _evidence_added,
    EventKind.EVIDENCE_REMOVED: _evidence_removed,
    EventKind.DRAFTED: _drafted,
    EventKind.SEARCHED: _searched,
    EventKind.LOOKED: _looked,
    EventKind.SOLVED: _solved,
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
