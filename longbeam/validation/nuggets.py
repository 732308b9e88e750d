"""Checks of rubrics and their nuggets: each is one claim that can be judged without the question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from longbeam.abilities import Trait
from longbeam.schemas import Nugget, Probe, Value, ValueKind
from longbeam.text import content_words, distinct_values, normalize_values, says_equivalent, values_in
from longbeam.validation.base import ERROR, WARNING, Check, Problem, claim, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_FIRST_PERSON = re.compile(r"\b(?:[Mm]y|mine|I|I'm|I've|me)\b")
_SECOND_PERSON = re.compile(r"\byou(?:r|rs|'re|'ve)?\b", re.IGNORECASE)
_HANGING = re.compile(
    r"^(?:it|this|that|they|he|she|these|those|him|them|its|the (?:same|latter|former|above))\b", re.IGNORECASE
)
_THING = re.compile(r"\b[Tt]he (?:\w+ ){1,4}?of ((?:[\w'’-]+ ){1,6}?)(?:is|are|was|were)\b")
"""The thing of which a nugget gives an attribute: `the date of the regional prize is`."""
_WHICH = re.compile(r"\bwhich (?:one )?of the \w+ \w+")
"""A choice that an answer asks about: "which of the two days" is no length of time."""
_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]")
_JOINED = re.compile(
    r";|\band that (?:the|you|there|it)\b|(?:[a-z]{4,}|\d{2,})[.!?]\s+[A-Z]|,\s+(?:and|while|but)\s+\w+\s+\w+\s+\w+"
)


_AND_CLAUSE = re.compile(
    r"\band (?=(?:the|a|an|your?|my|his|her|their|our|it|its|this|there|[A-Z][\w'’]*)\b)"
    r"(?:(?!\b(?:that|which|who|whom|whose|where|when)\b)[^,;])*?\b(?:is|are|was|were|has|have|had|will|costs?|takes?)\b"
)
"""`and` with a clause of its own behind it: a subject and a verb, not a second object or a relative clause."""
_EXCLUDES = re.compile(
    r"\b(?:and (?:to )?(?:nobody|no one|nothing|none) else|exactly these|only these)\b",
    re.IGNORECASE,
)
"""Words that demand that an answer says what is not so."""
_BAN = re.compile(
    r"\b(?:do(?:es)? not|doesn['’]t|without|never|avoids?) (?:mention|say|giv|stat|nam|reveal|repeat|tell)\w*\b",
    re.IGNORECASE,
)
_ANY_FORM = re.compile(r"\b(?:hints?|any|form|wording|indication)\b", re.IGNORECASE)
"""Words that ban a value in whatever form."""
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|will|costs?|takes?)\b")
_GENERIC = content_words(
    "answer response give state say mention value include contain name provide reply gold question"
)
"""Stems of words that say nothing about the subject of a nugget."""


def find_in_nuggets(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield nuggets that ask for other values or things than the gold says, or for several at once."""
    own, gold = probe.probe_id, probe.gold_answer
    for nugget in probe.rubric:
        if _BAN.search(nugget.text) and distinct_values(nugget.text) and not _ANY_FORM.search(nugget.text):
            text = f"{nugget.nugget_id} bans one spelling of a value, and another passes: {shorten(nugget.text)}"
            yield Problem("literal_ban", own, text)
    # Such gold describes an answer; it need not hold what the nuggets ask for.
    if has_trait(probe, Trait.ABSTAINS, Trait.GUIDES_ANSWERS) or not gold.strip():
        return
    known = content_words("\n".join((gold, probe.question, *(m.content for m in index.cited(probe)))))
    for nugget in probe.rubric:
        yield from _value_problems(probe, nugget)
        yield from _wording_problems(probe, nugget, known)
    is_about_user = _FIRST_PERSON.search(probe.question) and not _SECOND_PERSON.search(probe.question)
    if is_about_user and _speaks_as_user(index, probe) and not _SECOND_PERSON.search(gold):
        yield Problem("user_voice", own, f"the gold speaks as the user, who is asking: {shorten(gold)}")


def _value_problems(probe: Probe, nugget: Nugget) -> Iterator[Problem]:
    text, known = _WHICH.sub("which", claim(nugget.text)), f"{probe.gold_answer}\n{probe.question}"
    for value in distinct_values(text) or _lone_number(text):
        if not says_equivalent(known, value):
            text = f"{nugget.nugget_id} asks for {value.text!r}, and the gold says {shorten(probe.gold_answer)!r}"
            yield Problem("not_in_gold", probe.probe_id, text)


