"""Entailment: whether a model's words say what they were asked to say.

A message entails its bullet when it says the same thing with the same values and the same polarity. An update names the
thing that it changes, and a contradiction cannot be true beside its statement. Rules decide what rules can. A text that
repeats a bullet in the bullet's own words entails it; a text that names nothing of the bullet's thing, or denies its
value, does not. Everything between is left to the role `checker`.

The rules read English. In other languages they only know bullets that are repeated word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from longbeam.generators.probes.evidence import MIN_COVERAGE, coverage
from longbeam.prompts.calls import BulletBrief, ContradictionTarget, LedgerLine, UpdateTarget
from longbeam.prompts.calls.plans import Slip
from longbeam.schemas import ENGLISH, Bullet, BulletKind, Value, ValueKind
from longbeam.text import (
    NEGATOR,
    content_words,
    denied_words,
    is_asked_at,
    is_denied_at,
    says,
    sentences,
    value_pattern,
    words_of,
    words_of_hearsay,
    words_of_intention,
    words_of_the_unreal,
    words_supposing,
    words_taking_back,
)

MIN_CLAUSE = 0.6
"""Share of the words around a value in the bullet that a message has near the value, where a rule says yes."""
FOREIGN_CLAUSE = 0.25
"""Below this share, and without a word of the thing's name, the value is said of another thing."""
MIN_REPEATED = 0.8
"""Share of a bullet's words that a message repeats in runs of at least two, where a rule says yes."""
SHORT_CLAIM = 10
"""Words of a claim of which a message repeats every one, where a rule says yes: one other word changes what it says."""
LEAST_WORDS = 1 / 3
"""Least share of the content words of a bullet without values; with fewer of them a message does not say it."""
MIN_TURNED = 0.5
"""Share of the words that a contradiction denies that its statement has, where a rule says yes."""
_WORD = re.compile(r"\w+(?:[.,:]\d+|['’]\w+)*")
_BEFORE_WANTED = r"(?:[,;] so|;|,? and)(?: please)? "
_WANTED = re.compile(
    rf"(?:{_BEFORE_WANTED}(?:tell|give|help|write|show|I(?:['’]d like| want| need) to know)|"
    r"^(?:tell|give|help|write|show|draft) me)\b[^.!?]*[.!?]?\s*\Z|"
    rf"{_BEFORE_WANTED}(?:which|what|how|where|why|who|is|are|do|does|did|can|could|should|would|at what)\b"
    r"[^.!?]*\?\s*\Z",
    re.IGNORECASE,
)
"""End of a sentence of a bullet that asks for something, which a message may word in its own way."""
_CONDITION = re.compile(r"\W*(?:(?:and|but|so|well),? )?(?:if|unless|in case)\b", re.IGNORECASE)
_SPEAKER = frozenset({"i", "me", "my", "we", "us", "our"})
_OTHERS = frozenset({"he", "she", "they", "you", "his", "her", "their", "your"})
_TOKEN = re.compile(r"\w+(?:['’.,]\w+)*|[^\w\s]")
_TAKEN_BACK_WITHIN = 120
"""Characters behind a bullet in which a message may take it back."""
_SENTENCE_END = re.compile(r"[.!?…]\s|\n")
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][a-z]{2,}")
_LONG_RUN = 3
"""Words in a row that show that a sentence repeats a claim."""
_MOST_EXCHANGED = 3
"""Tokens of an exchanged name or word; longer differences are other wordings."""
_TO_COME = re.compile(
    r"\b(?:yet|still|first time|soon|ahead of (?:me|us)|next (?:week|month|year|time)|will|shall|going to|want to|"
    r"would like to|plan(?:ning)? to|about to|some ?day|before I|until I|ever)\b|\b\w+['’](?:ll|d)\b",
    re.IGNORECASE,
)
"""Words that speak of something as still to come."""


class Answer(StrEnum):
    """Answer of the rules."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"
    """Rules cannot tell; the role `checker` can."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """Answer with its reason, worded for the writer of the text; no reason where the answer is yes."""

    answer: Answer
    reason: str = ""


YES = Ruling(Answer.YES)


# --- messages and their bullets ---------------------------------------------------------------------------------


def rule_on_message(text: str, brief: BulletBrief, language: str = ENGLISH) -> Ruling:
    """Rule whether a message entails a bullet: the same thing, its values, the same polarity."""
    told = brief.bullet.text
    start = _place_of_words(text, told)
    if start >= 0:  # the common case, and every message that is written by rule
        return _repeated_ruling(text, start, start + len(told))
    if language != ENGLISH:
        return _foreign_ruling(text, brief)
    said = tuple(text[a:b] for a, b in sentences(text))
    return _first((*_aside_rulings(said, told), *_wording_rulings(said, brief)))


def _place_of_words(text: str, told: str) -> int:
    """Return where a text has a bullet's words, whose first letter may be small or large; -1 if it has them nowhere."""
    start = text.find(told[1:]) - 1
    return start if start >= 0 and text[start].casefold() == told[0].casefold() else -1


