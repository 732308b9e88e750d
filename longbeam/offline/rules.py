"""Which rules the offline writer, reader and judge follow, so that replies of other rules can be told from theirs."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_OFFLINE = Path(__file__).parent
_FOLDERS = (_OFFLINE, _OFFLINE.parent / "schemas", _OFFLINE.parent / "text")
"""Their code and data, and the words, values and sentences that they work on."""


@cache
def rules_digest() -> str:
    """Return a digest of the files that say how the offline model answers: any change gives another one."""
    digest = hashlib.sha256()
    for folder in _FOLDERS:
        for path in sorted(p for p in folder.rglob("*") if p.suffix in {".py", ".yaml"}):
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
