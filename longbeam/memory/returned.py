"""Checks of the values that a product's methods return: vendors' classes are not typed, and a wrong value is a failure.

A wrong value raises `WrongReturn`, whose message begins with "returned" and says what the method may return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from longbeam.terminal import whole_text

T = TypeVar("T")
B = TypeVar("B", bound=BaseModel)


class WrongReturn(TypeError):
    """A method returned a value of a kind that it may not return."""


def items_of(found: object, kinds: tuple[type, ...], most: int, allowed: str) -> list[Any]:
    """Return the first items of an iterable, a generator for example; `allowed` says what the method may return.

    A text or a mapping is not taken apart. Raises WrongReturn for items of other kinds.
    """
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise WrongReturn(f"returned {describe(found)}; {allowed}")
    items: list[Any] = list(islice(found, most))
    wrong = {type(item).__name__: n for n, item in reversed([*enumerate(items)]) if not isinstance(item, kinds)}
    if len(wrong) == 1 and not any(isinstance(item, kinds) for item in items):
        raise WrongReturn(f"returned {describe(found)} of {_plural(*wrong)}; {allowed}")
    if wrong:
        first = min(wrong.values())
        raise WrongReturn(f"returned {describe(found)} whose item {first} is {describe(items[first])}; {allowed}")
    return items


def value_of(found: object, kind: type[T], allowed: str) -> T:
    """Return the value if it is of this kind. Raises WrongReturn otherwise."""
    if not isinstance(found, kind):
        raise WrongReturn(f"returned {describe(found)}; {allowed}")
    return found


def fresh(found: object, kind: type[B]) -> B:
    """Return a record anew from its values, which a frozen record does not guard. Raises WrongReturn."""
    value = value_of(found, kind, f"return longbeam.schemas.evaluation.{kind.__name__}(...)")
    try:
        return kind.model_validate(value.model_dump())
    except (ValidationError, TypeError, ValueError, AttributeError) as exc:
        raise WrongReturn(f"returned a {kind.__name__} whose values are not of its types") from exc


def require_text(text: str, most: int, what: str) -> str:
    """Return a text as a plain str. Raises WrongReturn if it is too long, or holds half a surrogate pair."""
    plain = str.__str__(text)
    if len(plain) > most:
        raise WrongReturn(f"returned {what} has {len(plain):,} characters; at most {most:,} are read")
    if whole_text(plain) != plain:
        raise WrongReturn(f"returned {what} holds half a surrogate pair, which no file can hold")
    return plain


def describe(found: object) -> str:
    """Return the kind of a value with its article: `a list`, `an int`, `None`."""
    if found is None:
        return "None"
    name = type(found).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _plural(name: str) -> str:
    return "None" if name == "NoneType" else f"{name}s"
