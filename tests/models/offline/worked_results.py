"""What every worked problem must answer, by another way: sympy, from the numbers stated in its text alone.

One function per problem id. Its parameters are fields of the problem's `text`; it returns the values of the
fields of `answer`, in their order. A value is exact, or `about(value, places)` for one that is stated rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import sympy as sp
from sympy import Point, Rational, binomial, cos, erfc, exp, log, pi, rad, sqrt

X, Y, Z = sp.symbols("x y z")
N = sp.Symbol("n", integer=True, positive=True)


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


def _top(area: sp.Expr, low: sp.Expr, high: sp.Expr) -> sp.Expr:
    """Where a function of X is largest between two ends."""
    inner = [x for x in sp.solve(sp.diff(area, X), X) if low < x < high]
    return max(inner, key=lambda x: area.subs(X, x))


def _share(chance: Rational) -> tuple[Rational, About]:
    return chance, about(100 * chance, 1)


# --- algebra and calculus -----------------------------------------------------------------------------------


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


# --- geometry -----------------------------------------------------------------------------------------------


def _triangle(a: Any, b: Any, c: Any) -> tuple[Point, Point, Point]:
    """Corners A, B, C of a triangle with sides a = BC, b = CA, c = AB."""
    foot = sp.Rational(b * b + c * c - a * a, 2 * c)
    return Point(0, 0), Point(c, 0), Point(foot, sqrt(b * b - foot**2))


@confirms
def cosine_rule(a: int, b: int, g: int) -> Values:
    tip = (b * cos(rad(g)), b * sp.sin(rad(g)))
    return (about(sqrt((tip[0] - a) ** 2 + tip[1] ** 2), 2),)


@confirms
def ladder(l: int, f: int) -> Values:  # noqa: E741
    (height,) = (h for h in sp.solve(X**2 + f**2 - l**2, X) if h > 0)
    return (about(height, 2),)


@confirms
def heron(a: int, b: int, c: int) -> Values:
    return (about(_triangle(a, b, c)[2].y * c / 2, 2),)


@confirms
def shadow(s: int, t: int, u: int) -> Values:
    (height,) = sp.solve(sp.Eq(X / u, Rational(s, t)), X)
    return (about(height, 2),)


@confirms
def roof_gable(l: int, k: int) -> Values:  # noqa: E741
    height = _triangle(l, l, 2 * k)[2].y
    return about(height, 2), about(height * k, 1)


@confirms
def bisectors(a: int, b: int) -> Values:
    return (180 - Rational(a, 2) - Rational(b, 2),)


@confirms
def median_length(a: int, b: int, c: int) -> Values:
    one, two, corner = _triangle(a, b, c)
    middle, centroid = one.midpoint(two), (one + two + corner) / 3
    length = corner.distance(middle)
    return about(length, 2), about(corner.distance(centroid), 2), about(centroid.distance(middle), 2)


@confirms
def perpendicular(p: int, q: int, m: int, c: int) -> Values:
    del c  # where the given line lies does not matter
    assert sp.Matrix([1, m]).dot(sp.Matrix([1, Rational(-1, m)])) == 0
    (intercept,) = sp.solve(sp.Eq(-Rational(p, m) + X, q), X)
    return m, intercept


@confirms
def circle_centre(a: int, b: int, k: int) -> Values:
    left = X**2 - 2 * a * X + Y**2 + 2 * b * Y
    centre = sp.solve([left.diff(X), left.diff(Y)], [X, Y])
    # The answer writes the centre as (a | -b).
    return centre[X], -centre[Y], about(sqrt(k - left.subs(centre)), 2)


@confirms
def point_line(p: int, q: int, k: int) -> Values:
    distance = sp.Line(3 * X + 4 * Y - k).distance(Point(p, q))
    return distance, about(distance, 2)


@confirms
def dish(w: int, h: int) -> Values:
    (focus,) = sp.solve(sp.Eq(h, Rational(w**2) / (4 * X)), X)
    return (about(focus, 2),)


@confirms
def ellipse(a: int, b: int) -> Values:
    shape = sp.Ellipse(Point(0, 0), a, b)
    return about(shape.focus_distance, 2), about(shape.focus_distance, 2), about(shape.eccentricity, 3)


@confirms
def shoelace(a: int, b: int, c: int, d: int) -> Values:
    return (abs(sp.Polygon((0, 0), (a, b), (c, d)).area),)


@confirms
def line_circle(k: int, r: int) -> Values:
    ends = sp.solve(X**2 + k**2 - r**2, X)
    return (about(max(ends) - min(ends), 2),)


@confirms
def rafter(run: int, p: int) -> Values:
    rafter = run / cos(rad(p))
    return about(rafter, 1), about(rafter / 100, 2), about(run * sp.tan(rad(p)), 1)


@confirms
def square_base(a: int, b: int) -> Values:
    return (about(Point(0, 0).distance(Point(a, b)), 1),)


@confirms
def ring_path(r: int, w: int) -> Values:
    return (about(sp.integrate(2 * pi * X, (X, r, r + w)) / 10_000, 2),)


@confirms
def footings(n: int, d: int, h: int) -> Values:
    return (about(n * sp.integrate(pi * Rational(d, 2) ** 2, (X, 0, h)) / 1000, 1),)


@confirms
def stairs(n: int, s: int, t: int) -> Values:
    return n * s, (n - 1) * t, about(sp.deg(sp.atan2(s, t)), 1)


@confirms
def ramp(h: int, p: int) -> Values:
    (floor,) = sp.solve(sp.Eq(h / X, Rational(p, 100)), X)
    return about(floor, 1), about(sp.deg(sp.atan(h / floor)), 2)


@confirms
def polygon(n: int) -> Values:
    return about(180 - Rational(360, n), 2), binomial(n, 2) - n


@confirms
def model_scale(k: int, a: int, v: int) -> Values:
    # cm² to m² by 100², litres (dm³) to m³ by 10³
    return about(a * Rational(k, 100) ** 2, 2), about(v * Rational(k, 10) ** 3, 2)


@confirms
def cone_tent(r: int, h: int) -> Values:
    slope = Rational(r, h)
    cloth = sp.integrate(2 * pi * slope * X * sqrt(1 + slope**2), (X, 0, h))
    air = sp.integrate(pi * (slope * X) ** 2, (X, 0, h))
    return about(cloth, 1), about(air, 2)


@confirms
def meridian(a: int, b: int) -> Values:
    return (about(6371 * rad(a - b), 0),)


@confirms
def spherical_excess(a: int, b: int, c: int) -> Values:
    area = (rad(a) + rad(b) + rad(c) - pi) * 6371**2
    return about(100 * area / (4 * pi * 6371**2), 2), about(area / 10**6, 2)


@confirms
def spider_box(a: int, b: int, c: int) -> Values:
    # The way over the edge between two faces, straight once they are unfolded, where it crosses the edge best.
    ways = []
    for across, one, two in permutations((a, b, c)):
        way = sqrt(X**2 + one**2) + sqrt((across - X) ** 2 + two**2)
        best = Rational(across * one, one + two)
        assert sp.simplify(way.diff(X).subs(X, best)) == 0
        ways.append(way.subs(X, best))
    return (about(min(ways), 2),)


@confirms
def rope_earth(m: int) -> Values:
    (gap,) = sp.solve(2 * pi * (Y + X) - 2 * pi * Y - m, X)
    return (about(100 * gap, 0),)


@confirms
def goat(s: int, r: int) -> Values:
    assert s < r < 20
    # Swept by a taut rope: three quarters of a turn at full length, a quarter of a turn round the next corner.
    return (
        about(
            sp.integrate(r**2 / sp.S(2), (X, 0, 3 * pi / 2)) + sp.integrate((r - s) ** 2 / sp.S(2), (X, 0, pi / 2)), 1
        ),
    )


@confirms
def four_coins(r: int) -> Values:
    centres = sp.Polygon((-r, -r), (r, -r), (r, r), (-r, r))
    return (about(centres.area - 4 * sp.integrate(r**2 / sp.S(2), (X, 0, pi / 2)), 2),)


# --- probability --------------------------------------------------------------------------------------------


@confirms
def committee(k: int, w: int, m: int) -> Values:
    return (sum(binomial(w, women) * binomial(m, k - women) for women in range(1, k + 1)),)


@confirms
def code(d: int) -> Values:
    return (sum(binomial(d, sevens) * sp.Integer(9) ** (d - sevens) for sevens in range(1, d + 1)),)


@confirms
def queue(n: int) -> Values:
    apart = [(i, j) for i, j in permutations(range(n), 2) if abs(i - j) > 1]
    return len(apart) * sp.factorial(n - 2), sp.factorial(n)


@confirms
def handshake(n: int, c: int) -> Values:
    return (binomial(n - c, 2) + c * (n - c),)


@confirms
def evens(n: int) -> Values:
    numbers = list(permutations(range(1, n + 1), 3))
    return sum(last % 2 == 0 for *_, last in numbers), len(numbers)


@confirms
def either_multiple(h: int) -> Values:
    return (sum(number % 4 == 0 or number % 6 == 0 for number in range(1, 60 * h + 1)),)


@confirms
def two_marbles(r: int, b: int) -> Values:
    return _share(binomial(r, 2) / binomial(r + b, 2))


@confirms
def screening(s: int, f: int, i: int) -> Values:
    ill = Rational(i, 100)
    hit, alarm = ill * Rational(s, 100), (1 - ill) * Rational(f, 100)
    return _share(hit / (hit + alarm))[::-1]


@confirms
def two_boxes(a: int, b: int, c: int, d: int) -> Values:
    left, right = Rational(a, a + b) / 2, Rational(c, c + d) / 2
    return _share(left / (left + right))


@confirms
def office_table(a: int, b: int, c: int, d: int) -> Values:
    everybody = a + b + c + d
    return _share(Rational(a, everybody) / Rational(a + b, everybody))


@confirms
def alarm_pair(a: int, b: int) -> Values:
    p, q = Rational(a, 100), Rational(b, 100)
    return (about(100 * (p * q + p * (1 - q) + (1 - p) * q), 2),)


@confirms
def second_ace(k: int) -> Values:
    none_among = [binomial(48, seen) / binomial(52, seen) for seen in (k, k + 1)]
    return _share(1 - none_among[1] / none_among[0])


@confirms
def raffle_value(t: int, s: int, p1: int, p2: int) -> Values:
    tickets = 20 * t
    mean = Rational(p1 - s + p2 - s - s * (tickets - 2), tickets)
    return about(mean, 2), about(-mean, 2)


@confirms
def dice_bet(g: int, k: int, l: int) -> Values:  # noqa: E741
    win = sum(binomial(k, sixes) * Rational(1, 6) ** sixes * Rational(5, 6) ** (k - sixes) for sixes in range(1, k + 1))
    return (about(win * g - (1 - win) * l, 2),)


@confirms
def two_dice_sum(st: int, s: int) -> Values:
    wins = sum(i + j == s for i, j in product(range(1, 7), repeat=2))
    (payout,) = sp.solve(X * Rational(wins, 36) - st, X)
    return (about(payout, 2),)


@confirms
def bingo_hits(m: int, n: int, d: int) -> Values:
    chance = sp.S(1)
    for drawn in range(d):
        chance *= Rational(m - drawn, m + n - drawn)
    return (d, *_share(chance))


@confirms
def first_six(a: int) -> Values:
    win = Rational(a, 6)
    (first,) = sp.solve(win + (1 - win) ** 2 * X - X, X)
    return _share(first)


@confirms
def binomial_quiz(n: int, o: int) -> Values:
    return _share(sp.Poly((Z / o + 1 - Rational(1, o)) ** n, Z).coeff_monomial(Z**2))


@confirms
def mean_change(n: int, m: int, x: int) -> Values:
    return (about(m + Rational(x - m, n + 1), 2),)


@confirms
def margin(r: int, ys: int) -> Values:
    share, size = Rational(ys, 100), sp.Integer(r) ** 2
    margin = 100 * Rational(196, 100) * sqrt(share * (1 - share) / size)
    return about(ys - margin, 2), about(ys + margin, 2)


@confirms
def standard_score(a: int, m: int, s: int) -> Values:
    return about(a * erfc(2 / sqrt(2)) / 2, 1), m + 2 * s


@confirms
def birthday_months(n: int) -> Values:
    apart = sp.S(1)
    for taken in range(n):
        apart *= Rational(12 - taken, 12)
    return _share(1 - apart)


@confirms
def socks(b: int, w: int) -> Values:
    return _share((binomial(b, 2) + binomial(w, 2)) / binomial(b + w, 2))


@confirms
def overlap(n: int, a: int, b: int, c: int) -> Values:
    chess, cards = set(range(a)), set(range(a - c, a - c + b))
    assert len(chess & cards) == c
    return _share(Rational(len(set(range(n)) - chess - cards), n))


@confirms
def doors(n: int) -> Values:
    # Doors are named by their numbers; the first is chosen, and the host leaves the prize, or any one, closed.
    won = sum(prize != 0 for prize in range(n))
    switched = Rational(won, n)
    return switched, about(100 * switched, 1), 1 - switched


@confirms
def streak(k: int) -> Values:
    # The answer has no fields; it says one half.
    assert Rational(1, 2) ** (k + 1) / Rational(1, 2) ** k == Rational(1, 2)
    return ()
