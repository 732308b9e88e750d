"""Probes that occur in two conversations: they are copied, or too general to prove memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longbeam.text import bare_words
from longbeam.validation.base import INFO, WARNING, Check, Problem, shorten
from longbeam.validation.digest import ConversationDigest


def find_problems(digests: Sequence[ConversationDigest]) -> Iterator[Problem]:
    """Yield probes that ask what a probe of an earlier conversation asks."""
    seen: dict[str, tuple[str, str, str]] = {}
    for digest in digests:
        own = digest.conversation_id
        for probe in digest.probes:
            question, gold = bare_words(probe.question), bare_words(probe.gold_answer)
            where, probe_id, answer = seen.setdefault(question, (own, probe.probe_id, gold))
            if where == own:
                continue
            kind = "same_answer" if answer == gold else "same_question"
            text = f"asks the same as {probe_id} of {where}: {shorten(probe.question)}"
            yield Problem(kind, probe.probe_id, text, conversation_id=own)


CHECK = Check(
    name="probe_uniqueness",
    doc="No probe is asked in two conversations; with the same answer it proves no memory of either.",
    severities={"same_answer": WARNING, "same_question": INFO},
    on_benchmark=find_problems,
)
