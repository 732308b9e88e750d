"""The generator of each ability, as the ability's record names it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from typing import Any

from longbeam.abilities import find_ability, resolve
from longbeam.errors import SpecError
from longbeam.generators.probes.candidates import AbilityGenerator, ProbeCandidate
from longbeam.plugins import require_returned
from longbeam.prompts.calls import ProbeReply


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
    return generator if record.generator.startswith("longbeam.") else _guarded(ability, generator)


def _guarded(ability: str, generator: AbilityGenerator) -> AbilityGenerator:
    """Return another package's generator; it raises SpecError where a function returns a value of another kind."""

    def guarded(name: str, fits: Callable[[Any], bool], allowed: str) -> Any:
        function = getattr(generator, name)

        def call(*given: object) -> object:
            found: object = function(*given)
            require_returned(found, fits, f"abilities: {name} of {ability!r}", allowed)
            return found

        return function and call

    return replace(
        generator,
        candidates=guarded("candidates", partial(_is_list_of, ProbeCandidate), "a list of ProbeCandidates"),
        check=guarded("check", partial(_is_list_of, str), "a list of sentences"),
        word=guarded("word", lambda f: isinstance(f, ProbeReply), "a ProbeReply"),
    )


def _is_list_of(kind: type, found: object) -> bool:
    return isinstance(found, list | tuple) and all(isinstance(one, kind) for one in found)
