"""Checks of a worded probe that abilities share. Each check returns what is wrong, or None.

The sentences go back to the model as feedback, so they say what to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from textwrap import shorten

from longbeam.generators.probes.candidates import OrderPayload, ProbeCandidate, WishPayload
from longbeam.generators.probes.evidence import coverage, words_of
from longbeam.generators.tuning import PROBING
from longbeam.prompts.calls import MAX_NUGGETS, NuggetDraft, ProbeReply
from longbeam.schemas import Value, ValueKind
from longbeam.text import says, values_in

Check = Callable[[ProbeCandidate, ProbeReply], str | None]

_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]")
_USERS_VOICE = re.compile(
    r"\b(?:[Mm]y|[Mm]ine|I (?:am|was|have|had|said|set|will|plan|planned|want|need|prefer)|I['’](?:m|ve|ll|d))\b"
)
_FIGURES = re.compile(r"\d(?:[\d.,'’\u00a0\u202f ]*\d)?")
_INSIDE_WORDS = re.compile(r"\b(?:excerpts?|nuggets?|rubrics?|p\d+\.[sf]\d+)\b|[{}]", re.IGNORECASE)


def english_only(check: Check) -> Check:
    """Return a check that passes every probe in another language, because it looks for English words."""

    def checked(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
        return check(candidate, reply) if candidate.language.reads_words else None

    return checked


def run_checks(candidate: ProbeCandidate, reply: ProbeReply, checks: Iterable[Check]) -> tuple[str, ...]:
    """Return what each of the checks finds wrong."""
    found = (check(candidate, reply) for check in checks)
    return tuple(problem for problem in found if problem)


def check_form(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """Question, gold and nuggets are there, of a sane size, and name existing excerpts."""
    if not reply.question.strip() or not reply.gold_answer.strip():
        return "question and gold_answer must not be empty"
    listed = len(candidate.payload.listed_as) if isinstance(candidate.payload, OrderPayload) else 0
    most = PROBING.max_question_words + PROBING.words_an_item * listed
    if len(reply.question.split()) > most:
        return f"the question has {len(reply.question.split())} words; at most {most} are allowed"
    for text, name in ((reply.question, "question"), (reply.gold_answer, "gold_answer")):
        if inside := _INSIDE_WORDS.search(_without_values(text, candidate)):
            return f"the {name} says {inside.group()!r}, which nobody in the conversation would"
    allowed = max(MAX_NUGGETS, len(candidate.excerpts))
    if not 1 <= len(reply.nuggets) <= allowed:
        return f"{len(reply.nuggets)} nuggets; 1 to {allowed} are allowed"
    texts = [n.text.strip().casefold() for n in reply.nuggets]
    if len(set(texts)) < len(texts):
        return "two nuggets are the same; each must add something"
    return next((p for n in reply.nuggets if (p := _check_nugget(candidate, n))), None)


def _check_nugget(candidate: ProbeCandidate, nugget: NuggetDraft) -> str | None:
    if not nugget.text.strip():
        return "a nugget is empty"
    if len(nugget.text.split()) > PROBING.max_nugget_words:
        return f"the point {shown(nugget.text)} has more than {PROBING.max_nugget_words} words; split it"
    if not candidate.excerpts:
        return None
    if unknown := sorted(set(nugget.excerpts) - set(range(len(candidate.excerpts)))):
        return (
            f"the point {shown(nugget.text)} names excerpt {unknown[0]}; there are 0 to {len(candidate.excerpts) - 1}"
        )
    return None if nugget.excerpts else f"the point {shown(nugget.text)} names no excerpt that makes it true"


def check_coverage(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """Every excerpt that matters supports at least one nugget."""
    named = {e for n in reply.nuggets for e in n.excerpts}
    missing = sorted(set(candidate.cited) - named)
    return f"no nugget names excerpt {missing[0]}; its content must be judged too" if missing else None


@english_only
def check_voice(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """The gold answer speaks to the user, not as the user."""
    gold = _QUOTED.sub("", _without_values(reply.gold_answer, candidate))
    found = _USERS_VOICE.search(gold)
    return f"gold_answer says {found.group()!r}: it must address the user as 'you'" if found else None


def check_values(candidate: ProbeCandidate, reply: ProbeReply, *, tells: bool = False) -> str | None:
    """Gold and nuggets say the answer's values, the question none of them, and no nugget a superseded one.

    Where the answer `tells` a story, its figures and days are in the gold, and in a nugget only where it is about them.
    """
    for value in (*candidate.answers, *candidate.context_values):
        if not gives(candidate, reply.gold_answer, value):
            return f"gold_answer does not say {value.text!r}"
    for value in () if tells else candidate.answers:
        if not any(gives(candidate, n.text, value) for n in reply.nuggets):
            return f"no nugget says {value.text!r}"
    for value in (*candidate.answers, *candidate.context_values, *candidate.stale):
        if says(reply.question, value):
            return f"the question gives {value.text!r} away"
    return next((p for n in reply.nuggets if (p := _check_stale(candidate, n.text))), None)


_GONE = re.compile(r"\b(?:no longer|stop(?:s|ped)|any ?more|gave up|given up|fell through)\b", re.IGNORECASE)
"""Words by which a point says that something does not hold: "has stopped taking cats"."""
_ARTICLE = re.compile(r"^(?:an?|the) ", re.IGNORECASE)


def gives(candidate: ProbeCandidate, text: str, value: Value) -> bool:
    """Return whether a text says a value, with any article.

    In other languages its number alone is enough, as code writes `35 days`.
    """
    if value.kind is ValueKind.TEXT and (bare := _ARTICLE.sub("", value.text)) != value.text:
        value = value.model_copy(update={"text": bare})
    if says(text, value) or candidate.language.reads_words or value.number is None:
        return says(text, value)
    amount = round(value.number * 100 if value.kind is ValueKind.RATIO else value.number, 6)
    return any(amount in _readings(run) for run in _FIGURES.findall(text))


def _readings(figures: str) -> set[float]:
    """Return the numbers that figures may mean: 1.200 is 1200 in some languages and 1.2 in others."""
    digits = re.sub(r"\D", "", figures)
    fraction = re.search(r"[.,](\d+)$", figures)
    places = len(fraction[1]) if fraction else 0
    return {float(digits), float(digits) / 10**places}


def _check_stale(candidate: ProbeCandidate, text: str) -> str | None:
    said = list(dict.fromkeys(v.text for v in candidate.stale if says(text, v)))
    # Two values of one thing tell how it went: "the first guess of $31,000 became $43,000".
    if len(said) != 1 or any(says(text, v) for v in candidate.answers) or _GONE.search(text):
        return None
    return f"the point {shown(text)} asserts {said[0]!r}, which no longer holds"


@english_only
def check_no_dates(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """The question names no date."""
    dates = [v for v in values_in(reply.question) if v.kind is ValueKind.DATE]
    return f"the question names a date ({dates[0].text}); name what happened instead" if dates else None


def check_words(banned: Iterable[str]) -> Check:
    """Return a check that the question has none of these words, unless what it is about has them in its name."""
    words = tuple(banned)

    @english_only
    def check(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
        names = " ".join((candidate.topic, *(f"{e.subject} {e.attribute}" for e in candidate.excerpts))).casefold()
        question = reply.question.casefold()
        for word in words:
            pattern = rf"\b{re.escape(word)}\b"
            if re.search(pattern, question) and not re.search(pattern, names):
                return f"the question says {word!r}; ask without it"
        return None

    return check


def check_balance(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """The question copies neither the message that no longer holds nor one side of a contradiction.

    A search for its words would find that side.
    """
    sides = {e.part: e.quote for e in candidate.excerpts}
    for one, other in (("original", "updated"), ("statement", "denial"), ("denial", "statement")):
        if one in sides and other in sides:
            # The thing's own name stands in any question for it.
            name = words_of(" ".join((candidate.topic, *(f"{e.subject} {e.attribute}" for e in candidate.excerpts))))
            shared = _runs(reply.question) & _runs(sides[one]) - _runs(sides[other])
            told = {run: words_of(" ".join(run)) - name for run in shared}
            # Words that both sides say, in whatever form, lead a search to both.
            both = words_of(sides[other])
            copied = {run for run, words in told.items() if len(words) >= PROBING.copied_telling and words - both}
            if copied:
                words = shown(" ".join(min(copied)))
                return f"the question copies {words} from the {one}; say it in words of both sides"
    return None


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[i : i + PROBING.copied_run]) for i in range(len(words) - PROBING.copied_run + 1)}


_BAN = re.compile(
    r"^(?:(?:it|the answer|an answer) )?(?:(?:does|do) not|doesn['’]t|never|leaves? (?:\w+ )*out|avoids?|"
    r"keeps? quiet|omits?|says nothing|(?:mentions?|names?|gives?|has|contains?|uses?) no)\b",
    re.IGNORECASE,
)
"""A requirement that something is not there."""
_LACK = re.compile(
    r"\b(?:no|not|never|without|nothing|none|neither|nor|out|avoids?|quiet|omits?|free of)\b|n['’]t\b", re.IGNORECASE
)
"""Words of a point that demands that something is not there."""


@english_only
def check_ban(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """Where the user wants something left out, every nugget is about that: none demands content."""
    wish = candidate.given(WishPayload)
    demanding = (n.text for n in reply.nuggets if _BAN.search(wish.requirement) and not _LACK.search(n.text))
    point = next(demanding, "")
    text = f"the user wants something left out ({wish.requirement!r}), and the point {shown(point)} demands content"
    return f"{text}; let it demand that alone" if point else None


@english_only
def check_requirement(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """Nuggets demand what the user required, and the question does not repeat it.

    Words that the condition or the topic needs anyway do not count as repeating.
    """
    nuggets = " ".join(n.text for n in reply.nuggets)
    wish = candidate.given(WishPayload)
    if coverage(wish.requirement, nuggets) < 0.5:
        return f"the nuggets do not demand what the user required: {wish.requirement!r}"
    own = words_beyond(wish.requirement, f"{wish.condition} {candidate.topic}")
    if own and coverage(own, reply.question) >= 0.5:
        return f"the question repeats the requirement ({wish.requirement!r}); it must be remembered instead"
    return None


_TO_YOU = {
    **{"my": "your", "our": "your", "me": "you", "us": "you", "I": "you", "we": "you"},
    **{"I've": "you've", "I'm": "you're", "I'd": "you'd", "I'll": "you'll"},
}


def shown(text: str, limit: int = 100) -> str:
    """Return a text on one line in quotes, cut to `limit` characters, for the reason of a refusal."""
    return repr(shorten(text, limit, placeholder=" ..."))


def words_beyond(text: str, known: str) -> str:
    """Return the words of a text that another does not have."""
    return " ".join(w for w in re.findall(r"[^\W_]+", text) if coverage(w, known) < 1)


def neutral(phrase: str) -> str:
    """Return a noun phrase as one says it to the user, without its leading article or possessive.

    `my kitchen` is `kitchen`, `the talk with my boss` is `talk with your boss`.
    """
    bare = re.sub(r"^(?:the|my|our|a|an|your)\s+", "", phrase.strip(), flags=re.IGNORECASE)
    return re.sub(r"\b(my|our|me|us|I've|I'm|I'd|I'll|I|we)\b(?!')", lambda m: _TO_YOU[m[1]], bare)


def _without_values(text: str, candidate: ProbeCandidate) -> str:
    for value in (*candidate.answers, *candidate.context_values, *candidate.stale):
        text = text.replace(value.text, "")
    return text
