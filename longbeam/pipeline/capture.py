"""Takes the inputs of one call of each prompt from a run with the stand-in model, for `longbeam.prompts.docs`.

    python -m longbeam.pipeline.capture longbeam.wiring:services

Of the calls of a prompt it takes one from the middle of the run that is short but leaves nothing empty that the
prompt can show.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from longbeam.evaluation.arms import arm_of
from longbeam.models.base import ChatModel, ModelCall, Models
from longbeam.models.tokens import Tokenizer, load_tokenizer
from longbeam.pipeline.evaluate.evaluating import evaluate
from longbeam.pipeline.evaluate.model_checks import run_model_checks
from longbeam.pipeline.run.driver import run_inline
from longbeam.pipeline.seeding import make_seeds
from longbeam.pipeline.services import Services, load_services
from longbeam.prompts.docs import PAGES, Captured
from longbeam.schemas.calls import ModelReply
from longbeam.schemas.evaluation import EvaluationSettings
from longbeam.schemas.spec import BenchmarkSpec
from longbeam.store.layout import Benchmark, create_benchmark

SEEDS = 5
SPEC = {"name": "captured", "seed": 4, "length": "128K", "domains": ["home_real_estate"]}
_SYSTEMS: tuple[tuple[str, dict[str, object]], ...] = (
    ("rag", {}),
    ("light", {"pad_trigger": 3_000, "pad_limit": 2_000}),
    ("light", {"pad_trigger": 3_000, "pad_limit": 2_000, "filter": "once"}),
    ("summary", {}),
    ("search_tool", {}),
    ("paging", {}),
    ("paging", {"bookmarks": "contextual", "bookmarker": "model"}),
    ("cogcanvas", {}),
)
"""With a scratchpad that is compressed."""
OF_MANY_PLANS = {**SPEC, "name": "many", "length": "2.1M"}
"""For the prompts that only conversations of many plans ask."""


@dataclass
class _Capturing:
    """Answers as the stand-in model does and keeps every call."""

    inner: ChatModel
    calls: defaultdict[str, list[ModelCall]] = field(default_factory=lambda: defaultdict(list))

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls[call.prompt.prompt_id].append(call)
        return await self.inner.complete(call)


def capture(spec: BenchmarkSpec, services: Services) -> list[Captured]:
    """Return one call of each prompt that a run of the spec asks."""
    model = _Capturing(services.stand_in())
    models = services.models(model)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(make_seeds(spec, spec.domains, SEEDS, Path(folder) / ".seeds", models))
        asyncio.run(_run(create_benchmark(spec, Path(folder)), models))
    tokenizer = load_tokenizer(spec.tokenizer)
    return [_captured(calls, tokenizer) for _, calls in sorted(model.calls.items())]


async def _run(benchmark: Benchmark, models: Models) -> None:
    """Generate, check, evaluate."""
    await run_inline(benchmark, models)
    await run_model_checks(benchmark, benchmark.spec, models)
    await evaluate(
        benchmark,
        benchmark.spec,
        [arm_of(name, values) for name, values in _SYSTEMS],
        EvaluationSettings(budget=1_000),
        models,
    )


def _captured(calls: list[ModelCall], tokenizer: Tokenizer) -> Captured:
    requests = [call.messages() for call in calls]
    system = sum(tokenizer.count(r[0].content) for r in requests)
    other = sum(tokenizer.count(m.content) for r in requests for m in r[1:])
    chosen = _choose(calls)
    return Captured(
        prompt_id=chosen.prompt.prompt_id,
        role=chosen.role.value,
        unit_key=chosen.unit_key,
        calls=len(calls),
        system_tokens=system // len(calls),
        other_tokens=other // len(calls),
        inputs=chosen.inputs.model_dump(mode="json", exclude_defaults=True),
    )


def _choose(calls: list[ModelCall]) -> ModelCall:
    """The shortest of the calls that fill most fields; none of the first third, in which little was told yet."""
    later = calls[len(calls) // 3 :]

    def filled(call: ModelCall) -> int:
        return sum(bool(value) for value in _values(call.inputs.model_dump()))

    most = max(filled(call) for call in later)
    fullest = [call for call in later if filled(call) == most]
    return min(fullest, key=lambda call: (sum(len(m.content) for m in call.messages()), call.unit_key))


def _values(dump: dict[str, object]) -> list[object]:
    nested = [v for value in dump.values() if isinstance(value, dict) for v in _values(value)]
    return [*dump.values(), *nested]


def main() -> int:
    """Write `docs/prompts/inputs/`; the argument is the reference of the services."""
    services = load_services(sys.argv[1])
    captured = capture(BenchmarkSpec.model_validate(SPEC), services)
    asked = {c.prompt_id for c in captured}
    captured += [c for c in capture(BenchmarkSpec.model_validate(OF_MANY_PLANS), services) if c.prompt_id not in asked]
    folder = PAGES / "inputs"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for one in captured:
        text = json.dumps(one.model_dump(mode="json"), ensure_ascii=False, indent=1)
        (folder / f"{one.prompt_id}.json").write_text(f"{text}\n", encoding="utf-8")
    print(f"{folder}: inputs of {len(captured)} prompts; now run `python -m longbeam.prompts.docs`")
    return 0


if __name__ == "__main__":
    sys.exit(main())
