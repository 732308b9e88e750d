"""Leaderboard: results files of several benchmarks and machines in one table, each checked before it is added.

A row is one system under one set of settings on one benchmark; a new measurement replaces it. Two rows may be compared
where benchmark, probes and settings have equal digests. A file that somebody sends is recomputed from its verdicts;
what needs the conversations (recalls, tokens, prices) is as submitted, and the board says so. Names are anybody's text:
they are escaped where they are shown.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from longbeam.errors import UserError
from longbeam.evaluation.calibration import RIGHT_ANSWERS, WRONG
from longbeam.evaluation.report import Section, sections_of
from longbeam.evaluation.resampling import few_conversations
from longbeam.evaluation.results import Evaluated
from longbeam.evaluation.scoring import score_of
from longbeam.evaluation.tuning import MEASURING
from longbeam.schemas import AskedProbe, Difficulty, Probe, Result, digest_of
from longbeam.terminal import printable, whole_text

FORMAT = "longbeam-leaderboard"
FORMAT_VERSION = 2
KEY = ("benchmark", "probes_digest", "control", "system", "settings_digest")
_DIGITS = 12
"""Hex digits of a digest that a row shows."""


LeaderboardRow = dict[str, Any]


class _Row(BaseModel):
    """The types of a row; a number is finite."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)

    benchmark: str
    probes_digest: str
    control: str
    system: str
    version: str
    settings_digest: str
    reader: str
    judge: str
    embedder: str
    budget: int
    window: int
    kind: str
    tokens_per_conversation: int
    conversations: int
    probes: int
    calibration: str
    rank: int | None
    paper: float | None
    interval: list[float] | None = Field(min_length=2, max_length=2)
    released: float | None
    by_ability: dict[str, float | None]
    evidence_recall: float | None
    source_recall: float | None
    context_tokens: float | None
    usd_per_answer: float | None
    without_score: int
    longbeam: str


def merged(old: str, evaluated: Sequence[Evaluated], where: str) -> str:
    """Return the leaderboard with the systems of results files added or replaced; `old` is its text, or empty.

    Raises UserError if `old` is no leaderboard, which names `where`, or if a results file is not sound.
    """
    rows = {_key(row): row for row in rows_in(old, where)}
    for one in evaluated:
        if faults := list(faults_of(one)):
            raise UserError(f"{one.label}: {len(faults)} faults in its results, {faults[0]}; evaluate it again")
    rows.update({_key(row): row for section in sections_of(evaluated, against=()) for row in _rows_of(section)})
    board = {"format": FORMAT, "version": FORMAT_VERSION, "rows": [rows[key] for key in sorted(rows)]}
    return json.dumps(board, indent=1, ensure_ascii=False) + "\n"


def faults_of(one: Evaluated) -> Iterator[str]:
    """Yield the faults of a results file.

    Faults are: no calibration of its judge, unknown or doubled probes, missing answers, scores that verdicts deny.
    """
    probes = {probe.key: probe for probe in one.run.probes}
    if absent := [name for name in (*RIGHT_ANSWERS, *WRONG) if name not in one.run.systems]:
        yield f"nothing shows that its judge can score: the answers {', '.join(absent)} are missing"
    counted = Counter((r.conversation_id, r.probe_id, r.system) for r in one.results)
    for (conversation_id, probe_id, system), count in counted.items():
        where = f"{conversation_id} {probe_id} {system}"
        if (conversation_id, probe_id) not in probes:
            yield f"{where}: no such probe in its first line"
        elif system not in one.run.systems:
            yield f"{where}: no such system in its first line"
        elif count > 1:
            yield f"{where}: {count} results"
    yield from _missing(one, counted.keys())
    for result in one.results:
        where = f"{result.conversation_id} {result.probe_id} {result.system}"
        asked = probes.get((result.conversation_id, result.probe_id))
        if result.judgement is None and result.scores:
            yield f"{where}: it has scores and no verdicts"
        elif asked is not None and result.judgement is not None and _recomputed(asked, result) != result.scores:
            yield f"{where}: its score is not that of its verdicts"
        if impossible := _impossible(result):
            yield f"{where}: {impossible}"