def _wording_problems(probe: Probe, nugget: Nugget, known: frozenset[str]) -> Iterator[Problem]:
    """Yield what is wrong with the words of a nugget; `known` are the stems of gold, question and evidence."""
    own, name, text = probe.probe_id, nugget.nugget_id, claim(nugget.text)
    words = content_words(normalize_values(text))
    is_unrelated = len(words) >= CHECKING.nugget_words and len(words & known) < CHECKING.nugget_shared * len(words)
    thing = _THING.search(text)
    if thing and (named := content_words(normalize_values(thing[1]))) and not named & known:
        is_unrelated = True
    if is_unrelated and not has_trait(probe, Trait.WORDS_NUGGETS_FREELY):
        yield Problem("unrelated", own, f"neither gold nor evidence is about {name}: {shorten(text)}")
    if _EXCLUDES.search(text):
        yield Problem("excludes", own, f"{name} asks for what a right short answer does not say: {shorten(text)}")
    unquoted = _QUOTED.sub(" ", text)
    if _JOINED.search(unquoted) or _has_two_clauses(unquoted) or len(unquoted.split()) > CHECKING.most_nugget_words:
        yield Problem("several_claims", own, f"{name} asks for several things: {shorten(text)}")
    if _HANGING.match(text) or _is_bare(text):
        yield Problem("not_self_contained", own, f"{name} cannot be read alone: {shorten(text)}")


def _has_two_clauses(text: str) -> bool:
    joint = _AND_CLAUSE.search(text)
    return joint is not None and _VERB.search(text, 0, joint.start()) is not None


def _is_bare(text: str) -> bool:
    """Return whether a nugget is only a value: `answers with $52` leaves open which thing costs that."""
    rest = normalize_values(text)
    values = values_in(rest)
    for value in values:
        rest = rest.replace(value.text, " ", 1)
    return bool(values) and not content_words(rest) - _GENERIC


def _speaks_as_user(index: ConversationIndex, probe: Probe) -> bool:
    """Return whether the gold says `my` or `I` itself, and not in words of the user (`the drawer of my desk`)."""
    said = "\n".join(" ".join(m.content.casefold().split()) for m in index.cited(probe))
    for match in _FIRST_PERSON.finditer(probe.gold_answer):
        before = probe.gold_answer[: match.start()].split()[-2:]
        if len(before) < 2 or " ".join((*before, match.group())).casefold() not in said:
            return True
    return False


def _lone_number(text: str) -> tuple[Value, ...]:
    """Return the number of a nugget whose only value is a number; `distinct_values` leaves small ones out."""
    values = values_in(text)
    is_number = len(values) == 1 and values[0].kind is ValueKind.NUMBER and values[0].text[0].isdigit()
    return values if is_number else ()


NUGGETS = Check(
    name="nuggets",
    doc="Nuggets ask for what the gold says, each for one thing, in words that can be read alone.",
    severities={
        "not_in_gold": ERROR,
        "unrelated": WARNING,
        "several_claims": WARNING,
        "not_self_contained": WARNING,
        "user_voice": WARNING,
        "excludes": WARNING,
        "literal_ban": WARNING,
    },
    english_only={
        "not_in_gold": "reads dates, amounts and lengths of time as English writes them",
        **dict.fromkeys(
            ("unrelated", "several_claims", "not_self_contained", "user_voice", "excludes", "literal_ban"),
            "compares English words",
        ),
    },
    on_probe=find_in_nuggets,
)


def find_in_rubric(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield empty texts, nuggets that occur twice, and nuggets without evidence of their own."""
    for what in _empty_texts(probe):
        yield Problem("empty", probe.probe_id, f"{what} is empty")
    ids = Counter(n.nugget_id for n in probe.rubric)
    texts = Counter(" ".join(n.text.casefold().split()) for n in probe.rubric)
    for repeated in (t for counts in (ids, texts) for t, times in counts.items() if times > 1):
        yield Problem("duplicate_nugget", probe.probe_id, f"two nuggets are {shorten(repeated)!r}")
    supported = {i for e in probe.evidence for i in e.nugget_ids}
    for nugget in probe.rubric:
        if supported and nugget.nugget_id not in supported:
            text = f"no evidence supports nugget {nugget.nugget_id}: {shorten(nugget.text)}"
            yield Problem("unsupported_nugget", probe.probe_id, text)


def _empty_texts(probe: Probe) -> Iterator[str]:
    """Yield the names of the probe's texts that are empty."""
    for name, text in (("question", probe.question), ("gold_answer", probe.gold_answer)):
        if not text.strip():
            yield f"the {name}"
    if not probe.rubric:  # possible only where a record was made without validation
        yield "the rubric"
    for nugget in probe.rubric:
        if not nugget.text.strip():
            yield f"nugget {nugget.nugget_id}"


RUBRIC = Check(
    name="rubric",
    doc="Question, gold answer and rubric are not empty; nuggets are unique and each has evidence.",
    severities={"empty": ERROR, "duplicate_nugget": ERROR, "unsupported_nugget": WARNING},
    on_probe=find_in_rubric,
)
