"""The units of a work log: done-marks and failures, and the records that done units made."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import ValidationError

from longbeam.errors import StoreError
from longbeam.keys import natural_order
from longbeam.schemas import Incident, Record
from longbeam.store.digests import checksum_of, damaged
from longbeam.store.group_commit import GroupedConnection
from longbeam.store.worklog_schema import UNIT_COLUMNS

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

    @property
    def is_exhausted(self) -> bool:
        """Whether the unit failed at its replies and has no attempt left; False for a failure of transport."""
        return self.status is UnitStatus.FAILED and self.attempts > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed attempt at a unit."""

    fingerprint: str
    error_kind: str
    error: str
    attempts: int
    incidents: Sequence[Incident] = ()
    """Incidents of the attempt."""
    opens_generation: bool = True
    """Whether the next attempt gets a new generation, so that a bad reply is not replayed for ever.

    False if the provider failed and not the content (429, 5xx, a time-out): the replies that did arrive are replayed.
    """


_FIELDS = ", ".join(UNIT_COLUMNS)
_REST = ", ".join(UNIT_COLUMNS[2:])
"""Columns of a unit without its stage and key."""


class UnitStore:
    """Units by stage and key. Every method that writes is one transaction, after the open group of replies."""

    def __init__(self, db: GroupedConnection) -> None:
        self._db = db

    def find(self, stage: str, unit_key: str) -> Unit | None:
        """Return the unit's done-mark or failure; None if it has neither."""
        query = f"SELECT {_REST}, records_checksum, checksum FROM units WHERE stage = ? AND unit_key = ?"
        row = self._db.one(query, stage, unit_key)
        return None if row is None else self._unit_from((stage, unit_key, *row))

    def generation(self, stage: str, unit_key: str) -> int:
        """Return the generation of the unit's next attempt: 0, and one more for each failure at content."""
        unit = self.find(stage, unit_key)
        return 0 if unit is None else unit.generation

    def finish(self, stage: str, unit_key: str, *, fingerprint: str, records: Sequence[Record]) -> None:
        """Mark the unit done, with these records in place of those it had; its generation stays."""
        with self._db.writing() as db:
            unit_id, *row = db.execute(_FINISH_UNIT, (stage, unit_key, fingerprint)).fetchone()
            _put_records(db, unit_id, row, records)

    def fail(self, stage: str, unit_key: str, failure: Failure) -> None:
        """Record the failure with its incidents, in place of the unit's earlier records.

        `repair` fails a done unit that a check refused.
        """
        with self._db.writing() as db:
            unit_id, *row = db.execute(
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
            _put_records(db, unit_id, row, failure.incidents)

    def records(self, stage: str, record_type: type[R], unit_keys: Sequence[str] | None = None) -> Iterator[R]:
        """Yield the records of exactly this class that the stage's done units made, one unit in memory at a time.

        Units come in the order of `unit_keys`; without them all units, `p0.s2` before `p0.s10`. Never in the
        order in which they were finished. A unit that failed has no records but incidents. Raises DamageError where
        the records of a unit are not those that were stored.
        """
        keys = self.keys(stage) if unit_keys is None else unit_keys
        for unit_key in keys:
            rows = self._db.all(_RECORDS, stage, unit_key)
            if rows and sum(checksum_of(*row[1:]) for row in rows if row[1] is not None) != rows[0][0]:
                raise damaged(self._db.path, f"the records of {stage} {unit_key}")
            for _, _, name, text in rows:
                if name == record_type.__name__:
                    yield self._parsed(record_type, text, f"{stage} {unit_key}")

    def incidents(self) -> list[Incident]:
        """Return the incidents of all units, by stage and unit (`p0.s2` before `p0.s10`)."""
        rows = self._db.all(
            "SELECT stage, unit_key, ordinal, json FROM records JOIN units USING (unit_id) WHERE record_type = ?",
            Incident.__name__,
        )
        rows.sort(key=lambda row: (row[0], natural_order(row[1]), row[2]))
        return [self._parsed(Incident, text, f"{stage} {unit_key}") for stage, unit_key, _, text in rows]

    def remove(self, stage: str, keep: Collection[str]) -> int:
        """Remove the stage's units that are not in `keep`, with their records; return how many there were."""
        kept = frozenset(keep)
        with self._db.writing() as db:
            unwanted = [(stage, key) for key in self.keys(stage) if key not in kept]
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
        rows = self._db.all(f"SELECT {_FIELDS}, records_checksum, checksum FROM units WHERE status = 'failed'")
        return sorted(map(self._unit_from, rows), key=lambda u: (u.stage, natural_order(u.unit_key)))

    def faults(self) -> Iterator[str]:
        """Yield a line for each unit that is not as it was stored."""
        sums: dict[int, int] = defaultdict(int)
        query = "SELECT record_id, unit_id, ordinal, record_type, json FROM records WHERE record_id > ? ORDER BY 1"
        for _, unit_id, *record in self._db.paged(query):
            sums[unit_id] += checksum_of(*record)
        query = f"SELECT unit_id, {_FIELDS}, records_checksum, checksum FROM units WHERE unit_id > ? ORDER BY unit_id"
        for unit_id, *row, records_checksum, checksum in self._db.paged(query):
            records_sum = sums.pop(unit_id, 0)
            if checksum_of(*row, records_checksum) != checksum:
                yield f"the unit {row[0]} {row[1]}"
            elif records_sum != records_checksum:
                yield f"the records of {row[0]} {row[1]}"
        if sums:
            yield f"{len(sums)} units have records and no row"

    def keys(self, stage: str) -> list[str]:
        """Return the keys of the stage's units, `p0.s2` before `p0.s10`."""
        rows = self._db.all("SELECT unit_key FROM units WHERE stage = ?", stage)
        return sorted((key for (key,) in rows), key=natural_order)

    def _unit_from(self, row: Sequence[Any]) -> Unit:
        *values, records_checksum, checksum = row
        if checksum_of(*values, records_checksum) != checksum:
            raise damaged(self._db.path, f"the unit {row[0]} {row[1]}")
        return Unit.model_validate(dict(zip(UNIT_COLUMNS, values, strict=True)))

    def _parsed(self, record_type: type[R], text: str, where: str) -> R:
        try:
            return record_type.model_validate_json(text)
        except ValidationError as exc:
            raise StoreError(
                f"{self._db.path}: {where} holds a {record_type.__name__} of another version of longbeam; "
                "use that version, or generate the benchmark again"
            ) from exc


_RECORDS = """
SELECT records_checksum, ordinal, record_type, json FROM units LEFT JOIN records USING (unit_id)
WHERE stage = ? AND unit_key = ? ORDER BY ordinal"""

_FINISH_UNIT = f"""
INSERT INTO units (stage, unit_key, status, fingerprint, generation, error_kind, error, attempts)
VALUES (?, ?, 'done', ?, 0, '', '', 0)
ON CONFLICT (stage, unit_key) DO UPDATE
SET status = 'done', fingerprint = excluded.fingerprint, error_kind = '', error = '', attempts = 0
RETURNING unit_id, {_FIELDS}"""

_FAIL_UNIT = f"""
INSERT INTO units (stage, unit_key, status, fingerprint, generation, error_kind, error, attempts)
VALUES (?, ?, 'failed', ?, ?, ?, ?, ?)
ON CONFLICT (stage, unit_key) DO UPDATE
SET status = 'failed', fingerprint = excluded.fingerprint, generation = generation + excluded.generation,
    error_kind = excluded.error_kind, error = excluded.error, attempts = excluded.attempts
RETURNING unit_id, {_FIELDS}"""


def _put_records(db: sqlite3.Connection, unit_id: int, row: Sequence[object], records: Sequence[Record]) -> None:
    """Replace the records of a unit, whose row holds these values, and store the checksums of both."""
    db.execute("DELETE FROM records WHERE unit_id = ?", (unit_id,))
    rows = [(unit_id, i, type(r).__name__, r.canonical_json().decode()) for i, r in enumerate(records)]
    db.executemany("INSERT INTO records (unit_id, ordinal, record_type, json) VALUES (?, ?, ?, ?)", rows)
    records_checksum = sum(checksum_of(*record) for _, *record in rows)
    checksums = records_checksum, checksum_of(*row, records_checksum), unit_id
    db.execute("UPDATE units SET records_checksum = ?, checksum = ? WHERE unit_id = ?", checksums)


def _storable(text: str) -> str:
    # Error texts may quote undecodable bytes; not being able to store the failure would hide it.
    return text.encode("utf-8", "replace").decode()
