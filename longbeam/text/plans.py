"""Plans and results: whether words tell what somebody means to do, or what came of it. English only."""

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


def is_planned(text: str) -> bool:
    """Return whether a text tells a plan, and nothing that has been done."""
    return bool(_PLANNED.search(text)) and not _DONE.search(text)


def is_result(text: str) -> bool:
    """Return whether a text tells what has been done, and no plan."""
    return bool(_DONE.search(text)) and not _PLANNED.search(text)
