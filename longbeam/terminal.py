"""Counts, times and foreign text as the command line and its records write them."""

from __future__ import annotations

import re
from typing import Any

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PLACE = re.compile(r"[\w.+-]+(/[\w.+-]+)+|\d[\d,.]*")
"""A place of a call (`c000/judge/rag/x`) or a number."""
_HALF = re.compile("[\ud800-\udfff]")


def counted(count: int, noun: str) -> str:
    """Return `1 probe`, `2,000 probes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def without_places(reason: str) -> str:
    """Return a reason without the places and the numbers in it, by which failures alike are found."""
    return _PLACE.sub("#", reason)


def duration(seconds: float) -> str:
    """Return `42 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def both_ends(text: str, most: int) -> str:
    """Return a text of at most `most` characters: a longer one without its middle, as errors name the reason last."""
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"


def followed_by(text: str, sentence: str) -> str:
    """Return a text and a sentence after it, with one mark between them; the text alone before an empty sentence."""
    if not sentence:
        return text
    return f"{text} {sentence}" if text.endswith((".", "!", "?")) else f"{text}. {sentence}"


def printable(text: str) -> str:
    """Return text of unknown origin without characters that steer a terminal: escapes, backspaces, text direction."""
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", text)


def whole_text(value: Any) -> Any:
    """Return a JSON value in which U+FFFD stands for each half of a surrogate pair."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return type(value)(whole_text(part) for part in value)
    if isinstance(value, dict):
        return {whole_text(key): whole_text(part) for key, part in value.items()}
    return value
