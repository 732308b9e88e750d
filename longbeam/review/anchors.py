"""Anchors: places of quotes in messages that can be found again after a conversation was generated anew.

An anchor keeps the message key, the quote, the text around it and a hash of the message. A quote that a reviewer
selects on the page lacks the message's markdown and white space; the search allows for that and keeps the verbatim
text.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from longbeam.review.archive import Archive, OpenConversation
from longbeam.schemas import EventKind, Evidence, Message, Probe, Record, ReviewEvent, digest_of

AROUND = 32
"""Characters kept on either side of a quote."""
_SYNTAX = re.compile(r"[\s*_`#>|~\\-]")
"""Characters that markdown may swallow, and white space that pages lay out anew."""


class Anchor(Record):
    """A place in a conversation that can be found again."""

    message_key: str
    quote: str
    prefix: str = ""
    suffix: str = ""
    content_hash: str = ""
    """Hash of the whole message."""


class Attachment(StrEnum):
    """Way in which an anchor was found."""

    ATTACHED = "attached"
    """The quote stands in the message of this key."""
    MOVED = "moved"
    """The same message, or one with the same quote and surroundings, stands under another key."""
    BROKEN = "broken"
    """The quote was not found."""


@dataclass(frozen=True, slots=True)
class Found:
    """The place of an anchor now."""

    attachment: Attachment
    message_key: str = ""
    start: int = 0
    """Code points into the message."""
    end: int = 0


def evidence_id_of(evidence: Evidence) -> str:
    """Return a short id of a piece of evidence: a hash of message key, quote, part and group."""
    return digest_of(evidence.message_key, evidence.quote, evidence.part, evidence.group)[:12]


def content_hash(content: str) -> str:
    """Return the hash by which an anchor recognises a message."""
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def anchor_at(message_key: str, content: str, start: int, end: int) -> Anchor:
    """Return the anchor of a place in a message."""
    return Anchor(
        message_key=message_key,
        quote=content[start:end],
        prefix=content[max(start - AROUND, 0) : start],
        suffix=content[end : end + AROUND],
        content_hash=content_hash(content),
    )


def find_quote(content: str, quote: str, prefix: str = "", suffix: str = "") -> tuple[int, int] | None:
    """Return start and end of a quote in code points, or None if the message does not contain the quote.

    A verbatim match wins over one that ignores markdown and white space. Of several matches, the one whose
    surroundings fit best is returned, the first of equals.
    """
    if not quote.strip():
        return None
    places = _exact(content, quote) or _loose(content, quote)
    if not places:
        return None
    return max(places, key=lambda place: (_fit(content, place, prefix, suffix), -place[0]))


def find_anchor(anchor: Anchor, content: str | None, others: Iterable[tuple[str, str]]) -> Found:
    """Return where an anchor is now: in the message of its key, else in one of `others`, which are (key, content).

    A message of the same content wins over one that contains only the quote. Of the latter, the one whose surroundings
    fit best wins, and it must share some of them: a short quote alone may stand anywhere.
    """
    if content is not None and (place := find_quote(content, anchor.quote, anchor.prefix, anchor.suffix)):
        return Found(Attachment.ATTACHED, anchor.message_key, *place)
    best: tuple[float, Found] | None = None
    for key, text in others:
        place = find_quote(text, anchor.quote, anchor.prefix, anchor.suffix)
        if place is None:
            continue
        if content_hash(text) == anchor.content_hash:
            return Found(Attachment.MOVED, key, *place)
        fit = _fit(text, place, anchor.prefix, anchor.suffix)
        if fit > 0 and (best is None or fit > best[0]):
            best = fit, Found(Attachment.MOVED, key, *place)
    return best[1] if best else Found(Attachment.BROKEN)


def _exact(content: str, quote: str) -> list[tuple[int, int]]:
    return [(m.start(), m.end()) for m in re.finditer(re.escape(quote), content)]


def _loose(content: str, quote: str) -> list[tuple[int, int]]:
    kept = [i for i, c in enumerate(content) if not _SYNTAX.match(c)]
    # One character each, so that places in the folded text are places in `kept`.
    folded = "".join((content[i].casefold() or " ")[0] for i in kept)
    wanted = "".join((c.casefold() or " ")[0] for c in _SYNTAX.sub("", quote))
    return [
        (kept[m.start()], kept[m.end() - 1] + 1) for m in re.finditer(re.escape(wanted), folded) if m.end() > m.start()
    ]


def _fit(content: str, place: tuple[int, int], prefix: str, suffix: str) -> float:
    """Return how many characters of the surroundings are unchanged, counted from the quote outwards."""
    start, end = place
    before = content[max(start - len(prefix), 0) : start]
    after = content[end : end + len(suffix)]
    return _common(before[::-1], prefix[::-1]) + _common(after, suffix)


def _common(first: str, second: str) -> int:
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count


_CANDIDATES = "SELECT message_key, content FROM sealed.messages WHERE contains(content, ?) ORDER BY message_id LIMIT 50"


@dataclass(frozen=True, slots=True)
class CitedQuote:
    """A piece of evidence and the message that it cites."""

    evidence: Evidence
    message: Message | None
    """None: the conversation has no message of this key."""
    place: tuple[int, int] | None
    """Start and end of the quote in the message, in code points; None if the message does not contain it."""

    @property
    def anchor(self) -> Anchor:
        """Anchor of the quote; without surroundings where the quote was not found."""
        if self.message is None or self.place is None:
            return Anchor(message_key=self.evidence.message_key, quote=self.evidence.quote)
        return anchor_at(self.evidence.message_key, self.message.content, *self.place)

    @property
    def attachment(self) -> str:
        """`attached` or `broken`; `whole` where the evidence is a whole message without a quote."""
        if self.message is not None and not self.evidence.quote.strip():
            return "whole"
        return "attached" if self.place is not None else "broken"


def cited_quotes(conversation: OpenConversation, probe: Probe) -> list[CitedQuote]:
    """Return the evidence of a probe with the cited messages, in the order of the probe."""
    ids = conversation.ids
    wanted = [ids[e.message_key] for e in probe.evidence if e.message_key in ids]
    messages = {m.message_key: m for m in conversation.messages_of(wanted)}
    found = []
    for evidence in probe.evidence:
        message = messages.get(evidence.message_key)
        place = find_quote(message.content, evidence.quote) if message else None
        found.append(CitedQuote(evidence, message, place))
    return found


@dataclass(frozen=True, slots=True)
class DisplacedAnchor:
    """An anchor whose quote no longer stands where the reviewer saw it."""

    item_id: str
    anchor: Anchor
    found: Found


@dataclass(frozen=True)
class AnchorReport:
    """State of all anchors in the log after conversations were generated again."""

    counts: Counter[Attachment]
    """Anchors by how they were found."""
    displaced: tuple[DisplacedAnchor, ...]
    """Moved and broken anchors, in the order of the log."""

    @property
    def reattached(self) -> float | None:
        """Share of the displaced anchors that were found elsewhere; None where no anchor is displaced."""
        lost = self.counts[Attachment.MOVED] + self.counts[Attachment.BROKEN]
        return self.counts[Attachment.MOVED] / lost if lost else None


def anchor_report(archive: Archive, events: Iterable[ReviewEvent]) -> AnchorReport:
    """Return where every anchor of the log stands now; anchors of conversations that are not sealed are left out."""
    seen: set[tuple[str, str, str]] = set()
    counts: Counter[Attachment] = Counter()
    displaced = []
    for event in events:
        if event.conversation_id not in archive.conversation_ids:
            continue
        conversation = archive.conversation(event.conversation_id)
        for anchor in anchors_in(event):
            key = event.conversation_id, anchor.message_key, anchor.quote
            if key in seen:
                continue
            seen.add(key)
            found = find_in(conversation, anchor)
            counts[found.attachment] += 1
            if found.attachment is not Attachment.ATTACHED:
                displaced.append(DisplacedAnchor(event.item_id, anchor, found))
    return AnchorReport(counts, tuple(displaced))


def anchors_in(event: ReviewEvent) -> Iterator[Anchor]:
    """Yield the anchors that an event keeps.

    `opened` events keep the quotes of each sealed version of a probe, `evidence_added` events the added quote.
    """
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
