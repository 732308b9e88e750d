"""Phrases of the offline prober: voices, lists, questions under a condition, questions that nothing answers."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from longbeam.offline.packs import Pack, Standing, fields_of, load_pack, pack_paths, read_yaml, wishes
from longbeam.schemas import FAMILY, Difficulty, Relation, ValueKind
from longbeam.text import ORDINAL_WORDS

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TO_YOU = (
    (r"\bI (ask|tell|show|send|give|write) you\b", r"you \1 me"),
    (r"\bI am\b", "you are"),
    (r"\bI['’]m\b", "you're"),
    (r"\bI was\b", "you were"),
    (r"\bI\b", "you"),
    (r"\bmyself\b", "yourself"),
    (r"\bmine\b", "yours"),
    (r"\b[Mm]y\b", "your"),
    (r"\bme\b", "you"),
    (r"\b[Oo]ur\b", "your"),
    (r"\bus\b", "you"),
    (r"\bwe\b", "you"),
)
_PRESENT = (
    "allow buy check credit draw expect get give go hope keep like meet need pay picture plan plot reach "
    "reckon record save see spend suspect take talk train travel turn use want work write"
)
"""Verbs in the present tense with which the user says what they do."""
_THIRD = {"have": "has", "do": "does", "go": "goes", "reach": "reaches"}
_OF_USER = (
    # `Luke and I meet` has a verb that both have.
    *(
        (rf"(?<!and )\bI {verb}\b", f"the user {_THIRD.get(verb, verb + 's')}")
        for verb in ("have", "do", *_PRESENT.split())
    ),
    (r"\b(?:[Mm]y|[Oo]ur)\b", "the user's"),
    (r"\bI am\b", "the user is"),
    (r"\bmyself\b", "themselves"),
    (r"\bI\b", "the user"),
    (r"\b(?:me|us)\b", "the user"),
)


def to_you(text: str) -> str:
    """Return a phrase of the user's in the second person: `your kitchen` for `my kitchen`."""
    return _replaced(text, _TO_YOU)


def of_user(text: str) -> str:
    """Return a phrase of the user's in the third person: `the user's kitchen` for `my kitchen`."""
    return _replaced(text, _OF_USER)


