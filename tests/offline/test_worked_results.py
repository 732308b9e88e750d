"""Worked problems: what is stated follows from the problem as stated, and every equation of a solution holds."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from string import Formatter

import pytest
import sympy as sp
from mpmath import iv

from longbeam.offline import (
    CHOICE,
    Problem,
    compute,
    evaluate,
    fields_of,
    load_pack,
    pack_paths,
    problem_in,
    shown_values,
)
from tests.offline import worked_algebra, worked_geometry, worked_number_theory, worked_probability
from tests.offline.worked_results import CONFIRMED, About

PROBLEMS = {p.problem: p for path in pack_paths() for p in load_pack(path).problems}
TABLES = (worked_algebra, worked_geometry, worked_number_theory, worked_probability)
"""Imported for what they enter into `CONFIRMED`."""
DRAWS = 12
NUMBER = r"-?\d+(?:\.\d+)?(?:/\d+)?"


def _draws(problem: Problem) -> Iterator[dict[str, object]]:
    for draw in range(DRAWS):
        yield evaluate(problem.let, random.Random(f"{problem.problem}/{draw}"))


def _with_words(problem: Problem, template: str, known: dict[str, object]) -> str:
    """A template with its words filled in and its numbers left open."""
    for name, rule in problem.let.items():
        if CHOICE in rule:
            template = template.replace(f"{{{name}}}", str(known[name]))
    return template


def _stated(template: str, text: str) -> list[sp.Rational]:
    """The numbers that stand in the places of a template's fields, in their order."""
    pattern = "".join(
        re.escape(literal) + (f"({NUMBER})" if name else "") for literal, name, *_ in Formatter().parse(template)
    )
    found = re.fullmatch(pattern, text)
    assert found is not None, f"no numbers where {template!r} has its fields: {text!r}"
    return [sp.Rational(group) for group in found.groups()]


def test_every_problem_has_its_confirmation() -> None:
    assert set(CONFIRMED) == set(PROBLEMS)


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_text_states_every_drawn_parameter(name: str) -> None:
    problem = PROBLEMS[name]
    drawn = {key for key, rule in problem.let.items() if ".." in rule or CHOICE in rule}
    # What a text leaves out would be drawn a second time for the reply.
    assert drawn <= fields_of(problem.text)


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_answer_is_what_sympy_makes_of_the_text(name: str) -> None:
    problem, confirm = PROBLEMS[name], CONFIRMED[name]
    for known in _draws(problem):
        shown = shown_values(known)
        given = {key: int(shown[key]) for key in inspect.signature(confirm).parameters}
        assert set(given) <= fields_of(problem.text)
        stated = _stated(_with_words(problem, problem.answer, known), problem.answer.format(**shown))
        for said, right in zip(stated, confirm(**given), strict=True):
            if isinstance(right, About):
                # The last place of the other side of a tie, 0.125 as 0.13 or 0.12, is not held against it.
                assert abs(sp.N(right.value - said, 30)) <= right.within + Fraction(1, 10**9), (given, said, right)
            else:
                assert sp.simplify(right - said) == 0, (given, said, right)


@pytest.mark.parametrize("name", [name for name, p in sorted(PROBLEMS.items()) if p.confirm])
def test_confirm_holds_for_many_draws(name: str) -> None:
    problem = PROBLEMS[name]
    for draw in range(200):
        known = evaluate(problem.let, random.Random(draw))
        assert compute(problem.confirm, known) is True, known


def test_reply_reads_back_the_problem_that_was_stated() -> None:
    for pack in (load_pack(path) for path in pack_paths()):
        for problem in pack.problems:
            for known in _draws(problem):
                shown = shown_values(known)
                message = (
                    f"Here is one from the week: {problem.text.format(**shown)}\n\n{problem.attempt.format(**shown)}"
                )
                found, given = problem_in(pack, message) or (None, {})
                assert found is problem
                assert shown_values(evaluate(problem.let, random.Random("another"), given=given)) == shown


# --- equations within the text --------------------------------------------------------------------------------

UNITS = r"cm[²³]?|m[²³]?|mm|kg|mg|km|dollars|litres|teeth|seats|degrees|minutes|points|panels|million|°"
TOKEN = re.compile(rf"\{{(\w+)\}}|\d[\d,]*\d(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?:{UNITS})(?!\w)|[A-Za-z]+'*|\S")
PYTHON = {"×": "*", "·": "*", "^": "**", "²": "**2", "³": "**3", "%": "/100", "π": "pi", "√": "sqrt"}
BINDING = {"root", "of", "sin", "cos", "tan", "ln", "arctan"}
"""Words that do something with the number behind them."""
EQUALS = re.compile(r"(?:,| is| gives)(?: or)? about (?=\{)|, that is (?=\{)")
"""Other ways to write an equals sign."""
LOOSE = {"bounce", "euler_steps", "footings", "median_length", "ring_path", "rope_earth"}
"""Where these words lead on to another unit or quantity than that of the number before them."""


