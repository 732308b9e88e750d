"""The rule-based reader's answers to questions over a whole side story: joins, differences, counts and totals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from longbeam.offline.understanding import UNSAID, ReadStatement
from longbeam.text import (
    BY_NAME,
    CONFIDENCES,
    FIGURE,
    LATE,
    PAID,
    PLACE,
    SOURCE,
    Evenings,
    listed,
    recompute,
    values_in,
)
from longbeam.text.side_texts import AMOUNT


def answer_over(question: str, statements: Sequence[ReadStatement]) -> str:
    """Return the answer to a question over the entries of a side story; empty for another question."""
    for private in CONFIDENCES:
        if private.name in question and (told := [s for s in statements if s.subject == private.name]):
            return _of_confidence(told)
    for texts in BY_NAME.values():
        bare = texts.name.partition(" ")[2]
        if not re.search(rf"\b{re.escape(bare)}s?\b", question):
            continue
        entries = [dict(s.values) for s in statements if s.subject == texts.name]
        if entries:
            over = _over_evenings if isinstance(texts, Evenings) else _over_log
            return over(question, entries, texts.plural)
    return ""


def _of_confidence(told: Sequence[ReadStatement]) -> str:
    """Tell a confidence, without its figure where the user asked for silence."""
    known = {role: value for s in told for role, value in s.values}
    is_unsaid = any(s.matter == UNSAID for s in told)
    said = [known.get(SOURCE, ""), "" if is_unsaid else known.get(FIGURE, "")]
    return f"You told me: {', '.join(filter(None, said))}." if any(said) else ""


def _over_evenings(question: str, entries: Sequence[dict[str, str]], plural: str) -> str:
    late, paid = ([e[role] for e in entries if role in e] for role in (LATE, PAID))
    if "and also paid" in question:
        return _people([p for p in dict.fromkeys(late) if p in paid])
    if "never paid" in question:
        return _people([p for p in dict.fromkeys(late) if p not in paid])
    if "never came late" in question:
        return _people([p for p in dict.fromkeys(paid) if p not in late])
    asked = re.search(r"\bthat (\w+) (came late|paid)", question)
    if asked:
        times = (late if asked[2] == "came late" else paid).count(asked[1])
        return f"You told me {times} times that {question[asked.start(1) :].rstrip('?')}."
    return f"You told me about {len(entries)} {plural}." if "How many" in question or "how many" in question else ""


def _people(people: Sequence[str]) -> str:
    return f"{'It was' if len(people) == 1 else 'They were'} {listed(people)}, and nobody else." if people else ""


def _over_log(question: str, entries: Sequence[dict[str, str]], plural: str) -> str:
    amounts = [value for e in entries if AMOUNT in e for value in values_in(e[AMOUNT])[:1]]
    if re.search(r"\badd up\b|\badding up\b", question, re.IGNORECASE) and len(amounts) > 1:
        return f"All {plural} together come to {recompute('sum', amounts).text}."
    place = next((e[PLACE] for e in entries if e.get(PLACE, "?") in question), None)
    count = sum(place in (None, e.get(PLACE)) for e in entries)
    return f"You told me about {count} {plural} {place or ''}".rstrip() + "."
