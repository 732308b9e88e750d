"""The units of a work log: done-marks and failures, and the records that done units made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import ValidationError

from longbeam.errors import StoreError
from longbeam.keys import natural_order
from longbeam.schemas.base import Record
from longbeam.store.group_commit import GroupedConnection

R = TypeVar("R", bound=Record)


class UnitStatus(StrEnum):
    """Status of a unit; a unit that is neither done nor failed is not in the work log."""

    DONE = "done"
    FAILED = "failed"


class Unit(Record):
    """A done-mark, or a failure."""

    stage: str
    unit_key: str
    status: UnitStatus
    fingerprint: str
    """Digest of everything that the unit depended on; a done-mark counts only while it is equal."""
    generation: int
    """Generation that a done unit was made with, or that the next attempt of a failed unit has."""
    error_kind: str = ""
    error: str = ""
    attempts: int = 0
    """Attempts that failed; 0 for a done unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed attempt at a unit."""

    fingerprint: str
    error_kind: str
    error: str
    attempts: int
    opens_generation: bool = True
    """Whether the next attempt gets a new generation, so that a bad reply is not replayed for ever.

    False if the provider failed and not the content (429, 5xx, a time-out): the replies that did arrive are replayed.
    """


_UNIT_COLUMNS = ", ".join(Unit.model_fields)


class UnitStore:
    """Units by stage and key. Every method that writes is one transaction, after the open group of replies."""

    def __init__(self, db: GroupedConnection) -> None:
        self._db = db

    def find(self, stage: str, unit_key: str) -> Unit | None:
        """Return the unit's done-mark or failure; None if it has neither."""
        row = self._db.one(f"SELECT {_UNIT_COLUMNS} FROM units WHERE stage = ? AND unit_key = ?", stage, unit_key)
        return None if row is None else _unit_from(row)

    def generation(self, stage: str, unit_key: str) -> int:
        """Return the generation of the unit's next attempt: 0, and one more for each failure at content."""
        row = self._db.one("SELECT generation FROM units WHERE stage = ? AND unit_key = ?", stage, unit_key)
        return 0 if row is None else int(row[0])

    def finish(self, stage: str, unit_key: str, *, fingerprint: str, records: Sequence[Record]) -> None:
        """Mark the unit done, with these records in place of those it had; its generation stays."""
        rows = [(i, type(r).__name__, r.canonical_json().decode()) for i, r in enumerate(records)]
        with self._db.writing() as db:
            (unit_id,) = db.execute(_FINISH_UNIT, (stage, unit_key, fingerprint)).fetchone()
            db.execute("DELETE FROM records WHERE unit_id = ?", (unit_id,))
            db.executemany(
                "INSERT INTO records (unit_id, ordinal, record_type, json) VALUES (?, ?, ?, ?)",
                ((unit_id, *row) for row in rows),
            )

    def fail(self, stage: str, unit_key: str, failure: Failure) -> None:
        """Record the failure and remove the unit's earlier records: they are not what was asked for.

        `repair` fails a done unit that a check refused.
        """
        with self._db.writing() as db:
            (unit_id,) = db.execute(
                _FAIL_UNIT,
                (
                    stage,
                    unit_key,
                    failure.fingerprint,
                    int(failure.opens_generation),
                    failure.error_kind,
                    _storable(failure.error),
                    failure.attempts,
                ),
            ).fetchone()
            db.execute("DELETE FROM records WHERE unit_id = ?", (unit_id,))

    def records(self, stage: str, record_type: type[R], unit_keys: Sequence[str] | None = None) -> Iterator[R]:
        """Yield the records of exactly this class that the stage's done units made, one unit in memory at a time.

        Units come in the order of `unit_keys`; without them all units, `p0.s2` before `p0.s10`. Never in the
        order in which they were finished. A unit that is not done has no records.
        """
        keys = self._keys(stage) if unit_keys is None else unit_keys
        for unit_key in keys:
            rows = self._db.all(
                "SELECT json FROM records JOIN units USING (unit_id)"
                " WHERE stage = ? AND unit_key = ? AND record_type = ? ORDER BY ordinal",
                stage,
                unit_key,
                record_type.__name__,
            )
            for (text,) in rows:
                yield self._parsed(record_type, text, f"{stage} {unit_key}")

    def remove(self, stage: str, keep: Collection[str]) -> int:
        """Remove the stage's units that are not in `keep`, with their records; return how many there were."""
        kept = frozenset(keep)
        with self._db.writing() as db:
            unwanted = [(stage, key) for key in self._keys(stage) if key not in kept]
            db.executemany("DELETE FROM units WHERE stage = ? AND unit_key = ?", unwanted)
        return len(unwanted)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many units of each stage are done and how many failed."""
        counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(UnitStatus, 0))
        for stage, status, count in self._db.all(
            "SELECT stage, status, count(*) FROM units GROUP BY stage, status ORDER BY stage"
        ):
            counts[stage][UnitStatus(status)] = count
        return dict(counts)

    def failures(self) -> list[Unit]:
        """Return the failed units by stage, `p0.s2` before `p0.s10`."""
        rows = self._db.all(f"SELECT {_UNIT_COLUMNS} FROM units WHERE status = 'failed'")
        return sorted(map(_unit_from, rows), key=lambda u: (u.stage, natural_order(u.unit_key)))

    def _keys(self, stage: str) -> list[str]:
        rows = self._db.all("SELECT unit_key FROM units WHERE stage = ?", stage)
        return sorted((key for (key,) in rows), key=natural_order)

    def _parsed(self, record_type: type[R], text: str, where: str) -> R:
        try:
            return record_type.model_validate_json(text)
        except ValidationError as exc:
            raise StoreError(
                f"{self._db.path}: {where} holds a {record_type.__name__} of another version of longbeam; "
                "use that version, or generate the benchmark again"
            ) from exc


_FINISH_UNIT = """
INSERT INTO units (stage, unit_key, status, fingerprint, generation, error_kind, error, attempts)
VALUES (?, ?, 'done', ?, 0, '', '', 0)
ON CONFLICT (stage, unit_key) DO UPDATE
SET status = 'done', fingerprint = excluded.fingerprint, error_kind = '', error = '', attempts = 0
RETURNING unit_id"""

_FAIL_UNIT = """
INSERT INTO units (stage, unit_key, status, fingerprint, generation, error_kind, error, attempts)
VALUES (?, ?, 'failed', ?, ?, ?, ?, ?)
ON CONFLICT (stage, unit_key) DO UPDATE
SET status = 'failed', fingerprint = excluded.fingerprint, generation = generation + excluded.generation,
    error_kind = excluded.error_kind, error = excluded.error, attempts = excluded.attempts
RETURNING unit_id"""


def _unit_from(row: tuple[Any, ...]) -> Unit:
    return Unit.model_validate(dict(zip(Unit.model_fields, row, strict=True)))


def _storable(text: str) -> str:
    # Error texts may quote undecodable bytes; not being able to store the failure would hide it.
    return text.encode("utf-8", "replace").decode()
