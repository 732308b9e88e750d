"""What every worked problem must answer, by another way: sympy, from the numbers stated in its text alone.

One function per problem id. Its parameters are fields of the problem's `text`; it returns the values of the
fields of `answer`, in their order. A value is exact, or `about(value, places)` for one that is stated rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy import Rational

Values = tuple[Any, ...]
CONFIRMED: dict[str, Callable[..., Values]] = {}
"""Problem id -> what its answer must say."""


def confirms(function: Callable[..., Values]) -> Callable[..., Values]:
    """Enter a function under its own name, which is the id of the problem."""
    CONFIRMED[function.__name__] = function
    return function


@dataclass(frozen=True)
class About:
    """A value that is stated within `within` of the exact one."""

    value: sp.Expr
    within: Rational


def about(value: sp.Expr, places: int, *, units: int = 1) -> About:
    """A value rounded to so many places; `units`: half units of the last place that it may be off."""
    return About(sp.sympify(value), Rational(units, 2 * 10**places))
