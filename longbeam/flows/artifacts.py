"""Artifacts of a run on Prefect's pages: progress, cost, mended faults, findings, a link to the review.

A server that does not answer costs the artifact, never the run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from prefect.artifacts import (
    acreate_link_artifact,
    acreate_markdown_artifact,
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
)

from longbeam.flows.events import answered
from longbeam.flows.opened import OpenedConversation
from longbeam.pipeline import benchmark_status, render_findings
from longbeam.schemas import Finding, PromptLine, prompt_lines
from longbeam.store import Benchmark

REVIEW_URL = "http://127.0.0.1:8000"
"""Address at which `longbeam review` serves by default."""
MOST_FINDINGS = 200
"""Lines of findings on the page; `longbeam validate` has all."""


async def show_progress(opened: OpenedConversation) -> None:
    """Show the share of a conversation's stages that are done."""
    name, percent = opened.run.conversation.conversation_id, round(100 * opened.share_done, 1)
    tokens = sum(opened.run.conversation.units.tokens.values())
    said = f"{name}: {tokens:,} tokens, {opened.run.journalled.asks:,} model calls"
    if isinstance(opened.shown, UUID):
        await answered(aupdate_progress_artifact(opened.shown, percent, said))
    else:
        key = key_of(opened.benchmark, f"progress-{name}")
        opened.shown = await answered(acreate_progress_artifact(percent, key, said))


async def show_usage(benchmark: Benchmark) -> None:
    """Show calls, tokens and cost so far by stage and role, and the replies that were mended, by prompt."""
    status = benchmark_status(benchmark)
    used = [row.model_dump(mode="json") for row in status.used]
    await answered(acreate_table_artifact(used, key_of(benchmark, "cost"), "Calls, tokens and cost so far"))
    lines = prompt_lines(c.making for c in status.conversations)
    rows = [line.model_dump(mode="json") for line in lines if _has_faults(line)]
    if rows:
        said = "Replies that were asked for again or mended, by prompt"
        await answered(acreate_table_artifact(rows, key_of(benchmark, "mended"), said))


def _has_faults(line: PromptLine) -> bool:
    return bool(line.requests - line.accepted_first or line.mended or line.defaulted or line.refused or line.skipped)


async def show_findings(benchmark: Benchmark, findings: Sequence[Finding]) -> None:
    """Show what the checks found, and the way to the review."""
    name = benchmark.spec.name
    text = render_findings(name, len(benchmark.sealed_ids), findings, MOST_FINDINGS)
    await answered(acreate_markdown_artifact(f"```\n{text}```\n", key_of(benchmark, "findings"), f"Findings of {name}"))
    said = f"Open after `longbeam review {name} --out {benchmark.root.parent}`"
    await answered(acreate_link_artifact(REVIEW_URL, f"Review of {name}", key_of(benchmark, "review"), said))


async def show_table(benchmark: Benchmark, what: str, rows: list[dict[str, Any]], said: str) -> None:
    """Show rows of results."""
    await answered(acreate_table_artifact(rows, key_of(benchmark, what), said))


def key_of(benchmark: Benchmark, what: str) -> str:
    """Return the key of an artifact: Prefect allows lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", f"{benchmark.spec.name}-{what}".lower()).strip("-")
