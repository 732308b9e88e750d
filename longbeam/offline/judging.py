"""The lexical judge: deterministic verdicts by words and values; every result labels them as such.

An answer meets a nugget when it has all of the nugget's typed values and most of the nugget's words that are not in
the question. Nuggets of a plain form have rules of their own: that there is no information, that statements contradict,
that the user is asked back, that a unit is used. The judge knows no synonyms.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from itertools import pairwise

from text_to_num import alpha2digit

from longbeam.offline import answering
from longbeam.offline.answer_forms import judge_answer_form, verdict
from longbeam.prompts.calls import (
    AlignInputs,
    AlignReply,
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
    GuessedAnswer,
    GuessInputs,
    GuessReply,
    JudgeInputs,
    JudgeReply,
    Mark,
    MarkedProbe,
    MarkInputs,
    MarkReply,
    ReadAnswer,
    ReadInputs,
    ReadReply,
    TrialAnswerInputs,
)
from longbeam.schemas import Value, ValueKind
from longbeam.terminal import counted
from longbeam.text import (
    NEGATOR,
    ORDINAL_WORDS,
    content_words,
    normalize_values,
    says,
    says_equivalent,
    sentences,
    stated_in,
    values_in,
    words_of,
)

_MONTHS = tuple(month.casefold() for month in calendar.month_name if month)
_FRAME = frozenset(
    words_of(
        "states mentions says said tells told asks names gives user response answer includes conversation llm "
        "contains total altogether together sum difference number different fact "
        "order based till provided chat there information"
    )
)
_IMPLIED = {
    ValueKind.DURATION: frozenset(
        words_of("lasted lasts take takes took lie lies long passed between length duration")
    ),
    ValueKind.MONEY: frozenset(words_of("price costs paid pays spent worth amounts budget")),
    ValueKind.DATE: frozenset(words_of("date day took place happened scheduled set due on")),
    ValueKind.NUMBER: frozenset(words_of("there count counts amount amounts comes come make makes")),
}
"""Stems of words that a value of a kind says by itself: "50 minutes" lasts."""
_NO_INFORMATION = re.compile(
    r"\bno (?:\w+ )?(?:information|mention|record|detail|trace|note|word|indication|sign|reference|idea|figure)s?\b|"
    r"(?:\b(?:not|never)|(?<!\bca)(?<!\bwo)n['’]t) (?:[\w'’]+ ){0,3}?(?:mention|say|said|discuss|told|tell|specif|"
    r"provid|stat|talk|c[oa]me up|shar|g[ai]ve|find|found|see|record|know|contain|cover|includ|reveal|"
    r"have (?:that|any|it))|"
    r"\bnot (?:\w+ ){0,2}in (?:our|this|the|your|any|what) (?:\w+ )?(?:chat|conversation|messages?|history|talks?)\b|"
    r"\bno such\b|\bnothing (?:\w+ ){0,4}?(?:about|on|said|was|in)\b|\bunknown\b|\bnowhere\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”')
_CONTRADICTS = re.compile(r"\bcontradict|\bconflict|\binconsisten|\bdisagree|\bat odds\b", re.IGNORECASE)
_TELLS_BOTH = re.compile(
    r"\b(?:do|does|did)(?: not|n['’]t) (?:agree|match|fit|line up|add up|go together)|"
    r"\b(?:clash|differ|discrepan|mismatch)\w*|"
    r"\b(?:cannot|can['’]t) both\b|"
    r"\bnot (?:consistent|agree)\b|\btwo (?:different|versions|answers|accounts|figures|numbers)\b|"
    r"\bboth (?:that|ways)\b|"
    r"\b(?:but|and|yet)(?: \w+)? (?:also|elsewhere|another time|on another occasion|at another point)\b",
    re.IGNORECASE,
)
"""Other ways to say that two statements contradict each other."""
_NO_CONFLICT = re.compile(
    r"(?:\b(?:no|without|not|never)|n['’]t)(?: \w+){0,2} (?:contradict|conflict|inconsist|disagree)", re.IGNORECASE
)
_USER_SAID = re.compile(r"\bthe user (?:said|told|stated|mentioned)\b", re.IGNORECASE)
_YOU_SAID = re.compile(r"\byou(?:r|['’]\w+)?\b|\b(?:once|one occasion|earlier|elsewhere|another time)\b", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)
_GUESSES = re.compile(
    r"\b(?:probabl[ey]|presumably|likely|perhaps|maybe|my guess|i['’]d (?:guess|say|assume)|i (?:guess|assume|believe)|"
    r"most likely|should be|must be|typically|usually)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"^(?:[^:]{0,60}:\s*)?(?:asks\b|which\b[^.]*\?\s*$)", re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:which|whether|clarify|confirm|correct|right|or)\b[^.!]*\?|"
    r"\b(?:please|let me know|tell me|could you|can you)\b[^.!?]*\b(?:which|whether|what|confirm|clarify)\b",
    re.IGNORECASE,
)
_ONE_ASKED = re.compile(
    r"\bhow (?:many|much|long|old|often|far)\b|\bwhen\b|\bwhat (?:is|was|time|day|date|share|amount|price)\b|"
    r"\bwhat (?:\w+ ){0,2}\w*[^s\s] (?:did|do|does|is|was|you|i|he|she|we|they|has|have)\b|"
    r"\bwhich (?:\w+ )?(?:is|was|did|does|do|has|time|day|date|\w+[^s\s]) |\bby how\b",
    re.IGNORECASE,
)
"""A question for one value."""
_LEADS_TO_BOTH = re.compile(
    r"(?:\b(?:between|both|from|together|sum|total|against|compared|than)\b|[=+×])[^.;]{0,20}\Z", re.IGNORECASE
)
_FOLLOWS_BOTH = re.compile(
    r"\s*[,–—]?\s*(?:together|in all|in total|altogether|respectively|so|which makes|makes|=)", re.IGNORECASE
)
"""Words in front of two values, or behind them, that say how they belong together: a span, a sum, two statements."""
_ADDS_UP = re.compile(
    r"\b(?:altogether|together|in (?:all|total)|makes?|against|between|since|more|longer|fewer|sum|inconsistent|"
    r"contradict\w*)\b",
    re.IGNORECASE,
)
"""Words by which question or answer say how other values belong to this one."""
_ALTERNATIVES = re.compile(
    r"\s*(?:,|;|/|\bor\b|\band\b|\beither\b|\bmaybe\b|\bperhaps\b|\bpossibly\b|\beven\b|\balso\b|\bit\b|\bis\b|\bcould\b|"
    r"\bbe\b|\bas well as\b|\bthen again\b|\bthe\b|\bon\b|\ban?\b|\s)+",
    re.IGNORECASE,
)
"""Words between two candidates of which an answer chooses none."""
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
_NO_NAMES = frozenset(words_of(f"{' '.join(_MONTHS)} monday tuesday wednesday thursday friday saturday sunday"))
_DENIED_PART = re.compile(
    r"(?:\b(?:not|never|neither|nor|instead of|rather than|no longer|other than|anything but)\b|n['’]t\b)"
    r"(?:\s+(?!(?:but|until|before|only|just)\b)[^\s,;:.!?()]+){1,6}",
    re.IGNORECASE,
)
"""A denial within its clause: `not 6 hours`, `rather than on Friday`."""
_SHORT = 60
"""Words of an answer up to which its values are taken to be about the question."""
_FULL, _FULL_WITH_VALUES, _HALF = 0.6, 0.5, 0.35
"""Shares of the telling words: for full credit, for full credit of a nugget with values, for half credit."""
_SAME_EVENT = 0.5


def judge(inputs: JudgeInputs) -> JudgeReply:
    """Return the verdict on one nugget."""
    by_form, read = judge_form(inputs)
    return by_form or judge_words(read)


def trial_answer(inputs: TrialAnswerInputs) -> str:
    """Return the right answer, or one that is plainly wrong."""
    return inputs.gold_answer if inputs.form == "right" else "I would rather not say."


def judge_form(inputs: JudgeInputs) -> tuple[JudgeReply | None, JudgeInputs]:
    """Return the verdict on a nugget that asks for a plain form, and the inputs with what other rules may read.

    The verdict is None for a nugget that only words and values decide.
    """
    if (reply := _judge_question(inputs)) is not None:
        return reply, inputs
    # A value of the point is about it in any words; counts of other things are no values of it.
    if not values_in(inputs.nugget) and _is_off_subject(inputs):
        return verdict("treat", "the question's subject", is_met=False), inputs
    for rule in (_judge_absence, _judge_contradiction):
        if (reply := rule(inputs)) is not None:
            return reply, inputs
    by_form, read = judge_answer_form(inputs)
    return by_form, inputs.model_copy(update={"answer": read})


_TALK = content_words(
    "conversation chat message information mention told tell say said shared give record note detail know answer "
    "question statement find figure number come came look remember contradict conflict right based provided"
)
"""Stems of words that speak of the conversation and name nothing in it."""
_OWN = 4
"""Words of its own from which an answer has a subject; with `_LONG` of them one shared word is chance."""
_LONG = 40


def _is_off_subject(inputs: JudgeInputs) -> bool:
    """Return whether an answer of some words shares too few of them with question and nugget."""
    own = content_words(inputs.answer) - _TALK
    shared = own & (content_words(inputs.question) | content_words(inputs.nugget))
    return len(own) >= _OWN and len(shared) < (2 if len(own) >= _LONG else 1)


def _judge_absence(inputs: JudgeInputs) -> JudgeReply | None:
    if not _says_nothing_known(inputs.nugget):
        return None
    guessed = _GUESSES.search(inputs.answer) and any(not says(inputs.question, v) for v in values_in(inputs.answer))
    says_so = _says_nothing_known(inputs.answer) and not guessed
    return verdict("say", f"that there is no information{' without a guess at it' if guessed else ''}", says_so)


def _judge_contradiction(inputs: JudgeInputs) -> JudgeReply | None:
    if not _CONTRADICTS.search(inputs.nugget):
        return None
    says_so = _CONTRADICTS.search(inputs.answer) or _TELLS_BOTH.search(inputs.answer)
    contradicts = says_so and not _NO_CONFLICT.search(inputs.answer)
    return verdict("say", "that two statements contradict each other", contradicts)


def _judge_question(inputs: JudgeInputs) -> JudgeReply | None:
    if not _ASKS.search(inputs.nugget):
        return None
    asks = _ASKED.search(inputs.answer) and not content_words(inputs.answer) <= content_words(inputs.question)
    return verdict("ask", "back which one holds", asks)


def _says_nothing_known(text: str) -> bool:
    """Return whether the text itself says that there is no information, and not a message that it quotes."""
    return _NO_INFORMATION.search(_QUOTED.sub("", text)) is not None


def judge_words(inputs: JudgeInputs) -> JudgeReply:
    """Return the verdict by values and words: all values, and most of the words that the question does not have.

    What the answer denies is not said, and of several candidates side by side none is.
    """
    is_denial = _DENIES.search(inputs.nugget) is not None
    answer = _spelled(inputs.answer)
    claimed = answer if is_denial else _claimed(answer)
    if reason := _unclaimed(inputs, claimed, is_denial=is_denial):
        return JudgeReply(reason=reason, verdict="not met")
    values = values_in(inputs.nugget)
    found = [v for v in values if _is_said(inputs, claimed, v)]
    telling, fresh = _telling(inputs, values)
    if found and (reason := _other_subject(inputs, claimed, found, telling)):
        return JudgeReply(reason=reason, verdict="not met")
    # A point is told in a sentence or two; words from all over a long answer tell another thing.
    said = set(words_of(claimed)) if values else max(_windows(claimed), key=lambda words: len(fresh & words))
    share = len(fresh & said) / len(fresh) if fresh else 1.0
    reason = _measured(inputs.nugget, values, found, fresh, said)
    if values and len(found) == len(values) and _USER_SAID.search(inputs.nugget):
        share = 1.0  # of two statements the values tell which one is meant
    elif values:
        # A value beside the nugget's words is about the same thing; so is a value in an answer of a few words.
        near = len(telling & _beside(claimed, found)) / len(telling) if telling else 1.0
        alone = _FULL_WITH_VALUES if telling - fresh and _is_alone(inputs, claimed, found, fresh & said) else 0.0
        if found and max(near, alone) > share:
            share = max(near, alone)
            beside = f"{near:.0%} of the point's words stand beside its values"
            reason += f"; {beside if near >= alone else 'so short that its values count alone'}"
    enough = (_FULL_WITH_VALUES if values else _FULL) if inputs.is_strict else _HALF
    if len(found) == len(values) and share >= enough:
        return JudgeReply(reason=reason, verdict="met")
    has_half = 2 * len(found) >= len(values) and share >= _HALF
    partly = has_half and not _says_nothing_known(inputs.answer)
    return JudgeReply(reason=reason, verdict="partly met" if partly else "not met")


def _measured(nugget: str, values: Sequence[Value], found: Sequence[Value], fresh: set[str], said: set[str]) -> str:
    """Return how many of a nugget's values and telling words an answer has, and which are missing."""
    unsaid = [word for word in re.findall(r"[\w'’-]+", nugget) if not fresh.isdisjoint(set(words_of(word)) - said)]
    missing = ", ".join(dict.fromkeys([*(v.text for v in values if v not in found), *unsaid]))
    has = [(len(found), len(values), "value"), (len(fresh & said), len(fresh), "telling word")]
    said_of = " and ".join(f"{have} of {counted(of, noun)}" for have, of, noun in has if of)
    return f"the answer has {said_of or 'nothing to say'}{f' (missing: {missing})' if missing else ''}"


