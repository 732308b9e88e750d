"""Imported probes with errors, taken out of the selection: the only repair of what somebody else made.

Nothing of an import is reworded, and nothing is dropped: a withdrawn probe stays in the sealed file, not selected, and
the reason is kept in the conversation's work log. Exports, evaluations and checks are of selected probes.
"""

from __future__ import annotations

from longbeam.pipeline.repair.plan import Repairs
from longbeam.pipeline.repair.probes import refuse
from longbeam.store.artifacts import SealedConversation, seal_conversation
from longbeam.store.layout import Benchmark
from longbeam.store.worklog import WorkLog


def withdraw(benchmark: Benchmark, wanted: dict[str, Repairs]) -> list[str]:
    """Take the probes that `wanted` names out of the selection; return a line for each."""
    lines = []
    for conversation_id, repairs in wanted.items():
        path = benchmark.sealed_path(conversation_id)
        with WorkLog.open(benchmark.work_path(conversation_id)) as log, SealedConversation(path) as sealed:
            probes = list(sealed.probes())
            for probe in probes:
                if (reason := repairs.probes.get(probe.probe_id)) is not None:
                    refuse(log, probe, reason)
                    lines.append(f"{conversation_id} {probe.probe_id}: withdrawn ({reason})")
            kept = [p.model_copy(update={"is_selected": False}) if p.probe_id in repairs.probes else p for p in probes]
            seal_conversation(path, sealed.head, sealed.messages(), kept)
    return lines
