"""Content-addressed texts of a work log: each message is stored once, requests refer to it by hash."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence

HASH_BYTES = 32

MAX_CHARACTERS = 8_000_000
"""Remembered per work log, 8 to 32 MB; hundreds of dialogues of 40 messages at once fit."""

RoleAndContent = tuple[str, str]


def hash_of(role: str, content: str) -> bytes:
    """Return the SHA-256 of role, a zero byte and content."""
    return hashlib.sha256(f"{role}\0{content}".encode()).digest()


class TextWriter:
    """Puts texts into the file unless they are there, and remembers which are.

    `Record.digest` is not used: a copy made with `model_copy(update=...)` carries the digest of its original.
    A dictionary of contents costs less than hashing, because a string remembers its own Python hash.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: dict[RoleAndContent, bytes] = {}
        self._characters = 0

    def put(self, texts: Sequence[RoleAndContent]) -> tuple[list[bytes], Mapping[RoleAndContent, bytes]]:
        """Return the hashes of the texts, in order, and what to `remember` once the transaction is committed."""
        known, new = self._known, dict[RoleAndContent, bytes]()
        hashes = []
        for text in texts:
            digest = known.get(text)
            if digest is None:
                digest = new[text] = self._insert(text)
            hashes.append(digest)
        return hashes, new

    def remember(self, new: Mapping[RoleAndContent, bytes]) -> None:
        """Note that these texts are in the file for good; the oldest ones are forgotten beyond MAX_CHARACTERS."""
        self._known.update(new)
        self._characters += sum(len(content) for _, content in new)
        while self._characters > MAX_CHARACTERS:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._characters -= len(oldest[1])

    def _insert(self, text: RoleAndContent) -> bytes:
        digest = hash_of(*text)
        self._db.execute("INSERT OR IGNORE INTO texts (sha256, role, content) VALUES (?, ?, ?)", (digest, *text))
        return digest
