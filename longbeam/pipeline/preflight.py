"""Checks of a spec before its first call: everything that it names is there, so that no call is paid for in vain.

A spec's own validators see one file. These checks see the machine: installed abilities, vocabularies, the seeds file.
"""

from __future__ import annotations

from longbeam.abilities.record import Ability
from longbeam.abilities.registry import find_ability, resolve
from longbeam.errors import SpecError
from longbeam.generators.seeds import seeds_for
from longbeam.models.tokens import load_tokenizer
from longbeam.prompts.declarations import default_registry
from longbeam.schemas.spec import BenchmarkSpec


def check_spec(spec: BenchmarkSpec) -> list[str]:
    """Return warnings about a spec's seeds file; UserError for anything the spec names that is not there.

    The models are not looked for: whoever makes their clients does that, and asks nothing yet.
    """
    load_tokenizer(spec.tokenizer)
    check_abilities(spec)
    _, warnings = seeds_for(spec, spec.conversations)
    return warnings


def check_abilities(spec: BenchmarkSpec) -> None:
    """Raise SpecError for an ability of the spec that is not installed, or whose probes cannot be made.

    Imports may bring abilities that are not registered here; nothing is generated for them.
    """
    for name in () if spec.is_given else spec.abilities:
        check_ability(find_ability(name))


def check_ability(ability: Ability) -> None:
    """Raise SpecError if probes of an ability cannot be made: a part of it is missing or cannot be loaded."""
    if not ability.generator:
        raise SpecError(f"abilities: {ability.name!r} has no generator, so no probes of it can be made; leave it out")
    for part in filter(None, (ability.generator, ability.prompt, ability.wording_rule, ability.evidence_rules)):
        resolve(part)
    prompt_id = ability.prompt_id
    if prompt_id and all(prompt.prompt_id != prompt_id for prompt in default_registry()):
        raise SpecError(
            f"abilities: {ability.name!r} is worded by {prompt_id!r}, which no prompt is called; leave it out"
        )
