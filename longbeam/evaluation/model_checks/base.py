"""Interface of model-backed checks, and the part of a probe's conversation that they may read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from longbeam.errors import ReplyError
from longbeam.evaluation.judging import judge_nugget
from longbeam.models import Asker
from longbeam.prompts.calls import DatedMessage
from longbeam.schemas import Finding, Message, MessageRole, Nugget, Probe, Severity, is_language_model
from longbeam.validation import Problem

MOST_CHARACTERS = 8_000
"""Characters of a message that a checker sees. People state facts before or after pasted code and logs, so the middle
of a longer message is left out."""
NEAREST = {MessageRole.USER: 8, MessageRole.ASSISTANT: 4}
"""Uncited messages, or passages of long ones, that a check may see, by role: replies share more words with a question
than the facts do that would change its answer."""


@dataclass(frozen=True)
class ProbeCase:
    """One probe, and the messages of its conversation that a check may read."""

    conversation_id: str
    probe: Probe
    cited: tuple[Message, ...]
    """Messages that the probe cites and that exist, oldest first."""
    others: Sequence[Probe]
    """Other probes of the conversation."""
    asked_at: datetime
    nearest: Callable[[], Sequence[Message]]
    """Returns the uncited messages of both roles that are nearest in words to question and answer, oldest first.

    Of a long message, the contents are one passage."""


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
    calls: Callable[[Probe], int] = lambda probe: 1
    """Calls of each of its prompts for a probe in which it finds nothing, if the first nugget tells a wrong answer."""

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


async def first_unmet(asker: Asker, case: ProbeCase, text: str) -> Nugget | None:
    """Return the first nugget that an answer does not meet under a strict judge; None for full marks.

    The nuggets behind it are not judged. Raises ReplyError if a judgement fails.
    """
    for nugget in case.probe.rubric:
        judged = await judge_nugget(case.probe, nugget, text, asker, is_strict=True)
        if judged.score is None:
            raise ReplyError(judged.error, kind="schema")
        if judged.score < 1:
            return nugget
    return None


def dated(message: Message, number: int, *, is_after: bool = False, before: int = 0) -> DatedMessage:
    """Return the text of a message as the checker sees it, without the middle of a long one."""
    text = message.content
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = f"{text[:half]}\n[...]\n{text[-half:]}"
    return DatedMessage(
        number=number,
        said_on=message.sent_at.date(),
        speaker=message.role.value,
        text=text,
        is_after=is_after,
        before=before,
    )
