"""Slots: the only ways by which foreign text gets into a prompt.

Text cannot close its slot: a fence is longer than any run of tildes in the text, and an inline slot has one line.
Invisible characters (control and zero-width ones) are removed, because they could hide such a run or an instruction to
the model. A space inside markers of chat templates takes their meaning away. Templates are checked when they are loaded
(`environment.py`), expressions when they are rendered (`only_trusted`).
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Mapping
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Any

from jinja2 import Undefined
from pydantic import BaseModel

from longbeam.text.times import format_date, weekday


class Trusted(str):
    """Text that may stand in a prompt as it is. Results of operations on it (`~`, `+`, `join`) are plain strings."""

    __slots__ = ()


REMEMBERED = 400
"""Length of texts whose inline form is cached: bullets stand in many prompts."""
_NAME = re.compile(r"[a-z][a-z ]{0,29}")
_LINE_ENDS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
# Zero-width joiner and non-joiner stay, because emoji, Persian and Indic words need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSEEN_PRINTABLE = re.compile("[\U000e0100-\U000e01ef]")
"""Variation selectors: the only characters that `_visible` removes although `str.isprintable` accepts them."""
_TILDES = re.compile("~(?:[\u200c\u200d\ufe00-\ufe0f]*~)*")
# Markers of common chat templates before and after a message: <|im_start|>, <｜User｜>, [INST], </s>, ...
_SPEAKER_MARK = re.compile(
    r"<(?=[|｜][^\s<>|｜]{1,40}[|｜]>|/?s>|/?(?:start|end)_of_turn>|(?:bos|eos)>|</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
)


def fenced(text: object, name: str = "text") -> Trusted:
    """Return text between fences that it cannot close; other values are written as JSON.

    Raises ValueError for a name that is not a few small letters, TypeError for None.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"name of a fence {name!r}: small letters and spaces are allowed")
    if text is None or isinstance(text, Undefined):
        raise TypeError(f"nothing to fence: {text!r}")
    body = _visible(text if isinstance(text, str) else json.dumps(_plain(text), ensure_ascii=False, indent=1))
    longest = max((run.count("~") for run in _TILDES.findall(body)), default=0) if "~" in body else 0
    fence = "~" * max(3, longest + 1)
    return Trusted(f"{fence}{name}\n{body}\n{fence}")


def inline(text: object) -> Trusted:
    """Return a short text on one line, so that it cannot begin a line of its own.

    Raises TypeError for anything but a text, number, date or enum member.
    """
    if type(text) is not str and not isinstance(text, str | int | float | dt.date | Undefined):
        raise TypeError(f"inline takes one text, not {type(text).__name__}; use listed or fenced")
    said = str(text)
    return _one_line(said) if len(said) <= REMEMBERED else _one_line.__wrapped__(said)


@lru_cache(maxsize=4_096)
def _one_line(text: str) -> Trusted:
    return Trusted(" ".join(_visible(text).split()))


def listed(texts: Iterable[object], separator: str = ", ") -> Trusted:
    """Return short texts on one line, each made `inline`."""
    if isinstance(texts, str):
        raise TypeError("listed takes several texts, not one; use inline")
    return Trusted(separator.join(inline(t) for t in texts))


def day(date: dt.date) -> Trusted:
    """Return `2024-03-05 (Tuesday)`, as models are bad at weekdays."""
    return Trusted(f"{date.isoformat()} ({weekday(date)})")


def spoken_day(date: dt.date) -> Trusted:
    """Return `"March 5", a Tuesday`: the words for a day that is near, as people write it."""
    return Trusted(f'"{format_date(date, with_year=False)}", a {weekday(date)}')


def only_trusted(value: object) -> object:
    """Return the result of a template's expression if it may be printed; raise TypeError otherwise."""
    if type(value) is Trusted or isinstance(
        value, Trusted | StrEnum
    ):  # Most results are trusted, and this test is cheap.
        return value
    if isinstance(value, int | float | dt.date) and not isinstance(value, Enum):
        return value
    if isinstance(value, Undefined):
        return str(value)  # This raises an error that names the variable.
    raise TypeError(
        f"unfenced {type(value).__name__} in a prompt: {str(value)[:40]!r}; use the fenced, inline or listed filter"
    )


def _visible(text: str) -> str:
    if not _is_plain(text):
        text = _LINE_ENDS.sub("\n", text)
        text = _SURROGATE.sub("�", _UNSEEN.sub("", text))
    if "<" in text or "[" in text:
        text = _SPEAKER_MARK.sub(lambda mark: f"{mark.group()} ", text)
    return text


def _is_plain(text: str) -> bool:
    """Whether a text has no invisible characters, as most texts; the test costs a fifth of replacing each kind."""
    flat = text.replace("\n", " ").replace("\t", " ")
    return flat.isprintable() and (flat.isascii() or _UNSEEN_PRINTABLE.search(flat) is None)


def _plain(value: object) -> Any:  # Any: a JSON tree
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value.isoformat() if isinstance(value, dt.date) else value
