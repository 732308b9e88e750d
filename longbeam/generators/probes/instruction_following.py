"""Instruction following: a question under a standing instruction's condition; the requirement is the rubric.

BEAM calls all of these medium; here the level is how much conversation lies between the instruction and the end.
"""

from __future__ import annotations

from functools import partial

from longbeam.abilities import INSTRUCTION_FOLLOWING, is_kind
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ProbeCandidate,
    Sketch,
    WishPayload,
    cite,
    thin_out,
    with_kind,
)
from longbeam.generators.probes.checks import check_ban, check_coverage, check_form, check_requirement, run_checks
from longbeam.generators.probes.confidences import UNSAID, find_confidences
from longbeam.generators.probes.evidence import find_words
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import Bullet, BulletKind, Difficulty, EvidencePart, ProbeDetails

ABILITY = INSTRUCTION_FOLLOWING.name


def difficulty_by_age(position: int, total_messages: int) -> Difficulty:
    """Levels for what must be kept in mind to the end: said in the last third, the middle one, the first."""
    left = total_messages - position
    if 3 * left <= total_messages:
        return Difficulty.EASY
    return Difficulty.MEDIUM if 3 * left <= 2 * total_messages else Difficulty.HARD


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return one candidate per instruction in force at the end of the conversation."""
    instructions = (instruction for instruction, _ in material.histories.standing(BulletKind.INSTRUCTION))
    plain = thin_out(instructions, partial(_sketch, material), material.total_messages)
    return with_kind(plain, find_confidences(material), material.total_messages)


def _sketch(material: ProbeMaterial, instruction: Bullet) -> Sketch | None:
    said = find_words(material.voices, instruction) if instruction.variety not in UNSAID else None
    if said is None or not instruction.condition or not instruction.requirement:
        return None
    return Sketch.of(
        ABILITY,
        cite([said], [EvidencePart.INSTRUCTION]),
        difficulty=difficulty_by_age(said.position, material.total_messages),
        topic=instruction.topic,
        summary=f"{instruction.condition}: {instruction.requirement}",
        payload=WishPayload(condition=instruction.condition, requirement=instruction.requirement, known=material.known),
        details=ProbeDetails(instruction=said.quote),
    )


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    own = (check_unsaid,) if is_kind(candidate.variety) else (check_requirement, check_ban)
    return run_checks(candidate, reply, (check_form, check_coverage, *own))


def check_unsaid(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """Neither question nor gold answer says what is to stay unsaid."""
    if any(candidate.details.missing in text for text in (reply.question, reply.gold_answer)):
        return f"question and gold_answer must not say {candidate.details.missing!r}"
    return None


GENERATOR = AbilityGenerator(find_candidates, check)
