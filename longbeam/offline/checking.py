"""Rule-based model checks: they compare words, dates and values, and understand nothing beyond these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from longbeam.offline.understanding import understand
from longbeam.prompts.calls import (
    ClaimVerdict,
    ContradictionInputs,
    ContradictionReply,
    CounterEvidenceInputs,
    CounterEvidenceReply,
    DatedMessage,
    EntailmentInputs,
    EntailmentReply,
    GuessInputs,
    NuggetSupport,
    SupportInputs,
    SupportReply,
)
from longbeam.schemas import Value
from longbeam.text import CHANGE, other_values, recompute, says, sentences, spell_out, values_in, words_of

_SAME_THING = 0.5
"""Share of the question's words that a sentence must have to be on the same thing."""
_ANSWERS = 0.8
"""The same share for an abstention probe, whose gold says that nothing answers it."""
_SUPPORTED = 1 / 3
"""Share of a nugget's telling words that the cited messages or the question must have."""
COMPUTATIONS = ("sum", "difference", "days_between")
_TELLING = 3
"""Number of words below which a nugget is a label, which the conversation may word differently."""
_MANNER = ("Asks ", "The response ")
"""Beginnings of nuggets on the manner of an answer; rules cannot tell whether a user asked for it."""
_FRAME = frozenset(
    words_of(
        "states mentions says asks names gives user response answer includes adds conversation statement statements "
        "contradict each other two which correct right total difference between there days day weeks months order first"
    )
)
"""Words of nuggets that describe the answer and not the story."""
_ASKING = frozenset(words_of("what when who which how many much long did do does was were is are have had user tell"))


def entailment(inputs: EntailmentInputs) -> EntailmentReply:
    """Return for each claim whether the message has its values and enough of its words."""
    words = frozenset(words_of(inputs.message))
    return EntailmentReply(
        verdicts=[_claim_verdict(i, claim, inputs.message, words) for i, claim in enumerate(inputs.claims, 1)]
    )


def _claim_verdict(number: int, claim: str, message: str, words: frozenset[str]) -> ClaimVerdict:
    own = words_of(claim)
    share = sum(word in words for word in own) / max(1, len(own))
    is_said = share >= _SUPPORTED and all(says(message, value) for value in values_in(claim))
    return ClaimVerdict(claim=number, reason=f"{share:.0%} of the words are in the message", is_said=is_said)


def contradiction(inputs: ContradictionInputs) -> ContradictionReply:
    """Return that two remarks can both be true if they share no word."""
    shared = frozenset(words_of(inputs.earlier.text)) & frozenset(words_of(inputs.later.text))
    return ContradictionReply(reason=f"{len(shared)} words are in both", can_both_be_true=not shared)


def support(inputs: SupportInputs) -> SupportReply:
    """Return for each nugget whether its values are said or computable, and enough of its telling words are said."""
    told = "\n".join(spell_out(m.text, m.said_on) for m in inputs.evidence)
    # A message that tells a value tells its attribute, whose name it need not say.
    attributes = " ".join(name for s in understand(told.splitlines()).statements for name, _ in s.values)
    known = frozenset(words_of(f"{told}\n{inputs.question}\n{attributes}"))
    is_counted = "how many" in inputs.question.casefold()
    evidence = _Evidence(told, known, values_in(told), len(inputs.evidence), is_counted)
    return SupportReply(nuggets=[_supported(i, nugget, evidence) for i, nugget in enumerate(inputs.nuggets, 1)])


@dataclass(frozen=True)
class _Evidence:
    """Words and values of the messages that a probe cites."""

    told: str
    known: frozenset[str]
    """Words of the messages, their attributes and the question."""
    values: Sequence[Value]
    messages: int
    is_counted: bool
    """Whether the question asks how many: their number may be the answer."""


def _supported(number: int, nugget: str, evidence: _Evidence) -> NuggetSupport:
    if nugget.startswith(_MANNER):
        return NuggetSupport(nugget=number, reason="it is about the manner of the answer", is_supported=True)
    own, known = values_in(nugget), evidence.known
    if evidence.is_counted:
        own = tuple(v for v in own if v.number != evidence.messages)
    missing = [v.text for v in own if not (says(evidence.told, v) or _follows(v, evidence.values))]
    telling = frozenset(words_of(nugget)) - _FRAME - frozenset(w for v in own for w in words_of(v.text))
    share = len(telling & known) / len(telling) if len(telling) >= _TELLING else 1.0
    reason = f"{', '.join(missing) or 'no value'} is missing, {share:.0%} of the telling words are there"
    return NuggetSupport(nugget=number, reason=reason, is_supported=not missing and share >= _SUPPORTED)


def _follows(value: Value, values: Sequence[Value]) -> bool:
    """Whether a value is the sum, the difference or the days between two said values, or the sum of all."""
    groups = [*combinations(values, 2), *([tuple(values)] if len(values) > 2 else [])]
    groups += [tuple(v for v in values if v.unit == unit) for unit in {v.unit: None for v in values}]
    for group in groups:
        for computation in COMPUTATIONS:
            try:
                found = recompute(computation, group)
            except ValueError:
                continue
            if says(found.text, value):
                return True
    return False


def guess(inputs: GuessInputs) -> str:
    """Return the values in the question itself: without a conversation, rules know nothing else."""
    return inputs.question


def counter_evidence(inputs: CounterEvidenceInputs) -> CounterEvidenceReply:
    """Return a later sentence with another value of the same kind on the same thing, or one that answers."""
    asked = frozenset(words_of(inputs.question)) - _ASKING
    values = values_in(inputs.gold_answer)
    known = "\n".join((inputs.question, inputs.gold_answer, *(m.text for m in inputs.evidence)))
    for message in inputs.others:
        for sentence in _statements(message):
            words = frozenset(words_of(sentence))
            share = len(asked & words) / len(asked) if asked else 0.0
            if not inputs.evidence:
                if share >= _ANSWERS:
                    return _found(message, sentence, f"{share:.0%} of the question's words are in one sentence")
                continue
            is_change = message.is_after and share >= _SAME_THING and CHANGE.search(sentence)
            others = other_values(sentence, values, known) if is_change else []
            if others and not any(says(sentence, value) for value in values):
                return _found(message, sentence, f"a later message changes it to {others[0].text}")
    return CounterEvidenceReply(reason="no later sentence changes a value of the same kind about the same thing")


def _found(message: DatedMessage, sentence: str, reason: str) -> CounterEvidenceReply:
    return CounterEvidenceReply(reason=reason, message=message.number, quote=sentence)


def _statements(message: DatedMessage) -> Iterator[str]:
    for first, last in sentences(message.text):
        if not (sentence := message.text[first:last]).rstrip().endswith("?"):
            yield sentence
