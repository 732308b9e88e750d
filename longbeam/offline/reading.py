"""Quoting: the sentences of a memory that share the most telling words with the question, whatever they mean.

The rule-based reader (`answering`) quotes where it does not understand.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longbeam.offline.own_logs import asides
from longbeam.offline.understanding import UNSAID, ReadStatement
from longbeam.prompts.calls import AnswerInputs
from longbeam.schemas import MessageRole
from longbeam.text import (
    COMPANION,
    FIGURE,
    MONTHS,
    PLACE,
    QUANTITY,
    SOURCE,
    listed,
    recompute,
    sentences,
    spell_out,
    values_in,
    words_of,
)

NO_INFORMATION = "There is no information about this in our conversation."
_MOST_SENTENCES = 6
_LEAST_COVERAGE = 0.2
"""Share of the question's word weight that the best sentence must have to be quoted."""
_WORTH_QUOTING = 0.3
"""Sentences below this share of the best one's score are left out."""
_HEADER = re.compile(r"^\[[A-Z][a-z]+day, (\d{2} [A-Z][a-z]+ \d{4}), \d{2}:\d{2}\]$", re.MULTILINE)
_SPEAKER = re.compile(r"^(\S{1,40}): ", re.MULTILINE)
_NOTED = re.compile(
    rf"^(?:- )?(?:\[[A-Z]\] )?(?:\*\*)?({'|'.join(MONTHS)}) (\d{{1,2}}), (\d{{4}})(?:\*\*)?"
    rf"( \({MessageRole.ASSISTANT}\))?: "
)
"""A line of notes or an artifact of CogCanvas, whose text marks the assistant's statements."""


def answer(inputs: AnswerInputs) -> str:
    """Return the best sentences in their order, each with its day, or a statement that there is no information."""
    said = _sentences_of(inputs.context)
    asked = set(words_of(inputs.question))
    if not said or not asked:
        return NO_INFORMATION
    words = [frozenset(words_of(text)) for _, text in said]
    frequency = Counter(word for found in words for word in found)
    weight = {w: math.log(1 + len(said) / (1 + frequency[w])) for w in asked}
    # Exact sums: a sum of floats depends on the order of the set, which differs from process to process.
    total = math.fsum(weight.values())
    covered = [math.fsum(weight[w] for w in asked & found) for found in words]
    best = max(covered)
    if best < _LEAST_COVERAGE * total:
        return NO_INFORMATION
    order = sorted(range(len(said)), key=lambda i: (-covered[i], i))[:_MOST_SENTENCES]
    chosen = sorted(i for i in order if covered[i] >= _WORTH_QUOTING * best)
    return "\n".join(f"{said[i][0]}: {said[i][1]}" if said[i][0] else said[i][1] for i in chosen)


@dataclass(frozen=True)
class Told:
    """The messages of a context, oldest first."""

    by_user: tuple[str, ...]
    """The user's messages, and the lines of notes."""
    by_assistant: tuple[str, ...]
    days: tuple[dt.date, ...] = ()
    """The day of each of the user's messages."""


def told(context: str) -> Told:
    """Return the messages of both sides in a context."""
    found: list[tuple[dt.date, str]] = []
    replies: list[tuple[dt.date, str]] = []
    for day, segment in _segments(context):
        said_on = dt.datetime.strptime(day, "%d %B %Y").date() if day else dt.date.min
        marks = [*_SPEAKER.finditer(segment)]
        starts = [*(m.start() for m in marks), len(segment)]
        lines = (line for line in segment[: starts[0]].split("\n") if line.strip())
        found += (noted for line in lines if (noted := _noted(line, said_on)) is not None)
        for mark, end in zip(marks, starts[1:], strict=True):
            said = segment[mark.end() : end]
            if mark[1] == MessageRole.ASSISTANT.value:
                replies.append((said_on, said))
            else:
                found.append((said_on, spell_out(said, said_on) if day else said))
    # Stable: the lines of a day stay in order.
    found.sort(key=lambda pair: pair[0])
    replies.sort(key=lambda pair: pair[0])
    return Told(tuple(text for _, text in found), tuple(text for _, text in replies), tuple(day for day, _ in found))


