"""What must be done before an item may be accepted: nothing stale, absence searched for, errors answered."""

from __future__ import annotations

from longbeam.abilities.record import Trait
from longbeam.abilities.registry import ability_of
from longbeam.annotation_ui.causes import known_findings
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.fold import CHECKS_TARGET, Opinion
from longbeam.annotation_ui.search import distinct_queries
from longbeam.annotation_ui.state import ItemState
from longbeam.annotation_ui.views import Gate
from longbeam.annotation_ui.whatif import what_if
from longbeam.schemas.findings import Severity

BY_HAND = "by_hand"
"""`details.variety` of probes that a reviewer wrote."""


def gates_of(desk: Desk, item_id: str, state: ItemState, opinion: Opinion) -> list[Gate]:
    """Return what stands between the item and its acceptance; empty when it may be accepted."""
    gates = []
    if stale := [t for t in opinion.stale if t != CHECKS_TARGET]:
        told = ", ".join(t.partition("/")[2] for t in stale)
        gates.append(_gate("stale", f"the probe was edited; look again at {told}: yes, no or edit"))
    if CHECKS_TARGET in opinion.stale:
        gates.append(_gate("checks", "the probe was edited; run the checks again"))
    if ability_of(opinion.probe.ability).has(Trait.ABSTAINS):
        made = len(distinct_queries([s.query for s in opinion.searches]))
        if made < (least := desk.settings.min_searches):
            text = f"an abstention needs {least} distinct searches of the conversation; {made} made so far"
            gates.append(_gate("searches", text))
    _, _, findings = known_findings(desk, item_id, state, opinion)
    errors = [f for f in findings if f.severity is Severity.ERROR]
    if errors and CHECKS_TARGET not in opinion.stale:
        text = f"{len(errors)} error findings stand: {errors[0].check}; say in a note why the probe is right"
        gates.append(Gate(code="error_findings", message=text, can_override=True))
    if opinion.is_edited or opinion.probe.details.variety == BY_HAND:
        tried = what_if(opinion.probe, desk.probes(item_id.partition("/")[0]).values())
        if odd := [row.answer_kind for row in tried.rows if not row.is_as_expected]:
            text = f"the judge scores {', '.join(odd)} otherwise than it should; say in a note why"
            gates.append(Gate(code="what_if", message=text, can_override=True))
    return gates


def _gate(code: str, message: str) -> Gate:
    return Gate(code=code, message=message, can_override=False)
