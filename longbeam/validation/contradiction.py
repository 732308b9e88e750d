"""Contradictions as the messages have them: one side asserts, the other denies, both the same thing, and far apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.abilities.record import Trait
from longbeam.schemas.dialogue import Message
from longbeam.schemas.probes import CONTRADICTION_MESSAGES_APART, EvidencePart, Probe
from longbeam.text.extraction import extract_values
from longbeam.text.matching import says_equivalent
from longbeam.text.normalizing import normalize_values
from longbeam.text.words import content_words
from longbeam.validation.base import WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.wording import claim

MIN_SAID = 0.5
"""Share of a nugget's words that the side it retells must have."""
MAX_COMMON = 0.1
"""Words in more of the user's messages than this do not tell that two sides are about the same."""
_DENIES = re.compile(
    r"\b(?:never|not|no|none|nobody|nothing|neither|nor|without|yet to|refused?|avoid(?:ed)?)\b|\w+n['’]t\b",
    re.IGNORECASE,
)
_NEVER = re.compile(r"\bnever\b", re.IGNORECASE)
_POLAR = re.compile(r"^\W*(?:have|has|had|did|do|does|am|is|are|was|were)\b|\b(?:or not|whether)\b", re.IGNORECASE)
"""A question that is answered by yes or no."""


_ASKING = content_words(
    "ever yet still tell told give say said know mention remind happen stand behind thing going according come"
)
"""Words that ask for what became of a thing and name nothing of it."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield sides that lie close together, deny nothing, or speak of different things."""
    if not has_trait(probe, Trait.RESOLVES_CONTRADICTION):
        return
    statement = _side(index, probe, EvidencePart.STATEMENT)
    denial = _side(index, probe, EvidencePart.DENIAL)
    if not statement or not denial or {m.message_key for m in statement} & {m.message_key for m in denial}:
        return
    keys = tuple(m.message_key for m in (*statement, *denial))
    apart = min(abs(index.position[a.message_key] - index.position[b.message_key]) for a in statement for b in denial)
    if apart < CONTRADICTION_MESSAGES_APART:
        yield Problem("close", probe.probe_id, f"statement and denial are {apart} messages apart", keys)
    said, denied = (_said(probe, part, side) for part, side in zip(_PARTS, (statement, denial), strict=True))
    is_polar = _POLAR.search(probe.question) is not None
    if is_polar or not _gives_two_values(said, denied):
        denies = _DENIES.search(denied) or _NEVER.search(said)
        if not denies and (is_polar or extract_values(said)):
            yield Problem("no_denial", probe.probe_id, "neither side denies anything", keys)
        elif denies and not _is_of_one_thing(
            index, content_words(probe.question), content_words(said), content_words(denied)
        ):
            text = f"the denial says nothing that the question asks about: {shorten(probe.question)}"
            yield Problem("different_things", probe.probe_id, text, keys)
    for nugget in probe.rubric:
        text = claim(nugget.text)
        words = content_words(text) - {"never", "said", "mention"}
        denying = [side for side in (statement, denial) if _NEVER.search("\n".join(m.content for m in side))]
        covered = max(len(words & _words(side)) for side in denying or [denial])
        if _NEVER.search(text) and covered < MIN_SAID * len(words):
            where = f"the denial, {denial[0].message_key}, does not say {shorten(text)!r}"
            yield Problem("denial_not_said", probe.probe_id, where, tuple(m.message_key for m in denial))


_PARTS = (EvidencePart.STATEMENT, EvidencePart.DENIAL)


def _said(probe: Probe, part: EvidencePart, messages: list[Message]) -> str:
    """What a side says: its quotes, or the whole messages where an import has none."""
    quotes = [e.quote for e in probe.evidence if e.part == part and e.quote]
    return "\n".join(quotes or (m.content for m in messages))


def _gives_two_values(said: str, denied: str) -> bool:
    """Whether both sides give a value of one kind and unit, and not the same."""
    sides = [{(v.kind, v.unit): v for v in extract_values(normalize_values(text))} for text in (said, denied)]
    return any(not says_equivalent(said, sides[1][kind]) for kind in sides[0].keys() & sides[1].keys())


def _is_of_one_thing(
    index: ConversationIndex, asked: frozenset[str], said: frozenset[str], denied: frozenset[str]
) -> bool:
    """Whether a denial is about what the statement says, and not only about the same person or thing.

    What question, statement and denial all name is the subject. The denial must have a word of what the question asks
    beyond the subject, or a word that the statement has beyond the question: else it denies another thing.
    """
    asked -= _ASKING
    subject = asked & said & denied
    if not asked & denied:
        return False
    beyond = asked - subject
    common = (said & denied) - asked
    return not beyond or bool(beyond & denied) or any(index.share_of_user(w) < MAX_COMMON for w in common)


def _side(index: ConversationIndex, probe: Probe, part: EvidencePart) -> list[Message]:
    found = (index.message(e.message_key) for e in probe.evidence if e.part == part)
    return [m for m in found if m is not None]


def _words(messages: list[Message]) -> frozenset[str]:
    return content_words("\n".join(m.content for m in messages))


CHECK = Check(
    name="contradiction",
    doc="One message asserts and another denies the same thing, and they are far enough apart to need memory.",
    severities={"close": WARNING, "no_denial": WARNING, "different_things": WARNING, "denial_not_said": WARNING},
    english_only=dict.fromkeys(("no_denial", "different_things", "denial_not_said"), "reads English words"),
    on_probe=find_problems,
)
