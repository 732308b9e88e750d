"""Contradictions as the messages have them: one side asserts, the other denies, both the same thing, and far apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.schemas.dialogue import Message
from longbeam.schemas.probes import CONTRADICTION_MESSAGES_APART, EvidencePart, Probe
from longbeam.schemas.values import extract_values
from longbeam.validation.base import WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.wording import about, claim

MIN_SAID = 0.5
"""Share of a nugget's words that the side it retells must have."""
_DENIES = re.compile(
    r"\b(?:never|not|no|no longer|none|nobody|nothing|without|yet to|refuse[ds]?|avoid(?:ed)?)\b|\w+n['’]t\b",
    re.IGNORECASE,
)
_NEVER = re.compile(r"\bnever\b", re.IGNORECASE)


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield sides that lie close together, deny nothing, or speak of different things."""
    if probe.ability != "contradiction_resolution":
        return
    statement = _side(index, probe, EvidencePart.STATEMENT)
    denial = _side(index, probe, EvidencePart.DENIAL)
    if not statement or not denial or {m.message_key for m in statement} & {m.message_key for m in denial}:
        return
    keys = tuple(m.message_key for m in (*statement, *denial))
    apart = min(abs(index.position[a.message_key] - index.position[b.message_key]) for a in statement for b in denial)
    if apart < CONTRADICTION_MESSAGES_APART:
        yield Problem("close", probe.probe_id, f"statement and denial are {apart} messages apart", keys)
    has_figures = all(any(extract_values(m.content)) for m in (statement[0], denial[0]))
    if not has_figures and not any(_DENIES.search(m.content) for m in (*statement, *denial)):
        yield Problem("no_denial", probe.probe_id, "neither side denies anything", keys)
    if not _words(denial) & about(probe.question):
        text = f"the denial has no word that the question asks about: {shorten(probe.question)}"
        yield Problem("different_things", probe.probe_id, text, keys)
    for nugget in probe.rubric:
        text = claim(nugget.text)
        words = about(text) - {"never", "said", "mention"}
        if _NEVER.search(text) and len(words & _words(denial)) < MIN_SAID * len(words):
            where = f"the denial, {denial[0].message_key}, does not say {shorten(text)!r}"
            yield Problem("denial_not_said", probe.probe_id, where, tuple(m.message_key for m in denial))


def _side(index: ConversationIndex, probe: Probe, part: EvidencePart) -> list[Message]:
    found = (index.message(e.message_key) for e in probe.evidence if e.part == part)
    return [m for m in found if m is not None]


def _words(messages: list[Message]) -> frozenset[str]:
    return about("\n".join(m.content for m in messages))


CHECK = Check(
    name="contradiction",
    doc="One message asserts and another denies the same thing, and they are far enough apart to need memory.",
    severities={"close": WARNING, "no_denial": WARNING, "different_things": WARNING, "denial_not_said": WARNING},
    english_only=dict.fromkeys(("no_denial", "different_things", "denial_not_said"), "reads English words"),
    on_probe=find_problems,
)
