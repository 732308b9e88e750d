"""Plans and results: whether words tell what somebody means to do, or what came of it, and of which side of a day.

English only.
"""

from __future__ import annotations

import re

_PLANNED = re.compile(
    r"\b(?:plan|plans|planned|planning|pencilled|intend(?:s|ed)?|aim(?:s|ed|ing)?|goal|target|hop(?:e|es|ed|ing)|"
    r"(?:mean|meant|want|wanted|going|supposed|expect|expected) to|would like|i['’]d like)\b"
    r"(?!\s+(?:to )?(?:know|hear|see|ask|learn|understand)\b)",  # what is asked is no plan
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|did|made|came|got|went|took|sold|finished|ended up|turned out|in the end|actually|behind (?:me|us))\b|"
    r"\b(?:have|has|had|I['’]ve|we['’]ve)\s+(?!(?:to|an?|the|no|my|our|your|some|any|not)\b)[a-z]+\b",
    re.IGNORECASE,
)

_CLAUSE = re.compile(r"[.;:!?,()\n]|\b(?:and|but|so|because|which|that)\b", re.IGNORECASE)
_AHEAD = re.compile(
    r"\b(?:is|are|am|will|shall|next|due|ends?|starts?|begins?|opens?|closes?|takes? place|comes?)\b|"
    r"\b(?:it|that|he|she|there|when)['’]s\b|['’](?:ll|re|m)\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"\b(?:was|were|did|went|came|got|met|bought|began|left|took|saw|made|had|ran|gave|fell|won|lost|"
    r"(?!(?:need|seed|feed|speed|weed|exceed|indeed|hundred|wed)\b)\w{2,}ed)\b",
    re.IGNORECASE,
)
_TOWARDS = re.compile(r"\b(?:for|to|until|till|by|before|from)(?:\s+the)?\W*\Z", re.IGNORECASE)
"""End of the words in front of a day that may lie ahead of what was done: `I booked it for`."""


def side_of_day(before: str, behind: str) -> int:
    """Return the side of today on which a day lies by the verb of its clause: -1 past, 1 to come, 0 either.

    `before` and `behind` are the words around the day.
    """
    before, behind = _CLAUSE.split(before)[-1], _CLAUSE.split(behind, maxsplit=1)[0]
    clause = f"{before} {behind}"
    if is_planned(clause) or _AHEAD.search(clause):
        return 1
    return -1 if _BEHIND.search(clause) and not _TOWARDS.search(before) else 0


def is_planned(text: str) -> bool:
    """Return whether a text tells a plan, and nothing that has been done."""
    return bool(_PLANNED.search(text)) and not _DONE.search(text)


def is_result(text: str) -> bool:
    """Return whether a text tells what has been done, and no plan."""
    return bool(_DONE.search(text)) and not _PLANNED.search(text)
