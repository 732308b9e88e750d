"""Refusals and order of a conversation's probes, as repairs left them.

Both are kept in the work log: `resume` rebuilds the pool of probes from its units and must select the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from longbeam.generators.probes import ProbeCandidate, closest
from longbeam.keys import REPAIR
from longbeam.schemas import Evidence, MeasuredDifficulty, Probe, Record
from longbeam.store import WorkLog
from longbeam.text import quote_for

_ORDER = "selection"


class ProbeRefusal(Record):
    """Decision not to select a probe; it holds for one wording of the probe."""

    probe_id: str
    version: str
    reason: str


class Rewording(Record):
    """The reason for which a probe was worded again."""

    probe_id: str
    reason: str


class SelectionOrder(Record):
    """The probes of a conversation as they were selected and ranked."""

    probe_ids: tuple[str, ...]
    """All probes, by ability and rank."""
    selected: tuple[str, ...]


def version_of(probe: Probe) -> str:
    """Return the digest of a probe without what its selection gives it: a reviewer judges none of that."""
    details = probe.details.model_copy(update={"difficulty": MeasuredDifficulty()})
    given = {"rank": 0, "is_selected": False, "asked_at": None, "details": details}
    return probe.model_copy(update=given).digest


def refuse(log: WorkLog, probe: Probe, reason: str) -> None:
    """Remember that a probe is refused as it is worded now."""
    refusal = ProbeRefusal(probe_id=probe.probe_id, version=version_of(probe), reason=reason)
    log.units.finish(REPAIR, f"refused/{probe.probe_id}", fingerprint=refusal.version, records=[refusal])


def refusals(log: WorkLog, probes: Iterable[Probe]) -> dict[str, str]:
    """Return the reasons of those probes that are refused as they are worded now, by probe_id."""
    known = {r.probe_id: r for r in log.units.records(REPAIR, ProbeRefusal)}
    found = ((p, known.get(p.probe_id)) for p in probes)
    return {p.probe_id: r.reason for p, r in found if r is not None and r.version == version_of(p)}


def remember_reason(log: WorkLog, probe_id: str, reason: str) -> None:
    """Keep the reason of a new wording, so that the same is asked whenever the probe's unit runs again."""
    rewording = Rewording(probe_id=probe_id, reason=reason)
    log.units.finish(REPAIR, _reworded(probe_id), fingerprint=rewording.digest, records=[rewording])


def reason_of(log: WorkLog, probe_id: str) -> str:
    """Return the reason of a probe's newest wording; empty if it was worded once."""
    found = next(log.units.records(REPAIR, Rewording, unit_keys=[_reworded(probe_id)]), None)
    return "" if found is None else found.reason


def _reworded(probe_id: str) -> str:
    return f"reworded/{probe_id}"


def remember_order(log: WorkLog, probes: Sequence[Probe]) -> None:
    """Keep the order and the selection of a sealed conversation's probes for as long as it lives."""
    order = SelectionOrder(
        probe_ids=tuple(p.probe_id for p in probes), selected=tuple(p.probe_id for p in probes if p.is_selected)
    )
    log.units.finish(REPAIR, _ORDER, fingerprint=order.digest, records=[order])


def remembered_order(log: WorkLog) -> SelectionOrder | None:
    """Return the stored order; None for a conversation that was never repaired."""
    return next(log.units.records(REPAIR, SelectionOrder), None)


def select_as_before(
    probes: Iterable[Probe], order: SelectionOrder, refused: Mapping[str, str], per_ability: int
) -> list[Probe]:
    """Return the probes by ability and rank: those selected before stay, and the next of the order fill the gaps.

    Refused ones come last and are not selected, however few are left.
    """
    place = {probe_id: i for i, probe_id in enumerate(order.probe_ids)}
    pools: dict[str, list[Probe]] = {}
    for probe in sorted(probes, key=lambda p: (place.get(p.probe_id, len(place)), p.rank, p.probe_id)):
        pools.setdefault(probe.ability, []).append(probe)
    result = []
    for ability in sorted(pools):
        fit = [p for p in pools[ability] if p.probe_id not in refused]
        fit.sort(key=lambda p: p.probe_id not in order.selected)
        unfit = [p for p in pools[ability] if p.probe_id in refused]
        result += [
            p.model_copy(update={"rank": rank, "is_selected": p.probe_id not in refused and rank < per_ability})
            for rank, p in enumerate([*fit, *unfit])
        ]
    return result


def on_what_is_said(candidate: ProbeCandidate, probe: Probe, said_anew: Mapping[str, str]) -> Probe | str:
    """Return the probe with quotes of the present messages, or a text that names evidence which is gone.

    `said_anew`: contents of all messages of regenerated turns, by message_key.
    """
    values = {
        (key, excerpt.quote): (excerpt.value, excerpt.said_on)
        for key, excerpt in zip(candidate.message_keys, candidate.excerpts, strict=True)
    }
    evidence: list[Evidence] = []
    for e in probe.evidence:
        content = said_anew.get(e.message_key)
        if content is None or e.quote in content:
            evidence.append(e)
            continue
        value, said_on = values.get((e.message_key, e.quote), (None, None))
        quote = quote_for(content, [value], said_on) if value is not None else closest(content, e.quote)
        if quote is None:
            return f"{e.message_key} was said anew and no longer says: {e.quote}"
        evidence.append(e.model_copy(update={"quote": quote}))
    return probe if tuple(evidence) == probe.evidence else probe.model_copy(update={"evidence": tuple(evidence)})
