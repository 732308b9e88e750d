"""Arithmetic for worked problems: draws parameters and computes results, without `eval`.

Expressions are Python's, walked node by node with an allow-list of operators and functions, because packs are
data and data must not run code.
"""

from __future__ import annotations

import ast
import math
import operator
import random
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

_RANGE = re.compile(r"\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
CHOICE = " | "
"""Separator of the words from which a rule draws one."""
LARGEST_POWER = 1000
"""Largest exponent and factorial: `9**9**9` in a data file is refused, as it would run for hours."""


def _power(base: object, exponent: object) -> object:
    if abs(exponent) > LARGEST_POWER:  # type: ignore[arg-type]
        raise ValueError(f"exponent {exponent} is larger than {LARGEST_POWER}")
    return operator.pow(base, exponent)


def _factorial(count: int) -> int:
    if count > LARGEST_POWER:
        raise ValueError(f"factorial of {count} is of more than {LARGEST_POWER}")
    return math.factorial(count)


_BINARY: dict[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], object]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., object]] = {
    **{n: getattr(math, n) for n in ("sqrt", "comb", "perm", "gcd", "lcm", "sin", "cos", "tan", "degrees")},
    **{n: getattr(math, n) for n in ("radians", "atan", "asin", "acos", "log", "exp", "floor", "ceil", "hypot")},
    "factorial": _factorial, "abs": abs, "min": min, "max": max, "round": round,
    "Fraction": Fraction, "int": int, "float": float,
}  # fmt: skip


def evaluate(let: Mapping[str, str], rng: random.Random, given: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return the parameters in order: `a..b` draws an integer, both ends included, `red | blue` one of the words.

    Anything else is an expression over the parameters before it.

    `given`: parameters known already, as they are written in a text; they are read instead of drawn.
    Raises ValueError for an expression that is not arithmetic.
    """
    known: dict[str, object] = {}
    for name, rule in let.items():
        drawn = _RANGE.fullmatch(rule)
        if CHOICE in rule:
            known[name] = given[name] if given is not None and name in given else rng.choice(rule.split(CHOICE))
        elif drawn is None:
            known[name] = compute(rule, known)
        elif given is not None and name in given:
            known[name] = int(given[name].replace(",", ""))
        else:
            known[name] = rng.randint(int(drawn[1]), int(drawn[2]))
    return known


def form_of(rule: str) -> str:
    """Return the pattern of a drawn parameter's value in a text; empty for a computed parameter."""
    if CHOICE in rule:
        return "|".join(map(re.escape, rule.split(CHOICE)))
    return r"-?\d[\d,]*" if _RANGE.fullmatch(rule) else ""


def compute(expression: str, known: Mapping[str, object]) -> object:
    """Return the value of an arithmetic expression over known names.

    Raises ValueError for anything that is not arithmetic.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as exc:
        raise ValueError(f"not arithmetic: {expression!r}") from exc
    return _value(tree.body, known)


def _value(node: ast.expr, known: Mapping[str, object]) -> object:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
        return node.value
    if isinstance(node, ast.Name):
        if node.id == "pi":
            return math.pi
        if node.id in known:
            return known[node.id]
        raise ValueError(f"unknown name {node.id!r}")
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left, known), _value(node.right, known))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand, known))
    # The few kinds of node that a pack's formula may have; all others are refused, so that a pack cannot run code.
    if isinstance(node, ast.BoolOp):
        parts = [bool(_value(v, known)) for v in node.values]
        return all(parts) if isinstance(node.op, ast.And) else any(parts)
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, known) else node.orelse, known)
    if isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
        left, holds = _value(node.left, known), True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = _value(right_node, known)
            holds = holds and _COMPARE[type(op)](left, right)
            left = right
        return holds
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _FUNCTIONS
        and not node.keywords
    ):
        return _FUNCTIONS[node.func.id](*[_value(a, known) for a in node.args])
    raise ValueError(f"not arithmetic: {ast.unparse(node)!r}")


def format_number(value: object) -> str:
    """Return a number as text: whole numbers without a point, others with up to four decimals."""
    if isinstance(value, float):
        # Adding zero turns -0.0, which small negative numbers round to, into 0.0.
        rounded = round(value, 4) + 0.0
        return f"{rounded:.4f}".rstrip("0").rstrip(".") if not rounded.is_integer() else str(int(rounded))
    return str(value)
