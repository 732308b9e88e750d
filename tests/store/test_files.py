from __future__ import annotations

import gzip
import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from longbeam.errors import StoreError
from longbeam.store import read_text, sha256_of, write_atomically

# A limit on file size is the only full disk that a test can have without being root; it ends with its process.
ON_A_FULL_DISK = """
import resource, sys
from pathlib import Path
from longbeam.errors import StoreError
from longbeam.store.files import write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomically(Path(sys.argv[1]), "x" * 5000)
except StoreError as exc:
    print(exc)
"""


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write_atomically(tmp_path / "new" / "a.txt", "ä\r\n")
    write_atomically(tmp_path / "b.bin", b"\x00\xff")

    assert (tmp_path / "new" / "a.txt").read_bytes() == b"\xc3\xa4\r\n"
    assert (tmp_path / "b.bin").read_bytes() == b"\x00\xff"


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")

    write_atomically(tmp_path / "a.txt", "new")

    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.txt", "new")]


def test_a_written_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()

    write_atomically(tmp_path / "a.txt", "x")

    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    ran = subprocess.run(
        [sys.executable, "-c", ON_A_FULL_DISK, str(target)], capture_output=True, text=True, check=True
    )

    assert ran.stdout == f"{target}: the disk is full (File too large); free some space and run the command again\n"
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.txt", "old")]


def test_leftovers_of_killed_writers_go_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    (tmp_path / f".a.txt.partial-{int(dead.stdout)}-7").mkdir()
    (tmp_path / f".a.txt.partial-{os.getppid()}-7").mkdir()

    write_atomically(tmp_path / "a.txt", "x")

    assert sorted(p.name for p in tmp_path.iterdir()) == [f".a.txt.partial-{os.getppid()}-7", "a.txt"]


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()

    with pytest.raises(StoreError, match=r"a\.txt: cannot write the file: Is a directory"):
        write_atomically(tmp_path / "a.txt", "x")


def test_sha256_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc" * 100_000)

    assert sha256_of(tmp_path / "a") == hashlib.sha256(b"abc" * 100_000).hexdigest()
    with pytest.raises(StoreError, match="cannot read the file: No such file"):
        sha256_of(tmp_path / "b")


def test_text_is_read_from_a_compressed_file_too(tmp_path: Path) -> None:
    text = "é\n"
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "a.yaml.gz").write_bytes(gzip.compress(text.encode()))
    assert [read_text(path) for path in sorted(tmp_path.iterdir())] == [text, text]


PACKED = gzip.compress(b"abc" * 99)


@pytest.mark.parametrize(
    "content", [b"no gzip", PACKED[:-9], PACKED[:12] + b"\xff" * 20], ids=["plain", "cut", "garbled"]
)
def test_a_damaged_compressed_file_is_an_error_of_the_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.gz").write_bytes(content)
    with pytest.raises(gzip.BadGzipFile):
        read_text(tmp_path / "a.gz")
