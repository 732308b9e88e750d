"""Result of a planter: the rows that replace others. A planter edits nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from benchmarks.seeded_defects.tables import Chat, Row
from benchmarks.seeded_defects.wording import whole


@dataclass(frozen=True)
class Change:
    """Rows of one conversation in place of those with the same id."""

    probe: Row | None = None
    messages: tuple[Row, ...] = ()
    twins: tuple[str, ...] = ()
    """Ids that would be right to name too: the other one of a pair."""
    touches_facts: bool = False
    """Whether what the user says of the probe's facts is another thing now, so that other probes are wrong with it."""


@dataclass(frozen=True)
class Site:
    """A place for a fault: a conversation, one of its probes, and the conversations beside it."""

    chat: Chat
    probe: Row
    others: tuple[Chat, ...]
    rng: Random


Planter = Callable[[Site], Change | None]
"""Returns None where the probe or the conversation does not lend itself to it."""


def said(message: Row, content: str) -> Row:
    """The message with another text."""
    return message | {"content": content}


def with_sentence(message: Row, sentence: str) -> Row:
    """The message with a sentence in front, where it starts a paragraph of its own thoughts."""
    return said(message, f"{sentence} {message['content']}")


def cites(message: Row, evidence: Row, quote: str) -> Row:
    """The evidence with another message."""
    place = {"message_id": message["message_id"], "message_key": message["message_key"]}
    return evidence | place | {"quote": quote}


def replaced(probe: Row, pairs: Iterable[tuple[str, str]], *, gold: bool = True, rubric: bool = True) -> Row:
    """The probe with words of its gold answer, its rubric and its details replaced."""

    def put(text: str) -> str:
        for old, new in pairs:
            text = whole(old).sub(lambda _, new=new: new, text)
        return text

    changed = dict(probe)
    if gold:
        changed["gold_answer"] = put(probe["gold_answer"])
        changed["details"] = {
            key: put(value) if isinstance(value, str) and key != "extra" else value
            for key, value in probe["details"].items()
        }
    if rubric:
        changed["rubric"] = [nugget | {"text": put(nugget["text"])} for nugget in probe["rubric"]]
    return changed


def later_message(site: Site, key: str, distance: int = 8) -> Row | None:
    """A spare user message well after another, for a sentence to be added to."""
    after = site.chat.places[key] + distance
    listed = site.chat.spare_messages("user", after)
    return site.rng.choice(listed) if listed else None


def last_cited(probe: Row) -> str:
    """Key of the last message that a probe cites."""
    return str(max(probe["evidence"], key=lambda e: e["message_id"])["message_key"])