def _repeated_ruling(text: str, start: int, end: int) -> Ruling:
    """Rule on a message with the bullet's own words: those before may deny them, those behind may take them back."""
    before, behind = _SENTENCE_END.split(text[:start])[-1].strip(), text[end:][:_TAKEN_BACK_WITHIN]
    framing = (*words_of_hearsay(before), *words_supposing(before), *words_of_intention(before))
    if framing or NEGATOR.search(before) or _CONDITION.match(before):
        return _unsure(f"it says {before!r} in front of the bullet")
    if taken := words_taking_back(behind):
        return _unsure(f"it says {taken[0]!r} behind the bullet")
    return YES


def _foreign_ruling(text: str, brief: BulletBrief) -> Ruling:
    # Words bend in most languages, and some are not divided: as much as the search for evidence asks for.
    told = brief.bullet.text
    if not any(line.value for line in brief.facts) and coverage(told, text) < MIN_COVERAGE:
        return _no(f"it leaves out most of {told!r}")
    return _unsure(f"it is worded unlike {told!r}")


def _wording_rulings(said: Sequence[str], brief: BulletBrief) -> Iterator[Ruling]:
    told, whole = brief.bullet.text, "\n".join(said)
    claims = _claims_of(brief.bullet)
    words = content_words(" ".join(claims))
    lines = [line for line in brief.facts if line.value is not None]
    if len(words & content_words(whole)) < LEAST_WORDS * len(words) and not lines:
        yield _no(f"it leaves out most of {told!r}")
    for line in lines:
        yield _value_ruling(said, line, told)
    yield from _polarity_rulings("\n".join(s for s in said if len(content_words(s) & words) > 1), told, words)
    yield from _exchange_rulings(whole, " ".join(claims))
    yield from _order_rulings(whole, told, [line.value for line in lines if line.value is not None])
    if not _repeats(whole, claims):
        yield _unsure(f"it is worded unlike {told!r}")
    yield from _framing_rulings(said, claims)


def _claims_of(bullet: Bullet) -> tuple[str, ...]:
    """Return what a bullet claims: its sentences without its questions, which a message may word in its own way."""
    every = tuple(bullet.text[a:b] for a, b in sentences(bullet.text))
    if bullet.kind in (BulletKind.INSTRUCTION, BulletKind.PREFERENCE):
        return every
    cut = ((s, _WANTED.sub("", s)) for s in every)
    return tuple(claim for s, claim in cut if claim and not (claim == s and _is_question(s))) or every


def _repeats(text: str, claims: Sequence[str]) -> bool:
    """Return whether a text has nearly all words of the claims, each beside a word that it has in the claim, too."""
    said = _folded(_WORD, text)
    for claim in claims:
        told = _folded(_WORD, claim)
        blocks = SequenceMatcher(None, told, said, autojunk=False).get_matching_blocks()
        repeated = sum(block.size for block in blocks if block.size > 1 or len(told) == 1)
        if repeated < (1 if len(told) <= SHORT_CLAIM else MIN_REPEATED) * len(told):
            return False
    return True


def _framing_rulings(said: Sequence[str], claims: Sequence[str]) -> Iterator[Ruling]:
    """Find words in front of a repeated claim that make a plan or a wish of it: `I'm trying to`, `I'd like to`."""
    for claim in claims:
        told = _folded(_WORD, claim)
        for sentence in said:
            places = [match.start() for match in _WORD.finditer(sentence)]
            block = SequenceMatcher(None, told, _folded(_WORD, sentence), autojunk=False).find_longest_match()
            if block.size < _LONG_RUN:
                continue
            before = re.split(r"[,;:(]", sentence[: places[block.b]])[-1]
            if new := words_of_intention(before) - words_of_intention(claim):
                yield _unsure(f"it says {min(new)!r} of {claim!r}")


def _folded(pattern: re.Pattern[str], text: str) -> list[str]:
    return [token.casefold() for token in pattern.findall(text)]


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’) ").endswith("?")


def _aside_rulings(said: Sequence[str], told: str) -> Iterator[Ruling]:
    """Find words that suppose what the message says of the bullet, or take it back, there or in the next sentence."""
    words, folded = content_words(told), told.casefold()
    for i, sentence in enumerate(said):
        if sentence not in told and len(content_words(sentence) & words) < 2:
            continue
        behind = said[i + 1] if i + 1 < len(said) else ""
        for found in (*words_taking_back(f"{sentence}\n{behind}"), *words_supposing(sentence)):
            if found not in folded:
                yield _unsure(f"it says {found!r}")


