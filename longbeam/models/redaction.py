"""Masks a key in what an endpoint sends back: replies and errors are stored and shown.

Text is masked after its JSON has been decoded. A reply may itself be JSON, so the key is found with each of its
characters escaped or not, and in base64, in which a proxy may repeat the header.
"""

from __future__ import annotations

import base64
import re
from urllib.parse import quote

MASK = "***"


class Redactor:
    """Masks one key in texts."""

    def __init__(self, key: str) -> None:
        """`key` may be empty: then nothing is masked."""
        self._plain = tuple(dict.fromkeys((key, quote(key, safe=""), *_in_base64(key)))) if key else ()
        self._escaped = re.compile("".join(map(_escaped, key)), re.IGNORECASE) if key else None

    def __call__(self, text: str) -> str:
        """Return the text with the key masked, wherever it stands."""
        for form in self._plain:
            if form in text:
                text = text.replace(form, MASK)
        if self._escaped is not None and "\\" in text:
            text = self._escaped.sub(MASK, text)
        return text


def _escaped(character: str) -> str:
    code = f"{ord(character):04x}"
    return rf"(?:{re.escape(character)}|\\+u{code}|\\+{re.escape(character)})"


def _in_base64(key: str) -> tuple[str, ...]:
    """Return the characters that base64 of any text with the key in it has: one form for each of three alignments."""
    forms = []
    for before in range(3):
        raw = b"\0" * before + key.encode()
        encoded = base64.b64encode(raw).decode().rstrip("=")
        # The first characters hold bits of what stands before the key, the last one those of what follows.
        first = (before * 8 + 5) // 6
        whole = encoded[first : len(raw) * 8 // 6]
        forms += [whole, whole.replace("+", "-").replace("/", "_")]
    return tuple(form for form in forms if len(form) >= 8)
