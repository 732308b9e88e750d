"""Build the pages of all prompts from one call of each, taken from runs with the stand-in model.

Usage: `python -m benchmarks.prompt_docs PAGES TABLE`.

`make docs-prompts` calls it with `output/prompts` and `docs/prompts/README.md`.
It takes some minutes, most of them for the run of many plans.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from benchmarks.prompt_pages import Captured, pages_of, table_of
from longbeam.evaluation import WRITTEN_ANSWERS, Arm, arm_of
from longbeam.generators import contradiction_fault, passages_of, read_passage, unsaid_claims
from longbeam.keys import UnitKey
from longbeam.models import NEUTRAL_PROMPT, Asker, ChatModel, ModelCall, Models, Tokenizer, load_tokenizer
from longbeam.pipeline import make_seeds
from longbeam.pipeline.evaluate import EvaluationRequest, evaluate, run_model_checks
from longbeam.pipeline.run import run_inline
from longbeam.prompts import default_registry
from longbeam.prompts.calls import ToldRemark
from longbeam.schemas import (
    BenchmarkSpec,
    BulletKind,
    Checks,
    EvaluationSettings,
    MessageRole,
    ModelReply,
    NeutralInputs,
)
from longbeam.store import Benchmark, SealedConversation, create_benchmark
from longbeam.wiring import services

SEEDS = 5
JUDGED = 30
"""Messages that the checker judges; in a run it judges those that rules leave in doubt."""
PASSAGES = 5
"""Passages that are read as chats."""
SPEC: dict[str, object] = {"name": "captured", "seed": 4, "length": "128K", "domains": ["home_real_estate"]}
_SYSTEMS: tuple[tuple[str, dict[str, object]], ...] = (
    ("rag", {}),
    ("light", {"pad_trigger": 3_000, "pad_limit": 2_000}),  # small enough for the scratchpad to be compressed
    ("light", {"pad_trigger": 3_000, "pad_limit": 2_000, "filter": "once"}),
    ("summary", {}),
    ("search_tool", {}),
    ("paging", {}),
    ("paging", {"bookmarks": "contextual", "bookmarker": "model"}),
    ("cogcanvas", {}),
)
OF_MANY_PLANS: dict[str, object] = {**SPEC, "name": "many", "length": "2.1M", "turns": "in_dialogue"}
"""For the prompts that are asked only in conversations of many plans, or whose messages are worded when due."""


@dataclass
class _Capturing:
    """A model that answers as another does and keeps every call."""

    inner: ChatModel
    calls: defaultdict[str, list[ModelCall]] = field(default_factory=lambda: defaultdict(list))

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls[call.prompt.prompt_id].append(call)
        return await self.inner.complete(call)


def capture(models: Models) -> dict[str, Captured]:
    """Return one call of each prompt, by prompt id: from a run of one plan, else from a run of many plans."""
    return {**_captured_of(OF_MANY_PLANS, models), **_captured_of(SPEC, models)}


def _captured_of(values: dict[str, object], models: Models) -> dict[str, Captured]:
    """Return one call of each prompt that a run of the spec asks, by prompt id."""
    spec, model = BenchmarkSpec.model_validate(values), _Capturing(models.chat)
    models = replace(models, chat=model)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(make_seeds(spec, spec.domains, SEEDS, Path(folder) / ".seeds", models))
        asyncio.run(_run(create_benchmark(spec, Path(folder)), models))
    tokenizer = load_tokenizer(spec.tokenizer)
    return {prompt_id: _captured(calls, tokenizer) for prompt_id, calls in model.calls.items()}


async def _run(benchmark: Benchmark, models: Models) -> None:
    """Generate, check, evaluate."""
    await run_inline(benchmark, models)
    await _judge_wording(benchmark, models)
    await _read_as_chat(benchmark, models)
    await run_model_checks(benchmark, benchmark.spec, models)
    arms = [*(arm_of(name, values) for name, values in _SYSTEMS), *map(Arm, WRITTEN_ANSWERS)]
    await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings(budget=1_000)), models)


async def _judge_wording(benchmark: Benchmark, models: Models) -> None:
    """Have messages and contradictions judged, and two messages told in neutral words: a run by rule needs neither."""
    spec = benchmark.spec.model_copy(update={"checks": Checks(model=True)})
    (conversation_id,) = benchmark.sealed_ids
    asker = Asker(models, default_registry(), spec, UnitKey(conversation_id, "user_turns", "p0.s0.b0"))
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        bullets = {b.bullet_id: b for plan in sealed.head.plans for b in plan.bullets()}
        messages = [m for m in sealed.messages() if m.bullet_ids and m.role is MessageRole.USER]
    for message in messages[:JUDGED]:
        claims = [bullets[i].text for i in message.bullet_ids]
        await unsaid_claims(asker, message.message_key, message.content, claims)
    await asker.structured(NEUTRAL_PROMPT, NeutralInputs(texts=tuple(m.content for m in messages[:2])))
    planning = replace(asker, unit_key=UnitKey(conversation_id, "plan", "p0.s0.special"))
    for bullet in bullets.values():
        if bullet.kind is BulletKind.CONTRADICTION and bullet.target_bullet_id in bullets:
            earlier, later = (
                ToldRemark(text=b.text, day=b.happens_on) for b in (bullets[bullet.target_bullet_id], bullet)
            )
            await contradiction_fault(planning, bullet.bullet_id, earlier, later)


async def _read_as_chat(benchmark: Benchmark, models: Models) -> None:
    """Read the first passages of the conversation as somebody's own chats are read."""
    (conversation_id,) = benchmark.sealed_ids
    asker = Asker(models, default_registry(), benchmark.spec, UnitKey(conversation_id, "ledger", "passage0"))
    known: list[str] = []
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        for number, passage in enumerate(islice(passages_of(sealed.messages()), PASSAGES)):
            known += [s.line for s in await read_passage(asker.within(str(number)), passage, known, reads_lists=True)]


def _captured(calls: list[ModelCall], tokenizer: Tokenizer) -> Captured:
    requests = [call.messages() for call in calls]
    system = sum(tokenizer.count(r[0].content) for r in requests)
    other = sum(tokenizer.count(m.content) for r in requests for m in r[1:])
    chosen = _choose(calls)
    return Captured(
        unit_key=UnitKey.parse(chosen.unit_key),
        inputs=chosen.inputs,
        calls=len(calls),
        system_tokens=system // len(calls),
        other_tokens=other // len(calls),
    )


def _choose(calls: list[ModelCall]) -> ModelCall:
    """Return the shortest of the calls that fill most fields; the first third is left out, as its context is thin."""
    later = calls[len(calls) // 3 :]

    def filled(call: ModelCall) -> int:
        return sum(bool(value) for value in _values(call.inputs.model_dump()))

    most = max(filled(call) for call in later)
    fullest = [call for call in later if filled(call) == most]
    return min(fullest, key=lambda call: (sum(len(m.content) for m in call.messages()), call.unit_key))


def _values(dump: dict[str, object]) -> list[object]:
    nested = [v for value in dump.values() if isinstance(value, dict) for v in _values(value)]
    return [*dump.values(), *nested]


def write(pages: Path, table: Path) -> None:
    """Write the pages into the folder `pages`, and the table of prompts into the file `table`."""
    captured = capture(services().models(services().stand_in()))
    pages.mkdir(parents=True, exist_ok=True)
    for name, text in pages_of(captured).items():
        (pages / name).write_text(text, encoding="utf-8")
    table.write_text(table_of(captured), encoding="utf-8")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:3]))
