"""Estimate of an evaluation: its first conversation is evaluated with the stand-in model, and its calls are scaled.

Prompts are rendered as the evaluation's own models would get them and counted in the benchmark's tokenizer. Replies are
the stand-in's, which are shorter than a language model's, so output tokens are a lower bound. Vectors are `hashed`: no
embedding model is asked, and embeddings have no price.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from longbeam.models import check_models, load_tokenizer
from longbeam.models.embedders import HashedEmbedder
from longbeam.pipeline.cost.estimate import money
from longbeam.pipeline.cost.rehearsal import CountingModel
from longbeam.pipeline.evaluate.evaluating import EvaluationRequest, evaluate
from longbeam.pipeline.services import Services
from longbeam.schemas import Record, Role, Spending, is_language_model
from longbeam.store import Benchmark

_ROLES = {"prepare": Role.EXTRACTOR, "answer": Role.READER, "judge": Role.JUDGE}
"""Role that answers most calls of a stage."""


class EvaluationEstimate(Record):
    """Expected calls of an evaluation from nothing."""

    benchmark: str
    conversations: int
    models: dict[str, str]
    """Model by stage."""
    rows: tuple[Spending, ...]
    embedder: str = ""
    """Embedding model of the evaluation, whose calls are in no row; empty for none."""

    @property
    def cost_usd(self) -> float | None:
        """Cost of all calls; None if a price is unknown."""
        costs = [row.cost_usd for row in self.rows]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)


async def estimate_evaluation(
    benchmark: Benchmark, request: EvaluationRequest, services: Services
) -> EvaluationEstimate:
    """Return the expected calls and cost; the benchmark is not touched, and no model of the evaluation is asked.

    Products (classes with `add` and `search`, servers) are not asked: what they spend by themselves is not known.
    Raises SpecError for a name that is no model.
    """
    check_models(request.spec, services.kinds)
    arms = [arm for arm in request.arms if arm.registered is None or not arm.registered.is_product]
    spec = request.spec.for_any_model()
    spec = spec.model_copy(update={"limits": spec.limits.model_copy(update={"max_cost_usd": None})})
    sealed = benchmark.sealed_ids
    with tempfile.TemporaryDirectory(prefix="longbeam-estimate-") as folder:
        small = Benchmark(benchmark.spec, Path(folder))
        path = small.sealed_path(sealed[0])
        path.parent.mkdir(parents=True)
        path.symlink_to(benchmark.sealed_path(sealed[0]).resolve())
        counting = CountingModel(services.stand_in(), load_tokenizer(spec.tokenizer))
        rehearsed = replace(request, spec=spec, arms=arms, control=None, is_fresh=False)
        embedder = HashedEmbedder() if request.settings.embedder else None
        run, _ = await evaluate(small, rehearsed, services.models(counting), embedder=embedder)
    return EvaluationEstimate(
        benchmark=benchmark.spec.name,
        conversations=len(sealed),
        models={stage: spec.model_for(role) for stage, role in _ROLES.items()},
        rows=tuple(_scaled(row, len(sealed)) for row in run.spending),
        embedder=request.settings.embedder,
    )


def _scaled(row: Spending, times: int) -> Spending:
    cost = None if row.cost_usd is None else row.cost_usd * times
    counts = {name: getattr(row, name) * times for name in ("calls", "prompt_tokens", "output_tokens")}
    return row.model_copy(update={**counts, "cost_usd": cost})


def render_estimate(found: EvaluationEstimate) -> str:
    """Return the estimate as a table; ends with a line break."""
    width = max((len(row.system) for row in found.rows), default=0)
    lines = [f"{'system':{width}}  stage       calls  prompt tokens  output tokens        cost"]
    lines += [
        f"{row.system:{width}}  {row.stage:7} {row.calls:9,} {row.prompt_tokens:14,} {row.output_tokens:14,}  "
        f"{money(row.cost_usd):>10}"
        for row in found.rows
    ]
    calls = sum(row.calls for row in found.rows)
    tokens = sum(row.prompt_tokens + row.output_tokens for row in found.rows)
    lines += ["", f"about {calls:,} calls, {tokens:,} tokens, {money(found.cost_usd)}"]
    if any(is_language_model(model) for model in found.models.values()):
        lines.append("replies are counted as the rule-based reader's, which are shorter than a language model's")
    if found.embedder not in ("", HashedEmbedder.name):
        lines.append(f"embeddings of {found.embedder} are not priced; the estimate compares texts by shared words")
    return "\n".join(lines) + "\n"
