"""Polarity of claims: whether a text denies, asks, supposes or takes back what it says.

The reading is lexical and English. It finds what a rule can be sure of; callers ask a model about the rest.
"""

from __future__ import annotations

import re

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
_SUPPOSED = re.compile(
    r"\b(?:suppose|supposing|imagin(?:e|ing)|pretend\w*|what if|hypothetical\w*|dream\w*|"
    r"is it true|rumou?r\w*|i doubt)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\W*(?:(?:and|but|so|well),? )?(?:if|unless)\b(?! i (?:were|was) you\b)", re.IGNORECASE)
_WOULD = re.compile(r"\bwould\b|['’]d\b(?! like\b)", re.IGNORECASE)
_HEARSAY = re.compile(
    r"\b(?:claim|claims|claimed|says|said|thinks|thought|believes?|believed|hears?|heard|reads?|tells|told|reckons?|"
    r"suspects?|guess(?:es)?|hopes?|wish(?:es)?|film|novel|story|whether|not me)\b",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:if|unless|will|would|shall|should|could|might|may|nearly|almost|used to|going to|(?:was|were|is|are) to|"
    r"to be|"
    r"(?:want|wanted|mean|meant|hope|hoped|plan|planned|try|tried) to)\b|['’](?:ll|d)\b",
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
_SCOPE = 6
"""Words behind a negator that it may deny."""


def denied_words(text: str) -> frozenset[str]:
    """Return the stems of the content words that a text denies: those behind a negator in its clause."""
    return frozenset[str]().union(*words_of_denials(text))


def words_of_denials(text: str) -> tuple[frozenset[str], ...]:
    """Return the stems of the content words that each negator of a text denies, in order."""
    found = []
    for match in NEGATOR.finditer(text):
        end = _CLAUSE_END.search(text, match.end())
        scope = text[match.end() : end.start() if end else len(text)]
        found.append(content_words(" ".join(scope.split()[:_SCOPE])))
    return tuple(found)


def clause_before(text: str, start: int) -> str:
    """Return the words of a clause in front of a place."""
    return text[max((match.end() for match in _CLAUSE_END.finditer(text, 0, start)), default=0) : start]


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


def words_taking_back(text: str) -> tuple[str, ...]:
    """Return the words, case-folded, that take back what was said: `scratch that`, `I was wrong`."""
    return tuple(match.group().casefold() for match in _TAKEN_BACK.finditer(text))


def words_supposing(text: str) -> tuple[str, ...]:
    """Return the words, case-folded, that only suppose or doubt what a sentence says: `imagine`, `is it true`."""
    return tuple(match.group().casefold() for match in _SUPPOSED.finditer(text))


def is_supposed_at(sentence: str, start: int) -> bool:
    """Return whether a sentence only supposes or doubts what stands at a place, or sets it under an unmet condition.

    `If it had cost $85, I would have` and `If I could, I would pay $85`; not `If it helps, I paid $85 and would again`.
    """
    if _SUPPOSED.search(sentence):
        return True
    is_within = "," not in sentence[:start] and _WOULD.search(sentence, start)
    return bool(_CONDITION.match(sentence) and (is_within or _WOULD.search(sentence, 0, start)))


def words_of_hearsay(text: str) -> frozenset[str]:
    """Return the words, case-folded, that give what follows to somebody else: `claims`, `heard`."""
    return frozenset(match.group().casefold() for match in _HEARSAY.finditer(text))


def words_of_the_unreal(text: str) -> frozenset[str]:
    """Return the words, case-folded, that tell of something wished, planned or past in place of a fact: `used to`."""
    return frozenset(match.group().casefold() for match in _UNREAL.finditer(text))


def words_of_intention(text: str) -> frozenset[str]:
    """Return the words, case-folded, that make a wish or a plan of what follows: `trying` of `I'm trying to`."""
    return frozenset(match.group().casefold() for match in _INTENTION.finditer(text))
