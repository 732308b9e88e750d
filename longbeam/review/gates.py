"""Gates: conditions for accepting an item. Nothing is stale, absence was searched for, errors were answered."""

from __future__ import annotations

from longbeam.abilities.record import Trait
from longbeam.abilities.registry import ability_of
from longbeam.review.checks import known_findings
from longbeam.review.fold import CHECKS_TARGET, Opinion
from longbeam.review.names import field_name
from longbeam.review.search import distinct_queries
from longbeam.review.state import ItemState
from longbeam.review.workspace import Workspace
from longbeam.schemas.findings import Severity
from longbeam.schemas.review import Gate

BY_HAND = "by_hand"
"""`details.variety` of probes that a reviewer wrote."""


def gates_of(workspace: Workspace, item_id: str, state: ItemState, opinion: Opinion) -> list[Gate]:
    """Return the gates that are closed; the item may be accepted if there are none."""
    gates = []
    if opinion.unsaved:
        fields = ", ".join(field_name(opinion.probe, target) for target in opinion.unsaved)
        gates.append(_gate("drafts", f"text that you typed is not saved: {fields}; save it or discard it"))
    if stale := [t for t in opinion.stale if t != CHECKS_TARGET]:
        nuggets = ", ".join(field_name(opinion.probe, t) for t in stale)
        gates.append(_gate("stale", f"the probe was edited; look again at {nuggets}: yes, no or edit"))
    if CHECKS_TARGET in opinion.stale:
        gates.append(_gate("checks", "the probe was edited; run the checks again"))
    if ability_of(opinion.probe.ability).has(Trait.ABSTAINS):
        made = len(distinct_queries([s.query for s in opinion.searches]))
        if made < (least := workspace.settings.min_searches):
            text = f"an abstention needs {least} distinct searches of the conversation; {made} made so far"
            gates.append(_gate("searches", text))
    _, _, findings = known_findings(workspace, item_id, state, opinion)
    errors = [f for f in findings if f.severity is Severity.ERROR]
    if errors and CHECKS_TARGET not in opinion.stale:
        text = f"{len(errors)} error findings stand: {errors[0].check}; say in a note why the probe is right"
        gates.append(Gate(code="error_findings", message=text, can_override=True))
    # The lexical judge errs, so it holds up only a rubric that was changed by hand.
    is_by_hand = opinion.is_edited or opinion.probe.details.variety == BY_HAND
    trial = workspace.rubric_trial(item_id, opinion.probe) if is_by_hand else None
    if trial is not None and not trial.is_sound:
        odd = [row.answer_kind.replace("_", " ") for row in trial.rows if not row.is_as_expected]
        text = f"the judge scores {', '.join(odd)} otherwise than it should; say in a note why"
        gates.append(Gate(code="what_if", message=text, can_override=True))
    return gates


def _gate(code: str, message: str) -> Gate:
    return Gate(code=code, message=message, can_override=False)
