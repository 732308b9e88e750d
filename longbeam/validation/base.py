"""Checks: a name, one line of documentation, and the kinds of problems with their severities.

A check declares its severities, so that two runs of `validate` never disagree on what an error is. A check yields
`Problem`s; `run.py` turns them into findings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from longbeam.abilities import Trait, ability_of
from longbeam.schemas import Finding, Probe, Severity
from longbeam.text import Language
from longbeam.validation.index import ConversationDigest, ConversationIndex

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class Scope(StrEnum):
    """The input of a check."""

    CONVERSATION = "conversation"
    PROBE = "probe"
    BENCHMARK = "benchmark"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem that a check found; `kind` is one that the check declares."""

    kind: str
    subject: str
    """A probe_id, message_key, bullet_id, person_id, `profile` or `conversation`."""
    message: str
    evidence: tuple[str, ...] = ()
    """Message keys to look at."""
    conversation_id: str = ""
    """Set only by checks of a benchmark."""


Problems = Iterable[Problem]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check. Exactly one of the three functions is given; it decides the scope."""

    name: str
    doc: str
    """One line: the problems that the check finds, and why they matter."""
    severities: Mapping[str, Severity]
    """Severity of each kind of problem."""
    english_only: Mapping[str, str] = field(default_factory=dict)
    """Kinds that are found only in English, and the reason (`reads English dates`)."""
    on_conversation: Callable[[ConversationIndex], Problems] | None = None
    on_probe: Callable[[ConversationIndex, Probe], Problems] | None = None
    on_benchmark: Callable[[Sequence[ConversationDigest]], Problems] | None = None

    def __post_init__(self) -> None:
        given = [f for f in (self.on_conversation, self.on_probe, self.on_benchmark) if f is not None]
        if len(given) != 1:
            raise ValueError(f"check {self.name!r}: exactly one function is needed, not {len(given)}")
        if unknown := sorted(self.english_only.keys() - self.severities.keys()):
            raise ValueError(f"check {self.name!r}: {unknown[0]!r} is no kind of it")

    @property
    def scope(self) -> Scope:
        """The input of the check."""
        if self.on_conversation is not None:
            return Scope.CONVERSATION
        return Scope.PROBE if self.on_probe is not None else Scope.BENCHMARK

    def applies(self, language: Language, kind: str | None = None) -> bool:
        """Return whether this kind, or any kind, can be found in a language."""
        kinds = self.severities.keys() if kind is None else {kind}
        return language.reads_words or not kinds <= self.english_only.keys()

    def finding(self, problem: Problem, conversation_id: str) -> Finding:
        """Return a problem as a finding; `Finding.check` is `<name>.<kind>`."""
        return Finding(
            check=f"{self.name}.{problem.kind}",
            severity=self.severities[problem.kind],
            conversation_id=problem.conversation_id or conversation_id,
            subject=problem.subject,
            message=problem.message,
            evidence=problem.evidence,
        )


def has_trait(probe: Probe, *traits: Trait) -> bool:
    """Return whether the probe's ability has at least one of these traits."""
    return ability_of(probe.ability).has(*traits)


def shorten(text: str, limit: int = 70) -> str:
    """Return a text on one line, cut to `limit` characters, for the message of a finding."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


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
