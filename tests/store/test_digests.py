"""Digests beside files: damage is found, and a process that is killed while it replaces a file leaves none."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.errors import DamageError
from longbeam.store import (
    is_recorded,
    put_with_digest,
    record_digest,
    require_recorded,
    restore_copy,
    sha256_of,
    write_with_copy,
)


def put(path: Path, content: bytes) -> None:
    written = path.with_name("written")
    written.write_bytes(content)
    put_with_digest(written, path)


def test_a_file_is_recorded_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "c000.duckdb"
    put(path, b"first")
    require_recorded(path, "seal it again")
    put(path, b"second")
    require_recorded(path, "seal it again")
    path.write_bytes(b"secund")

    with pytest.raises(DamageError, match=r"c000\.duckdb: is damaged: .* not in c000\.duckdb\.sha256; seal it again"):
        require_recorded(path, "seal it again")


def test_a_kill_before_the_rename_leaves_a_file_that_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "c000.duckdb"
    put(path, b"first")
    written = tmp_path / "written"
    for content in (b"second", b"third", b"fourth"):  # killed again and again
        written.write_bytes(content)
        record_digest(path, sha256_of(written))
        assert is_recorded(path)

    put_with_digest(written, path)
    assert is_recorded(path)


def test_a_file_of_an_older_longbeam_has_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "c000.duckdb"
    path.write_bytes(b"as it is")

    assert is_recorded(path)


@pytest.mark.parametrize("recorded", [None, ""])
def test_a_kill_leaves_a_file_without_a_digest_sound(tmp_path: Path, recorded: str | None) -> None:
    path = tmp_path / "c000.duckdb"
    path.write_bytes(b"as it is")
    if recorded is not None:
        (tmp_path / "c000.duckdb.sha256").write_text(recorded)
    record_digest(path, "0" * 64)  # killed before the rename

    assert is_recorded(path)
    path.write_bytes(b"as it isn't")
    assert not is_recorded(path)


def test_the_digest_of_a_damaged_file_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "c000.duckdb"
    put(path, b"first")
    path.write_bytes(b"furst")
    record_digest(path, "0" * 64)

    assert not is_recorded(path)


def test_a_copy_restores_a_damaged_file_and_a_damaged_digest(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    write_with_copy(path, b'{"seed": 11}')
    path.write_bytes(b'{"seed": 31}')
    assert not is_recorded(path)
    assert restore_copy(path)
    assert path.read_bytes() == b'{"seed": 11}'

    (tmp_path / "spec.json.sha256").write_text("0" * 64)
    assert not is_recorded(path)
    assert restore_copy(path)
    assert is_recorded(path)


def test_a_damaged_copy_restores_nothing(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    write_with_copy(path, b'{"seed": 11}')
    path.write_bytes(b'{"seed": 31}')
    (tmp_path / "spec.json.copy").write_bytes(b'{"seed": 12}')

    assert not restore_copy(path)
    assert path.read_bytes() == b'{"seed": 31}'
