from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from longbeam.errors import UserError
from longbeam.evaluation import agreement_of, render_agreement, render_agreements
from tests.evaluation.evaluated import evaluated


def test_kappa_is_cohens() -> None:
    # Ten verdicts: both 1 four times, both 0 three times, 1 against 0 twice, 0.5 against 1 once.
    mine = [1, 1, 1, 1, 0, 0, 0, 1, 1, 0.5]
    theirs = [1, 1, 1, 1, 0, 0, 0, 0, 0, 1]
    found = agreement_of(evaluated({"rag": [mine]}), evaluated({"rag": [theirs]}, judge="judge two"))
    row = found.rows[0]
    # Chance: 1s .6 x .5, 0s .3 x .5, halves .1 x 0 = .45. Kappa: (.7 - .45) / .55.
    assert (row.ability, row.verdicts, row.equal) == ("all", 10, 0.7)
    assert row.kappa == pytest.approx(0.25 / 0.55)
    assert row.confusion == ((3, 0, 0), (0, 0, 1), (2, 0, 4))
    assert [r.ability for r in found.rows] == ["all", "summarization"]
    assert "judge two" in render_agreement(found)


def test_failures_and_other_answers_are_left_out_and_counted() -> None:
    first = evaluated({"rag": [[1, None]]})
    found = agreement_of(first, evaluated({"rag": [[1, 1]]}))
    assert (found.failed, found.rows[0].verdicts, found.rows[0].kappa) == (1, 1, None)
    with pytest.raises(UserError, match="no judged answer in common"):
        agreement_of(first, evaluated({"rag": [[1, 1]]}, text="another answer"))


def test_results_of_two_benchmarks_are_refused() -> None:
    first, second = evaluated({"rag": [[1]]}, text="same"), evaluated({"rag": [[1]]}, text="same", name="other")
    (probe,) = second.run.probes
    other = second.run.model_copy(update={"probes": (probe.model_copy(update={"question": "Another one?"}),)})
    with pytest.raises(UserError, match="'mine' and 'other' ask no common question"):
        agreement_of(first, replace(second, run=other))


def test_several_judges_are_compared_two_by_two() -> None:
    verdicts = {"one": [1, 0, 1, 0], "two": [1, 0, 1, 1], "three": [0, 0, 1, 1]}
    files = [evaluated({"rag": [of]}, judge=name) for name, of in verdicts.items()]
    shown = render_agreements([agreement_of(a, b) for a, b in combinations(files, 2)]).splitlines()
    assert [line.split()[:5] for line in shown[1:4]] == [
        ["1", "and", "2", "4", "0.750"], ["1", "and", "3", "4", "0.500"], ["2", "and", "3", "4", "0.750"]
    ]  # fmt: skip
    assert shown[-3:] == ["1: one", "2: two", "3: three"]
