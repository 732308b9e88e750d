"""Incidents: what went wrong while a benchmark was made, and how the run went on; and values that no fact may have.

An incident never stops a run. It is stored with the unit of work in which it happened and travels into the sealed file,
so that `status`, `stats` and the dataset card can say what a reader of the benchmark ought to know.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum

from longbeam.schemas.base import Record


class IncidentKind(StrEnum):
    """Kind of an incident."""

    REFUSED = "refused"
    """No reply to a request could be used; what became of it is an incident of its own, or a failed unit."""
    MENDED = "mended"
    """Code repaired a reply that no attempt got right, or took it with its faults."""
    SHORT = "short"
    """A list was taken although items are missing."""
    DEFAULTED = "defaulted"
    """A fixed answer took the place of replies that could not be used."""
    SKIPPED = "skipped"
    """A planned part was left out, because no reply to its request could be used."""
    ENDED = "ended"
    """An exchange or a dialogue ended early, because its next message could not be written."""
    CUT = "cut"
    """A reply was cut off, because it repeated itself or did not end."""
    UNGROUNDED = "ungrounded"
    """A text holds a value that neither its bullets, nor the ledger, nor earlier talk gives."""
    DECLARED = "declared"
    """A message holds a value that its card asked for as a slip; no fact has the value."""
    NOT_ENTAILED = "not_entailed"
    """A text does not say what it was meant to say."""
    UNFIT = "unfit"
    """A checker that is no better than its calibration allows objected; its verdict refused nothing."""
    OFF_SUBJECT = "off_subject"
    """A model that answers by rule knows nothing of the seed's subject: the story is about something else."""
    DROPPED = "dropped"
    """A fact or an assertion supports no probe, because no message says it."""


class Incident(Record):
    """One incident."""

    kind: IncidentKind
    prompt_id: str = ""
    """Prompt whose replies led to the incident; empty where code found it."""
    place: str = ""
    """Place in the unit that notes the incident: `t5/asks0`; stored with the unit: `c000/dialogue/p0.s2/t5/asks0`."""
    detail: str = ""
    """The faults, and what was done about them, in one line."""


class PromptRecord(Record):
    """The replies to one prompt, and how many of them could be used."""

    prompt_id: str
    requests: int
    """Things that were asked for; a repeated request is none of its own."""
    replies: int
    accepted_first: int
    """Requests whose first reply was used."""
    output_tokens: int
    wasted_tokens: int
    """Output tokens of replies that were refused or cut."""


class Making(Record):
    """The way in which a conversation was made, as far as a reader of the benchmark should know it."""

    prompts: tuple[PromptRecord, ...] = ()
    """By prompt id."""
    incidents: tuple[Incident, ...] = ()
    gap_share: float = 0.0
    """Share of the parts of the text for which no reply could be used."""


class PromptLine(PromptRecord):
    """A line of the table of prompts: the replies to one prompt over all conversations, and their incidents."""

    mended: int
    short: int
    defaulted: int
    refused: int
    skipped: int = 0
    ended: int = 0

    @property
    def first_share(self) -> float:
        """Share of the requests whose first reply was used."""
        return self.accepted_first / self.requests if self.requests else 0.0

    @property
    def wasted_share(self) -> float:
        """Share of the output tokens in replies that were refused or cut."""
        return self.wasted_tokens / self.output_tokens if self.output_tokens else 0.0


def off_subject(makings: Iterable[Making]) -> list[str]:
    """Return why the stories are about something else than their seeds, each reason once."""
    incidents = (incident for making in makings for incident in making.incidents)
    return list(dict.fromkeys(i.detail for i in incidents if i.kind is IncidentKind.OFF_SUBJECT))


LEFT_OUT = (IncidentKind.SKIPPED, IncidentKind.ENDED, IncidentKind.DROPPED)
"""Kinds of what is missing in the text, or in its gold."""
REPORTED = (
    IncidentKind.CUT,
    IncidentKind.UNGROUNDED,
    IncidentKind.DECLARED,
    IncidentKind.NOT_ENTAILED,
    IncidentKind.UNFIT,
)
"""Kinds of what stands in the text and a check found."""


def prompt_lines(makings: Iterable[Making]) -> tuple[PromptLine, ...]:
    """Return the table of prompts over some conversations, by prompt id."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for making in makings:
        for record in making.prompts:
            sums[record.prompt_id].update(record.model_dump(exclude={"prompt_id"}))
        for incident in making.incidents:
            if incident.kind.value in PromptLine.model_fields and incident.prompt_id in sums:
                sums[incident.prompt_id][incident.kind.value] += 1
    names = PromptLine.model_fields.keys() - {"prompt_id"}
    return tuple(PromptLine(prompt_id=p, **{n: sums[p][n] for n in names}) for p in sorted(sums))


def total_line(lines: Sequence[PromptLine]) -> PromptLine:
    """Return the sum of the lines of a table."""
    names = PromptLine.model_fields.keys() - {"prompt_id"}
    return PromptLine(prompt_id="all", **{n: sum(getattr(line, n) for line in lines) for n in names})


def incident_counts(makings: Iterable[Making]) -> dict[str, int]:
    """Return the numbers of incidents of the kinds LEFT_OUT and REPORTED, without those that are zero."""
    counts = Counter(incident.kind for making in makings for incident in making.incidents)
    return {kind.value: counts[kind] for kind in (*LEFT_OUT, *REPORTED) if counts[kind]}


def as_row(line: PromptLine) -> tuple[str, ...]:
    """Return the cells of a line, in the order of PROMPT_COLUMNS."""
    numbers = line.requests, line.replies
    incidents = line.mended, line.short, line.defaulted, line.refused, line.skipped, line.ended
    return (
        line.prompt_id,
        *(f"{n:,}" for n in numbers),
        f"{line.first_share:.1%}",
        f"{line.wasted_share:.1%}",
        *(f"{n:,}" for n in incidents),
    )


PROMPT_COLUMNS = (
    *("prompt", "requests", "replies", "first", "wasted"),
    *("mended", "short", "defaulted", "refused", "skipped", "ended"),
)
"""`first`: requests whose first reply was used; `wasted`: output tokens of replies that were refused or cut."""