def _telling(inputs: JudgeInputs, values: Sequence[Value]) -> tuple[set[str], set[str]]:
    """Return the stems of a nugget's telling words, and those of them that the question does not have."""
    implied = frozenset[str]().union(*(_IMPLIED.get(v.kind, frozenset()) for v in values))
    own = set(words_of(inputs.nugget)) - _FRAME - {w for v in values for w in words_of(v.text)}
    telling = {word for word in own - implied if len(word) > 1}
    fresh = telling - set(words_of(inputs.question))
    return telling, fresh if values else fresh or telling


def _unclaimed(inputs: JudgeInputs, claimed: str, *, is_denial: bool) -> str:
    """Return the reason why an answer with the right words claims nothing; empty if it does."""
    if is_denial and not NEGATOR.search(inputs.answer):
        return "the answer denies nothing"
    if _USER_SAID.search(inputs.nugget) and not (_YOU_SAID.search(claimed) or _TELLS_BOTH.search(claimed)):
        return "the answer does not say that the user said so"
    return _hedged(inputs, claimed)


def _is_alone(inputs: JudgeInputs, claimed: str, found: Sequence[Value], fresh: set[str]) -> bool:
    """Return whether a short answer has no other value of the kind, or says how its values belong together."""
    if len(claimed.split()) > _SHORT:
        return False
    kinds = {v.kind for v in found}
    others = [v for v in values_in(claimed) if v.kind in kinds and not any(says(v.text, one) for one in found)]
    return (
        bool(fresh)
        or not others
        or any(words.search(f"{inputs.question} {claimed}") for words in (_TELLS_BOTH, _ADDS_UP))
    )


