"""Checksums of stored rows: they tell damage from what was written.

CRC-32 and not a cryptographic hash: files are protected against disks, not against people, and a row costs 2 µs.
"""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

from longbeam.errors import DamageError


def checksum_of(*values: object) -> int:
    """Return the CRC-32 of the values of a row, in their order; as the SQL function `checksum` does."""
    return crc32("\0".join(map(str, values)).encode("utf-8", "surrogatepass"))


def damaged(path: Path, what: str) -> DamageError:
    """Return the error for a part of a file that is not as it was written."""
    return DamageError(
        f"{path}: is damaged: {what}; `longbeam verify NAME` lists all damage, and --repair drops it and asks again"
    )