# --- one value of a bullet --------------------------------------------------------------------------------------


def _value_ruling(said: Sequence[str], line: LedgerLine, told: str) -> Ruling:
    """Rule on the best of the sentences that say a value: of the same thing, and neither denied nor asked."""
    assert line.value is not None
    places = [i for i, sentence in enumerate(said) if says(sentence, line.value)]
    rulings = [_place_ruling(said, i, line, told) for i in places]
    if not rulings:
        return _no(f"it does not say {line.value.text!r}")
    best = (Answer.YES, Answer.UNSURE, Answer.NO)
    return min(rulings, key=lambda ruling: best.index(ruling.answer))


def _place_ruling(said: Sequence[str], i: int, line: LedgerLine, told: str) -> Ruling:
    value = line.value
    assert value is not None
    if said[i] in told:
        return YES
    context = next((told[a:b] for a, b in sentences(told) if says(told[a:b], value)), told)
    own = content_words(value.text)
    clause, bullet_words = content_words(context) - own, content_words(told) - own
    subject = content_words(line.subject) & bullet_words
    thing = subject | (content_words(line.attribute) & bullet_words)
    near = content_words(" ".join(said[max(0, i - 1) : i + 2]))
    share = len(clause & near) / max(1, len(clause))
    if clause and share < FOREIGN_CLAUSE and not thing & near:
        return _no(f"it says {value.text!r} of something else than {line.subject!r}")
    if (ruling := _mood_ruling(said[i], context, value)) is not YES:
        return ruling
    if share < MIN_CLAUSE or subject - near:
        return _unsure(f"it may say {value.text!r} of something else than {line.subject!r}")
    return YES


def _mood_ruling(sentence: str, context: str, value: Value) -> Ruling:
    """Rule whether a sentence claims a value as the bullet's sentence, its context, does."""
    at, before = _place_of(value, sentence), _place_of(value, context)
    if is_denied_at(sentence, at) and not is_denied_at(context, before):
        return _no(f"it denies {value.text!r}")
    if is_asked_at(sentence, at) and not is_asked_at(context, before):
        return _unsure(f"it asks about {value.text!r}")
    if _CONDITION.match(sentence) and not _CONDITION.match(context):
        return _unsure(f"it only supposes {value.text!r}")
    if new := words_of_hearsay(sentence[:at]) - words_of_hearsay(context):
        return _unsure(f"it lets somebody else say {value.text!r} ({min(new)!r})")
    return YES


def _place_of(value: Value, text: str) -> int:
    match = value_pattern(value.kind, value.text, value.number, value.unit, value.date).search(text)
    return match.start() if match else 0


# --- a whole bullet ---------------------------------------------------------------------------------------------


def _polarity_rulings(near: str, told: str, words: frozenset[str]) -> Iterator[Ruling]:
    """Compare what the sentences that take up a bullet deny with what the bullet denies."""
    denied, denied_before = denied_words(near) & words, denied_words(told) & words
    if new := denied - denied_before:
        yield _unsure(f"it denies {min(new)!r}")
    if lost := (denied_before & content_words(near)) - denied:
        yield _unsure(f"it does not deny {min(lost)!r}")


def _exchange_rulings(text: str, told: str) -> Iterator[Ruling]:
    """Find words that stand in the place of a bullet's words, between others of the bullet, and names that are gone."""
    a, b, here = _folded(_TOKEN, told), _folded(_TOKEN, text), content_words(text)
    edits = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    for before, (_, i, j, x, y), behind in zip(edits, edits[1:], edits[2:], strict=False):
        is_within = before[0] == behind[0] == "equal" and min(before[2] - before[1], behind[2] - behind[1]) > 1
        if is_within and max(j - i, y - x) <= _MOST_EXCHANGED and _changes_sense(a[i:j], b[x:y], here):
            yield _unsure(f"it says {' '.join(b[x:y])!r} where the bullet says {' '.join(a[i:j])!r}")
    if missing := [name for name in _NAME.findall(told) if name not in text]:
        yield _unsure(f"it does not name {missing[0]}")


def _changes_sense(gone: Sequence[str], new: Sequence[str], here: frozenset[str]) -> bool:
    """Return whether an exchange within a sentence may change what it says; `here` are the words of the new text."""
    before, after = " ".join(gone), " ".join(new)
    if bool(NEGATOR.search(before)) != bool(NEGATOR.search(after)):
        return True
    if words_of_the_unreal(after) - words_of_the_unreal(before):
        return True
    if _SPEAKER.intersection(gone) and not _SPEAKER.intersection(new):
        return bool(content_words(after) or _OTHERS.intersection(new))
    return bool(content_words(before) - here and content_words(after))


