"""Preference following: a question that a preference bears on; an evolved preference counts as it last was.

The level is how much conversation lies between the preference and the end; a changed one is hard wherever it stands.
"""

from __future__ import annotations

from functools import partial

from longbeam.abilities import PREFERENCE_FOLLOWING
from longbeam.generators.probes.candidates import AbilityGenerator, ProbeCandidate, Sketch, WishPayload, cite, thin_out
from longbeam.generators.probes.checks import (
    check_ban,
    check_coverage,
    check_form,
    check_requirement,
    check_words,
    run_checks,
)
from longbeam.generators.probes.evidence import find_words
from longbeam.generators.probes.instruction_following import difficulty_by_age
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import Bullet, BulletKind, Difficulty, EvidencePart, ProbeDetails

ABILITY = PREFERENCE_FOLLOWING.name
GIVEAWAYS = ("prefer", "preference", "preferences", "favourite", "favorite")


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return one candidate per preference that holds at the end of the conversation."""
    pairs = material.histories.standing(BulletKind.PREFERENCE)
    return thin_out(pairs, partial(_sketch, material), material.total_messages)


def _sketch(material: ProbeMaterial, pair: tuple[Bullet, Bullet | None]) -> Sketch | None:
    preference, earlier = pair
    said = find_words(material.voices, preference)
    if earlier is not None and earlier.requirement.casefold() == preference.requirement.casefold():
        earlier = None  # said again, not changed
    before = find_words(material.voices, earlier) if earlier is not None else None
    if said is None or not preference.condition or not preference.requirement:
        return None
    if before is not None and before.position >= said.position:
        return None
    level = difficulty_by_age(said.position, material.total_messages)
    evidence = [said] if before is None else [before, said]
    parts = [EvidencePart.PREFERENCE] if before is None else [EvidencePart.ORIGINAL, EvidencePart.PREFERENCE]
    return Sketch.of(
        ABILITY,
        cite(evidence, parts),
        difficulty=level if before is None else Difficulty.HARD,
        variety="" if before is None else "evolved",
        topic=preference.topic,
        summary=f"{preference.condition}: {preference.requirement}",
        cited=(len(evidence) - 1,),
        payload=WishPayload(condition=preference.condition, requirement=preference.requirement, known=material.known),
        details=ProbeDetails(
            variety="" if before is None else "evolved",
            preference=said.quote,
            old_value=earlier.requirement if before is not None and earlier is not None else "",
            new_value=preference.requirement if before is not None else "",
        ),
    )


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    return run_checks(
        candidate, reply, (check_form, check_coverage, check_requirement, check_ban, check_words(GIVEAWAYS))
    )


GENERATOR = AbilityGenerator(find_candidates, check)
