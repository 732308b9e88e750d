"""Files that appear whole or not at all: written under a hidden name, synced, renamed into place.

A killed process leaves at most a hidden leftover beside the target; the next writer of the same target
removes it.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import itertools
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longbeam.errors import StoreError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers for a lack of room: no space, quota used up, file larger than allowed."""

_ORDINALS = itertools.count()
"""Numbers for scratch folders, so that threads of this process do not share one."""


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace `path` by `content` (text as UTF-8, line ends as they are) in one step, durably.

    Raises StoreError if the file system refuses or is full; then `path` is as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    with scratch_beside(path) as scratch:
        written = scratch / "content"
        try:
            written.write_bytes(data)
        except OSError as exc:
            raise StoreError(describe_os_error(path, exc)) from exc
        put_in_place(written, path)


def read_text(path: Path) -> str:
    """Return a file's UTF-8 text, decompressed if its name ends with `.gz`; raises OSError or UnicodeDecodeError."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (EOFError, zlib.error) as exc:
            raise gzip.BadGzipFile(str(exc)) from exc
    return content.decode("utf-8")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's bytes, read in pieces; StoreError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise StoreError(describe_os_error(path, exc, "read")) from exc


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """Yield an empty hidden folder on the file system of `path`, which is removed afterwards in every case."""
    scratch = path.parent / f".{path.name}.partial-{os.getpid()}-{next(_ORDINALS)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        scratch.mkdir()
    except OSError as exc:
        raise StoreError(describe_os_error(path, exc)) from exc
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def put_in_place(written: Path, path: Path) -> None:
    """Rename `written` to `path` so that a power cut leaves the old file or the new one."""
    try:
        sync_file(written)
        written.replace(path)
        sync_folder(path.parent)
    except OSError as exc:
        raise StoreError(describe_os_error(path, exc)) from exc


def delete_file(path: Path) -> None:
    """Delete a file if there is one; StoreError if the file system refuses."""
    try:
        path.unlink(missing_ok=True)
    except OSError as exc:
        raise StoreError(describe_os_error(path, exc, "delete")) from exc


def no_temporary_room(reason: object) -> StoreError:
    """Return the error for an unnamed temporary file that cannot grow, with the system's reason."""
    where = tempfile.gettempdir()
    return StoreError(f"{where}: no room for temporary files ({reason}); free some or set TMPDIR")


def describe_os_error(path: Path, exc: OSError, act: str = "write") -> str:
    """Return one line that names the file, the system's error, and the remedy."""
    if exc.errno in FULL:
        return f"{path}: the disk is full ({exc.strerror}); free some space and run the command again"
    return f"{path}: cannot {act} the file: {exc.strerror or exc}"


def sync_file(path: Path) -> None:
    """Return when everything written to a file is on disk."""
    _sync(path, os.O_RDWR)


def sync_folder(folder: Path) -> None:
    """Return when every rename in a folder is on disk."""
    _sync(folder, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftovers(path: Path) -> None:
    """Remove scratch folders of killed writers of `path`; those of living processes stay."""
    start = f".{path.name}.partial-"
    for leftover in path.parent.iterdir():
        if leftover.name.startswith(start):
            pid = leftover.name.removeprefix(start).split("-")[0]
            if pid.isdecimal() and not is_alive(int(pid)):
                shutil.rmtree(leftover, ignore_errors=True)


def is_alive(pid: int) -> bool:
    """Return whether a process of this machine runs; True if the system does not tell."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's process
        return True
    return True
