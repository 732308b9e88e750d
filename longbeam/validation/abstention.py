"""Abstentions: what is said to be missing is searched for in everything that anybody said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from longbeam.schemas.probes import Probe
from longbeam.validation.base import ERROR, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex

MAX_REPORTED = 3


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield messages that hold what the probe says is nowhere."""
    if probe.ability != "abstention":
        return
    terms = [t for t in probe.details.searches if t.strip()]
    if not terms:
        kind = "import_no_search" if index.is_import else "no_search"
        yield Problem(kind, probe.probe_id, "nothing was searched to show that the answer is missing")
    elif keys := find_messages(index, terms):
        text = f"{', '.join(keys)}: all of {', '.join(map(repr, terms))} are said there"
        yield Problem("answered", probe.probe_id, text, tuple(keys))
    if probe.details.missing.strip() and (keys := find_messages(index, [probe.details.missing])):
        text = f"{', '.join(keys)}: {shorten(probe.details.missing)!r} is said there"
        yield Problem("said", probe.probe_id, text, tuple(keys))


def find_messages(index: ConversationIndex, terms: Sequence[str]) -> list[str]:
    """Return keys of the first messages that hold all terms as whole words, whatever the case and white space."""
    folded = [" ".join(t.casefold().split()) for t in terms]
    patterns = [_pattern(t) for t in folded]
    # A plain search for one word of each term leaves few messages to the patterns.
    words = [max(t.split(), key=len) for t in folded]
    found: list[str] = []
    for message, text in zip(index.messages, index.folded, strict=True):
        if all(w in text for w in words) and all(p.search(text) for p in patterns):
            found.append(message.message_key)
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
    severities={"answered": ERROR, "said": ERROR, "no_search": ERROR, "import_no_search": WARNING},
    on_probe=find_problems,
)
