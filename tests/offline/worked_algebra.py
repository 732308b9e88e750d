"""Worked problems of algebra and calculus: their answers by another way; `worked_results` says how to add one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp
from sympy import Rational, exp, log, pi

from tests.offline.worked_results import Values, about, confirms

X, Y = sp.symbols("x y")
N = sp.Symbol("n", integer=True, positive=True)


def _top(area: sp.Expr, low: sp.Expr, high: sp.Expr) -> sp.Expr:
    """Where a function of X is largest between two ends."""
    inner = [x for x in sp.solve(sp.diff(area, X), X) if low < x < high]
    return max(inner, key=lambda x: area.subs(X, x))


@confirms
def chain_power(a: int, b: int, n: int, x: int) -> Values:
    return x, sp.diff((a * X + b) ** n, X).subs(X, x)


@confirms
def fence(h: int) -> Values:
    x = _top(X * (4 * h - 2 * X), sp.S(0), sp.S(2 * h))
    return x, 4 * h - 2 * x, x * (4 * h - 2 * x)


@confirms
def box(k: int) -> Values:
    volume = X * (6 * k - 2 * X) ** 2
    cut = _top(volume, sp.S(0), sp.S(3 * k))
    return cut, volume.subs(X, cut)


@confirms
def area_parabola(a: int, b: int) -> Values:
    area = sp.integrate(X**2, (X, a, b))
    return area, about(area, 2)


@confirms
def balloon(q: int, r: int) -> Values:
    return (about(q / sp.diff(Rational(4, 3) * pi * X**3, X).subs(X, r), 4),)


@confirms
def tangent(b: int, c: int, x: int) -> Values:
    curve = X**2 - b * X + c
    slope = sp.diff(curve, X).subs(X, x)
    return slope, slope * x - curve.subs(X, x)


@confirms
def half_life(v: int, p: int, t: int) -> Values:
    law = v * Rational(p, 100) ** (X / t)
    time = t * log(2) / (log(100) - log(p))
    assert abs(sp.N(law.subs(X, time) - Rational(v, 2))) < 1e-9
    return (about(time, 1),)


@confirms
def arithmetic_sum(n: int, a: int, d: int) -> Values:
    return (sum(a + d * row for row in range(n)),)


@confirms
def savings(p: int, r: int, n: int) -> Values:
    balance = sp.S(0)
    for _ in range(n):
        balance = balance * (1 + Rational(r, 100)) + p
    return (about(balance, 2),)


@confirms
def sigma_split(a: int, b: int, n: int) -> Values:
    return (sp.summation(a * N + b, (N, 1, n)),)


@confirms
def induction_divis(m: int) -> Values:
    power = (m - 1) * X + 1  # m^n, when m^n - 1 = (m - 1)·c
    assert sp.expand(m * power - 1 - (m - 1) * (m * X + 1)) == 0
    return m - 1, m, m


@confirms
def bounce(h: int, p: int) -> Values:
    return (about(h + 2 * sp.summation(h * Rational(p, 100) ** N, (N, 1, sp.oo)), 2),)


@confirms
def fixed_point(x0: int, f: int, g: int) -> Values:
    (rest,) = sp.solve(X / f + g - X, X)
    assert abs(rest - x0) > abs(rest - (Rational(x0, f) + g))
    return rest, about(rest, 2)


@confirms
def quadratic_factor(s: int, pr: int) -> Values:
    return tuple(sorted(sp.solve(X**2 - s * X + pr, X)))


@confirms
def tickets(n: int, a: int, c: int, money: int) -> Values:
    return _pair(sp.linsolve([X + Y - n, a * X + c * Y - money], X, Y))


def _pair(solutions: Iterable[Any]) -> Values:
    (pair,) = solutions
    return tuple(pair)


@confirms
def euclid(g: int) -> Values:
    teeth = sp.ilcm(7 * g, 5 * g)
    assert teeth == 5 * (7 * g)  # the answer's five turns of the large wheel
    return (teeth,)


@confirms
def clock_power(a: int, e: int) -> Values:
    return (sp.Integer(a) ** e % 7,)


@confirms
def congruence(a: int, b: int) -> Values:
    return (b * sp.mod_inverse(a, 11) % 11,)


@confirms
def matrix_inverse(a: int, b: int, c: int, d: int, u: int, v: int) -> Values:
    return tuple(sp.Matrix([[a, b], [c, d]]).inv() * sp.Matrix([u, v]))


@confirms
def by_parts(a: int) -> Values:
    exact = sp.integrate(X * exp(X), (X, 0, a))
    assert sp.simplify(exact - ((a - 1) * exp(a) + 1)) == 0
    return a - 1, a, about(exact, 2)


@confirms
def gradient(a: int, b: int, x: int, y: int) -> Values:
    hill = a * X**2 + b * Y**2
    slopes = sp.Matrix([hill.diff(X), hill.diff(Y)]).subs({X: x, Y: y})
    along = sp.Matrix([3, 4]).normalized()
    return about(slopes.dot(along), 2), about(slopes.norm(), 2)


@confirms
def cooling(t0: int, room: int, m: int, t1: int) -> Values:
    decay = log(Rational(t0 - room, t1 - room)) / m
    return about(room + (t0 - room) * exp(-decay * 2 * m), 1), 2 * m


@confirms
def euler_steps(y0: int, r: int) -> Values:
    step, value = Rational(r, 100), sp.Integer(y0)
    for _ in range(3):
        value += step * value
    exact = y0 * exp(3 * step)
    # The difference stated is that of two rounded values.
    return about(value, 3), about(exact - value, 3, units=3), about(exact, 3)
