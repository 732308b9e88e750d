"""Worked problems of geometry: their answers by another way; `worked_results` says how to add one."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import sympy as sp
from sympy import Point, Rational, binomial, cos, pi, rad, sqrt

from tests.offline.worked_results import Values, about, confirms

X, Y = sp.symbols("x y")


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
