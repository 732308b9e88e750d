"""Estimate of an evaluation: its first conversation is evaluated with the stand-in model, and its calls are scaled.

Prompts are rendered as the evaluation's own models would get them and counted in the benchmark's tokenizer. Replies are
the stand-in's, which are shorter than a language model's, so output tokens are a lower bound. Vectors are `hashed`: no
embedding model is asked, and embeddings have no price.

Products (classes with `add` and `search`, servers) are not asked, because their own calls would cost: reader and judge
are counted with a context that fills the budget, and each product has a row for its preparation, with what its class
declares (`expected_usage`), or the words that nobody knows it beforehand.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from longbeam.errors import SpecError
from longbeam.evaluation import Arm
from longbeam.memory import FLOORS, exchanges_of, settings_of
from longbeam.models import check_models, load_tokenizer
from longbeam.models.embedders import HashedEmbedder
from longbeam.pipeline.cost.estimate import money
from longbeam.pipeline.cost.rehearsal import CountingModel
from longbeam.pipeline.evaluate.evaluating import EvaluationRequest, evaluate
from longbeam.pipeline.services import Services
from longbeam.pipeline.tuning import RUNNING
from longbeam.schemas import PreparationUsage, Record, Role, Spending, is_language_model
from longbeam.store import Benchmark, SealedConversation
from longbeam.terminal import duration

_ROLES = {"prepare": Role.EXTRACTOR, "answer": Role.READER, "judge": Role.JUDGE}
"""Role that answers most calls of a stage."""
_FILLS_BUDGET = FLOORS["bm25"]
"""System that stands for a product: its context fills the budget."""


class EstimatedRow(Spending):
    """Expected calls of one system at one stage, over all conversations."""

    note: str = ""
    """What is not known, or where the figures come from; empty for counted calls."""


class EvaluationEstimate(Record):
    """Expected calls of an evaluation from nothing."""

    benchmark: str
    conversations: int
    models: dict[str, str]
    """Model by stage."""
    rows: tuple[EstimatedRow, ...]
    embedder: str = ""
    """Embedding model of the evaluation, whose calls are in no row; empty for none."""
    seconds: float = 0.0
    """Seconds of everything but replies of language models, measured on the first conversation."""
    rounds: int = 0
    """Replies of language models that come one after the other: calls, by those that are asked at the same time."""

    @property
    def cost_usd(self) -> float | None:
        """Cost of all calls that are known beforehand; None if a price is unknown."""
        costs = [row.cost_usd for row in self.rows if not (row.note and row.cost_usd is None)]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)

    @property
    def unknown(self) -> list[str]:
        """Systems whose own calls nobody knows beforehand."""
        return [row.system for row in self.rows if row.note and row.cost_usd is None]


async def estimate_evaluation(
    benchmark: Benchmark, request: EvaluationRequest, services: Services
) -> EvaluationEstimate:
    """Return the expected calls and cost; the benchmark is not touched, and no model of the evaluation is asked.

    Every system has a row. Raises SpecError for a name that is no model.
    """
    check_models(request.spec, services.kinds)
    spec = request.spec.for_any_model()
    spec = spec.model_copy(update={"limits": spec.limits.model_copy(update={"max_cost_usd": None})})
    sealed = benchmark.sealed_ids
    with tempfile.TemporaryDirectory(prefix="longbeam-estimate-") as folder:
        small = Benchmark(benchmark.spec, Path(folder))
        path = small.sealed_path(sealed[0])
        path.parent.mkdir(parents=True)
        path.symlink_to(benchmark.sealed_path(sealed[0]).resolve())
        counting = CountingModel(services.stand_in(), load_tokenizer(spec.tokenizer))
        arms = [_stand_in(arm) for arm in request.arms]
        rehearsed = replace(request, spec=spec, arms=arms, control=None, is_fresh=False)
        embedder = HashedEmbedder() if request.settings.embedder else None
        began = time.perf_counter()
        run, _ = await evaluate(small, rehearsed, services.models(counting), embedder=embedder)
        seconds = time.perf_counter() - began
    answering = {arm.name for arm in request.arms if _answers(arm)}
    counted = [_scaled(row, len(sealed)) for row in run.spending if (row.system, row.stage) not in
               {(name, "answer") for name in answering}]  # fmt: skip
    products = [arm for arm in request.arms if arm.registered is not None and arm.registered.is_product]
    order = [arm.name for arm in request.arms]
    rows = sorted([*_own_rows(benchmark, products), *counted], key=lambda row: order.index(row.system))
    models = {stage: spec.model_for(role) for stage, role in _ROLES.items()}
    waits = [row.calls / request.spec.concurrency_of(model)
             for row in rows if is_language_model(model := models[row.stage])]  # fmt: skip
    return EvaluationEstimate(
        benchmark=benchmark.spec.name,
        conversations=len(sealed),
        models=models,
        rows=tuple(rows),
        embedder=request.settings.embedder,
        seconds=seconds * len(sealed) / min(request.parallel, len(sealed)),
        rounds=math.ceil(sum(waits)),
    )


def _stand_in(arm: Arm) -> Arm:
    """Return the arm as it is rehearsed: a product as a system that fills the budget."""
    if arm.registered is None or not arm.registered.is_product:
        return arm
    return replace(arm, registered=_FILLS_BUDGET, settings=settings_of(arm.name, _FILLS_BUDGET, {}))


def _answers(arm: Arm) -> bool:
    """Return whether an arm is a product that answers by itself, for which no reader is asked."""
    return arm.registered is not None and hasattr(arm.registered.product_class, "answer")


def _own_rows(benchmark: Benchmark, products: Sequence[Arm]) -> Iterator[EstimatedRow]:
    """Yield the preparation of each product, with what its class declares or a word that it is not known."""
    exchanges = 0
    if products:
        for conversation_id in benchmark.sealed_ids:
            with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
                exchanges += sum(1 for _ in exchanges_of(sealed.messages()))
    for arm in products:
        assert arm.registered is not None
        usage, cost = PreparationUsage(), None
        note = "its own calls are not known beforehand: its class may declare them in `expected_usage`"
        if (declare := getattr(arm.registered.product_class, "expected_usage", None)) is not None:
            usage, note = declare(exchanges), "as its class declares"
            if not isinstance(usage, PreparationUsage):
                raise SpecError(f"{arm.name}: expected_usage(exchanges) returns no PreparationUsage")
            cost = usage.cost_usd
        elif arm.mode in arm.registered.model_modes:
            usage = PreparationUsage(model_calls=exchanges)
            note = "a model prepares it, with at least one call an exchange, of the product's own prompts"
        elif arm.mode:
            note, cost = "asks no model", 0.0
        yield EstimatedRow(
            system=arm.name,
            stage="prepare",
            calls=usage.model_calls,
            prompt_tokens=usage.prompt_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=cost,
            note=note,
        )


def _scaled(row: Spending, times: int) -> EstimatedRow:
    cost = None if row.cost_usd is None else row.cost_usd * times
    counts = {name: getattr(row, name) * times for name in ("calls", "prompt_tokens", "output_tokens")}
    return EstimatedRow(system=row.system, stage=row.stage, cost_usd=cost, **counts)


def render_estimate(found: EvaluationEstimate) -> str:
    """Return the estimate as a table; ends with a line break."""
    width = max((len(row.system) for row in found.rows), default=0)
    lines = [f"{'system':{width}}  stage       calls  prompt tokens  output tokens        cost"]
    lines += [
        f"{row.system:{width}}  {row.stage:7} {row.calls:9,} {row.prompt_tokens:14,} {row.output_tokens:14,}  "
        f"{money(row.cost_usd):>10}{f'  {row.note}' if row.note else ''}"
        for row in found.rows
    ]
    calls = sum(row.calls for row in found.rows)
    tokens = sum(row.prompt_tokens + row.output_tokens for row in found.rows)
    time_s = duration(found.seconds + RUNNING.reply_s * found.rounds)
    at = f" at {RUNNING.reply_s:g} s a reply of a language model" if found.rounds else ""
    lines += ["", f"about {calls:,} calls, {tokens:,} tokens, {money(found.cost_usd)}, {time_s}{at}"]
    if found.unknown:
        lines.append(f"not in this sum: what {', '.join(found.unknown)} may ask by themselves")
    if any(is_language_model(model) for model in found.models.values()):
        lines.append("replies are counted as the rule-based reader's, which are shorter than a language model's")
    if found.embedder not in ("", HashedEmbedder.name):
        lines.append(f"embeddings of {found.embedder} are not priced; the estimate compares texts by shared words")
    return "\n".join(lines) + "\n"
