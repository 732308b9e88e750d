"""Anchors after conversations were made anew (X11): which quotes still stand, which have moved, which are gone.

What is looked for are the quotes that reviewers have seen or added: `opened` events keep those of each sealed version,
`evidence_added` events their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from longbeam.annotation_ui.anchors import Anchor, Attachment, Found, find_anchor
from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.causes import item_href
from longbeam.annotation_ui.desk import Desk
from longbeam.schemas.base import Record
from longbeam.schemas.review import EventKind, ReviewEvent

_CANDIDATES = "SELECT message_key, content FROM sealed.messages WHERE contains(content, ?) ORDER BY message_id LIMIT 50"


class AnchorRow(Record):
    """A quote that no longer stands where it stood."""

    item_id: str
    href: str
    anchor: Anchor
    attachment: str
    message_key: str
    """Where it stands now; empty if nowhere."""


class AnchorsPage(Record):
    """How the anchors of a benchmark have fared."""

    anchors: int
    attached: int
    moved: int
    broken: int
    reattached: float | None
    """Share of those that do not stand where they stood, and were found elsewhere; None where all stand."""
    rows: tuple[AnchorRow, ...]
    """Moved and broken ones."""


def anchors_page(desk: Desk) -> AnchorsPage:
    """Return what became of every anchor in the log whose conversation is there."""
    seen: set[tuple[str, str, str]] = set()
    counts: Counter[Attachment] = Counter()
    rows = []
    for event in desk.log.events():
        if event.conversation_id not in desk.archive.conversation_ids:
            continue
        conversation = desk.conversation(event.conversation_id)
        for anchor in anchors_in(event):
            key = event.conversation_id, anchor.message_key, anchor.quote
            if key in seen:
                continue
            seen.add(key)
            found = find_in(conversation, anchor)
            counts[found.attachment] += 1
            if found.attachment is not Attachment.ATTACHED:
                rows.append(
                    AnchorRow(
                        item_id=event.item_id,
                        href=item_href(event.item_id),
                        anchor=anchor,
                        attachment=found.attachment.value,
                        message_key=found.message_key,
                    )
                )
    lost = counts[Attachment.MOVED] + counts[Attachment.BROKEN]
    return AnchorsPage(
        anchors=len(seen),
        attached=counts[Attachment.ATTACHED],
        moved=counts[Attachment.MOVED],
        broken=counts[Attachment.BROKEN],
        reattached=counts[Attachment.MOVED] / lost if lost else None,
        rows=tuple(rows),
    )


def anchors_in(event: ReviewEvent) -> Iterator[Anchor]:
    """Yield the anchors that an event keeps."""
    after = event.after if isinstance(event.after, dict) else {}
    if event.kind is EventKind.EVIDENCE_ADDED:
        yield Anchor.model_validate({name: str(after.get(name, "")) for name in Anchor.model_fields})
    elif event.kind is EventKind.OPENED:
        kept = after.get("anchors")
        yield from (Anchor.model_validate(a) for a in kept) if isinstance(kept, list) else ()


def find_in(conversation: OpenConversation, anchor: Anchor) -> Found:
    """Return where an anchor is in a conversation now."""
    message_id = conversation.ids.get(anchor.message_key)
    content = conversation.content(message_id) if message_id is not None else None
    found = find_anchor(anchor, content, ())
    if found.attachment is Attachment.ATTACHED:
        return found
    return find_anchor(anchor, content, conversation.rows(_CANDIDATES, [anchor.quote]))
