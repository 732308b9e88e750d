"""Contradictions as the messages have them: one side asserts a thing, the other denies it, and they are far apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from longbeam.abilities.record import Trait
from longbeam.schemas.dialogue import Message
from longbeam.schemas.probes import CONTRADICTION_MESSAGES_APART, EvidencePart, Nugget, Probe
from longbeam.text.extraction import extract_values
from longbeam.text.matching import says_equivalent
from longbeam.text.normalizing import normalize_values
from longbeam.text.words import content_words
from longbeam.validation.base import WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.wording import claim

MIN_SAID = 0.5
"""Share of a nugget's words that the side which it retells must have."""
MAX_COMMON = 0.1
"""Words in more of the user's messages than this do not show that two sides are about the same thing."""
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
"""Stems of words that ask what became of a thing, and name nothing of it."""


@dataclass(frozen=True)
class _Side:
    """The statement or the denial of a probe."""

    messages: tuple[Message, ...]
    text: str
    """The quotes; the whole messages where an import has no quotes."""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(m.message_key for m in self.messages)

    @property
    def words(self) -> frozenset[str]:
        return content_words(self.content)

    @property
    def content(self) -> str:
        return "\n".join(m.content for m in self.messages)


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield sides that lie close together, deny nothing, or speak of different things."""
    if not has_trait(probe, Trait.RESOLVES_CONTRADICTION):
        return
    statement = _side(index, probe, EvidencePart.STATEMENT)
    denial = _side(index, probe, EvidencePart.DENIAL)
    # `evidence_parts` reports sides that are missing or share a message.
    if not statement.messages or not denial.messages or set(statement.keys) & set(denial.keys):
        return
    keys = (*statement.keys, *denial.keys)
    apart = min(abs(index.position[a] - index.position[b]) for a in statement.keys for b in denial.keys)
    if apart < CONTRADICTION_MESSAGES_APART:
        yield Problem("close", probe.probe_id, f"statement and denial are {apart} messages apart", keys)
    if fault := _fault_of_sides(index, probe, statement, denial):
        yield Problem(fault[0], probe.probe_id, fault[1], keys)
    for nugget in probe.rubric:
        if not _is_denial_said(nugget, statement, denial):
            where = f"the denial, {denial.keys[0]}, does not say {shorten(claim(nugget.text))!r}"
            yield Problem("denial_not_said", probe.probe_id, where, denial.keys)


def _side(index: ConversationIndex, probe: Probe, part: EvidencePart) -> _Side:
    cited = [e for e in probe.evidence if e.part == part]
    messages = tuple(m for e in cited if (m := index.message(e.message_key)) is not None)
    quotes = [e.quote for e in cited if e.quote]
    return _Side(messages, "\n".join(quotes or (m.content for m in messages)))


def _fault_of_sides(index: ConversationIndex, probe: Probe, statement: _Side, denial: _Side) -> tuple[str, str] | None:
    """Return kind and text of what keeps the sides from contradicting each other, or None."""
    is_polar = _POLAR.search(probe.question) is not None
    if not is_polar and _gives_two_values(statement.text, denial.text):
        return None
    if not (_DENIES.search(denial.text) or _NEVER.search(statement.text)):
        # Two sides without values may contradict each other in words that no pattern knows.
        has_fault = is_polar or bool(extract_values(statement.text))
        return ("no_denial", "neither side denies anything") if has_fault else None
    if _is_about_one_thing(index, content_words(probe.question), statement.text, denial.text):
        return None
    return "different_things", f"the denial says nothing that the question asks about: {shorten(probe.question)}"


def _gives_two_values(said: str, denied: str) -> bool:
    """Return whether the sides give different values of one kind and unit."""
    sides = [{(v.kind, v.unit): v for v in extract_values(normalize_values(text))} for text in (said, denied)]
    return any(not says_equivalent(said, sides[1][kind]) for kind in sides[0].keys() & sides[1].keys())


def _is_about_one_thing(index: ConversationIndex, asked: frozenset[str], statement: str, denial: str) -> bool:
    """Return whether a denial is about what the statement says, and not only about the same person or thing.

    The subject is what question, statement and denial all name. The denial must have a word that the question asks
    beyond the subject, or a word that it shares with the statement beyond the question: else it denies another thing.
    """
    asked -= _ASKING
    said, denied = content_words(statement), content_words(denial)
    if not asked & denied:
        return False
    beyond = asked - (said & denied)
    shared = (said & denied) - asked
    return not beyond or bool(beyond & denied) or any(index.share_of_user(w) < MAX_COMMON for w in shared)


def _is_denial_said(nugget: Nugget, statement: _Side, denial: _Side) -> bool:
    """Return whether a side says enough of a nugget that retells a denial (`never`)."""
    text = claim(nugget.text)
    if not _NEVER.search(text):
        return True
    words = content_words(text) - {"never", "said", "mention"}
    denying = [side for side in (statement, denial) if _NEVER.search(side.content)] or [denial]
    return max(len(words & side.words) for side in denying) >= MIN_SAID * len(words)


CHECK = Check(
    name="contradiction",
    doc="One message asserts and another denies the same thing, and they are far enough apart to need memory.",
    severities={"close": WARNING, "no_denial": WARNING, "different_things": WARNING, "denial_not_said": WARNING},
    english_only=dict.fromkeys(("no_denial", "different_things", "denial_not_said"), "reads English words"),
    on_probe=find_problems,
)