def _claimed(answer: str) -> str:
    """Return an answer without what it denies, with its values in one spelling."""
    return normalize_values(_DENIED_PART.sub(" ", answer))


def _hedged(inputs: JudgeInputs, claimed: str) -> str:
    """Return the reason why an answer chooses no value or name among several; empty if it chooses."""
    asks_one = _ONE_ASKED.search(inputs.question) or inputs.question.casefold().startswith("who")
    if _USER_SAID.search(inputs.nugget) or not asks_one:
        return ""
    wanted = [v for v in values_in(inputs.nugget) if not says(inputs.question, v)]
    for start, end in sentences(claimed):
        sentence = claimed[start:end]
        stated = [s for s in stated_in(sentence) if not says(inputs.question, s.value)]
        right = [any(says(s.value.text, v) or says_equivalent(s.value.text, v) for v in wanted) for s in stated]
        for first, second, is_first, is_second in zip(stated, stated[1:], right, right[1:], strict=False):
            between = sentence[first.end : second.start]
            is_rival = is_first is not is_second and first.value.kind is second.value.kind
            is_sum = ":" in sentence[stated[0].end : first.start] and first is not stated[0]
            belong = (
                is_sum or _LEADS_TO_BOTH.search(sentence, 0, first.start) or _FOLLOWS_BOTH.match(sentence, second.end)
            )
            is_open = re.search(r"\bor\b", between) or not belong
            if is_rival and is_open and _ALTERNATIVES.fullmatch(between):
                return f"{first.value.text!r} and {second.value.text!r} stand side by side, and neither is chosen"
    return ""