def _replaced(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Return a text with each match of a pattern replaced, in one pass: `I tell you` is `you tell me`, and stays so."""

    def other(match: re.Match[str]) -> str:
        return next(re.sub(p, new, match.group()) for p, new in pairs if re.fullmatch(p, match.group()))

    return re.sub("|".join(f"(?:{pattern})" for pattern, _ in pairs), other, text)


def neutral(phrase: str) -> str:
    """Return a noun phrase without its leading article or possessive."""
    return re.sub(r"^(?:the|my|our|a|an|your)\s+", "", phrase.strip(), flags=re.IGNORECASE)


def number_word(number: int) -> str:
    """Return `four` for 4; digits beyond ten."""
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else str(number)


def ordinal(number: int) -> str:
    """Return `fourth` for 4; `11th` beyond ten."""
    return ORDINAL_WORDS[number - 1] if 1 <= number <= len(ORDINAL_WORDS) else f"{number}th"


def plural(noun: str) -> str:
    """Return the plural of a regular noun phrase; of `name of the shop`, that of its first noun."""
    head, of, rest = noun.partition(" of ")
    if head.endswith(("s", "x", "ch", "sh")):
        head += "es"
    elif re.search(r"[^aeiou]y$", head):
        head = f"{head[:-1]}ies"
    else:
        head += "s"
    return f"{head}{of}{rest}"


# --- questions under a condition --------------------------------------------------------------------------------

_CONDITIONS = (
    (r"(?:ask|am asking) (?:you )?(?:about|for) (?P<x>.+)", "What can you tell me about {x}, as things stand?"),
    (r"(?:ask|am asking) (?:you )?(?P<x>(?:how|what|which|whether|when|where|why|who)\b.+)", "Tell me, {x}?"),
    (r"ask you to (?P<x>.+)", "Can you {x}?"),
    (r"(?:want|need) (?P<x>.+)", "I could do with {x}. What do you suggest?"),
    (r"(?P<x>.+)", "I {x}. How should I go about it?"),
)


def standing_question(condition: str, requirement: str, topic: str, rng: random.Random) -> str:
    """Return a question under the condition of an instruction or preference.

    The packs have questions for their own conditions; for another condition the words of the condition make one.
    """
    written = _written_questions().get((condition, requirement))
    if written:
        return rng.choice(written).format(it=topic)
    clause = re.sub(r"^when(?:ever)?\s+(?:I|we)\s+", "", condition.strip().rstrip("."), flags=re.IGNORECASE)
    pattern, form = next((p, f) for p, f in _CONDITIONS if re.fullmatch(p, clause))
    match = re.fullmatch(pattern, clause)
    return form.format(x=match["x"] if match else clause)


@lru_cache(maxsize=1)
def _written_questions() -> dict[tuple[str, str], tuple[str, ...]]:
    standings = (s for path in pack_paths() for s in _standings(load_pack(path)))
    return {(s.condition, s.requirement): tuple(p for p in s.probe if fields_of(p) <= {"it"}) for s in standings}


def _standings(pack: Pack) -> Iterator[Standing]:
    known = wishes(pack)
    yield from known.instructions
    for preference in known.preferences:
        yield preference
        if preference.later is not None:
            yield preference.later


# --- questions that nothing answers ------------------------------------------------------------------------------

ABOUT_PERSON = (
    ("What did {who} think of {it}?", "what {who} thought of {it}"),
    ("What advice did {who} give me on {it}?", "advice {who} gave on {it}"),
    ("How did {who} react when I told them about {it}?", "how {who} reacted to {it}"),
    ("Did {who} offer to help with {it}, and with what?", "help {who} offered with {it}"),
    ("What did I promise {who} in connection with {it}?", "a promise to {who} about {it}"),
)
"""Question and missing information, on a person who was never mentioned together with the thing."""

Form = tuple[str, str, str, Difficulty]
"""Question, missing information, a word that any answer would have, level (closeness of the question to the text)."""

ABOUT_DETAIL: tuple[Form, ...] = (
    ("Whom did I ask for a second opinion on {it}?", "a second opinion on {it}", "second opinion", Difficulty.HARD),
    ("Which decision about {it} did I say I regret?", "a decision about {it} that you regret", "regret",
     Difficulty.HARD),
    ("In which folder did I say my notes on {it} are?", "the folder with your notes on {it}", "folder",
     Difficulty.MEDIUM),
    ("Which friend did I say is tired of hearing about {it}?", "a friend who is tired of hearing about {it}",
     "tired of hearing", Difficulty.EASY),
)  # fmt: skip
"""Forms that fit any thing."""
_ABOUT_SOME: tuple[tuple[str, Form], ...] = (
    (r"provider|supplier|seller|shop|firm|operator|practitioner|therapist|adviser|place of purchase|make$",
     ("Who recommended {it} to me?", "who recommended {it} to you", "recommended", Difficulty.HARD)),
    (r"provider|supplier|seller|case handler|case officer|office|bank|lender|operator|delivery|filing|booking",
     ("What reference number did I give you for {it}?", "a reference number for {it}", "reference number",
      Difficulty.HARD)),
    (r"daily|weekly|monthly|upkeep|session|turn$",
     ("Who stands in for me with {it} when I am away?", "who stands in for you with {it}", "stands in",
      Difficulty.MEDIUM)),
    (r"daily|weekly|monthly|upkeep|session|turn$",
     ("At what time of day do I see to {it}?", "the time of day at which you see to {it}", "time of day",
      Difficulty.MEDIUM)),
)  # fmt: skip
"""Forms that fit a thing with an attribute of this pattern: a bedroom has no reference number."""


def about_thing(attributes: Iterable[str]) -> tuple[Form, ...]:
    """Return the forms that fit a thing with these attributes."""
    own = list(attributes)
    fitting = (form for pattern, form in _ABOUT_SOME if any(re.search(pattern, a) for a in own))
    return (*fitting, *ABOUT_DETAIL)


_ABOUT_VALUE = {
    ValueKind.MONEY: ("Can you remind me what I paid for {it}?", "what you paid for {it}", "paid", Difficulty.HARD),
    ValueKind.DURATION: ("How many hours did I spend on {it} altogether?", "how many hours you spent on {it}", "hours",
                         Difficulty.HARD),
    ValueKind.DATE: ("When did I say the deadline for {it} is?", "the deadline for {it}", "deadline", Difficulty.HARD),
}  # fmt: skip
"""The same of a value of a kind of which a thing has none."""
_BOUGHT = re.compile(r"provider|supplier|seller|shop|firm|operator|practitioner|therapist|adviser|purchase|make$")
"""Attributes of things that somebody pays for: nobody pays for a report of their own."""


def about_value(attributes: Iterable[str], kinds: Collection[ValueKind]) -> list[Form]:
    """Return the forms on a value that fit a thing with these attributes, which are of these kinds."""
    is_bought = any(map(_BOUGHT.search, attributes))
    return [f for kind, f in _ABOUT_VALUE.items() if kind not in kinds and (is_bought or kind is not ValueKind.MONEY)]


_OF_FAMILY = (
    ("What did {it} wish for as a birthday present?", "what {it} wished for as a birthday present", "birthday",
     Difficulty.HARD),
    ("Which allergy of {it}'s did I mention?", "an allergy of {it}", "allergy", Difficulty.MEDIUM),
    ("What did I say is {it}'s favourite dish?", "the favourite dish of {it}", "dish", Difficulty.MEDIUM),
    ("Which shoe size did I give you for {it}?", "the shoe size of {it}", "shoe size", Difficulty.EASY),
)  # fmt: skip
_OF_OTHERS = (
    ("Who introduced me to {it}?", "who introduced you to {it}", "introduced", Difficulty.HARD),
    ("When is {it}'s birthday?", "the birthday of {it}", "birthday", Difficulty.MEDIUM),
    ("What phone number did I give you for {it}?", "the phone number of {it}", "phone number", Difficulty.MEDIUM),
    ("In which street does {it} live?", "the street in which {it} lives", "street", Difficulty.EASY),
)


def about_person(relation: Relation) -> tuple[Form, ...]:
    """Return the same of a person: nobody was introduced to their own family, or asks for its address."""
    return _OF_FAMILY if relation in FAMILY else _OF_OTHERS


QUESTIONS = Path(__file__).parent / "data" / "questions.yaml"
BY_ASSISTANT = "assistant"
_AT = " @ "
_OF_ONE_THING = re.compile(r"when ((?:the|my|your) .+) was$")


@lru_cache(maxsize=1)
def question_clauses() -> Mapping[str, str]:
    """Return the clauses by attribute, some of them by `attribute @ pack/thread`."""
    return {str(key): str(clause) for key, clause in read_yaml(QUESTIONS).items()}


@lru_cache(maxsize=1)
def _places() -> Mapping[tuple[str, str], str]:
    """Return the clause of an attribute for a thing whose thread has one of its own."""
    found: dict[tuple[str, str], str] = {}
    own = [key for key in question_clauses() if _AT in key]
    for path in pack_paths():
        pack = load_pack(path)
        for thread in pack.threads:
            for key in own:
                attribute, _, place = key.partition(_AT)
                if place == f"{pack.pack}/{thread.thread}":
                    found.update({(attribute, thing): question_clauses()[key] for thing in thread.things})
    return found


def clause_for(attribute: str, subject: str, *, is_of_assistant: bool = False) -> str:
    """Return the clause with {it} that asks for an attribute of a thing.

    Empty for the user's own attributes and for those of no pack.
    """
    if subject == "me":
        return ""
    if is_of_assistant:
        return question_clauses().get(f"{attribute}{_AT}{BY_ASSISTANT}", "")
    return _places().get((attribute, subject)) or question_clauses().get(attribute, "")


def day_named(clause: str) -> str:
    """Return the name of a day: `the trial day for it` of `when the trial day for it was`, else `the day I ...`."""
    if match := _OF_ONE_THING.match(clause):
        return match[1]
    return re.sub(r"^(?:when|what day) ", "the day ", clause)
