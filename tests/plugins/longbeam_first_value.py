"""An ability of another package: what a value was before it changed. It is one module, found by its entry point.

The question asks for the old value, so that a memory system which overwrites facts fails. The wording needs no model.
"""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.abilities import Ability, EvidenceRole, Trait
from longbeam.annotation_ui import PanelKind
from longbeam.evaluation import Scorer, nugget_mean
from longbeam.generators.probes import (
    AbilityGenerator,
    FactQuote,
    ProbeCandidate,
    ProbeMaterial,
    Sketch,
    check_coverage,
    check_form,
    check_values,
    cite,
    difficulty_by_gap,
    run_checks,
    thin_out,
)
from longbeam.prompts.calls import NuggetDraft, ProbeReply
from longbeam.schemas import EvidencePart, Judgement, Probe, ProbeDetails
from longbeam.text import parse_value, says
from longbeam.validation import ERROR, INFO, Check, ConversationIndex, Problem

NAME = "first_value"

ABILITY = Ability(
    name=NAME,
    title="first value",
    traits=frozenset({Trait.RECALLS, Trait.CITES_SUBJECT}),
    evidence=(
        EvidenceRole(part=EvidencePart.ORIGINAL),
        EvidenceRole(part=EvidencePart.UPDATED, apart_from=EvidencePart.ORIGINAL),
    ),
    generator="longbeam_first_value:GENERATOR",
    evidence_rules="longbeam_first_value:CHECK",
    scorer="longbeam_first_value:ALL_OR_NOTHING",
    panel="longbeam_first_value:PANEL",
    longmemeval_type="knowledge-update",
)


# --- generating -------------------------------------------------------------------------------------------


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return one candidate for each fact that changes once."""
    return thin_out(material.stated.updated_once, _sketch, material.total_messages)


def _sketch(change: tuple[FactQuote, FactQuote]) -> Sketch | None:
    old, new = change
    if old.position >= new.position:
        return None
    return Sketch.of(
        NAME,
        cite([old, new], [EvidencePart.ORIGINAL, EvidencePart.UPDATED]),
        difficulty=difficulty_by_gap(old, new),
        topic=new.subject,
        summary=f"the {old.attribute} of {old.subject}, which was {old.value.text} at first",
        cited=(0,),
        answers=(old.value,),
        details=ProbeDetails(old_value=old.value.text, new_value=new.value.text),
    )


def word(candidate: ProbeCandidate) -> ProbeReply:
    """Return the wording of a candidate."""
    first = candidate.excerpts[0]
    value = candidate.details.old_value
    of = f"{first.attribute} of {first.subject}"
    return ProbeReply(
        question=f"What was the {of} originally, before I changed it?",
        gold_answer=f"Originally you said that the {of} was {value}.",
        nuggets=[NuggetDraft(text=f"States that the {of} was {value} originally", excerpts=[0])],
    )


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    return run_checks(candidate, reply, (check_form, check_values, check_coverage))


GENERATOR = AbilityGenerator(find_candidates, check, word=word)


# --- checking, scoring, reviewing -------------------------------------------------------------------------


def find_problems(_index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield gold answers without the first value, and a note of each change."""
    if probe.ability != NAME:
        return
    details = probe.details
    if not says(probe.gold_answer, parse_value(details.old_value)):
        yield Problem("gold_lacks_first", probe.probe_id, f"the gold answer does not say {details.old_value!r}")
    yield Problem("changed_to", probe.probe_id, f"{details.old_value!r} became {details.new_value!r}")


CHECK = Check(
    name=NAME,
    doc="The gold answer says the value that the fact had first.",
    severities={"gold_lacks_first": ERROR, "changed_to": INFO},
    on_probe=find_problems,
)


def _score(_probe: Probe, judgement: Judgement, _answer: str) -> tuple[float | None, float | None]:
    mean = nugget_mean(judgement.nuggets)
    score = None if mean is None else float(mean == 1)
    return score, score


ALL_OR_NOTHING = Scorer(_score)
PANEL = PanelKind(name=NAME)
