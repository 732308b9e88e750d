"""Abstentions: a search of all messages for the information that the probe declares missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from longbeam.abilities.record import Trait
from longbeam.schemas.probes import Probe
from longbeam.text.words import content_words
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex

MAX_REPORTED = 3
MIN_COVERED = 0.9
"""Share of the question's words in one message from which a person should read the message."""
MAX_COMMON = 0.3
"""Words in a larger share of the messages than this say nothing about the question."""
_ASKING = content_words(
    "what which specific exactly details provide share tell describe list recommend mention discuss give"
)


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield messages that hold the information that the probe declares missing."""
    if not has_trait(probe, Trait.ABSTAINS):
        return
    terms = [t for t in probe.details.searches if t.strip()]
    if not terms:
        if not index.is_import:
            yield Problem("no_search", probe.probe_id, "nothing was searched to show that the answer is missing")
        else:
            yield _search(index, probe)
    elif keys := find_messages(index, terms):
        text = f"{', '.join(keys)}: all of {', '.join(map(repr, terms))} are said there"
        yield Problem("answered", probe.probe_id, text, tuple(keys))
    if probe.details.missing.strip() and (keys := find_messages(index, [probe.details.missing])):
        text = f"{', '.join(keys)}: {shorten(probe.details.missing)!r} is said there"
        yield Problem("said", probe.probe_id, text, tuple(keys))


def _search(index: ConversationIndex, probe: Probe) -> Problem:
    """Search for the question's own words, where an import has no search terms; return the result as a problem."""
    terms = content_words(probe.question) - _ASKING
    common = {t for t in terms if sum(t in index.words(m) for m in index.messages) > MAX_COMMON * len(index.messages)}
    terms = terms - common or terms
    scored = [(len(terms & index.words(m)) / max(len(terms), 1), -i) for i, m in enumerate(index.messages)]
    share, place = max(scored, default=(0.0, 0))
    kind = "maybe_answered" if share >= MIN_COVERED else "searched"
    keys = tuple(index.messages[-i].message_key for s, i in sorted(scored, reverse=True)[:MAX_REPORTED] if s > 0)
    text = (
        f"searched {len(index.messages)} messages for {', '.join(sorted(terms))}; the closest, "
        f"{index.messages[-place].message_key}, has {share:.0%} of them"
    )
    return Problem(kind, probe.probe_id, text, keys)


def find_messages(index: ConversationIndex, terms: Sequence[str]) -> list[str]:
    """Return keys of the first messages that hold all terms as whole words, whatever the case and white space."""
    folded = [" ".join(t.casefold().split()) for t in terms]
    patterns = [_pattern(t) for t in folded]
    # A plain search for the words leaves few messages to the slower patterns.
    words = [word for t in folded for word in t.split()]
    found: list[str] = []
    for at, text in index.holding(words):
        if all(p.search(text) for p in patterns):
            found.append(index.messages[at].message_key)
            if len(found) == MAX_REPORTED:
                break
    return found


def _pattern(folded: str) -> re.Pattern[str]:
    body = r"\s+".join(re.escape(word) for word in folded.split())
    left = r"(?<!\w)" if folded[0].isalnum() else ""
    right = r"(?!\w)" if folded[-1].isalnum() else ""
    return re.compile(left + body + right)


CHECK = Check(
    name="abstention",
    doc="No message of the whole conversation holds all searched terms, or the phrase that is said to be missing.",
    severities={"answered": ERROR, "said": ERROR, "no_search": ERROR, "maybe_answered": WARNING, "searched": INFO},
    english_only=dict.fromkeys(("maybe_answered", "searched"), "compares English words"),
    on_probe=find_problems,
)
