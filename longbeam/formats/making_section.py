"""The dataset card's section on how a benchmark was made: replies that could not be used, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from longbeam.schemas import (
    PROMPT_COLUMNS,
    IncidentKind,
    Making,
    as_row,
    incident_counts,
    off_subject,
    prompt_lines,
    total_line,
)
from longbeam.terminal import counted


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
