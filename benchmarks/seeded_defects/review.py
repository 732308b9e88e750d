"""Count of planted faults that the review pages show to a reviewer who does not read the conversation.

The benchmark looks for each fault in the data of the pages, on the planted benchmark after `validate`: in the findings
of an item (for faults in messages: of the conversation), in the marks of the item's panel, and among the first messages
of the counter-evidence. Controls are looked up in the same way: a mark that appears on them as often tells nothing. The
reviewer's decision and its speed are not measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.seeded_defects.planting import CONTROL, FAULTS, Planted
from longbeam.annotation_ui import ItemPlace, panel_view
from longbeam.cli.reviewing import lexical_judge
from longbeam.keys import ItemId
from longbeam.review import (
    OpenConversation,
    QueueFilter,
    Viewer,
    Workspace,
    all_items,
    counter_evidence,
    open_workspace,
    wanted_items,
)
from longbeam.schemas import Probe, ReviewerRole
from longbeam.store import open_benchmark

LANES = ("finding", "panel", "counter-evidence")
OFFERED = 5
"""Messages of the counter-evidence that are seen without scrolling."""
_WORTH_A_LOOK = ("error", "warning")


def review_table(output: Path, planted: Sequence[Planted]) -> str:
    """Return the table for the planted benchmark in `output`."""
    with open_workspace(open_benchmark(output, "planted"), lexical_judge()) as workspace:
        lanes = [(item, lanes_of(workspace, item)) for item in planted]
    lines = ["| kind | planted | finding | panel | counter-evidence | any |", "|---|---:|---:|---:|---:|---:|"]
    for kind in (*FAULTS, "all faults", CONTROL):
        listed = [seen for item, seen in lanes if item.kind == kind or (kind == "all faults" and item.kind != CONTROL)]
        counts = [sum(lane in seen for seen in listed) for lane in LANES]
        told = " | ".join(map(str, (*counts, sum(map(bool, listed)))))
        lines.append(f"| {kind} | {len(listed)} | {told} |")
    return "\n".join(lines) + "\n"


def lanes_of(workspace: Workspace, planted: Planted) -> set[str]:
    """Return where a reviewer meets a fault."""
    conversation_id = planted.conversation_id
    conversation = workspace.conversation(conversation_id)
    probes = workspace.probes(conversation_id)
    messages = {name for name in planted.names if name in conversation.ids}
    # A fault that lies in messages alone is met on the items that are wrong with it.
    met = [
        probes[i] for i in sorted(planted.names if planted.names & probes.keys() else planted.excused) if i in probes
    ]
    seen = set()
    found = (f for name in planted.names for f in workspace.findings(conversation_id, name))
    if any(f.severity.value in _WORTH_A_LOOK for f in found):
        seen.add("finding")
    if any(
        _is_marked(ItemPlace(conversation, str(ItemId(conversation_id, p.probe_id))), p)
        for p in met
        if p.probe_id in planted.names
    ):
        seen.add("panel")
    if messages and any(messages & set(_offered(conversation, p)) for p in met):
        seen.add("counter-evidence")
    return seen


def _offered(conversation: OpenConversation, probe: Probe) -> Iterable[str]:
    return (c.message.message_key for c in counter_evidence(conversation, probe, most=OFFERED).candidates)


def _is_marked(place: ItemPlace, probe: Probe) -> bool:
    """Whether the panel names something to look at."""
    return bool(panel_view(place, probe).doubts)


def routing_table(output: Path, planted: Sequence[Planted]) -> str:
    """Return how many faulty items a reviewer meets early in the queue, in its usual order and most doubtful first."""
    faulty = {
        str(ItemId(item.conversation_id, name)) for item in planted if item.kind != CONTROL for name in item.names
    }
    with open_workspace(open_benchmark(output, "planted"), lexical_judge()) as workspace:
        viewer = Viewer("reviewer", ReviewerRole.ANNOTATOR)
        items = all_items(workspace, viewer, with_doubt=True)
        orders = {
            "in order": wanted_items(items, viewer, QueueFilter(order="place")),
            "most doubtful first": wanted_items(items, viewer, QueueFilter(order="doubt")),
        }
    shares = (0.1, 0.25, 0.5, 1.0)
    head = " | ".join(f"first {share:.0%}" for share in shares)
    lines = [f"| faulty items met, of {len(items)} | {head} |", "|---|" + "---:|" * len(shares)]
    for name, order in orders.items():
        met = [sum(i.item_id in faulty for i in order[: round(share * len(order))]) for share in shares]
        lines.append(f"| {name} | {' | '.join(map(str, met))} |")
    return "\n".join(lines) + "\n"
