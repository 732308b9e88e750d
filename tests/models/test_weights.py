"""Digests of weights: kept until the file changes, with and without a cache folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from longbeam.errors import SpecError
from longbeam.models import cache_folder, parts_of, weights_digest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    weights_digest.cache_clear()


def test_digest_is_the_files_own_and_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"GGUF weights")
    assert weights_digest(path) == hashlib.sha256(b"GGUF weights").hexdigest()
    (kept,) = (cache_folder() / "weights").iterdir()
    kept.write_text("0" * 64)
    weights_digest.cache_clear()
    assert weights_digest(path) == "0" * 64  # read from the cache


def test_changed_file_and_damaged_cache_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"GGUF weights")
    before = weights_digest(path)
    for kept in (cache_folder() / "weights").iterdir():
        kept.write_text("half a dig")
    weights_digest.cache_clear()
    assert weights_digest(path) == before
    path.write_bytes(b"GGUF other weights")
    weights_digest.cache_clear()
    assert weights_digest(path) == hashlib.sha256(b"GGUF other weights").hexdigest()


def test_digest_needs_no_cache_folder(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    path = tmp_path / "a.gguf"
    path.write_bytes(b"GGUF weights")
    assert weights_digest(path) == hashlib.sha256(b"GGUF weights").hexdigest()


def test_all_parts_of_a_model_count(tmp_path: Path) -> None:
    first = tmp_path / "m-00001-of-00002.gguf"
    assert [p.name for p in parts_of(first)] == ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"]
    first.write_bytes(b"GGUF one")
    with pytest.raises(SpecError, match=r"m-00002-of-00002.gguf: cannot be read: No such file"):
        weights_digest(first)
    parts_of(first)[1].write_bytes(b"GGUF two")
    assert len(weights_digest(first)) == 64
