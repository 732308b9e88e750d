"""No other message changes the answer: a model sees the uncited messages of both roles that are nearest in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longbeam.abilities import Trait, ability_of
from longbeam.evaluation.model_checks.base import ModelCheck, ProbeCase, dated
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import CounterEvidenceInputs, CounterEvidenceReply, DatedMessage
from longbeam.schemas import ENGLISH, AdviceKind, Message
from longbeam.text import words_of
from longbeam.validation import ERROR, Problem, shorten

MOST_QUOTED = 60
"""Words of a quote. Who copies a whole message has found nothing in it; the prompt asks for 40."""


async def find_problems(asker: Asker, case: ProbeCase) -> list[Problem]:
    """Return the message that changes the answer, if the model names one and quotes it."""
    found = case.nearest()
    if not found:
        return []
    last = max((m.sent_at for m in case.cited), default=None)
    ability = ability_of(case.probe.ability)
    # The steps of a plan are an order of the assistant's, and no order of mention.
    is_order = ability.has(Trait.ORDERS_ITEMS) and case.probe.details.variety != AdviceKind.STEPS

    def shown(number: int, message: Message) -> DatedMessage:
        sooner = next((i for i, m in enumerate(case.cited, 1) if message.sent_at < m.sent_at), 0)
        is_after = last is not None and message.sent_at > last
        return dated(message, number, is_after=is_after, before=sooner if is_order else 0)

    others = tuple(shown(i, m) for i, m in enumerate(found, 1))
    inputs = CounterEvidenceInputs(
        question=case.probe.question,
        gold_answer=case.probe.gold_answer,
        evidence=tuple(dated(m, i) for i, m in enumerate(case.cited, 1)),
        others=others,
        is_contradiction=ability.has(Trait.RESOLVES_CONTRADICTION),
        is_order=is_order,
    )
    asked = frozenset(words_of(f"{case.probe.question}\n{case.probe.gold_answer}"))

    def check(reply: CounterEvidenceReply) -> Iterator[str]:
        yield from _unproved(reply, others)
        # Words of other languages bend too much for this.
        if reply.message is not None and asker.spec.language == ENGLISH and not asked & set(words_of(reply.quote)):
            yield "the quote has no word of the question or of the answer, so it is about another thing; give null"

    reply: CounterEvidenceReply = await asker.structured(
        "counter_evidence", inputs, place="others", accept=Acceptance(check=check, mend=_none)
    )
    if reply.message is None:
        return []
    message = found[reply.message - 1]
    text = f"{message.message_key} may change the answer: {shorten(reply.quote, 90)!r} ({shorten(reply.reason, 120)})"
    keys = (message.message_key, *(m.message_key for m in case.cited))
    return [Problem("changes_answer", case.probe.probe_id, text, keys)]


def _unproved(reply: CounterEvidenceReply, others: Sequence[DatedMessage]) -> Iterator[str]:
    if reply.message is None:
        return
    if not 1 <= reply.message <= len(others):
        yield f"message {reply.message} is none of 1 to {len(others)}; give one of these, or null"
    elif not reply.quote.strip() or reply.quote not in others[reply.message - 1].text:
        yield f"the quote is not in message {reply.message}, letter by letter; copy it from there, or give null"
    elif (count := len(reply.quote.split())) > MOST_QUOTED:
        yield f"the quote has {count} words; copy those that change the answer, at most {MOST_QUOTED}, or give null"


def _none(reply: CounterEvidenceReply) -> CounterEvidenceReply:
    """Return the reply without a message: one that cannot be quoted is no counter-evidence."""
    return CounterEvidenceReply(reason=reply.reason)


CHECK = ModelCheck(
    name="counter_evidence",
    doc="Of the messages nearest in words to a probe, none that it does not cite changes its answer.",
    severities={"changes_answer": ERROR},
    prompts=("counter_evidence",),
    # No message changes the form that an instruction asks for.
    applies=lambda case: not ability_of(case.probe.ability).has(Trait.SHAPES_ANSWERS),
    find=find_problems,
    reads_all=True,
)
