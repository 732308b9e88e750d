"""Worked problems of probability: their answers by another way; `worked_results` says how to add one."""

from __future__ import annotations

from itertools import permutations, product

import sympy as sp
from sympy import Rational, binomial, erfc, sqrt

from tests.offline.worked_results import Values, about, confirms

X, Z = sp.symbols("x z")


def _share(chance: Rational) -> Values:
    return chance, about(100 * chance, 1)


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
