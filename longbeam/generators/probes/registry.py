"""The generator of each ability, as the ability's record names it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from longbeam.abilities import find_ability, resolve
from longbeam.errors import SpecError
from longbeam.generators.probes.candidates import AbilityGenerator


def check_generators(abilities: Iterable[str]) -> None:
    """Raise SpecError unless probes of all these abilities can be generated here."""
    for ability in abilities:
        generator_for(ability)


@cache
def generator_for(ability: str) -> AbilityGenerator:
    """Return the generator of an ability; raises SpecError for an unknown ability, and for one that has none."""
    record = find_ability(ability)
    if not record.generator:
        raise SpecError(f"abilities: {ability!r} has no generator; its probes can only be imported or written by hand")
    generator = resolve(record.generator)
    if not isinstance(generator, AbilityGenerator):
        raise SpecError(f"abilities: {record.generator} is no AbilityGenerator")
    if not record.prompt_id and generator.word is None:
        raise SpecError(f"abilities: {ability!r} has neither a prompt nor `word`: nothing can word its probes")
    return generator
