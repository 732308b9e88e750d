"""X16: how many planted faults the review pages bring to a reviewer's eye without the conversation being read.

Asks what the pages are drawn from, on the planted benchmark after `validate`, for the places of each fault: the
findings beside an item (for faults in messages: on the conversation's page), the marks of the item's panel, and the
first messages offered as counter-evidence. The same is asked for the controls: a mark that stands on them as often
tells nothing. What a person then makes of it, and how fast, is not measured here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.seeded_defects.planting import CONTROL, FAULTS, Planted
from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.counter import counter_evidence
from longbeam.annotation_ui.dates import dates_view
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.panel import panel_view
from longbeam.annotation_ui.server import open_desk
from longbeam.schemas.probes import Probe
from longbeam.store.layout import open_benchmark

LANES = ("finding", "panel", "counter-evidence")
OFFERED = 5
"""Messages of the counter-evidence that are seen without scrolling."""
_WORTH_A_LOOK = ("error", "warning")


def review_table(output: Path, planted: Sequence[Planted]) -> str:
    """Return the table for the planted benchmark in `output`."""
    with open_desk(open_benchmark(output, "planted")) as desk:
        lanes = [(item, lanes_of(desk, item)) for item in planted]
    lines = ["| kind | planted | finding | panel | counter-evidence | any |", "|---|---:|---:|---:|---:|---:|"]
    for kind in (*FAULTS, "all faults", CONTROL):
        listed = [seen for item, seen in lanes if item.kind == kind or (kind == "all faults" and item.kind != CONTROL)]
        counts = [sum(lane in seen for seen in listed) for lane in LANES]
        told = " | ".join(map(str, (*counts, sum(map(bool, listed)))))
        lines.append(f"| {kind} | {len(listed)} | {told} |")
    return "\n".join(lines) + "\n"


def lanes_of(desk: Desk, planted: Planted) -> set[str]:
    """Return where a reviewer meets a fault."""
    conversation_id = planted.conversation_id
    conversation = desk.conversation(conversation_id)
    probes = desk.probes(conversation_id)
    messages = {name for name in planted.names if name in conversation.ids}
    # A fault that lies in messages alone is met on the items that are wrong with it.
    met = [
        probes[i] for i in sorted(planted.names if planted.names & probes.keys() else planted.excused) if i in probes
    ]
    seen = set()
    found = (f for name in planted.names for f in desk.findings(conversation_id, name))
    if any(f.severity.value in _WORTH_A_LOOK for f in found):
        seen.add("finding")
    if any(_is_marked(conversation, conversation_id, p) for p in met if p.probe_id in planted.names):
        seen.add("panel")
    if messages and any(messages & set(_offered(conversation, conversation_id, p)) for p in met):
        seen.add("counter-evidence")
    return seen


def _offered(conversation: OpenConversation, conversation_id: str, probe: Probe) -> Iterable[str]:
    return (c.message_key for c in counter_evidence(conversation, conversation_id, probe, most=OFFERED).candidates)


def _is_marked(conversation: OpenConversation, conversation_id: str, probe: Probe) -> bool:
    """Whether the panel shows something in the colour of a fault."""
    panel = panel_view(conversation, conversation_id, probe)
    computed = probe.details.computed_value
    unsaid = any(not m.evidence_ids and not (computed and computed in m.value) for m in panel.matches)
    uncovered = bool(probe.evidence) and any(not c.worded and not c.cited for c in panel.coverage)
    ranks = [s.mention_rank for s in sorted(panel.sides, key=lambda s: s.group or 0) if s.group is not None]
    is_disordered = ranks != sorted(ranks, key=lambda r: -1 if r is None else r)
    wrong = any(length.verdict == "wrong" for length in dates_view(conversation, probe).lengths)
    return unsaid or uncovered or is_disordered or wrong
