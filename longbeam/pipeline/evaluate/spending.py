"""Calls, tokens and cost of memory systems in the journals of an evaluation, by system and stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from longbeam.models import cost_of, prices_of
from longbeam.schemas import BenchmarkSpec, Preparation, PreparationUsage, Spending
from longbeam.store import WorkLog

SPENDING_STAGES: tuple[Literal["prepare", "answer", "judge"], ...] = ("prepare", "answer", "judge")


def spent(log: WorkLog, conversation_id: str, spec: BenchmarkSpec, systems: Mapping[str, str]) -> list[Spending]:
    """Return the usage in the journal of a conversation, by system and stage.

    `systems`: the system of each row. Calls of preparation are made once for all settings of a system; each of its
    rows has all of them.
    """
    prices = prices_of(spec)
    found = []
    for system, base in systems.items():
        for stage in SPENDING_STAGES:
            name = base if stage == "prepare" else system
            rows = log.journal.usage_under(f"{conversation_id}/{stage}/{name}/")
            if rows:
                found.append(
                    Spending(
                        system=system,
                        stage=stage,
                        calls=sum(row.calls for row in rows),
                        prompt_tokens=sum(row.prompt_tokens for row in rows),
                        output_tokens=sum(row.output_tokens for row in rows),
                        cost_usd=cost_of(prices, rows),
                    )
                )
    return found


def preparations_of(used: Mapping[str, Sequence[PreparationUsage]]) -> tuple[Preparation, ...]:
    """Add up what each system's preparations took; systems that took nothing are left out."""
    found = []
    for system, usages in used.items():
        total = PreparationUsage(
            **{name: sum(getattr(u, name) for u in usages) for name in PreparationUsage.model_fields}
        )
        if total != PreparationUsage():
            found.append(Preparation(system=system, usage=total))
    return tuple(found)


def summed(spending: Sequence[Spending]) -> tuple[Spending, ...]:
    """Add up the rows of each system and stage; a cost is unknown as soon as one of them is."""
    groups: dict[tuple[str, str], list[Spending]] = {}
    for row in spending:
        groups.setdefault((row.system, row.stage), []).append(row)
    return tuple(
        Spending(
            system=rows[0].system,
            stage=rows[0].stage,
            calls=sum(r.calls for r in rows),
            prompt_tokens=sum(r.prompt_tokens for r in rows),
            output_tokens=sum(r.output_tokens for r in rows),
            # A sum that leaves out a model without a price would look like the whole cost.
            cost_usd=None if any(r.cost_usd is None for r in rows) else sum(r.cost_usd or 0.0 for r in rows),
        )
        for rows in groups.values()
    )
