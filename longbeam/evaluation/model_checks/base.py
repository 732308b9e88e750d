"""Interface of model-backed checks, and the part of a probe's conversation that they may read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from longbeam.errors import ReplyError
from longbeam.evaluation.judging import judge_nuggets
from longbeam.models.asking import Asker
from longbeam.models.kinds import is_language_model
from longbeam.prompts.calls.checks import DatedMessage
from longbeam.schemas.dialogue import Message
from longbeam.schemas.findings import Finding, Severity
from longbeam.schemas.probes import Probe
from longbeam.validation.base import Problem

MOST_CHARACTERS = 8_000
"""Characters of a message that a checker sees. People state facts before or after pasted code and logs, so the middle
of a longer message is left out."""


@dataclass(frozen=True)
class ProbeCase:
    """One probe, and the messages of its conversation that a check may read."""

    conversation_id: str
    probe: Probe
    cited: tuple[Message, ...]
    """Messages that the probe cites and that exist, oldest first."""
    others: tuple[Probe, ...]
    """The other selected probes."""
    asked_at: datetime
    nearest: Callable[[str, int], Sequence[Message]]
    """Returns the uncited messages nearest in words to a query, oldest first."""


Find = Callable[[Asker, ProbeCase], Awaitable[list[Problem]]]


@dataclass(frozen=True, kw_only=True)
class ModelCheck:
    """A check; each probe to which it applies is a unit of its own."""

    name: str
    doc: str
    severities: Mapping[str, Severity]
    prompts: tuple[str, ...]
    """Prompts that it asks."""
    applies: Callable[[ProbeCase], bool]
    find: Find
    reads_all: bool = False
    """Whether it reads more of the conversation than the cited messages."""

    def finding(self, problem: Problem, case: ProbeCase, model: str) -> Finding:
        """Return a problem as a finding that names the judge."""
        judge = model if is_language_model(model) else "lexical rules, no language model"
        return Finding(
            check=f"{self.name}.{problem.kind}",
            severity=self.severities[problem.kind],
            conversation_id=case.conversation_id,
            subject=problem.subject,
            message=f"{problem.message} [{judge}]",
            evidence=problem.evidence,
        )


async def verdicts(asker: Asker, case: ProbeCase, text: str) -> tuple[float, ...]:
    """Return the strict verdict on an answer for each nugget, 0 to 1; ReplyError if a judgement fails."""
    judged = await judge_nuggets(case.probe, text, asker, is_strict=True)
    if failed := [n for n in judged if n.score is None]:
        raise ReplyError(failed[0].error, kind="schema")
    return tuple(n.score for n in judged if n.score is not None)


def dated(message: Message, number: int, *, is_after: bool = False) -> DatedMessage:
    """Return the text of a message as the checker sees it, without the middle of a long one."""
    text = message.content
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = f"{text[:half]}\n[...]\n{text[-half:]}"
    return DatedMessage(number=number, said_on=message.sent_at.date(), text=text, is_after=is_after)
