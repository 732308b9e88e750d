"""Knowledge update: a fact that changes once; the answer is the new value, and the old one is not said.

Difficulty is the distance between the two messages, in sessions.
"""

from __future__ import annotations

from longbeam.abilities import KNOWLEDGE_UPDATE
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ProbeCandidate,
    Sketch,
    cite,
    difficulty_by_gap,
    thin_out,
    with_advice,
)
from longbeam.generators.probes.checks import (
    check_balance,
    check_coverage,
    check_form,
    check_values,
    check_voice,
    check_words,
    run_checks,
)
from longbeam.generators.probes.evidence import FactQuote
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import EvidencePart, ProbeDetails
from longbeam.text import is_planned, is_result

ABILITY = KNOWLEDGE_UPDATE.name
GIVEAWAYS = (
    "now", "updated", "update", "current", "currently", "latest", "changed", "anymore", "moved", "revised", "new",
    "newest", "still",
)  # fmt: skip


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return one candidate for each fact with exactly one change, and for each value that the assistant corrected."""
    own = thin_out(material.stated.updated_once, _sketch, material.total_messages)
    corrected = (_sketch(pair) for pair in material.advice.corrected)
    return with_advice(own, filter(None, corrected), material.total_messages)


def _sketch(change: tuple[FactQuote, FactQuote]) -> Sketch | None:
    old, new = change
    # What was planned and what came of it are both true; two plans, or two results, are not.
    is_plan_and_result = is_planned(old.quote) and is_result(new.quote) and not is_planned(new.attribute)
    if old.position >= new.position or is_plan_and_result:
        return None
    return Sketch.of(
        ABILITY,
        cite([old, new], [EvidencePart.ORIGINAL, EvidencePart.UPDATED]),
        difficulty=difficulty_by_gap(old, new),
        variety=new.value.kind.value,
        topic=new.subject,
        summary=f"the {new.attribute} of {new.subject}: {old.value.text}, then {new.value.text}",
        cited=(1,),
        answers=(new.value,),
        stale=(old.value,),
        details=ProbeDetails(variety=new.value.kind.value, old_value=old.value.text, new_value=new.value.text),
    )


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    checks = (check_form, check_voice, check_values, check_coverage, check_balance, check_words(GIVEAWAYS))
    return run_checks(candidate, reply, checks)


GENERATOR = AbilityGenerator(find_candidates, check)
