"""No other message changes the answer: a model sees the uncited messages nearest in words, with the gold answer."""

from __future__ import annotations

from collections.abc import Sequence

from longbeam.abilities.record import Trait
from longbeam.abilities.registry import ability_of
from longbeam.evaluation.model_checks.base import ModelCheck, ProbeCase, dated
from longbeam.models.asking import Asker
from longbeam.prompts.calls.checks import CounterEvidenceInputs, CounterEvidenceReply, DatedMessage
from longbeam.validation.base import WARNING, Problem, shorten

NEAREST = 8
"""Messages in the one call for each probe."""


async def find_problems(asker: Asker, case: ProbeCase) -> list[Problem]:
    """Return the message that changes the answer, if the model names one and quotes it."""
    found = case.nearest(f"{case.probe.question}\n{case.probe.gold_answer}", NEAREST)
    if not found:
        return []
    last = max((m.sent_at for m in case.cited), default=None)
    others = tuple(dated(m, i, is_after=last is not None and m.sent_at > last) for i, m in enumerate(found, 1))
    inputs = CounterEvidenceInputs(
        question=case.probe.question,
        gold_answer=case.probe.gold_answer,
        evidence=tuple(dated(m, i) for i, m in enumerate(case.cited, 1)),
        others=others,
    )

    def check(reply: CounterEvidenceReply) -> str | None:
        return _unproved(reply, others)

    reply: CounterEvidenceReply = await asker.structured(
        "counter_evidence", inputs, place="others", check=check, mend=_none
    )
    if reply.message is None:
        return []
    message = found[reply.message - 1]
    text = f"{message.message_key} may change the answer: {shorten(reply.quote, 90)!r} ({shorten(reply.reason, 120)})"
    keys = (message.message_key, *(m.message_key for m in case.cited))
    return [Problem("changes_answer", case.probe.probe_id, text, keys)]


def _unproved(reply: CounterEvidenceReply, others: Sequence[DatedMessage]) -> str | None:
    if reply.message is None:
        return None
    if not 1 <= reply.message <= len(others):
        return f"message {reply.message} is none of 1 to {len(others)}; give one of these, or null"
    if not reply.quote.strip() or reply.quote not in others[reply.message - 1].text:
        return f"the quote is not in message {reply.message}, letter by letter; copy it from there, or give null"
    return None


def _none(reply: CounterEvidenceReply) -> CounterEvidenceReply:
    """Return the reply without a message: one that cannot be quoted is no counter-evidence."""
    return CounterEvidenceReply(reason=reply.reason)


CHECK = ModelCheck(
    name="counter_evidence",
    doc="Of the messages nearest in words to a probe, none that it does not cite changes its answer.",
    severities={"changes_answer": WARNING},
    prompts=("counter_evidence",),
    # A contradiction is about messages that disagree; no message changes the form that an instruction asks for.
    applies=lambda case: not ability_of(case.probe.ability).has(Trait.RESOLVES_CONTRADICTION, Trait.SHAPES_ANSWERS),
    find=find_problems,
    reads_all=True,
)
