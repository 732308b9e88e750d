"""Sections of a dataset card that the conversations give: an example, the composition, the making, the limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import shorten

from longbeam.schemas import (
    PROMPT_COLUMNS,
    BenchmarkSpec,
    ConversationHead,
    FormFigure,
    IncidentKind,
    Making,
    Probe,
    as_row,
    incident_counts,
    off_subject,
    prompt_lines,
    total_line,
)
from longbeam.terminal import counted
from longbeam.text import language_of

UNREVIEWED_LIMIT = "Nobody has reviewed the probes."
LONGEST_QUOTE = 300
"""Characters of a quote in the example."""


@dataclass
class CardFacts:
    """Facts that a card gives of the conversations and probes of an export; filled while they are written."""

    makings: list[Making] = field(default_factory=list)
    domains: Counter[str] = field(default_factory=Counter)
    abilities: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    """Probes by their status in the review."""
    example: Probe | None = None

    def see(self, head: ConversationHead) -> None:
        """Count a conversation."""
        self.makings.append(head.making)
        self.domains[str(head.seed.domain)] += 1

    def count(self, probe: Probe, status: str) -> None:
        """Count a probe; the first one on a value that changed is the example, else the first with evidence."""
        self.abilities[probe.ability] += 1
        self.statuses[status] += 1
        quoted = any(evidence.quote for evidence in probe.evidence)
        if quoted and (self.example is None or (probe.ability == _SHOWN != self.example.ability)):
            self.example = probe

    def opening(self) -> str:
        """Return the sections that come first: an example and the composition."""
        return self._example_section() + self._composition()

    def closing(self, spec: BenchmarkSpec, form: Sequence[FormFigure] = ()) -> str:
        """Return the sections before the licence: how it was made and checked, what its form tells, its limits."""
        made = making_section(self.makings)
        return f"{made.lstrip()}\n{self._checked()}\n{form_section(form)}{self._limits(spec)}\n".lstrip()

    def _example_section(self) -> str:
        if (probe := self.example) is None:
            return ""
        cited = [shorten(e.quote, LONGEST_QUOTE, placeholder=" ...") for e in probe.evidence if e.quote]
        quotes = "\n>\n".join(f"> {quote}" for quote in cited)
        rubric = "\n".join(f"- {nugget.text}" for nugget in probe.rubric)
        return f"""## Example

A probe of `{probe.ability}`. What was said, in messages far apart:

{quotes}

**Question:** {probe.question}

**Gold answer:** {probe.gold_answer}

**Rubric:**

{rubric}

"""

    def _composition(self) -> str:
        rows = "\n".join(f"| {name.replace('_', ' ')} | {count:,} |" for name, count in sorted(self.abilities.items()))
        domains = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in sorted(self.domains.items()))
        abilities = f"| ability | probes |\n|---|---|\n{rows}\n\n" if rows else ""
        return f"## Composition\n\nConversations by domain: {domains}.\n\n{abilities}" if domains else ""

    def _checked(self) -> str:
        reviewed = ", ".join(f"{status.replace('_', ' ')} {count:,}" for status, count in sorted(self.statuses.items()))
        probes = f" Probes by their status in a review: {reviewed}." if reviewed else ""
        return f"""## How it was checked

Rules compare every gold answer, quote and rubric with the whole conversation (`longbeam validate`).{probes}
"""

    def _limits(self, spec: BenchmarkSpec) -> str:
        lines = ["Scores hold for this data, its reader and its judge; name all three with a score."]
        if len(self.makings) == 1:
            lines.append("There is one conversation, so no difference between two systems can be told from chance.")
        if set(self.statuses) <= {"unreviewed"}:
            lines.append(UNREVIEWED_LIMIT)
        if not language_of(spec.language).reads_words:
            lines.append("Checks that read English were left out.")
        listed = "\n".join(f"- {line}" for line in lines)
        return f"## Limits\n\n{listed}\n"


_SHOWN = "knowledge_update"


def form_section(form: Sequence[FormFigure]) -> str:
    """Return what classifiers of form found; empty where nobody measured it."""
    if not form:
        return ""
    rows = "\n".join(
        f"| {f.task.replace('_', ' ')} | {f.told} of {f.told + f.others} | {f.auc:.3f} | {f.interval} |" for f in form
    )
    return f"""## What its form gives away

Classifiers that see no values, trained on other conversations, tell these from other messages (or sentences of the same
message) with this area under the ROC curve; 0.5 is chance (`longbeam validate --form`).

| | found | area | 95 % interval |
|---|---|---|---|
{rows}

"""


def making_section(makings: Sequence[Making]) -> str:
    """Return the card's section on refused replies and gaps; empty where every reply was used as it came."""
    lines, counts = prompt_lines(makings), incident_counts(makings)
    away = off_subject(makings)
    if not counts and not away and not any(line.wasted_tokens or line.replies > line.requests for line in lines):
        return ""
    rows = [PROMPT_COLUMNS, tuple("---" for _ in PROMPT_COLUMNS), *map(as_row, lines), as_row(total_line(lines))]
    gaps = [m.gap_share for m in makings if m.gap_share]
    missing = (
        f"{counted(len(gaps), 'conversation')} sealed with gaps: no reply could be used for up to "
        f"{max(gaps):.1%} of the parts of a text.\n\n"
        if gaps
        else ""
    )
    if away:
        missing += f"**Not about the seeds.** {'; '.join(away)}.\n\n"
    if unfit := counts.get(IncidentKind.UNFIT):
        missing += f"The checker failed its calibration: {counted(unfit, 'objection')} of it refused nothing.\n\n"
    found = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in counts.items())
    return f"""
## How it was made

{missing}Replies by prompt: requests, replies, requests whose first reply was used, share of the output in replies that
were refused or cut, and the replies that code mended, lists that stayed short, fixed answers taken, requests given up,
parts left out, exchanges ended early.

{chr(10).join(f"| {' | '.join(row)} |" for row in rows)}

{f"Incidents: {found}." if found else ""}
"""
