"""Slots: the only ways in which text that longbeam did not write gets into a prompt.

A slot cannot be closed from inside: a fence is longer than any run of tildes in it, an inline slot has one line.
What cannot be seen (control and zero-width characters) is taken out, because it would hide such a run or an
order to the model; markers by which servers tell who speaks lose their meaning by a space. Templates are checked
when they are loaded (`environment.py`), expressions when they are rendered (`only_trusted`).
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

from longbeam.text.times import weekday


class Trusted(str):
    """Text that may stand in a prompt as it is. Whatever is made of it (`~`, `+`, `join`) is a plain string again."""

    __slots__ = ()


REMEMBERED = 400
"""Characters of a text up to which its inline form is kept: bullets stand in many prompts."""
_NAME = re.compile(r"[a-z][a-z ]{0,29}")
_LINE_ENDS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
# Zero-width joiner and non-joiner stay: emoji, Persian and Indic words are written with them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSEEN_PRINTABLE = re.compile("[\U000e0100-\U000e01ef]")
"""Of what `_visible` takes out or replaces all that `str.isprintable` accepts: variation selectors."""
_TILDES = re.compile("~(?:[\u200c\u200d\ufe00-\ufe0f]*~)*")
# What chat templates of common models set before and after a message: <|im_start|>, <｜User｜>, [INST], </s>, ...
_SPEAKER_MARK = re.compile(
    r"<(?=[|｜][^\s<>|｜]{1,40}[|｜]>|/?s>|/?(?:start|end)_of_turn>|(?:bos|eos)>|</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
)


def fenced(text: object, name: str = "text") -> Trusted:
    """Return text between fences that it cannot close; anything but a string is written as JSON.

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

    Raises TypeError for what is not one text, number, date or enum member.
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
    """Return `2024-03-05 (Tuesday)`: models are bad at weekdays."""
    return Trusted(f"{date.isoformat()} ({weekday(date)})")


def only_trusted(value: object) -> object:
    """Return what an expression of a template gave, if it may be printed; raise TypeError otherwise."""
    if type(value) is Trusted or isinstance(value, Trusted | StrEnum):  # most are, and the first question is cheap
        return value
    if isinstance(value, int | float | dt.date) and not isinstance(value, Enum):
        return value
    if isinstance(value, Undefined):
        return str(value)  # raises, and names the variable
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
    """Whether nothing of a text is unseen: most texts are so, and asking costs a fifth of looking for each kind."""
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
