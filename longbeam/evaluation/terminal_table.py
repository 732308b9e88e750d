"""The table of an evaluation for a terminal of 80 columns: ranks, abilities, and what the scores rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from longbeam.evaluation.calibration import calibration_of, reader_note
from longbeam.evaluation.resampling import Interval, few_conversations
from longbeam.evaluation.table import (
    Row,
    ability_figures,
    kind_of,
    leads_released,
    notes_on,
    order_legend,
    ranked_rows,
    rows_of,
    share_read,
)
from longbeam.evaluation.variations import ABLATION, Variation, alike_notes, variations_of
from longbeam.schemas import EvaluationRun, Result
from longbeam.terminal import counted

WIDTH = 80
_NAME, _ABILITIES, _ABILITY = 17, 10, 24
"""Columns of a name, abilities beside each other, and columns of an ability's name."""
_SIGNS = {"system": "", "floor": "fl", "ceiling": "ce"}
_LEGEND = "fl: a floor, a plain baseline to be beaten; ce: a ceiling, the gold answers or the cited messages"


def render_table(run: EvaluationRun, results: Sequence[Result]) -> str:
    """Return the table as text of 80 columns, ranks first, with the judge's calibration; it ends with a line break."""
    rows = rows_of(results, run.spending)
    judged = calibration_of(rows, run.judge)
    ranked = ranked_rows(run, rows, can_score=judged.can_score)
    varied = variations_of(run, rows, is_scored=judged.can_score)
    unscored = sum(row.unscored for row in rows)
    lines = [
        *([judged.refusal, ""] if judged.refusal else []),
        *filter(None, [few_conversations(run.conversations)]),
        *_main_table(ranked, run.tokens, is_scored=judged.can_score),
        "",
        *(_ability_table(run, ranked, results) if judged.can_score else []),
        *(line for of in varied for line in _variation_table(of)),
        *notes_on(run, rows, results),
        *alike_notes(run, varied, results),
        *([note] if judged.can_score and (note := reader_note(rows)) else []),
        *filter(None, [order_legend(run, results) if judged.can_score else ""]),
        f"{run.benchmark}{f', control {run.control}' if run.control else ''}: "
        f"{counted(run.conversations, 'conversation')} of {run.tokens:,} tokens, "
        f"{len(run.probes)} probes, {len(results)} answers; reader {run.reader}; "
        f"{run.settings.budget:,} tokens of context, {run.settings.window:,} for systems that read everything",
        f"judge: {run.judge}" + (f"; {judged.line}" if judged.line and judged.can_score else ""),
        *([f"{unscored} answers have no score, because the judge failed on them"] if unscored else []),
    ]
    return "\n".join(piece for line in lines for piece in (wrap(line, WIDTH) if len(line) > WIDTH else [line])) + "\n"


def render_grid(evaluations: Sequence[tuple[EvaluationRun, Sequence[Result]]]) -> str:
    """Return the scores of several evaluations as one table of readers and systems by benchmark, as BEAM's Table 1.

    Of several judges each has its own rows.
    Scores are those of the rule that leads; where a judge cannot score, a dash. It ends with a line break.
    """
    cells: dict[tuple[str, str], dict[str, str]] = {}
    heads = dict.fromkeys(f"{run.benchmark} ({run.tokens:,})" for run, _ in evaluations)
    judges = {run.judge for run, _ in evaluations}
    for run, results in evaluations:
        rows = rows_of(results, run.spending)
        can_score = calibration_of(rows, run.judge).can_score
        for _, row in ranked_rows(run, rows, can_score=can_score):
            score = (row.released if leads_released(run) else row.score) if can_score else None
            reader = f"{run.reader}, judge {run.judge}" if len(judges) > 1 else run.reader
            cells.setdefault((reader, row.system), {})[f"{run.benchmark} ({run.tokens:,})"] = _cell(score, 5)
    lines = ["readers, systems and benchmarks (tokens of a conversation):"]
    for reader in dict.fromkeys(reader for reader, _ in cells):
        lines += ["", f"reader {reader}", f"    {'':{_NAME}}" + "".join(f"  {head:>{len(head)}}" for head in heads)]
        for (of, system), scores in cells.items():
            if of == reader:
                figures = "".join(f"  {scores.get(head, '-'):>{len(head)}}" for head in heads)
                lines += _row_lines(None, system, figures)
    return "\n".join(lines) + "\n"


def _main_table(rows: Sequence[tuple[int | None, Row]], of: int, *, is_scored: bool) -> Iterator[str]:
    """Yield the lines of the table; `of` is the length of a conversation, of which `read` is the share."""
    score = "  score  95 % interval" if is_scored else ""
    yield f"{'':3} {'system':{_NAME}}{score}  evid.  source  hit@5   tokens  read"
    for rank, row in rows:
        cells = f"  {_cell(row.score, 5)}  {_span(row.interval):>13}" if is_scored else ""
        tokens = f"{row.tokens:7,.0f}  {share_read(row, of):>4}" if row.tokens is not None else f"{'-':>7}  {'-':>4}"
        figures = f"{_cell(row.recall, 5)}  {_cell(row.source_recall, 6)}  {_cell(row.hits[5], 5)}  {tokens}"
        yield from _row_lines(rank, row.system, f"{cells}  {figures}")
    yield _LEGEND


def _row_lines(rank: int | None, name: str, cells: str) -> Iterator[str]:
    """Yield a row; a name that is longer than its column has a line of its own."""
    sign = rank or _SIGNS[kind_of(name)]
    if len(name) > _NAME:
        yield f"{sign:>3} {name}"
        name = sign = ""
    yield f"{sign:>3} {name:{_NAME}}{cells}"


def _variation_table(of: Variation) -> Iterator[str]:
    """Yield figures by ability, a column for each value of the setting."""
    yield of.title
    widths = [max(len(value), 6) for value in of.rows]
    yield " " * _ABILITY + "".join(f"  {value:>{width}}" for value, width in zip(of.rows, widths, strict=True))
    for ability, figures in of.figures.items():
        cells = [
            f"  {value:>+{width}.3f}" if column and value is not None and of.setting == ABLATION else
            f"  {_cell(value, width)}"
            for column, (value, width) in enumerate(zip(figures, widths, strict=True))
        ]  # fmt: skip
        yield f"{ability.replace('_', ' '):{_ABILITY}}" + "".join(cells)
    yield ""


def _ability_table(
    run: EvaluationRun, rows: Sequence[tuple[int | None, Row]], results: Sequence[Result]
) -> Iterator[str]:
    abilities = sorted({r.ability for r in results})
    # Ten abilities of five characters fit beside the names; an import with more has tables below each other.
    for start in range(0, len(abilities), _ABILITIES):
        shown = abilities[start : start + _ABILITIES]
        yield f"{'':3} {'':{_NAME}} " + " ".join(f"{_initials(a):>4}" for a in shown)
        for rank, row in rows:
            yield from _row_lines(
                rank, row.system, " " + " ".join(_short(ability_figures(run, row).get(a)) for a in shown)
            )
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
