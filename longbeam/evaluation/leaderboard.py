"""Leaderboard: results files of several benchmarks and machines in one table, each checked before it is added.

A row is one system under one set of settings on one benchmark; a new measurement replaces it. Two rows may be compared
where benchmark, probes and settings have equal digests. A file that somebody sends is recomputed from its verdicts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from longbeam.errors import UserError
from longbeam.evaluation.calibration import WRONG
from longbeam.evaluation.report import Section, sections_of
from longbeam.evaluation.results import Evaluated
from longbeam.evaluation.scoring import score_of
from longbeam.schemas import AskedProbe, Difficulty, Probe, Result, digest_of

FORMAT = "longbeam-leaderboard"
FORMAT_VERSION = 2
KEY = ("benchmark", "probes_digest", "control", "system", "settings_digest")
_DIGITS = 12
"""Hex digits of a digest that a row shows."""

LeaderboardRow = dict[str, Any]


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
    if absent := [name for name in ("gold", *WRONG) if name not in one.run.systems]:
        yield f"nothing shows that its judge can score: the answers {', '.join(absent)} are missing"
    counted = Counter((r.conversation_id, r.probe_id, r.system) for r in one.results)
    failed = len(one.run.failures)
    for (conversation_id, probe_id, system), count in counted.items():
        where = f"{conversation_id} {probe_id} {system}"
        if (conversation_id, probe_id) not in probes:
            yield f"{where}: no such probe in its first line"
        elif system not in one.run.systems:
            yield f"{where}: no such system in its first line"
        elif count > 1:
            yield f"{where}: {count} results"
    missing = len(probes) * len(one.run.systems) - len(counted)
    if missing > failed:
        yield f"{missing} answers are missing, and {failed} failures are recorded"
    for result in one.results:
        asked = probes.get((result.conversation_id, result.probe_id))
        if asked is not None and result.judgement is not None and _recomputed(asked, result) != result.scores:
            yield f"{result.conversation_id} {result.probe_id} {result.system}: its score is not that of its verdicts"


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
        for row in rows:
            _key(row)
    except (ValueError, KeyError, TypeError) as exc:
        raise UserError(
            f"{where}: is no leaderboard that can be added to ({exc}); name another file, or remove it"
        ) from exc
    return rows


def _key(row: LeaderboardRow) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in KEY)


def _rows_of(section: Section) -> list[LeaderboardRow]:
    run = section.evaluated.run
    probes = digest_of([[*p.key, p.question, p.gold_answer, [n.text for n in p.rubric]] for p in run.probes])
    can_score = section.calibration.can_score
    return [
        {
            "benchmark": run.benchmark,
            "probes_digest": probes[:_DIGITS],
            "control": run.control,
            "system": line.row.system,
            "version": run.versions.get(line.row.system, ""),
            "settings_digest": digest_of([run.reader, run.judge, run.settings, run.versions.get(line.row.system, "")])[
                :_DIGITS
            ],
            "reader": run.reader,
            "judge": run.judge,
            "embedder": run.settings.embedder,
            "budget": run.settings.budget,
            "window": run.settings.window,
            "kind": line.kind,
            "tokens_per_conversation": run.tokens,
            "conversations": run.conversations,
            "probes": len(run.probes),
            "calibration": section.calibration.line,
            "rank": line.rank,
            "paper": line.row.paper if can_score else None,
            "interval": [line.interval.low, line.interval.high] if can_score and line.interval else None,
            "released": line.row.released if can_score else None,
            "by_ability": line.row.by_ability if can_score else {},
            "evidence_recall": line.row.evidence_recall,
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
    yield f"## {benchmark}{f', control {control}' if control else ''}"
    yield ""
    yield f"{own[0]['probes']} probes ({probes}) of {own[0]['conversations']} conversations."
    yield ""
    yield "| system | kind | score | 95 % interval | evidence recall | source recall | tokens | reader | settings |"
    yield "|---|---|---:|---|---:|---:|---:|---|---|"
    for row in sorted(own, key=lambda r: (r["kind"] != "system", -(r["paper"] or 0.0), r["system"])):
        spread = f"{row['interval'][0]:.3f} to {row['interval'][1]:.3f}" if row["interval"] else "–"
        score = "judge cannot score" if row["paper"] is None else f"{row['paper']:.3f}"
        recall, source, tokens = (
            "–" if row[name] is None else f"{row[name]:,.{digits}f}"
            for name, digits in (("evidence_recall", 3), ("source_recall", 3), ("context_tokens", 0))
        )
        read = (recall, source, tokens)
        cells = (row["system"], row["kind"], score, spread, *read, row["reader"], row["settings_digest"])
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
    yield ""
