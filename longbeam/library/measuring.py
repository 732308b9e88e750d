"""An evaluation made ready to run from its options: for `longbeam.evaluate` and for the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import TypedDict

from longbeam.errors import SpecError, UserError
from longbeam.evaluation import Arm, always_there, at_budgets, find_control, with_embedder
from longbeam.memory import ProductSettings, name_of
from longbeam.models import ChatModel, CostMeter
from longbeam.models.embedders import Embedder, make_embedder
from longbeam.pipeline import in_part, load_evaluation_spec, with_evaluation_fields, with_models
from longbeam.pipeline.evaluate import (
    EvaluationEstimate,
    EvaluationRequest,
    estimate_evaluation,
    evaluate as run_evaluation,
)
from longbeam.pipeline.run import Progress, evaluation_usage, limited_models
from longbeam.review import reviewed_probes
from longbeam.schemas import (
    DEFAULT_MODEL,
    BenchmarkSpec,
    EvaluationRun,
    EvaluationSettings,
    Probe,
    Result,
    Role,
    is_language_model,
)
from longbeam.store import Benchmark, SealedConversation
from longbeam.wiring import services


class MeasuringOptions(TypedDict, total=False):
    """Options of an evaluation besides its systems and their settings."""

    spec: BenchmarkSpec | str | Path | None
    """Spec, or path of a spec file, whose models, endpoints, sampling, limits and batches count here; the other options
    win over it."""
    reader: str | None
    """Model that answers from a context; None: the one that the spec names for the role, of a spec file its default
    too, else the rule-based one. So of the two below."""
    judge: str | None
    extractor: str | None
    """Model that prepares memory systems."""
    embedder: str
    budget: int | Sequence[int]
    """Tokens of context; several give each system that reads a budget a row for each, and a curve."""
    window: int
    """Tokens of the reader's window."""
    is_lenient: bool
    control: str | None
    """Negative control: `evidence-removed` or `swapped`."""
    split: str
    """Part of the benchmark's split to ask, such as `test`; empty asks all of it."""
    parallel: int
    """Conversations evaluated side by side."""
    max_cost_usd: float | None
    is_fresh: bool
    """Prepare and ask again, whatever is stored."""
    is_isolated: bool
    """Run each product of another package in a process of its own."""
    name: str
    """Name of the run in the list of those that are kept."""
    title: str
    """Title of its report."""
    limit: int | None
    """Probes to ask, as many of each ability as there is room for; None asks all."""


@dataclass(frozen=True)
class Measurement:
    """An evaluation of a benchmark that is ready to run."""

    benchmark: Benchmark
    request: EvaluationRequest
    embedder: Embedder | None

    async def estimate(self) -> EvaluationEstimate:
        """Return the expected calls and cost."""
        return await estimate_evaluation(self.benchmark, self.request, services())

    @property
    def models_line(self) -> str:
        """One line that names reader and judge, and says when they are rules."""
        spec = self.request.spec
        named = {role: spec.model_for(role) for role in (Role.READER, Role.JUDGE)}
        said = "; ".join(
            f"{role.value}: {model}"
            if is_language_model(model)
            else f"{role.value}: rules ({model}), no language model"
            for role, model in named.items()
        )
        default = self.benchmark.spec.models.get("default", "")
        by_rule = [role.value for role, model in named.items() if not is_language_model(model)]
        if by_rule and is_language_model(default):
            said += f" (the spec's default, {default}, wrote the benchmark; ask it with --{by_rule[0]} {default})"
        return said

    def make_meter(self, invocation_log: Path | None = None) -> CostMeter:
        """Return the evaluation's models behind a meter that begins at the cost of earlier evaluations."""
        spec = self.request.spec
        needed = {Role.READER.value, Role.JUDGE.value}
        if any(arm.asks_extractor for arm in self.request.arms):
            needed.add(Role.EXTRACTOR.value)
        model = services().make_model(spec, invocation_log=invocation_log, home=self.benchmark.root, roles=needed)
        return CostMeter(model, spec, before=evaluation_usage(self.benchmark))

    async def run(self, chat: ChatModel, progress: Progress | None = None) -> tuple[EvaluationRun, list[Result]]:
        """Evaluate with these models, which are closed at the end, and return the results."""
        async with limited_models(services().models(chat), self.request.spec) as models:
            return await run_evaluation(self.benchmark, self.request, models, embedder=self.embedder, progress=progress)


def _isolated(arm: Arm) -> Arm:
    """Return an arm whose product runs in a process of its own; UserError for another package's system of another kind.

    Systems of longbeam stay in this process.
    """
    if arm.registered is None or not name_of(arm.registered.make):
        if isinstance(arm.settings, ProductSettings):
            return replace(arm, settings=arm.settings.model_copy(update={"is_isolated": True}))
        return arm
    raise UserError(
        f"{arm.name}: only classes with `add` and `search` run in a process of their own; leave --isolate out"
    )


