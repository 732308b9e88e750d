"""Rule-based model checks: they compare words, dates and values, and understand nothing beyond these."""

from __future__ import annotations

import datetime as dt
import re

from longbeam.offline import answering, judging
from longbeam.prompts.calls import (
    AnswerInputs,
    AskedQuestion,
    ClaimVerdict,
    ContradictionInputs,
    ContradictionReply,
    CriticInputs,
    CriticReply,
    Critique,
    EntailmentInputs,
    EntailmentReply,
    JudgeInputs,
    Mark,
    MarkedProbe,
    MarkInputs,
    MarkReply,
    ReadAnswer,
    ReadInputs,
    ReadReply,
)
from longbeam.text import ORDINAL_WORDS, content_words, says, values_in, words_of

_PLACED = re.compile(rf"Names (.+) as told ({'|'.join(ORDINAL_WORDS)})$")
_SUPPORTED = 1 / 3
"""Share of a claim's words that the message must have."""


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


def read_passages(inputs: ReadInputs) -> ReadReply:
    """Return the rule-based reader's answer to each question; from nothing, the words of the question."""
    return ReadReply(answers=[_read(inputs, asked) for asked in inputs.questions])


def _read(inputs: ReadInputs, asked: AskedQuestion) -> ReadAnswer:
    if not inputs.passages:
        return ReadAnswer(question=asked.number, passages=[], answer=asked.question)
    own = [p for p in inputs.passages if p.number in asked.passages]
    context = "\n\n".join(f"[{p.said_on:%A, %d %B %Y}, 12:00]\n{p.speaker}: {p.text}" for p in own)
    day = max((p.said_on for p in own), default=dt.date.min)
    answer = answering.answer(AnswerInputs(context=context, question=asked.question, asked_on=day))
    return ReadAnswer(question=asked.number, passages=list(asked.passages), answer=answer)


def criticise(inputs: CriticInputs) -> CriticReply:
    """Return that every probe is fine, with its own answer as the right one: rules have no taste."""
    return CriticReply(
        critiques=[
            Critique(probe=p.number, reason="rules find no fault", verdict="fine", right=p.gold_answer, wrong="-")
            for p in inputs.probes
        ]
    )


def mark(inputs: MarkInputs) -> MarkReply:
    """Return the criteria that each answer meets by the lexical judge."""
    return MarkReply(
        marks=[
            Mark(
                probe=probe.number,
                answer=number,
                met=[i for i, n in enumerate(probe.nuggets, 1) if _meets(probe, n, answer)],
            )
            for probe in inputs.probes
            for number, answer in enumerate(probe.answers, 1)
        ]
    )


def _meets(probe: MarkedProbe, nugget: str, answer: str) -> bool:
    if placed := _PLACED.match(nugget):
        told, place = re.split(r"\n|; ", answer), ORDINAL_WORDS.index(placed[2])
        return place < len(told) and content_words(placed[1]) - content_words("user") <= content_words(told[place])
    asked = JudgeInputs(question=probe.question, nugget=nugget, answer=answer, is_strict=True)
    return judging.judge(asked).verdict == "met"
