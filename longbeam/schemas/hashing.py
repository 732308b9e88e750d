"""Hashes by which messages and requests to a model are stored and found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def message_hash(role: str, content: str) -> bytes:
    """Return the SHA-256 of role, a zero byte and content. Raises UnicodeEncodeError for half a surrogate pair."""
    return hashlib.sha256(f"{role}\0{content}".encode()).digest()


def request_hash(messages: Iterable[bytes]) -> bytes:
    """Return the SHA-256 of the hashes of a request's messages, in order."""
    return hashlib.sha256(b"".join(messages)).digest()
