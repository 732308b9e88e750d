"""The rule-based reader's answers to questions over a whole log of the user's: joins, differences, counts, totals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from longbeam.offline.understanding import UNSAID, ReadStatement
from longbeam.text import (
    BY_NAME,
    COMPANION,
    CONFIDENCES,
    FIGURE,
    PLACE,
    QUANTITY,
    SOURCE,
    listed,
    recompute,
    values_in,
)


def answer_over(question: str, statements: Sequence[ReadStatement]) -> str:
    """Return the answer to a question over the entries of a log, or on a confidence; empty for another question."""
    for private in CONFIDENCES:
        if private.name in question and (told := [s for s in statements if s.subject == private.name]):
            return _of_confidence(told)
    for texts in BY_NAME.values():
        bare = texts.name.partition(" ")[2]
        if not re.search(rf"\b{re.escape(bare)}s?\b", question):
            continue
        entries = [dict(s.values) for s in statements if s.subject == texts.name]
        if entries:
            return _over_log(question, entries, texts.plural)
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