def _interval(rule: str, value: object) -> object:
    """The numbers that round to a stated value."""
    if isinstance(value, Fraction):
        return iv.mpf(value.numerator) / value.denominator
    rounded = re.fullmatch(r"round\(.*?(?:,\s*(\d))?\)", rule)
    if rounded is None and isinstance(value, int):
        return iv.mpf(value)
    slack = 0.5 * 10 ** -int(rounded[1] or 0) if rounded else 0.00005
    return iv.mpf([float(str(value)) - slack, float(str(value)) + slack])


def _tokens(template: str) -> list[tuple[str, str]]:
    """(kind, Python) of each token: a `number`, an `operator`, `=`, or a `word`; units are left out."""
    tokens = []
    for found in TOKEN.finditer(template):
        text = found[0]
        if found[1]:
            tokens.append(("number", f"V[{found[1]!r}]"))
        elif text[0].isdigit():
            tokens.append(("number", f"iv.mpf({text.replace(',', '')!r})"))
        elif text in PYTHON or text in "+-/()":
            tokens.append(("operator", PYTHON.get(text, text)))
        elif not re.fullmatch(UNITS, text):
            tokens.append(("=" if text == "=" else "word", text))
    return tokens


def _equations(template: str, *, about: bool) -> Iterator[tuple[str, str]]:
    """Both sides, as Python, of each equation between numbers alone."""
    tokens = _tokens(EQUALS.sub(" = ", template) if about else template)
    cuts = [-1, *(i for i, (kind, text) in enumerate(tokens) if kind == "word" and text in ",.:;"), len(tokens)]
    for start, end in pairwise(cuts):
        sides: list[list[tuple[str, str]]] = [[]]
        for token in tokens[start + 1 : end]:
            if token[0] == "=":
                sides.append([])
            else:
                sides[-1].append(token)
        for left, right in pairwise(sides):
            one, two = _run(left, last=True), _run(right, last=False)
            if one and two:
                yield one, two


def _run(side: list[tuple[str, str]], *, last: bool) -> str:
    """The arithmetic next to the equals sign; empty if a variable or a function is part of it."""
    walk = list(reversed(side)) if last else side
    run: list[str] = []
    for kind, text in walk:
        if kind == "word":
            if len(text.strip("'")) < 2 or text in BINDING:
                return ""
            break
        run.append(text)
    return " ".join(reversed(run) if last else run)


def _holds(left: str, right: str, values: dict[str, object]) -> bool | None:
    """Whether both sides can be equal; None if one of them is no expression."""
    names = {"V": values, "iv": iv, "pi": iv.pi, "sqrt": iv.sqrt}
    try:
        sides = [compile(side, "step", "eval") for side in (left, right)]
    except SyntaxError:
        return None
    one, two = (iv.mpf(eval(side, {"__builtins__": {}}, names)) for side in sides)
    tiny = 1e-9 * max(1.0, float(abs(one).b))
    return bool((one - two).a <= tiny and (one - two).b >= -tiny)


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_equations_of_the_solution_hold(name: str) -> None:
    problem = PROBLEMS[name]
    for known in _draws(problem):
        values = {key: _interval(problem.let[key], value) for key, value in known.items() if not isinstance(value, str)}
        for template in (problem.text, problem.attempt, problem.mistake, *problem.steps, problem.answer):
            for left, right in _equations(_with_words(problem, template, known), about=name not in LOOSE):
                assert _holds(left, right, values) is not False, template.format(**shown_values(known))


def test_equations_are_found_in_most_solutions() -> None:
    counts = {}
    for name, problem in PROBLEMS.items():
        known = evaluate(problem.let, random.Random(name))
        values = {key: _interval(problem.let[key], value) for key, value in known.items() if not isinstance(value, str)}
        steps = [_with_words(problem, template, known) for template in problem.steps]
        sides = [pair for template in steps for pair in _equations(template, about=name not in LOOSE)]
        counts[name] = sum(_holds(*pair, values) is not None for pair in sides)
    assert sum(count > 0 for count in counts.values()) >= 0.95 * len(counts)
    assert sum(counts.values()) >= 3 * len(counts)
