"""The table of an evaluation for a terminal of 80 columns: ranks, abilities, and what the scores rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import wrap

from longbeam.evaluation.calibration import calibration_of, reader_note
from longbeam.evaluation.resampling import Interval, interval_of
from longbeam.evaluation.table import Row, equal_systems, equality_line, ranked_rows, rows_of, rule, share_read
from longbeam.schemas import EvaluationRun, Result
from longbeam.terminal import counted

WIDTH = 80
_NAME, _ABILITIES = 17, 10
"""Columns of a name, and abilities beside each other."""


def render_table(run: EvaluationRun, results: Sequence[Result]) -> str:
    """Return the table as text of 80 columns, ranks first, with the judge's calibration; it ends with a line break."""
    rows = rows_of(results)
    judged = calibration_of(rows)
    intervals = {r.system: interval_of([x for x in results if x.system == r.system], rule("paper")) for r in rows}
    unscored = sum(row.unscored for row in rows)
    lines = [
        *([judged.refusal, ""] if judged.refusal else []),
        *_main_table(ranked_rows(rows, _figure(judged.can_score)), intervals, run.tokens, is_scored=judged.can_score),
        "",
        *(_ability_table(ranked_rows(rows, lambda r: r.paper), results) if judged.can_score else []),
        *filter(None, [equality_line(equal_systems(results)), reader_note(rows) if judged.can_score else ""]),
        f"{run.benchmark}{f', control {run.control}' if run.control else ''}: "
        f"{counted(run.conversations, 'conversation')} of {run.tokens:,} tokens, "
        f"{len(run.probes)} probes, {len(results)} answers; reader {run.reader}; "
        f"{run.settings.budget:,} tokens of context, {run.settings.window:,} for systems that read everything",
        f"judge: {run.judge}" + (f"; calibrated: {judged.line}" if judged.line and judged.can_score else ""),
        *([f"{unscored} answers have no score, because the judge failed on them"] if unscored else []),
    ]
    return "\n".join(piece for line in lines for piece in (wrap(line, WIDTH) if len(line) > WIDTH else [line])) + "\n"


def _figure(is_scored: bool) -> Callable[[Row], float | None]:
    """Return the figure that rows are ordered by."""
    return (lambda row: row.paper) if is_scored else (lambda row: row.evidence_recall)


def _main_table(
    rows: Sequence[tuple[int | None, Row]], intervals: Mapping[str, Interval | None], of: int, *, is_scored: bool
) -> Iterator[str]:
    """Yield the lines of the table; `of` is the length of a conversation, of which `read` is the share."""
    score = "  score  95 % interval" if is_scored else ""
    yield f"{'':3} {'system':{_NAME}}{score}  evid.  source  hit@5   tokens  read"
    for rank, row in rows:
        name = row.system
        if len(name) > _NAME:
            yield f"{rank or '':>3} {name}"
            name, rank = "", None
        spread = intervals[row.system]
        cells = f"  {_cell(row.paper, 5)}  {_span(spread):>13}" if is_scored else ""
        tokens = f"{row.tokens:7,.0f}  {share_read(row, of):>4}" if row.tokens is not None else f"{'-':>7}  {'-':>4}"
        yield (
            f"{rank or '':>3} {name:{_NAME}}{cells}  {_cell(row.evidence_recall, 5)}  {_cell(row.source_recall, 6)}"
            f"  {_cell(row.hits[5], 5)}  {tokens}"
        )


def _ability_table(rows: Sequence[tuple[int | None, Row]], results: Sequence[Result]) -> Iterator[str]:
    abilities = sorted({r.ability for r in results})
    # Ten abilities of five characters fit beside the names; an import with more has tables below each other.
    for start in range(0, len(abilities), _ABILITIES):
        shown = abilities[start : start + _ABILITIES]
        yield f"{'':3} {'':{_NAME}} " + " ".join(f"{_initials(a):>4}" for a in shown)
        for rank, row in rows:
            cells = " ".join(_short(row.by_ability.get(a)) for a in shown)
            yield f"{rank or '':>3} {row.system[:_NAME]:{_NAME}} {cells}"
        yield ""
        yield ", ".join(f"{_initials(a)} {a.replace('_', ' ')}" for a in shown)
        yield ""


def _span(interval: Interval | None) -> str:
    return f"{interval.low:.3f} - {interval.high:.3f}" if interval else "-"


def _short(value: float | None) -> str:
    return f"{'-':>4}" if value is None else "1.00" if value >= 0.995 else f" {value:.2f}".replace(" 0.", "  .")[-4:]


def _cell(value: float | None, width: int) -> str:
    return f"{value:{width}.3f}" if value is not None else f"{'-':>{width}}"


def _initials(ability: str) -> str:
    return "".join(word[0] for word in ability.split("_")).upper() if "_" in ability else ability[:3].upper()
