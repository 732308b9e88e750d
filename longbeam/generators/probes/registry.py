"""The abilities that probes can be written for. A new one is a module with a `GENERATOR`, and a line here."""

from __future__ import annotations

from longbeam.errors import SpecError
from longbeam.generators.probes import (
    abstention,
    contradiction_resolution,
    event_ordering,
    information_extraction,
    instruction_following,
    knowledge_update,
    multi_session_reasoning,
    preference_following,
    summarization,
    temporal_reasoning,
)
from longbeam.generators.probes.candidates import AbilityGenerator

ABILITY_GENERATORS: dict[str, AbilityGenerator] = {
    module.GENERATOR.ability: module.GENERATOR
    for module in (
        abstention,
        contradiction_resolution,
        event_ordering,
        information_extraction,
        instruction_following,
        knowledge_update,
        multi_session_reasoning,
        preference_following,
        summarization,
        temporal_reasoning,
    )
}


def generator_for(ability: str) -> AbilityGenerator:
    """The generator of an ability; raises SpecError for a name that is not registered."""
    try:
        return ABILITY_GENERATORS[ability]
    except KeyError:
        known = ", ".join(ABILITY_GENERATORS)
        raise SpecError(f"abilities: no generator for {ability!r}; there are {known}") from None
