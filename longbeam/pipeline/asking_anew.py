"""All probes of a sealed conversation asked anew, from its text and its ledger: no message changes.

The units are in a work log of their own (`output/<benchmark>/anew/<conversation_id>.sqlite`), so that a stopped command
continues, and the conversation's own log keeps what its text was made with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from longbeam.models import JournalledModel, Models
from longbeam.pipeline.run.driver import limited_models
from longbeam.pipeline.run.probing import ConversationText, write_probe_pool
from longbeam.pipeline.run.units import Progress, SilentProgress, Units
from longbeam.prompts import default_registry
from longbeam.schemas import BenchmarkSpec, digest_of
from longbeam.store import Benchmark, SealedConversation, WorkLog, seal_conversation


@dataclass(frozen=True)
class AskedAnew:
    """Count of the selected probes, why others were refused, and the failures."""

    probes: int
    refused: dict[str, str]
    failures: tuple[str, ...]


async def ask_probes_anew(
    benchmark: Benchmark, spec: BenchmarkSpec, models: Models, progress: Progress | None = None
) -> AskedAnew:
    """Ask all probes of every sealed conversation anew with the models of a spec, and seal the same text with them."""
    probes, refused, failures = 0, dict[str, str](), list[str]()
    async with limited_models(models, spec) as limited:
        for conversation_id in benchmark.sealed_ids:
            path = benchmark.sealed_path(conversation_id)
            # The plans of a long conversation are read from its file while they are needed.
            with SealedConversation(path) as sealed, WorkLog.open(_log_path(benchmark, conversation_id)) as log:
                head, messages = sealed.head, list(sealed.messages())
                journalled = JournalledModel(limited.chat, log.journal)
                units = Units(conversation_id, spec, log, replace(limited, chat=journalled), default_registry())
                units.reporting_to(progress or SilentProgress(), journalled)
                text = ConversationText(head, messages, digest_of([m.digest for m in messages]))
                pool = await write_probe_pool(units, text)
                failures += [f"{conversation_id}/{u.stage}/{u.unit_key}: {u.error}" for u in units.failed]
                seal_conversation(path, head, messages, pool.probes, head.user_turns)
            probes += sum(p.is_selected for p in pool.probes)
            refused |= {f"{conversation_id}/{probe_id}": why for probe_id, why in pool.refused.items()}
    return AskedAnew(probes, refused, tuple(failures))


def _log_path(benchmark: Benchmark, conversation_id: str) -> Path:
    folder = benchmark.root / "anew"
    folder.mkdir(exist_ok=True)
    return folder / f"{conversation_id}.sqlite"
