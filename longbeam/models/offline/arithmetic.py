"""Arithmetic for worked problems: parameters are drawn, results computed, without `eval`.

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

Number = int | float | Fraction | bool
_RANGE = re.compile(r"\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
_BINARY: dict[type[ast.operator], Callable[[object, object], object]] = {
    ast.Add: operator.add,  # type: ignore[dict-item]
    ast.Sub: operator.sub,  # type: ignore[dict-item]
    ast.Mult: operator.mul,  # type: ignore[dict-item]
    ast.Div: operator.truediv,  # type: ignore[dict-item]
    ast.FloorDiv: operator.floordiv,  # type: ignore[dict-item]
    ast.Mod: operator.mod,  # type: ignore[dict-item]
    ast.Pow: operator.pow,  # type: ignore[dict-item]
}
_COMPARE: dict[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,  # type: ignore[dict-item]
    ast.LtE: operator.le,  # type: ignore[dict-item]
    ast.Gt: operator.gt,  # type: ignore[dict-item]
    ast.GtE: operator.ge,  # type: ignore[dict-item]
}
_FUNCTIONS: dict[str, Callable[..., object]] = {
    **{n: getattr(math, n) for n in ("sqrt", "comb", "perm", "factorial", "gcd", "lcm", "sin", "cos", "tan", "degrees")},
    **{n: getattr(math, n) for n in ("radians", "atan", "asin", "acos", "log", "exp", "floor", "ceil", "hypot")},
    "abs": abs, "min": min, "max": max, "round": round, "Fraction": Fraction, "int": int, "float": float,
}  # fmt: skip


def evaluate(let: Mapping[str, str], rng: random.Random, given: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return the parameters in order: `a..b` draws an integer, both ends included; anything else is an expression.

    `given`: parameters known already, as they are written in a text; they are read instead of drawn.
    Raises ValueError for an expression that is not arithmetic.
    """
    known: dict[str, object] = {}
    for name, rule in let.items():
        drawn = _RANGE.fullmatch(rule)
        if drawn is None:
            known[name] = compute(rule, known)
        elif given is not None and name in given:
            known[name] = int(given[name].replace(",", ""))
        else:
            known[name] = rng.randint(int(drawn[1]), int(drawn[2]))
    return known


def compute(expression: str, known: Mapping[str, object]) -> object:
    """The value of an arithmetic expression over known names."""
    return _value(ast.parse(expression.strip(), mode="eval").body, known)


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
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        operand = _value(node.operand, known)
        return (not operand) if isinstance(node.op, ast.Not) else -operand  # type: ignore[operator]
    if isinstance(node, ast.BoolOp):
        parts = [bool(_value(v, known)) for v in node.values]
        return all(parts) if isinstance(node.op, ast.And) else any(parts)
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, known) else node.orelse, known)
    if isinstance(node, ast.Compare):
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
    """A number as it is written in a text: whole numbers without a point, others with up to four decimals."""
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if not value.is_integer() else str(int(value))
    return str(value)