def measurement_of(benchmark: Benchmark, systems: Sequence[Arm], options: MeasuringOptions) -> Measurement:
    """Return the evaluation of these systems beside floors and ceilings, with the probes in their reviewed form.

    Everything that a system needs is checked here, before the first call. Raises UserError for an embedder or a control
    that does not exist, for a model or an embedder that a system lacks, and for a spec that cannot be used.
    """
    benchmark = in_part(benchmark, options.get("split", ""))
    spec = _spec_of(benchmark.spec, options)
    embedder = options.get("embedder", "")
    asked = options.get("budget", 4_000)
    budgets = sorted({asked} if isinstance(asked, int) else set(asked)) or [4_000]
    settings = EvaluationSettings(
        budget=budgets[-1],
        window=options.get("window", 128_000),
        is_strict=not options.get("is_lenient", False),
        embedder=embedder,
    )
    has_trial = any(is_language_model(spec.model_for(role)) for role in (Role.READER, Role.JUDGE))
    named = {arm.name for arm in systems}
    arms = [*(arm for arm in always_there(has_model=has_trial) if arm.name not in named), *systems]
    if options.get("is_isolated", False):
        arms = [_isolated(arm) for arm in arms]
    arms = at_budgets([with_embedder(arm, embedder) for arm in arms], budgets)
    has_model = is_language_model(spec.model_for(Role.EXTRACTOR))
    for arm in arms:
        if arm.registered is None or arm.settings is None:
            continue
        if lacking := arm.registered.lacks(arm.settings, embedder=embedder, has_model=has_model):
            raise SpecError(f"system {arm.name!r} {lacking}")
    vectors = make_embedder(embedder, spec) if embedder else None
    request = EvaluationRequest(
        spec,
        arms,
        settings,
        find_control(options.get("control")),
        _probes_of(benchmark, options.get("limit")),
        is_fresh=options.get("is_fresh", False),
        parallel=options.get("parallel", 1),
        name=options.get("name", ""),
        title=options.get("title", ""),
    )
    return Measurement(benchmark, request, vectors)


def _probes_of(benchmark: Benchmark, limit: int | None) -> Mapping[str, Sequence[Probe]] | None:
    """Return the reviewed probes, or `limit` of them: abilities in turn, each from the conversation with fewest so far.

    None: the selected probes as they are sealed.
    """
    probes = reviewed_probes(benchmark)
    if limit is None:
        return probes
    if probes is None:
        probes = {}
        for conversation_id in benchmark.sealed_ids:
            with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
                probes[conversation_id] = tuple(p for p in sealed.probes() if p.is_selected)
    left: dict[str, list[tuple[str, Probe]]] = {}
    for conversation_id, of in probes.items():
        for probe in of:
            left.setdefault(probe.ability, []).append((conversation_id, probe))
    abilities, kept = cycle(sorted(left)), Counter[str]()
    chosen: set[tuple[str, str]] = set()
    while len(chosen) < limit and any(left.values()):
        if of_ability := left[next(abilities)]:
            place = min(range(len(of_ability)), key=lambda i: kept[of_ability[i][0]])
            conversation_id, probe = of_ability.pop(place)
            kept[conversation_id] += 1
            chosen.add((conversation_id, probe.probe_id))
    return {c: tuple(p for p in of if (c, p.probe_id) in chosen) for c, of in probes.items()}


def _spec_of(spec: BenchmarkSpec, options: MeasuringOptions) -> BenchmarkSpec:
    """Return the benchmark's spec with the models, settings and cap on cost of an evaluation, and none of its own."""
    named = {"reader": options.get("reader"), "judge": options.get("judge"), "extractor": options.get("extractor")}
    chosen = {role: model for role, model in named.items() if model is not None}
    cap = options.get("max_cost_usd")
    if (given := options.get("spec")) is None:
        # The benchmark's own `default` wrote it: it reads and judges only where it is named.
        models = {role: spec.models.get(role, DEFAULT_MODEL) for role in named} | chosen
    else:
        if not isinstance(given, BenchmarkSpec):
            given = load_evaluation_spec(Path(given), spec.name)
        given = with_models(given, chosen)
        models = {role: given.model_for(Role(role)) or DEFAULT_MODEL for role in named}
        cap = given.limits.max_cost_usd if cap is None else cap
        spec = with_evaluation_fields(spec, given)
    limits = spec.limits.model_copy(update={"max_cost_usd": cap})
    return spec.model_copy(update={"models": models, "limits": limits})
