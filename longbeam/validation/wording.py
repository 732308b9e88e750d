"""Wording of questions and nuggets: the claim of a nugget, and the subject of a question."""

from __future__ import annotations

import re

from longbeam.schemas import Probe

_RUBRIC_OPENING = re.compile(
    r"^\W*(?:(?:the )?(?:LLM )?(?:response|answer) should \w+|"
    r"(?:states?|mentions|says|tells the user|gives the fact)(?: what (?:this|the) answer says)?)(?: that)?:?\s*",
    re.IGNORECASE,
)
_ASKS_ASSISTANT = re.compile(
    r"\bdid you\b|\b(?:you|your|assistant)\b"
    r"(?! (?:tell|list|remind|walk|give|summari[sz]e|explain|describe|say|help|know|recall|provide|add|get|put|need))",
    re.IGNORECASE,
)
_SAID_TO_ASSISTANT = re.compile(
    r"\b(?:with|to|for|told|tell|gave|give|asked|ask|shown?|mentioned to|remind) you\b", re.IGNORECASE
)
"""The assistant as the one to whom the user said something."""
_PAST = re.compile(
    r"\b(?:original(?:ly)?|initial(?:ly)?|at first|before|previous(?:ly)?|earlier|formerly|old|used to|"
    r"at the start|beginning|started (?:out|with)|change[ds]?|difference|increase[ds]?|decrease[ds]?|history|"
    r"improve\w*|as of|at the time|back then|going back to)\b",
    re.IGNORECASE,
)


def answer_text(probe: Probe) -> str:
    """Return gold answer and nuggets of a probe as one text."""
    return "\n".join((probe.gold_answer, *(n.text for n in probe.rubric)))


def claim(nugget: str) -> str:
    """Return what an answer must say to earn a nugget, without an opening as `LLM response should state:`."""
    return _RUBRIC_OPENING.sub("", nugget)


def asks_assistant(question: str) -> bool:
    """Return whether a question is about what the assistant said: `did you recommend`, not `can you list`."""
    return _ASKS_ASSISTANT.search(_SAID_TO_ASSISTANT.sub(" ", question)) is not None


def asks_for_past(question: str) -> bool:
    """Return whether a question asks for what was before, or for a change: an old value may then be the answer."""
    return _PAST.search(question) is not None