def _order_rulings(text: str, told: str, values: Sequence[Value]) -> Iterator[Ruling]:
    """Find two values that have changed places: each stands among the words that the other had."""
    around = {v.text: (_around(v, told), _around(v, text)) for v in values}
    for one, (own, now) in around.items():
        for other, (theirs, _) in around.items():
            if one != other and len(now & theirs) > len(now & own):
                yield _unsure(f"it may have exchanged {one!r} and {other!r}")


def _around(value: Value, text: str) -> frozenset[str]:
    """Return the stems of the content words next to a value: two before it and one behind it."""
    match = value_pattern(value.kind, value.text, value.number, value.unit, value.date).search(text)
    if match is None:
        return frozenset()
    before, behind = words_of(text[: match.start()]), words_of(text[match.end() :])
    return frozenset((*before[-2:], *behind[:1]))


# --- special bullets --------------------------------------------------------------------------------------------


def rule_on_update(text: str, value: Value, target: UpdateTarget, language: str = ENGLISH) -> Ruling:
    """Rule whether a text updates its target: it names the thing and claims the new value in the old one's currency."""
    old = target.fact.value
    if old is not None and value.kind is ValueKind.MONEY and value.unit != old.unit:
        return _no(f"it gives {value.text!r} in {value.unit or 'no currency'}; until now it was {old.text!r}")
    if old is not None and says(text, old):
        return _no(f"it says the old value {old.text!r}; leave it out")
    if language != ENGLISH:
        return _unsure(f"it may be about something else than {target.fact.subject!r}")
    return _first(_update_rulings(text, value, target))


def _update_rulings(text: str, value: Value, target: UpdateTarget) -> Iterator[Ruling]:
    fact, said = target.fact, tuple(text[a:b] for a, b in sentences(text))
    words, subject = content_words(text), content_words(fact.subject)
    # Words such as "costs" say what changes, and not of which thing.
    if not words & (subject | (content_words(target.bullet.text) - content_words(fact.attribute))):
        yield _no(f"it does not name {fact.subject!r}, whose {fact.attribute} changes")
    if subject - words:
        yield _unsure(f"it may be about something else than the {fact.attribute} of {fact.subject!r}")
    if fact.value is not None and _counts_others(value, fact.value):
        yield _unsure(f"{value.text!r} may count something else than {fact.value.text!r}")
    for sentence in said:
        if says(sentence, value):
            yield _mood_ruling(sentence, sentence[: _place_of(value, sentence)], value)
    yield from _aside_rulings(said, f"{fact.subject} {fact.attribute} {target.bullet.text}")


def _counts_others(value: Value, old: Value) -> bool:
    if value.kind is not ValueKind.NUMBER or not (value.unit and old.unit):
        return False
    return not content_words(value.unit) & content_words(old.unit)


def rule_on_contradiction(
    text: str, value: Value | None, target: ContradictionTarget, language: str = ENGLISH
) -> Ruling:
    """Rule whether a text cannot be true beside the statement of its target; `value` is the other value it gives."""
    statement, fact = target.bullet.text, target.fact
    unclear = _unsure(f"it may be true beside the statement {statement!r}")
    if language != ENGLISH:
        return unclear
    words = content_words(text) - content_words(value.text if value else "")
    subject = content_words(fact.subject if fact else "")
    known = content_words(statement) | subject | content_words(fact.attribute if fact else "")
    denied = denied_words(text)
    if not words & known and (value is not None or not NEGATOR.search(text)):
        return _no(f"it has nothing to do with the statement {statement!r}")
    if not subject <= words:
        return unclear
    if value is not None:
        return _first(_mood_ruling(s, "", value) for a, b in sentences(text) if says(s := text[a:b], value))
    if target.slip is Slip.ONCE and _TO_COME.search(text):
        return YES
    turned = denied & known - denied_words(statement)
    return YES if denied and len(turned) >= MIN_TURNED * len(denied) else unclear


def _first(rulings: Iterable[Ruling]) -> Ruling:
    """Return the first no, else the first that is unsure, else yes."""
    unsure = None
    for ruling in rulings:
        if ruling.answer is Answer.NO:
            return ruling
        if ruling.answer is Answer.UNSURE:
            unsure = unsure or ruling
    return unsure or YES


def _no(reason: str) -> Ruling:
    return Ruling(Answer.NO, reason)


def _unsure(reason: str) -> Ruling:
    return Ruling(Answer.UNSURE, reason)
