"""Where a quote stands in a message, also after the message was written anew: key, quote, surroundings, content hash.

A quote that a reviewer selects on the page lacks the message's markdown and white space; it is found all the same,
and what is kept is the verbatim text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from longbeam.schemas.base import Record, digest_of
from longbeam.schemas.probes import Evidence

AROUND = 32
"""Characters kept on either side of a quote."""
_SYNTAX = re.compile(r"[\s*_`#>|~\\-]")
"""Characters that markdown may swallow or that pages lay out anew."""


class Anchor(Record):
    """A place in a conversation that can be found again."""

    message_key: str
    quote: str
    prefix: str = ""
    suffix: str = ""
    content_hash: str = ""
    """Of the whole message."""


class Attachment(StrEnum):
    """How an anchor was found."""

    ATTACHED = "attached"
    """The quote stands in the message of this key."""
    MOVED = "moved"
    """The same message, or one with the same quote and surroundings, stands under another key."""
    BROKEN = "broken"
    """Nowhere."""


@dataclass(frozen=True, slots=True)
class Found:
    """An anchor's place now."""

    attachment: Attachment
    message_key: str = ""
    start: int = 0
    """Code points into the message."""
    end: int = 0


def evidence_id_of(evidence: Evidence) -> str:
    """Return a short id of a piece of evidence: what it cites, and as what."""
    return digest_of(evidence.message_key, evidence.quote, evidence.part, evidence.group)[:12]


def content_hash(content: str) -> str:
    """Return the hash that anchors know a message by."""
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
    """Return where a quote stands (code points), verbatim or but for markdown and white space; None if nowhere.

    Where it stands several times, the place whose surroundings fit best, the first of equal ones.
    """
    if not quote.strip():
        return None
    places = _exact(content, quote) or _loose(content, quote)
    if not places:
        return None
    return max(places, key=lambda place: (_fit(content, place, prefix, suffix), -place[0]))


def find_anchor(anchor: Anchor, content: str | None, others: Iterable[tuple[str, str]]) -> Found:
    """Return where an anchor is now: in the message of its key, else in another; `others` are (key, content).

    A message of the same content is taken before one that has only the quote, and among those the one whose
    surroundings fit best, which must share some of them.
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
    """Return how many characters of the surroundings are as they were, counted from the quote outwards."""
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
