"""Leaderboard: one JSON file into which the results of many runs are merged.

A row is one system with one reader and judge at one budget on one benchmark; a new measurement replaces it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from longbeam.errors import UserError
from longbeam.evaluation.report import Section

FORMAT = "longbeam-leaderboard"
FORMAT_VERSION = 1
KEY = ("benchmark", "control", "system", "reader", "judge", "embedder", "budget", "window")

LeaderboardRow = dict[str, Any]


def merged(old: str, sections: Sequence[Section], where: str) -> str:
    """Return the leaderboard with the sections' systems added or replaced; `old` is its text so far, or empty.

    Raises UserError, which names `where`, if `old` is no leaderboard.
    """
    rows = {_key(row): row for row in _rows(old, where)}
    rows.update({_key(row): row for section in sections for row in _rows_of(section)})
    board = {"format": FORMAT, "version": FORMAT_VERSION, "rows": [rows[key] for key in sorted(rows)]}
    return json.dumps(board, indent=1, ensure_ascii=False) + "\n"


def _rows(text: str, where: str) -> list[LeaderboardRow]:
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
    return [
        {
            "benchmark": run.benchmark,
            "control": run.control,
            "system": line.row.system,
            "reader": run.reader,
            "judge": run.judge,
            "embedder": run.settings.embedder,
            "budget": run.settings.budget,
            "window": run.settings.window,
            "kind": line.kind,
            "tokens_per_conversation": run.tokens,
            "conversations": run.conversations,
            "probes": len(run.probes),
            "paper": line.row.paper,
            "interval": [line.interval.low, line.interval.high] if line.interval else None,
            "released": line.row.released,
            "by_ability": line.row.by_ability,
            "evidence_recall": line.row.evidence_recall,
            "context_tokens": line.row.tokens,
            "usd_per_answer": line.usd_per_answer,
            "without_score": line.row.unscored,
            "longbeam": run.longbeam,
        }
        for line in section.lines
    ]