def _is_said(inputs: JudgeInputs, claimed: str, value: Value) -> bool:
    """Return whether a value is said in any form, its numbers in words and its unit said once for several values.

    A count of another thing (`8 jobs` for `8 costs`) and the number of an item of a list are not the value.
    """
    in_digits = alpha2digit(claimed, "en", threshold=0)
    stated = [v for v in values_in(in_digits) if v.number == value.number and v.kind is value.kind]
    if value.kind is ValueKind.NUMBER and value.unit and stated:
        own = set(words_of(f"{inputs.question} {inputs.nugget}"))
        return any(not v.unit or own & set(words_of(v.unit)) for v in stated)
    if says(claimed, value) or says_equivalent(claimed, value) or says(in_digits, value):
        return True
    if value.number is None or value.kind not in (ValueKind.DURATION, ValueKind.NUMBER):
        return False
    has_unit = any(v.unit == value.unit for v in values_in(in_digits))
    return has_unit and any(v.number == value.number and not v.unit for v in values_in(in_digits))


_PARTS_OF_HOURS = {"three quarters of an hour": 45, "quarter of an hour": 15, "half an hour": 30}
"""Their minutes."""


def _spelled(text: str) -> str:
    """Return a text without the numbers of list items, with parts of hours in minutes and `1.500 €` as `€1,500`."""
    text = re.sub(r"(?m)^\s*\(?\d{1,2}[.)]\s+|(?<=\s)\(?\d{1,2}[.)]\s+(?=[a-z])", "", text)
    for said, minutes in _PARTS_OF_HOURS.items():
        text = re.sub(said, f"{minutes} minutes", text, flags=re.IGNORECASE)
    return re.sub(r"(\d{1,3})\.(\d{3})\s*€", r"€\1,\2", text)


