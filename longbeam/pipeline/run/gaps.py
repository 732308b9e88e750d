"""Gaps: parts of a conversation's text for which no reply could be used, and the share of them that is allowed.

A run never waits for a reply that does not come. What fails in all of its tries is left out, and so is what would have
been made from it. When the dialogues are done, the share of missing parts decides whether the conversation is sealed.

A gap stays a gap in every later run, so that a run that was killed ends as one that was not. Only a conversation that
ended with too many gaps has them reopened: the next run asks for them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from longbeam.keys import UnitKey
from longbeam.schemas import Incident, IncidentKind, Making, Record
from longbeam.store import Benchmark, Failure, UnitStatus, WorkLog

R = TypeVar("R", bound=Record)
_META = "gaps"
"""Name under which a work log keeps `{"openings": ..., "ended_with": ...}`."""


@dataclass(frozen=True)
class Gap(Generic[R]):
    """The way of going on without a unit."""

    records: Sequence[R] = ()
    """Records in place of the unit's."""
    parts: int = 0
    """Parts that cannot be made without the unit, beside its own."""


@dataclass
class Gaps:
    """Parts of a conversation's text (units, lines of a plan, turns of the user), and how many of them are missing.

    Counted by the place that they belong to, so that a stage that is tried again in one run counts once.
    """

    openings: int = 0
    """How often gaps were reopened, so that they are asked for again."""
    _parts: dict[str, int] = field(default_factory=dict)
    _missing: dict[str, int] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """Share of the parts that is missing."""
        missing, parts = sum(self._missing.values()), sum(self._parts.values())
        return min(missing / parts, 1.0) if parts else 0.0

    @property
    def has_missing(self) -> bool:
        """Whether a part is missing."""
        return any(self._missing.values())

    def expect(self, place: str, parts: int) -> None:
        """Count the parts that belong to a place; none of them is missing yet."""
        self._parts[place], self._missing[place] = parts, 0

    def miss(self, place: str, parts: int) -> None:
        """Count parts of a place that are missing."""
        self._missing[place] = parts

    def count(self, place: str, incidents: Iterable[Incident]) -> None:
        """Count the parts that a unit left out."""
        self.miss(place, sum(incident.kind is IncidentKind.SKIPPED for incident in incidents))


def open_gaps(log: WorkLog, allowed: float) -> Gaps:
    """Return the gaps of a conversation whose run begins; they are reopened if it ended with more than `allowed`."""
    if (kept := log.meta_get(_META)) is None:
        return Gaps()
    openings, ended_with = kept["openings"], kept["ended_with"]
    if ended_with is not None:
        if ended_with > allowed:
            openings += 1
            _reopen_parts(log)
        log.meta_set(_META, {"openings": openings, "ended_with": None})
    return Gaps(openings)


def _reopen_parts(log: WorkLog) -> None:
    """Open the done units that left something out, such as a turn of a dialogue, for another generation."""
    skipped = [i for i in log.units.incidents() if i.kind is IncidentKind.SKIPPED]
    for key in dict.fromkeys(UnitKey.parse(incident.place).without_place for incident in skipped):
        unit = log.units.find(key.stage, key.unit)
        if unit is not None and unit.status is UnitStatus.DONE:
            failure = Failure(fingerprint=unit.fingerprint, error_kind="gaps", error="parts were left out", attempts=1)
            log.units.fail(key.stage, key.unit, failure)


def close_gaps(log: WorkLog, gaps: Gaps) -> None:
    """Keep the share of gaps with which the conversation's text ended."""
    if gaps.has_missing or gaps.openings:
        log.meta_set(_META, {"openings": gaps.openings, "ended_with": gaps.share})


def share_of_gaps(log: WorkLog) -> float | None:
    """Return the share of gaps that a conversation's text ended with; None if it has no gap or did not end."""
    kept = log.meta_get(_META)
    return None if kept is None else kept["ended_with"]


def gaps_of(benchmark: Benchmark) -> dict[str, float]:
    """Return the share of gaps of each conversation that has some."""
    shares = {}
    for conversation_id in benchmark.conversation_ids:
        if benchmark.work_path(conversation_id).exists():
            with WorkLog.open_read_only(benchmark.work_path(conversation_id)) as log:
                shares[conversation_id] = share_of_gaps(log)
    return {conversation_id: share for conversation_id, share in shares.items() if share}


def making_of(log: WorkLog, lost: Sequence[Incident] = ()) -> Making:
    """Return how the conversation of a work log was made; `lost` are the bullets that no message voices."""
    incidents = log.units.incidents()
    refused = {(i.prompt_id, i.place) for i in incidents if i.kind is IncidentKind.REFUSED}
    return Making(
        prompts=log.journal.prompt_records(refused),
        incidents=(*incidents, *lost),
        gap_share=share_of_gaps(log) or 0.0,
    )


def describe_gaps(conversation_id: str, share: float, allowed: float) -> str:
    """Return one line: how much of a conversation's text is missing, and what to do about it."""
    if share <= allowed:
        return f"{conversation_id}: sealed without {share:.1%} of its parts, for which no reply could be used"
    return (
        f"{conversation_id}: not sealed: no reply could be used for {share:.1%} of its parts, and [checks] gap_share = "
        f"{allowed:g} allows {allowed:.1%}; resume asks for them again, a higher gap_share seals it as it is"
    )
