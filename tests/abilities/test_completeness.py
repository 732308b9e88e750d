"""Every ability has everything: what its record names exists and is of the right kind."""

from __future__ import annotations

import pytest

from longbeam.abilities import Ability, abilities, resolve
from longbeam.annotation_ui import panel_kind_of
from longbeam.evaluation import scorer_of
from longbeam.formats import CATEGORIES
from longbeam.generators.probes import generator_for
from longbeam.prompts import default_registry
from longbeam.validation import Check, Scope, all_checks

ALL = pytest.mark.parametrize("ability", abilities(), ids=lambda ability: ability.name)


@ALL
def test_every_ability_has_a_generator_with_its_prompt(ability: Ability) -> None:
    generator = generator_for(ability.name)
    assert generator.word is not None or ability.prompt_id
    if ability.prompt_id:
        assert default_registry()[ability.prompt_id].prompt_id == ability.prompt_id


@ALL
def test_every_ability_has_a_scorer_and_a_panel(ability: Ability) -> None:
    assert callable(scorer_of(ability.name).score)
    assert panel_kind_of(ability.name).name


@ALL
def test_evidence_rules_are_among_the_checks(ability: Ability) -> None:
    if ability.evidence_rules:
        check = resolve(ability.evidence_rules)
        assert isinstance(check, Check)
        assert check.scope is Scope.PROBE
        assert check in all_checks()


@ALL
def test_every_ability_of_beam_has_its_place_in_other_formats(ability: Ability) -> None:
    assert ability.locomo_category in CATEGORIES
    assert ability.longmemeval_type
    assert ability.beam.variety in ability.beam.further


def test_every_category_of_other_formats_is_read_as_one_ability() -> None:
    numbers = [number for ability in abilities() for number in ability.reads_locomo]
    types = [name for ability in abilities() for name in ability.reads_longmemeval]

    assert sorted(numbers) == sorted(CATEGORIES)
    # LongMemEval (Wu et al. 2024) has six question types.
    assert sorted(types) == [
        "knowledge-update",
        "multi-session",
        "single-session-assistant",
        "single-session-preference",
        "single-session-user",
        "temporal-reasoning",
    ]
