"""Means over results, as in BEAM: over the probes of an ability, then over conversations, then over abilities."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from longbeam.schemas.evaluation import EvaluationRun, Result

Measure = Callable[[Result], float | None]
RULES = ("paper", "released")
HIT_AT = (1, 5, 10, 20)


@dataclass(frozen=True)
class Row:
    """Means of one system."""

    system: str
    by_ability: dict[str, float | None]
    """Scores under the paper's rule; None for an ability without a scored probe."""
    paper: float | None
    released: float | None
    released_by_ability: dict[str, float | None]
    evidence_recall: float | None
    evidence_precision: float | None
    values_found: float | None
    """Share of the rubrics' typed values that the context contains."""
    answer_values_found: float | None
    """Share of the rubrics' typed values that the answer contains."""
    hits: dict[int, float | None]
    """Hit@k by k; None for systems that do not rank passages."""
    tokens: float | None
    """Mean tokens of context per question; None for answers without a reader."""
    unscored: int
    """Results without a score, because the judge failed."""


def rows_of(results: Sequence[Result]) -> list[Row]:
    """Return one row per system, in the order of the results."""
    by_system: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_system[result.system].append(result)
    return [_row(system, found) for system, found in by_system.items()]


def _row(system: str, results: Sequence[Result]) -> Row:
    abilities = sorted({r.ability for r in results})
    by_ability = {a: _mean_of(results, a, rule("paper")) for a in abilities}
    released = {a: _mean_of(results, a, rule("released")) for a in abilities}
    read = [r.retrieval.tokens for r in results if r.answer.context is not None]

    def mean(measure: Measure) -> float | None:
        return _mean(_mean_of(results, a, measure) for a in abilities)

    return Row(
        system=system,
        by_ability=by_ability,
        paper=_mean(by_ability.values()),
        released=_mean(released.values()),
        released_by_ability=released,
        evidence_recall=mean(lambda r: r.retrieval.evidence_recall) if read else None,
        evidence_precision=mean(lambda r: r.retrieval.evidence_precision) if read else None,
        values_found=mean(lambda r: r.retrieval.values_found) if read else None,
        answer_values_found=mean(lambda r: r.retrieval.answer_values_found),
        hits={k: mean(lambda r, k=k: r.retrieval.is_hit(k)) for k in HIT_AT},  # type: ignore[misc]
        tokens=fmean(read) if read else None,
        unscored=sum(r.score("paper") is None for r in results),
    )


def rule(name: str) -> Measure:
    """Return the score under a rule as a measure."""
    return lambda result: result.score(name)


def _mean_of(results: Sequence[Result], ability: str, measure: Measure) -> float | None:
    by_conversation: dict[str, list[float]] = defaultdict(list)
    for result in results:
        if result.ability == ability and (value := measure(result)) is not None:
            by_conversation[result.conversation_id].append(value)
    return _mean(fmean(values) for values in by_conversation.values())


def _mean(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return fmean(known) if known else None


def as_json(run: EvaluationRun, results: Sequence[Result]) -> str:
    """Return the table as JSON: the run without its probes, and a row per system."""
    head = run.model_dump(mode="json", exclude={"probes"})
    return json.dumps({"run": head, "rows": [asdict(row) for row in rows_of(results)]}, indent=2) + "\n"


def render_table(run: EvaluationRun, results: Sequence[Result]) -> str:
    """Return the table as text, with the reader, judge, budget and failures; it ends with a line break."""
    rows = rows_of(results)
    abilities = sorted({r.ability for r in results})
    width = max((len(row.system) for row in rows), default=0)
    short = [_initials(a) for a in abilities]
    head = f"{'':{width}}  {' '.join(f'{s:>5}' for s in short)}   paper  released  recall  hit@5  tokens"
    lines = [head, *(_line(row, abilities, width) for row in rows)]
    key = ", ".join(f"{s} {a.replace('_', ' ')}" for s, a in zip(short, abilities, strict=True))
    unscored = sum(row.unscored for row in rows)
    return (
        "\n".join(
            [
                *lines,
                "",
                key,
                f"{run.benchmark}{f', control {run.control}' if run.control else ''}: {run.conversations} "
                f"conversations of {run.tokens:,} tokens, {len(results)} answers; "
                f"reader {run.reader}; {run.settings.budget:,} tokens of context, {run.settings.window:,} for long "
                "context",
                f"judge: {run.judge}",
                *([f"{unscored} answers have no score, because the judge failed on them"] if unscored else []),
            ]
        )
        + "\n"
    )


def _line(row: Row, abilities: Sequence[str], width: int) -> str:
    cells = " ".join(_cell(row.by_ability.get(a), 5) for a in abilities)
    tokens = f"{row.tokens:7,.0f}" if row.tokens is not None else f"{'-':>7}"
    return (
        f"{row.system:{width}}  {cells}   {_cell(row.paper, 5)}  {_cell(row.released, 8)}  "
        f"{_cell(row.evidence_recall, 6)}  {_cell(row.hits[5], 5)} {tokens}"
    )


def _cell(value: float | None, width: int) -> str:
    return f"{value:{width}.3f}" if value is not None else f"{'-':>{width}}"


def _initials(ability: str) -> str:
    return "".join(word[0] for word in ability.split("_")).upper() if "_" in ability else ability[:3].upper()
