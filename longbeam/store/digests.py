"""Checksums of stored rows and digests of whole files: they tell damage from what was written."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from zlib import crc32

from longbeam.errors import DamageError
from longbeam.store.files import put_in_place, sha256_of, write_atomically


def checksum_of(*values: object) -> int:
    """Return the CRC-32 of the values of a row, in their order; as the SQL function `checksum` does."""
    return crc32("\0".join(map(str, values)).encode("utf-8", "surrogatepass"))


def damaged(path: Path, what: str) -> DamageError:
    """Return the error for a part of a file that is not as it was written."""
    return DamageError(
        f"{path}: is damaged: {what}; `longbeam verify NAME` lists all damage, and --repair drops it and asks again"
    )


SUFFIX = ".sha256"
COPY_SUFFIX = ".copy"


def put_with_digest(written: Path, path: Path) -> None:
    """Rename `written` to `path`, and record its digest."""
    record_digest(path, sha256_of(written))
    put_in_place(written, path)


def record_digest(path: Path, digest: str) -> None:
    """Record the digest of a file that is about to take the place of `path`, beside that of the file at `path`.

    The digest of a file that is damaged is not recorded. Where none was recorded, nobody can tell, and the file counts
    as sound until it is replaced.
    """
    known, recorded = [digest], _recorded(path)
    if path.exists() and ((former := sha256_of(path)) in recorded or not recorded):
        known.append(former)
    write_atomically(_digests_of(path), "".join(f"{d}\n" for d in dict.fromkeys(known)))


def write_with_copy(path: Path, content: bytes) -> None:
    """Replace `path` by `content` in one step, with its digest, and with a copy beside it to repair it from."""
    write_atomically(_copy_of(path), content)
    record_digest(path, _sha256(content))
    write_atomically(path, content)


def write_recorded(path: Path, text: str) -> None:
    """Replace `path` by a text in one step, with its digest."""
    record_digest(path, _sha256(text.encode("utf-8")))
    write_atomically(path, text)


def is_recorded(path: Path) -> bool:
    """Return whether a file is one that was written; True where an older longbeam recorded no digest."""
    known = _recorded(path)
    return not known or _sha256_of_unchanged(path) in known


def require_recorded(path: Path, remedy: str) -> None:
    """Raise DamageError unless a file is one that was written."""
    if not is_recorded(path):
        raise DamageError(f"{path}: is damaged: its checksum (SHA-256) is not in {_digests_of(path).name}; {remedy}")


def restore_copy(path: Path) -> bool:
    """Put the copy in the place of a damaged file, or record the digest anew where it is the digest that is damaged."""
    try:
        copy = _copy_of(path).read_bytes()
    except OSError:
        return False
    is_equal = path.exists() and path.read_bytes() == copy
    if not is_equal and _sha256(copy) not in _recorded(path):
        return False
    write_with_copy(path, copy)
    return True


def _digests_of(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


def _copy_of(path: Path) -> Path:
    return path.with_name(path.name + COPY_SUFFIX)


def _recorded(path: Path) -> list[str]:
    try:
        return _digests_of(path).read_text(encoding="ascii", errors="replace").split()
    except FileNotFoundError:
        return []


def _sha256(content: bytes) -> str:
    return sha256(content).hexdigest()


def _sha256_of_unchanged(path: Path) -> str:
    found = path.stat()
    return _cached_sha256(path, (found.st_ino, found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=256)
def _cached_sha256(path: Path, stamp: tuple[int, int, int]) -> str:
    return sha256_of(path)
