"""Claims: one reading of what a sentence says, of whom, and whether it is so, planned, unreal or asked.

Every package reads sentences with this lexicon. It is English and finds what a rule can be sure of; callers put the
rest to a checker model. The reading of a sentence is a `Claim`; functions with a place (`is_denied_at`) read one of its
values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from longbeam.schemas import Value
from longbeam.text.extraction import values_in
from longbeam.text.sentences import sentences
from longbeam.text.tuning import READING
from longbeam.text.words import content_words

NEGATOR = re.compile(
    r"\b(?:not|never|no(?! (?:doubt|wonder|matter)\b)|none|nobody|nothing|neither|nor|without|hardly|cannot)\b|"
    r"\w+n['’]t\b",
    re.IGNORECASE,
)
"""Words that deny; `n't` with the word that it belongs to."""
_CLAUSE_END = re.compile(
    r"[,;:.!?()\n–—]|\b(?:but|because|since|so|although|though|while|whereas|if|when|until|unless|as)\b", re.IGNORECASE
)
_CLAUSE = re.compile(r"[.;:!?,()\n]|\b(?:and|but|so|because|which|that)\b", re.IGNORECASE)
"""Ends of the clauses that have a verb of their own."""
_DENIED = re.compile(
    rf"(?:{NEGATOR.pattern}|\b(?:instead of|rather than|used to be|no longer)\b)"
    r"(?:\W+(?:quite|really|even|just|only|the|a|an|at|for|about|any|of|more|be|been|cost|costs)\b)*\W*\Z",
    re.IGNORECASE,
)
"""End of the words in front of a value that say that the value does not hold."""
_TAKEN_BACK = re.compile(
    r"\b(?:(?:i|we)(?: (?:was|were|am|are)|['’]m|['’]re) (?:wrong|mistaken|kidding|joking|lying)|(?:just|only) "
    r"(?:kidding|joking)|(?:is|was|that['’]s) an? (?:lie|joke)|i lied|made (?:that|it|this) up|"
    r"mixed (?:that|it|this) up|"
    r"scratch that|take (?:that|it) back|forget (?:that|what i said)|correction|on second thoughts?|no,? wait|"
    r"not (?:to be )?(?:true|right|correct|the case|so)|n['’]t (?:true|right|correct|the case|so)|untrue|nonsense)\b",
    re.IGNORECASE,
)

# --- lexicons of moods ------------------------------------------------------------------------------------------

_PLANNED = re.compile(
    r"\b(?:plan|plans|planned|planning|pencilled|intend(?:s|ed)?|aim(?:s|ed|ing)?|goal|target|hop(?:e|es|ed|ing)|"
    r"(?:mean|meant|want|wanted|going|supposed|expect|expected) to|would like|i['’]d like)\b"
    r"(?!\s+(?:to )?(?:know|hear|see|ask|learn|understand)\b)",  # what is asked is no plan
    re.IGNORECASE,
)
INTENDED = re.compile(
    rf"{_PLANNED.pattern}|\b(?:gonna|will|would love|think(?:ing)? (?:of|about)|consider(?:ing)?|should I|schedul\w+|"
    r"upcoming|coordinat\w+|suggest\w*|recommend\w*|advis\w+|invit\w+|prepar\w+)\b",
    re.IGNORECASE,
)
"""Words of plans, and of what comes before a plan: invitations, suggestions, preparations."""
_DONE = re.compile(
    r"\b(?:done|did|made|came|got|went|took|sold|finished|ended up|turned out|in the end|actually|behind (?:me|us))\b|"
    r"\b(?:have|has|had|I['’]ve|we['’]ve)\s+(?!(?:to|an?|the|no|my|our|your|some|any|not)\b)[a-z]+\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:is|are|am|will|shall|next|due|ends?|starts?|begins?|opens?|closes?|takes? place|comes?)\b|"
    r"\b(?:it|that|he|she|there|when)['’]s\b|['’](?:ll|re|m)\b",
    re.IGNORECASE,
)
_PAST_VERBS = "were|did|went|came|got|met|bought|began|left|took|saw|made|had|ran|gave|fell|won|lost"
_BEHIND = re.compile(
    rf"\b(?:was|{_PAST_VERBS}|(?!(?:need|seed|feed|speed|weed|exceed|indeed|hundred|wed)\b)\w{{2,}}ed)\b", re.IGNORECASE
)
_TOWARDS = re.compile(r"\b(?:for|to|until|till|by|before|from)(?:\s+the)?\W*\Z", re.IGNORECASE)
"""End of the words in front of a day that may lie ahead of what was done: `I booked it for`."""
DEED_OF_USER = re.compile(
    r"\b(?:I|we)(?:['’]ve| have|['’]d| had)? (?:(?:just|already|recently|finally|only|actually|even|also|been) )*"
    rf"(?!need|want|plan|hop|intend|prefer|schedul|consider)(?:\w{{2,}}(?:ed|ing|en)|{_PAST_VERBS}|read|wrote)\b",
    re.IGNORECASE,
)
"""A deed that the user tells of as done."""
_SUPPOSED = re.compile(
    r"\b(?:suppose|supposing|imagin(?:e|ing)|pretend\w*|what if|hypothetical\w*|dream\w*|"
    r"is it true|rumou?r\w*|i doubt)\b",
    re.IGNORECASE,
)
UNREAL = re.compile(
    r"\b(?:if|say|suppose|imagine|could|would(?:n['’]t)?|should|might|(?-i:may)|let['’]s|for example|e\.g\.)\b",
    re.IGNORECASE,
)
"""Words of suppositions and suggestions, which claim nothing."""
_CONDITION = re.compile(
    r"\W*(?:(?:and|but|so|well),? )?(?:if|unless|in case)\b(?! i (?:were|was) you\b)", re.IGNORECASE
)
_WOULD = re.compile(r"\bwould\b|['’]d\b(?! like\b)", re.IGNORECASE)
_HEARSAY = re.compile(
    r"\b(?:claim|claims|claimed|says|said|thinks|thought|believes?|believed|hears?|heard|reads?|tells|told|reckons?|"
    r"suspects?|guess(?:es)?(?! what\b)|hopes?|wish(?:es)?|film|novel|story|whether|not me)\b",
    re.IGNORECASE,
)
_INTENTION = re.compile(
    r"\b(?:trying|try|tried|want|wanted|planning|plan|planned|hoping|hope|going|meant|mean|like|love|ought|used)"
    r"(?= to\b)|"
    r"\b(?:considering|thinking (?:of|about)|will|would)\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"(?:^|[,;:.!?(\n]\s*|\b(?:and|so|or|but|then|ok|okay|wait|hey|hm+),?\s+)"
    r"(?:is|are|was|were|am|does|do|did|has|have|had|should|shall|can|could|will|would|might|isn['’]t|aren['’]t|wasn['’]t|"
    r"doesn['’]t|didn['’]t|won['’]t|wouldn['’]t|shouldn['’]t|couldn['’]t)\b",
    re.IGNORECASE,
)
_GRANTED = re.compile(r"[;:]|, (?:so|and|but|since|because|which|who)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I(?! (?:should|could|might|would|must|ought)\b)|[Ww]e|me|us|[Mm]y own)\b")
"""The user as the one who does something; `my brother says that I should` tells of no deed."""
_SECOND_PERSON = re.compile(r"\byou(?:r|['’]ve)?\b", re.IGNORECASE)
_SOMEBODY = re.compile(
    r"\b(?:my|our) (?:\w+ )?(?:mother|father|mum|mom|dad|sister|brother|son|daughter|wife|husband|partner|friend|"
    r"cousin|uncle|aunt|colleague|neighbou?r|boss|roommate|grand\w+)\b|\b(?:he|she|they)\b",
    re.IGNORECASE,
)


# --- the reading ------------------------------------------------------------------------------------------------


class Who(StrEnum):
    """The one of whom a claim speaks, from the view of its speaker."""

    SPEAKER = "speaker"
    """`I`, `we`."""
    ADDRESSEE = "addressee"
    """`you`."""
    OTHER = "other"
    """Somebody else: `my brother`, `she`."""
    NOBODY = "nobody"
    """No person is named."""


class Mood(StrEnum):
    """Whether something is so."""

    DONE = "done"
    PLANNED = "planned"
    UNREAL = "unreal"
    """Supposed, doubted, or under an unmet condition."""
    ASKED = "asked"
    """Asked in a question that yes or no answers."""
    STATED = "stated"
    """Said to be so, without a word that tells a plan from a result; also where both stand."""


@dataclass(frozen=True)
class Claim:
    """Reading of a sentence, or of a few that belong together."""

    text: str
    who: Who
    thing: frozenset[str]
    """Stems that name what it is about, without those of its values."""
    values: tuple[Value, ...]
    denied: frozenset[str]
    """Stems that a negator denies."""
    is_denied: bool
    """Whether a word denies something in it."""
    tense: int
    """-1 past, 1 to come, 0 either or both."""
    mood: Mood


@lru_cache(maxsize=4096)
def read_claim(text: str) -> Claim:
    """Return the reading of one sentence; of several sentences, what holds of them together."""
    values = values_in(text)
    return Claim(
        text,
        _who(text),
        content_words(text) - content_words(" ".join(value.text for value in values)),
        values,
        frozenset[str]().union(*words_of_denials(text)),
        NEGATOR.search(text) is not None,
        side_of_day(text.rstrip(" .!?"), ""),
        _mood(text),
    )


def _who(text: str) -> Who:
    if _FIRST_PERSON.search(text):
        return Who.SPEAKER
    if _SOMEBODY.search(text):
        return Who.OTHER
    return Who.ADDRESSEE if _SECOND_PERSON.search(text) else Who.NOBODY


def _mood(text: str) -> Mood:
    if is_asked_at(text, len(text)):
        return Mood.ASKED
    if is_supposed_at(text, len(text)):
        return Mood.UNREAL
    return _told(text)


def _told(text: str) -> Mood:
    is_plan, has_result = _PLANNED.search(text) is not None, _DONE.search(text) is not None
    if is_plan == has_result:
        return Mood.STATED
    return Mood.PLANNED if is_plan else Mood.DONE


def is_planned(text: str) -> bool:
    """Return whether a text tells a plan, also in a question, and nothing that has been done."""
    return _told(text) is Mood.PLANNED


def is_result(text: str) -> bool:
    """Return whether a text tells what has been done, also in a question, and no plan."""
    return _told(text) is Mood.DONE


def side_of_day(before: str, behind: str) -> int:
    """Return the side of today on which a day lies by the verb of its clause: -1 past, 1 to come, 0 either.

    `before` and `behind` are the words around the day.
    """
    before, behind = _CLAUSE.split(before)[-1], _CLAUSE.split(behind, maxsplit=1)[0]
    clause = f"{before} {behind}"
    if is_planned(clause) or _AHEAD.search(clause):
        return 1
    return -1 if _BEHIND.search(clause) and not _TOWARDS.search(before) else 0


# --- one place of a sentence ------------------------------------------------------------------------------------


def is_denied_at(text: str, start: int) -> bool:
    """Return whether the words just in front of a place of a text deny what begins there: `is not $85`."""
    return _DENIED.search(text, max(0, start - 60), start) is not None


def is_asked_at(sentence: str, start: int) -> bool:
    """Return whether a place of a sentence lies in a question that is answered by yes or no.

    A question that begins with `why` or `which` takes for granted what it says, and so does a clause that a question
    is appended to.
    """
    if not sentence.rstrip(" \"'”’)*_").endswith("?"):
        return False
    openings = [match.end() for match in _YES_NO.finditer(sentence) if match.end() <= start]
    return bool(openings) and _GRANTED.search(sentence, openings[-1], start) is None


def is_supposed_at(sentence: str, start: int) -> bool:
    """Return whether a sentence only supposes or doubts what stands at a place, or sets it under an unmet condition.

    `If it had cost $85, I would have` and `If I could, I would pay $85`; not `If it helps, I paid $85 and would again`.
    """
    if _SUPPOSED.search(sentence):
        return True
    is_within = "," not in sentence[:start] and _WOULD.search(sentence, start)
    return bool(_CONDITION.match(sentence) and (is_within or _WOULD.search(sentence, 0, start)))


def framing_of(before: str) -> str:
    """Return a word that keeps what stands behind it from being claimed: `trying`, `she heard`, `never`, `if`; or none.

    `before` are the words of the sentence in front.
    """
    for lexicon in (_HEARSAY, _SUPPOSED, _INTENTION, NEGATOR):
        if found := lexicon.search(before):
            return found.group()
    return "if" if _CONDITION.match(before) else ""


def taken_back(text: str) -> str:
    """Return the words that take back what was said, `scratch that`, `I was wrong`; empty if there are none."""
    found = _TAKEN_BACK.search(text)
    return found.group() if found else ""


# --- denials ----------------------------------------------------------------------------------------------------


def words_of_denials(text: str) -> tuple[frozenset[str], ...]:
    """Return the stems of the content words that each negator of a text denies, in order."""
    found = []
    for match in NEGATOR.finditer(text):
        end = _CLAUSE_END.search(text, match.end())
        scope = text[match.end() : end.start() if end else len(text)]
        found.append(content_words(" ".join(scope.split()[: READING.negated_words])))
    return tuple(found)


def clause_before(text: str, start: int) -> str:
    """Return the words of a clause in front of a place."""
    return text[max((match.end() for match in _CLAUSE_END.finditer(text, 0, start)), default=0) : start]


_PART = re.compile(r"[,;:]\s")
_FLAT_DENIAL = re.compile(r"\bnever\b|n['’]t\b|\bnot\b", re.IGNORECASE)


def echoed_denial(question: str, text: str) -> str:
    """Return the clause of a text that denies something and that a question repeats, so that a search finds it."""
    asked = content_words(question)
    for clause in _flat_denials(text):
        words = content_words(clause) - {"never", "ever"}
        if len(words) >= READING.least_echoed and len(words & asked) >= READING.echo * len(words):
            return clause
    return ""


def _flat_denials(text: str) -> Iterator[str]:
    return (c for a, b in sentences(text) for c in _PART.split(text[a:b]) if _FLAT_DENIAL.search(c))