def _other_subject(inputs: JudgeInputs, claimed: str, found: Sequence[Value], telling: set[str]) -> str:
    """Return the reason why the values are said of somebody or something with another name; empty if they are not."""
    meant = telling | set(words_of(inputs.question)) | _NO_NAMES
    known = {word for match in _NAME.finditer(inputs.nugget) for word in words_of(match.group())} - _NO_NAMES
    if not known or known & set(words_of(claimed)):
        return ""
    said = " ".join(text for span in sentences(claimed) if any(says(text := claimed[slice(*span)], v) for v in found))
    named = {word for match in _NAME.finditer(f" {said}") for word in words_of(match.group())} - meant
    return f"the value is said of {', '.join(sorted(named))}, not of {', '.join(sorted(known))}" if named else ""


def _windows(text: str) -> list[set[str]]:
    """Return the stems of each two neighbouring sentences."""
    said = [set(words_of(text[slice(*span)])) for span in sentences(text)]
    return [one | other for one, other in pairwise(said)] or [set(words_of(text))]


def _beside(answer: str, values: Sequence[Value]) -> set[str]:
    """Return the stems of the sentences that say one of the values."""
    said = (answer[slice(*span)] for span in sentences(answer))
    return {word for text in said if any(says(text, v) for v in values) for word in words_of(text)}


def align(inputs: AlignInputs) -> AlignReply:
    """Return the event that shares the most words with the item, if it shares at least half of its own."""
    said = set(words_of(inputs.item))
    best, place = 0.0, None
    for i, event in enumerate(inputs.events):
        words = set(words_of(event)) - _FRAME
        share = len(words & said) / len(words) if words else 0.0
        if share > best:
            best, place = share, i
    reason = f"{best:.0%} of an event's words are in the item"
    return AlignReply(reason=reason, event=place if best >= _SAME_EVENT else None)


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


def guess(inputs: GuessInputs) -> GuessReply:
    """Return the words of each question as the guess at its answer."""
    return GuessReply(
        answers=[GuessedAnswer(question=q.number, choices=0, answer=q.question) for q in inputs.questions]
    )


def read_passages(inputs: ReadInputs) -> ReadReply:
    """Return the rule-based reader's answer to each question."""
    return ReadReply(answers=[_read(inputs, asked) for asked in inputs.questions])


def _read(inputs: ReadInputs, asked: AskedQuestion) -> ReadAnswer:
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
    return judge(asked).verdict == "met"