def _missing(one: Evaluated, there: Collection[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the answers that are missing without a failure of their own, and systems that miss too many."""
    named = {line.partition(": ")[0] for line in one.run.failures}
    for system in one.run.systems:
        absent = [probe.key for probe in one.run.probes if (*probe.key, system) not in there]
        lost = [(c, p) for c, p in absent if not {f"{c}/answer/{system}/{p}", f"{c}/judge/{system}/{p}"} & named]
        if lost:
            yield f"{len(lost)} answers are missing of {system}, such as {' '.join(lost[0])}, and no failure names them"
        elif len(absent) > MEASURING.most_missing * len(one.run.probes):
            yield f"{system} has no answer to {len(absent)} of {len(one.run.probes)} probes; at most a tenth may fail"


def _impossible(result: Result) -> str:
    """Return which number of a result cannot be; empty if all can."""
    for name, value in result.retrieval.model_dump().items():
        is_share = name not in {"tokens", "ranked", "first_hit"}
        if value is not None and not (0 <= value <= (1 if is_share else 10**9)):  # NaN is in no range
            return f"{name} is {value}"
    return ""


def _recomputed(asked: AskedProbe, result: Result) -> object:
    probe = Probe(
        probe_id=asked.probe_id,
        ability=asked.ability,
        question=asked.question,
        gold_answer=asked.gold_answer,
        difficulty=Difficulty.EASY,
        rubric=asked.rubric,
        evidence=(),
    )
    assert result.judgement is not None
    try:
        return score_of(probe, result.judgement, result.answer.text)
    except (ValueError, ZeroDivisionError):
        return None


def rows_in(text: str, where: str) -> list[LeaderboardRow]:
    """Return the rows of a leaderboard's text; UserError, which names `where`, for other text."""
    if not text.strip():
        return []
    try:
        board = json.loads(text)
        if board["format"] != FORMAT or board["version"] != FORMAT_VERSION:
            raise ValueError(f"format {board['format']!r}, version {board['version']!r}")
        rows: list[LeaderboardRow] = board["rows"]
        rows = [_Row.model_validate(row).model_dump() for row in rows]
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        problem = printable(whole_text(" ".join(str(exc).split())))[:200]
        raise UserError(
            f"{where}: is no leaderboard that can be added to ({problem}); name another file, or remove it"
        ) from exc
    return rows


def _key(row: LeaderboardRow) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in KEY)


def _rows_of(section: Section) -> list[LeaderboardRow]:
    run = section.evaluated.run
    probes = digest_of([[*p.key, p.question, p.gold_answer, [n.text for n in p.rubric]] for p in run.probes])
    can_score = section.calibration.can_score
    embedders = {of.name: of.embedder for of in run.described}
    return [
        {
            "benchmark": f"{run.benchmark} ({run.split})" if run.split else run.benchmark,
            "probes_digest": probes[:_DIGITS],
            "control": run.control,
            "system": line.row.system,
            "version": run.versions.get(line.row.system, ""),
            "settings_digest": digest_of([run.reader, run.judge, run.settings, run.versions.get(line.row.system, "")])[
                :_DIGITS
            ],
            "reader": run.reader,
            "judge": run.judge,
            "embedder": embedders.get(line.row.system, "") if run.described else run.settings.embedder,
            "budget": run.settings.budget,
            "window": run.settings.window,
            "kind": line.kind,
            "tokens_per_conversation": run.tokens,
            "conversations": run.conversations,
            "probes": len(run.probes),
            "calibration": section.calibration.line,
            "rank": line.rank,
            "paper": line.row.score if can_score else None,
            "interval": [line.row.interval.low, line.row.interval.high] if can_score and line.row.interval else None,
            "released": line.row.released if can_score else None,
            "by_ability": line.row.by_ability if can_score else {},
            "evidence_recall": line.row.recall,
            "source_recall": line.row.source_recall,
            "context_tokens": line.row.tokens,
            "usd_per_answer": line.usd_per_answer,
            "without_score": line.row.unscored,
            "longbeam": run.longbeam,
        }
        for line in section.lines
    ]


def render_board(rows: Sequence[LeaderboardRow]) -> str:
    """Return the leaderboard as Markdown, a table for each benchmark and its probes; ends with a line break."""
    places = sorted({(row["benchmark"], row["control"], row["probes_digest"]) for row in rows})
    return "\n".join(line for place in places for line in _board_lines(place, rows))


def _board_lines(place: tuple[str, str, str], rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    benchmark, control, probes = place
    own = [r for r in rows if (r["benchmark"], r["control"], r["probes_digest"]) == place]
    yield f"## {cell_of(benchmark)}{f', control {cell_of(control)}' if control else ''}"
    yield ""
    yield f"{own[0]['probes']} probes ({cell_of(probes)}) of {own[0]['conversations']} conversations."
    yield "Scores are recomputed from the verdicts of the results files; recalls and tokens are as submitted."
    yield ""
    if few := few_conversations(own[0]["conversations"]):
        yield few
        yield ""
    yield (
        "| system | kind | score | 95 % interval | evidence recall | source recall | tokens | reader | embedder | "
        "settings |"
    )
    yield "|---|---|---:|---|---:|---:|---:|---|---|---|"
    for row in sorted(own, key=lambda r: (r["kind"] != "system", -(r["paper"] or 0.0), r["system"])):
        spread = f"{row['interval'][0]:.3f} to {row['interval'][1]:.3f}" if row["interval"] else "–"
        score = "judge cannot score" if row["paper"] is None else f"{row['paper']:.3f}"
        recall, source, tokens = (
            "–" if row[name] is None else f"{row[name]:,.{digits}f}"
            for name, digits in (("evidence_recall", 3), ("source_recall", 3), ("context_tokens", 0))
        )
        with_models = (row["reader"], row["embedder"] or "–", row["settings_digest"])
        cells = (row["system"], row["kind"], score, spread, recall, source, tokens, *with_models)
        yield "| " + " | ".join(map(cell_of, cells)) + " |"
    yield ""


def cell_of(value: object) -> str:
    """Return a value as text of a Markdown table: on one line, without HTML, links, or what steers a terminal."""
    text = html.escape(" ".join(printable(whole_text(str(value))).split()), quote=False)
    return re.sub(r"([\\`*\[\]|])", r"\\\1", text)
