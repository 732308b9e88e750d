"""Checks of a spec before its first call: everything that it names is there, so that no call is paid for in vain.

A spec's own validators see one file. These checks see the machine: installed abilities, vocabularies, the seeds file.
"""

from __future__ import annotations

from difflib import get_close_matches

from longbeam.abilities import Ability, find_ability, resolve
from longbeam.errors import SpecError
from longbeam.generators import check_people, seeds_for
from longbeam.models import load_tokenizer
from longbeam.prompts import default_registry, registry_for
from longbeam.schemas import MAX_SINGLE_PLAN_LENGTH, BenchmarkSpec, Strategy, provider_of


def check_spec(spec: BenchmarkSpec) -> list[str]:
    """Return warnings about a spec and its seeds file; UserError for anything the spec names that is not there.

    The models are not looked for: whoever makes their clients does that, and asks nothing yet.
    """
    load_tokenizer(spec.tokenizer)
    check_abilities(spec)
    check_addresses(spec)
    registry_for(spec)
    check_people(spec.people)
    _, warnings = seeds_for(spec, spec.conversations)
    if spec.strategy is Strategy.HIERARCHICAL and max(spec.lengths) <= MAX_SINGLE_PLAN_LENGTH:
        warnings.append(
            f'strategy = "{spec.strategy}" has no effect at {max(spec.lengths):,} tokens: a conversation has several '
            "plans only beyond 1M"
        )
    return warnings


def check_abilities(spec: BenchmarkSpec) -> None:
    """Raise SpecError for an ability of the spec that is not installed, or whose probes cannot be made.

    Imports may bring abilities that are not registered here; nothing is generated for them.
    """
    for name in () if spec.is_given else spec.abilities:
        check_ability(find_ability(name))


def check_addresses(spec: BenchmarkSpec) -> None:
    """Raise SpecError where prompts would go to OpenAI although the spec names an address that no role uses.

    An unused address alone is no mistake: later commands name readers, judges and embedders. Beside a model without
    an endpoint table, the likely cause is a mistyped name, and texts would go to an unintended place.
    """
    used = spec.models_in_use
    bare = [model for model in sorted(used - spec.endpoints.keys()) if provider_of(model) == "openai"]
    addressed = [name for name, endpoint in spec.endpoints.items() if endpoint.base_url]
    unused = [name for name in addressed if provider_of(name) == "openai" and name not in used]
    if not bare or not unused:
        return
    by_name = {name.partition(":")[2]: name for name in unused}  # "openai:" makes any two names alike
    closest = [(model, c) for model in bare for c in get_close_matches(model.partition(":")[2], by_name, n=1)]
    model, meant = (closest[0][0], by_name[closest[0][1]]) if closest else (bare[0], unused[0])
    likely = f'. Did you mean "{meant}"?' if closest or len(unused) == 1 else "."
    tables = ", ".join(f'[endpoints."{name}"]' for name in unused)
    raise SpecError(
        f"{tables}: no role uses this address, and {model!r} without an endpoint table would be asked at OpenAI's own"
        f" (models in use: {', '.join(sorted(used))}){likely} To ask OpenAI, add an empty table"
        f' [endpoints."{model}"]'
    )


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
