"""Damage of a work log is found when it is read, and named as damage."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from longbeam.errors import DamageError, StoreError
from longbeam.schemas import ChatMessage, JournalEntry, ModelReply, UserTurn
from longbeam.store import Failure, Unit, WorkLog
from tests.store.journal_entries import ASKED

TURNS = [UserTurn(turn_id=f"p0.s0.t{i}", text=f"Question {i}?", bullet_ids=("p0.s0.b0",)) for i in range(3)]


def written(path: Path) -> Path:
    with WorkLog.open(path) as log:
        for i in range(3):
            request = [ChatMessage(role="user", content=f"hello {i}")]
            reply = ModelReply(text=f"answer {i}", model="small", output_tokens=3)
            log.journal.record(JournalEntry(key=f"k{i}", request=request, reply=reply, **ASKED))
        log.units.finish("user_turns", "p0.s0", fingerprint="f", records=TURNS)
        log.units.fail("plan", "p0", Failure(fingerprint="f", error_kind="schema", error="bad", attempts=3))
        log.meta_set("gaps", {"openings": 0, "ended_with": None})
    return path


def changed(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(statement)


def read_all(log: WorkLog) -> tuple[object, ...]:
    """Everything that a run reads, and seals."""
    return (
        [log.journal.reply_of(f"k{i}") for i in range(3)],
        log.units.find("user_turns", "p0.s0"),
        list(log.units.records("user_turns", UserTurn)),
        log.units.find("plan", "p0"),
        log.meta_get("gaps"),
    )


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE texts SET content = 'answes 1' WHERE content = 'answer 1'", "the reply to c000/dialogue/p0.s0/t0.n1"),
        ("UPDATE replies SET reply = (SELECT reply FROM replies WHERE key = 'k0') WHERE key = 'k1'", "the reply to"),
        ("UPDATE replies SET finish_reason = 'ltop' WHERE key = 'k1'", "the reply to"),
        ("UPDATE records SET json = replace(json, 'Question 1', 'Questiom 1')", "the records of user_turns p0.s0"),
        ("DELETE FROM records WHERE ordinal = 2", "the records of user_turns p0.s0"),
        ("UPDATE units SET fingerprint = 'g' WHERE stage = 'user_turns'", "the unit user_turns p0.s0"),
        ("UPDATE units SET generation = 5 WHERE stage = 'plan'", "the unit plan p0"),
        ("UPDATE meta SET json = replace(json, '0', '1')", "the value of gaps"),
    ],
)
def test_damage_is_named_when_it_is_read(tmp_path: Path, statement: str, named: str) -> None:
    path = written(tmp_path / "c000.sqlite")
    changed(path, statement)

    with WorkLog.open(path) as log:
        with pytest.raises(DamageError, match=f"is damaged: {named}.*longbeam verify NAME") as refused:
            read_all(log)
        with pytest.raises(DamageError, match="is damaged"):
            log.require_sound()
        assert len(log.verify()) >= 1

    assert str(refused.value).startswith(f"{path}: ")


def test_a_flipped_bit_gives_what_was_written_or_an_error(tmp_path: Path) -> None:
    path = written(tmp_path / "c000.sqlite")
    with WorkLog.open(path) as log:
        sound = read_all(log)
    data, rng = path.read_bytes(), random.Random(1)
    errors = []
    for i in range(100):
        flipped = bytearray(data)
        place = rng.choice([n for n, byte in enumerate(data) if byte]) if i else 0
        flipped[place] ^= 1 << rng.randrange(8)
        other = tmp_path / f"{i}.sqlite"
        other.write_bytes(flipped)
        try:
            with WorkLog.open(other) as log:
                log.require_sound()
                assert read_all(log) == sound, place
        except StoreError as exc:
            errors.append(str(exc))
    assert len(errors) > 30
    assert not any("\n" in error for error in errors)


def test_a_file_of_version_4_gets_its_checksums_when_it_is_opened(tmp_path: Path) -> None:
    path = written(tmp_path / "c000.sqlite")
    with WorkLog.open(path) as log:
        sound = read_all(log)
    for table, column in (("replies", "checksum"), ("units", "records_checksum"), ("units", "checksum")):
        changed(path, f"ALTER TABLE {table} DROP COLUMN {column}")
    changed(path, "ALTER TABLE meta DROP COLUMN checksum")
    changed(path, "PRAGMA user_version = 4")

    with WorkLog.open_read_only(path) as log:
        assert read_all(log) == sound
        assert log.verify() == []


def flip_version(path: Path) -> None:
    changed(path, "PRAGMA user_version = 4")


def rename_column(path: Path) -> None:
    changed(path, "ALTER TABLE replies RENAME COLUMN refusal TO refutal")


@pytest.mark.parametrize("damage", [flip_version, rename_column])
@pytest.mark.parametrize("open_log", [WorkLog.open, WorkLog.open_read_only])
def test_damaged_tables_are_named(
    tmp_path: Path, damage: Callable[[Path], None], open_log: Callable[[Path], WorkLog]
) -> None:
    path = written(tmp_path / "c000.sqlite")
    damage(path)

    with pytest.raises(DamageError, match="its tables are not those of a work log of version"):
        open_log(path)


def test_a_unit_is_found_by_its_own_row_alone(tmp_path: Path) -> None:
    with WorkLog.open(written(tmp_path / "c000.sqlite")) as log:
        unit = log.units.find("plan", "p0")

    assert isinstance(unit, Unit)
    assert (unit.generation, unit.attempts) == (1, 3)