def _noted(line: str, said_on: dt.date) -> tuple[dt.date, str] | None:
    """Return a line of notes with the day at its beginning; None for a statement of the assistant's."""
    match = _NOTED.match(line)
    if match is None:
        return said_on, line
    if match[4]:
        return None
    return dt.date(int(match[3]), MONTHS.index(match[1]) + 1, int(match[2])), line[match.end() :]


def _segments(context: str) -> Iterator[tuple[str, str]]:
    """Yield (day, text) of the part under each header, in order."""
    headers = [*_HEADER.finditer(context)]
    starts = [(0, ""), *((h.end(), h[1]) for h in headers)]
    ends = [*(h.start() for h in headers), len(context)]
    for (start, day), end in zip(starts, ends, strict=True):
        yield day, context[start:end]


def _sentences_of(context: str) -> list[tuple[str, str]]:
    """Return (day, sentence) in order, without questions; a repeated sentence is kept at its last place only."""
    found: dict[str, str] = {}
    for day, segment in _segments(context):
        segment = _SPEAKER.sub("", segment)
        for first, last in sentences(segment):
            text = segment[first:last]
            if not text.endswith("?"):
                found.pop(text, None)
                found[text] = day
    return [(day, text) for text, day in found.items()]


def answer_over(question: str, statements: Sequence[ReadStatement]) -> str:
    """Return the answer to a question over the entries of a log, or on a confidence; empty for another question."""
    for private in asides().confidences:
        if private.name in question and (told := [s for s in statements if s.subject == private.name]):
            return _of_confidence(told)
    for log in (*asides().logs, *asides().travel_logs):
        if log.name not in question:
            continue
        entries = [dict(s.values) for s in statements if s.subject == log.name]
        if entries:
            return _over_log(question, entries, log.name)
    return ""


def _of_confidence(told: Sequence[ReadStatement]) -> str:
    """Tell a confidence, without its figure where the user asked for silence."""
    known = {role: value for s in told for role, value in s.values}
    is_unsaid = any(s.matter == UNSAID for s in told)
    said = [known.get(SOURCE, ""), "" if is_unsaid else known.get(FIGURE, "")]
    return f"You told me: {', '.join(filter(None, said))}." if any(said) else ""


def _companions(question: str, entries: Sequence[dict[str, str]]) -> str:
    told = [(e[PLACE], e[COMPANION]) for e in entries if PLACE in e and COMPANION in e]
    if asked := re.search(r"\bthat (\w+) came along\b", question):
        times = sum(who == asked[1] for _, who in told)
        return f"You told me {times} times that {question[asked.start(1) :].rstrip('?')}."
    named = sorted({place for place, _ in told if place in question}, key=question.index)
    if len(named) < len(("one", "other")):
        return ""
    one, other = ({who for place, who in told if place == at} for at in named[:2])
    wanted = one - other if "never" in question else one & other
    return _people([who for who in dict.fromkeys(who for _, who in told) if who in wanted])


def _people(people: Sequence[str]) -> str:
    return f"{'It was' if len(people) == 1 else 'They were'} {listed(people)}, and nobody else." if people else ""


def _over_log(question: str, entries: Sequence[dict[str, str]], plural: str) -> str:
    if "came along" in question:
        return _companions(question, entries)
    amounts = [value for e in entries if QUANTITY in e for value in values_in(e[QUANTITY])[:1]]
    if re.search(r"\badd up\b|\badding up\b", question, re.IGNORECASE) and len(amounts) > 1:
        return f"All {plural} together come to {recompute('sum', amounts).text}."
    place = next((e[PLACE] for e in entries if e.get(PLACE, "?") in question), None)
    count = sum(place in (None, e.get(PLACE)) for e in entries)
    return f"You told me about {count} {plural} {place or ''}".rstrip() + "."
