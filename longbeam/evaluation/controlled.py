"""Scores of controlled suites, whose gold answers are a few words: exact, fuzzy, keywords, pass, causal, impact.

They need no judge. A score is the mean of the conversations' means, as in the controlled benchmarks of CogCanvas (arXiv
2601.00821). Floors stand beside the scores, because the full transcript passes every question, and the echoed question
about half of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from rapidfuzz.fuzz import partial_ratio

from longbeam.schemas import Probe, Record, Result, WholeConversation

LEAST_FUZZY = 80.0
"""Smallest partial ratio of rapidfuzz, of 100, that counts as a match."""
LEAST_COVERED = 0.8
"""Share of the keywords for a question with several to pass."""
_LAST_TURNS = 5
_OWN = ("echo", "blank", "gold")
"""Arms to leave out: fixed answers, of which the echo is a floor here anyway."""


class ControlledScore(Record):
    """Scores of one answer, from 0 to 1."""

    exact: float
    """1 if every keyword is in the answer, capitals aside."""
    fuzzy: float
    """1 if every keyword is nearly in the answer."""
    keywords: float
    """Share of the keywords that are in the answer."""
    passed: float
    """1 if one keyword is exact or fuzzy, or enough of several are in the answer."""


class ControlledRow(Record):
    """Scores of a system or floor over all conversations."""

    name: str
    exact: float
    fuzzy: float
    keywords: float
    passed: float
    causal: float | None = None
    """Keyword coverage of questions about a cause; None if there are none."""
    impact: float | None = None


def keywords_of(probe: Probe) -> tuple[str, ...]:
    """Return the words of a right answer; empty for probes that are not from a controlled suite."""
    one = (probe.details.new_value,) if probe.details.new_value else ()
    return probe.details.computed_from or one


def score_answer(answer: str, keywords: Sequence[str]) -> ControlledScore:
    """Return the scores of one answer; `keywords` has at least one."""
    said = answer.casefold()
    wanted = [keyword.casefold() for keyword in keywords]
    found = [keyword in said for keyword in wanted]
    nearly = [partial_ratio(keyword, said) >= LEAST_FUZZY if said else False for keyword in wanted]
    covered = fmean(found)
    passed = covered >= LEAST_COVERED or (len(wanted) == 1 and nearly[0])
    return ControlledScore(exact=float(all(found)), fuzzy=float(all(nearly)), keywords=covered, passed=float(passed))


def controlled_rows(conversations: Sequence[WholeConversation], results: Iterable[Result] = ()) -> list[ControlledRow]:
    """Return the floors, then each system of an evaluation twice: its answers, and its contexts taken as answers."""
    probes = {(c.conversation_id, p.probe_id): p for c in conversations for p in c.probes if keywords_of(p)}
    answers: dict[str, dict[tuple[str, str], str]] = {"echoed question": {}, "last turns": {}, "full transcript": {}}
    for c in conversations:
        texts = [m.content for m in c.messages]
        for key in ((c.conversation_id, p.probe_id) for p in c.probes if keywords_of(p)):
            answers["echoed question"][key] = probes[key].question
            answers["last turns"][key] = "\n".join(texts[-2 * _LAST_TURNS :])
            answers["full transcript"][key] = "\n".join(texts)
    for result in results:
        key = (result.conversation_id, result.probe_id)
        # Fixed answers are no systems, and the echo is a floor above.
        if result.system in _OWN or key not in probes:
            continue
        answers.setdefault(result.system, {})[key] = result.answer.text
        if result.answer.context is not None:
            answers.setdefault(f"{result.system}, read", {})[key] = result.answer.context.text
    return [_row(name, given, probes) for name, given in answers.items()]


_Key = tuple[str, str]


def _row(name: str, answers: Mapping[_Key, str], probes: Mapping[_Key, Probe]) -> ControlledRow:
    scores = {key: score_answer(text, keywords_of(probes[key])) for key, text in answers.items()}

    def mean(field: str, variety: str = "") -> float | None:
        # The mean of conversations, as in the paper: each counts once, however many probes it has.
        by_conversation: dict[str, list[float]] = {}
        for key, score in scores.items():
            if not variety or probes[key].details.variety == variety:
                by_conversation.setdefault(key[0], []).append(getattr(score, field))
        return fmean(fmean(values) for values in by_conversation.values()) if by_conversation else None

    return ControlledRow(
        name=name,
        exact=mean("exact") or 0.0,
        fuzzy=mean("fuzzy") or 0.0,
        keywords=mean("keywords") or 0.0,
        passed=mean("passed") or 0.0,
        causal=mean("keywords", "causal"),
        impact=mean("keywords", "impact"),
    )


def render_rows(title: str, rows: Sequence[ControlledRow]) -> str:
    """Return the table as Markdown, in percent."""
    columns = ("exact", "fuzzy", "keywords", "passed", "causal", "impact")
    lines = [f"## {title}", "", f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        values = (getattr(row, column) for column in columns)
        cells = ("–" if value is None else f"{100 * value:.1f}" for value in values)
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
