from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from longbeam.errors import StoreError
from longbeam.store import Format, open_for_reading, open_for_writing

V1 = Format("notebook", 77, (("CREATE TABLE notes (text TEXT)",),))
V2 = Format("notebook", 77, (*V1.migrations, ("ALTER TABLE notes ADD COLUMN author TEXT DEFAULT 'unknown'",)))
BROKEN = Format("notebook", 77, (*V1.migrations, ("CREATE TABLE authors (name TEXT)", "CREATE TABLE notes (x)")))


def notebook(path: Path, fmt: Format = V1) -> Path:
    db = open_for_writing(path, fmt)
    db.execute("INSERT INTO notes (text) VALUES ('kept')")
    db.close()
    return path


def test_a_new_file_has_every_migration(tmp_path: Path) -> None:
    db = open_for_reading(notebook(tmp_path / "n.sqlite", V2), V2)

    assert db.execute("PRAGMA user_version").fetchone() == (2,)
    assert db.execute("PRAGMA application_id").fetchone() == (77,)
    assert db.execute("SELECT * FROM notes").fetchall() == [("kept", "unknown")]
    db.close()


def test_an_older_file_is_migrated_by_a_writer_and_refused_by_a_reader(tmp_path: Path) -> None:
    path = notebook(tmp_path / "n.sqlite")
    with pytest.raises(StoreError, match="an older longbeam wrote this notebook"):
        open_for_reading(path, V2)

    db = open_for_writing(path, V2)

    assert db.execute("SELECT * FROM notes").fetchall() == [("kept", "unknown")]
    db.close()


def test_a_migration_that_fails_leaves_the_older_version(tmp_path: Path) -> None:
    path = notebook(tmp_path / "n.sqlite")
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        open_for_writing(path, BROKEN)

    db = open_for_reading(path, V1)

    assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]
    db.close()


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = notebook(tmp_path / "n.sqlite", V2)

    with pytest.raises(StoreError, match="notebook of version 2, this longbeam knows up to 1; upgrade longbeam"):
        open_for_writing(path, V1)


def test_a_wrong_statement_keeps_its_traceback(tmp_path: Path) -> None:
    path = notebook(tmp_path / "n.sqlite")
    broken = Format("notebook", 77, (*V1.migrations, ("SELEKT 1",)))

    with pytest.raises(sqlite3.OperationalError, match="syntax error"):
        open_for_writing(path, broken)
