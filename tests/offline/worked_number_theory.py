"""Worked problems of number theory: their answers by another way; `worked_results` says how to add one."""

from __future__ import annotations

import sympy as sp
from sympy.ntheory.modular import crt

from tests.offline.worked_results import Values, confirms


@confirms
def paving(a: int, b: int) -> Values:
    return (max(set(sp.divisors(a)) & set(sp.divisors(b))),)


@confirms
def departures(a: int, b: int) -> Values:
    return (next(t for t in range(b, a * b + 1, b) if t % a == 0),)


@confirms
def weekdays(n: int) -> Values:
    return (sp.Mod(n, 7),)


@confirms
def last_digit(base: int, e: int) -> Values:
    return (sp.Integer(base) ** e % 10,)


@confirms
def check_digit(n: int) -> Values:
    return (next(d for d in range(10) if (10 * n + d) % 9 == 0),)


@confirms
def baskets(r: int, s: int) -> Values:
    return (crt([5, 7], [r, s])[0],)


@confirms
def two_bags(n: int) -> Values:
    large = next(y for y in range(n) if (n - 7 * y) % 5 == 0 and n >= 7 * y)
    return (n - 7 * large) // 5, large


@confirms
def toy_rsa(first: int, second: int) -> Values:
    return (sp.mod_inverse(7, sp.totient(first * second)),)


@confirms
def affine_letter(mult: int, b: int, c: int) -> Values:
    return next(x for x in range(26) if (mult * x + b) % 26 == c), c


@confirms
def stairs_ways(n: int) -> Values:
    return (sum(sp.binomial(n - twos, twos) for twos in range(n // 2 + 1)),)


@confirms
def continued(a: int, b: int, c: int) -> Values:
    ratio = sp.continued_fraction_reduce([a, b, c])
    return ratio.p, ratio.q


@confirms
def rectangles(a: int, b: int) -> Values:
    return (sp.divisor_count(2**a * 3**b * 5),)


@confirms
def factorial_zeros(n: int) -> Values:
    return (sp.multiplicity(10, sp.factorial(n)),)


@confirms
def coprime_count(first: int, second: int) -> Values:
    return sp.totient(first * second), first * second


@confirms
def whole_triangle(m: int, k: int) -> Values:
    return (sp.sqrt((m**2 - k**2) ** 2 + (2 * m * k) ** 2),)


@confirms
def seventh_decimal(n: int) -> Values:
    return n, sp.Integer(10) ** n // 7 % 10


@confirms
def two_squares(k: int) -> Values:
    pieces = 4 * k + 3
    assert not any(sp.integer_nthroot(pieces - side**2, 2)[1] for side in range(int(sp.sqrt(pieces)) + 1))
    return (pieces,)


@confirms
def not_payable(big: int) -> Values:
    payable = {5 * x + big * y for x in range(20) for y in range(20)}
    return (max(n for n in range(60) if n not in payable),)


@confirms
def square_gap(s: int, d: int) -> Values:
    small, large = s - d, s + d
    assert small * large == s**2 - d**2
    assert not sp.isprime(s**2 - d**2)
    return small, large


@confirms
def lockers(n: int) -> Values:
    return (sum(sp.divisor_count(m) % 2 for m in range(1, n + 1)),)


@confirms
def binary_weights(n: int) -> Values:
    return n.bit_count(), n


@confirms
def three_neighbours(n: int) -> Values:
    product = (n - 1) * n * (n + 1)
    return product, sp.Rational(product, 6)
