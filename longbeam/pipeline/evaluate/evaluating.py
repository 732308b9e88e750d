"""Memory systems over the sealed conversations of a benchmark: prepared, asked, judged and scored, durably.

output/<name>/evaluation/<conversation_id>.sqlite   journal and units of everything that was asked for it
output/<name>/evaluation/vectors.sqlite             vectors of embedding models, by model and text
output/<name>/evaluation/runs/<id>/                 a run that is kept: results, contexts, seconds, and what it was
output/<name>/evaluation/timings.json               seconds, measured
output/<name>/evaluation/systems/                   files that systems keep themselves
output/<name>/evaluation/<control>/                 the same of a negative control

A killed run is resumed. Results are computed from answers and verdicts in every run, which is cheap. Replies of a model
that answers by rule count while its rules are the same.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path

from longbeam import __version__
from longbeam.errors import UserError
from longbeam.evaluation import (
    TIMINGS_FILE,
    Arm,
    Control,
    Evaluated,
    Timings,
    asked_probe,
    keep_run,
    last_results,
)
from longbeam.formats import advice_without_probes
from longbeam.memory import (
    MEMORIZING,
    StoredEmbedder,
    TemplateCounts,
    Templates,
    in_order,
    learn_templates,
    shipped_templates,
)
from longbeam.models import JournalledModel, Models, cost_of, load_tokenizer, prices_of
from longbeam.models.embedders import Embedder
from longbeam.pipeline.evaluate.asking import ANSWER, USED, ArmRun, judge_name
from longbeam.pipeline.evaluate.conversations import form_counts, has_probes, read_conversation
from longbeam.pipeline.run.units import Progress, SilentProgress, Units, all_of
from longbeam.prompts import registry_for
from longbeam.schemas import (
    AskedProbe,
    BenchmarkSpec,
    EvaluatedSystem,
    EvaluationRun,
    EvaluationSettings,
    Preparation,
    PreparationUsage,
    Probe,
    Result,
    Role,
    Spending,
)
from longbeam.store import Benchmark, WorkLog, write_recorded

COUNTS_KEPT = 32_768
"""Texts whose tokens are counted once; exchanges of 10M tokens, with their dates and without, are 29,000."""


@dataclass(frozen=True)
class EvaluationRequest:
    """Settings of an evaluation: the systems, the probes and the models that read, judge and extract."""

    spec: BenchmarkSpec
    """The benchmark's spec, with the models of the evaluation."""
    arms: Sequence[Arm]
    """Systems and reference answers to evaluate, each with its settings."""
    settings: EvaluationSettings
    control: Control | None = None
    """The negative control to apply; None for the intact conversations."""
    probes: Mapping[str, Sequence[Probe]] | None = None
    """Reviewed probes by conversation; None for the selected probes as they are sealed. An answer or a verdict on
    another wording of a probe is not used again."""
    is_fresh: bool = False
    """Whether systems are prepared and asked again, whatever is stored; equal calls of models are replayed."""
    parallel: int = 1
    """Conversations evaluated at the same time."""
    name: str = ""
    """Name of the run in the list of those that are kept."""
    title: str = ""
    """Title of its report."""


@dataclass(frozen=True)
class _Evaluated:
    """Outcome of one conversation."""

    tokens: int
    asked: tuple[AskedProbe, ...]
    results: tuple[Result, ...]
    failures: tuple[str, ...]
    spending: tuple[Spending, ...]
    used: tuple[Preparation, ...]
    learnt_from: str
    """What arms that learn have learnt from."""


async def evaluate(
    benchmark: Benchmark,
    request: EvaluationRequest,
    models: Models,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> tuple[EvaluationRun, list[Result]]:
    """Evaluate every arm on the probes of all finished conversations, and store the results.

    Raises UserError when no conversation is finished, when none has probes, or when only one is finished and the
    control swaps conversations.
    """
    _refuse_nothing_to_ask(benchmark, request)
    spec, settings = request.spec, request.settings
    folder = evaluation_folder(benchmark, request.control)
    timings = Timings.read(folder / TIMINGS_FILE)
    with stored_embedder(benchmark, embedder) as stored:
        evaluation = _Evaluation(benchmark, request, models, stored, timings, progress or SilentProgress())
        done = await in_order((partial(evaluation.of, id_) for id_ in benchmark.sealed_ids), at_once=request.parallel)
    done = [one for one in done if one.asked]
    learnt_from = done[0].learnt_from
    results = [r for one in done for r in one.results]
    run = EvaluationRun(
        longbeam=__version__,
        benchmark=benchmark.spec.name,
        imported_from=benchmark.spec.imported_from,
        length=benchmark.spec.length,
        tokens=round(sum(one.tokens for one in done) / len(done)),
        conversations=len(done),
        control=request.control.value if request.control else "",
        split=benchmark.part,
        reader=spec.model_for(Role.READER),
        judge=judge_name(spec, settings),
        settings=settings,
        systems=tuple(arm.name for arm in request.arms),
        versions={arm.name: arm.version for arm in request.arms if arm.version},
        described=tuple(
            _described(arm, spec, settings, learnt_from) for arm in request.arms if arm.registered is not None
        ),
        probes=tuple(probe for one in done for probe in one.asked),
        spending=_spending_of([row for one in done for row in one.spending]),
        preparations=_preparations_of([row for one in done for row in one.used]),
        failures=tuple(failure for one in done for failure in one.failures),
    )
    write_recorded(folder / TIMINGS_FILE, timings.as_json())
    kept = Evaluated(run, tuple(results), timings)
    keep_run(evaluation_folder(benchmark), kept, name=request.name, title=request.title, now=dt.datetime.now(dt.UTC))
    return run, results


def _refuse_nothing_to_ask(benchmark: Benchmark, request: EvaluationRequest) -> None:
    name, control = benchmark.spec.name, request.control
    if not benchmark.sealed_ids:
        raise UserError(f"benchmark {name!r} has no finished conversation; finish it with `longbeam resume`")
    if control is Control.SWAPPED and len(benchmark.sealed_ids) < 2:
        raise UserError(f"--control {control}: benchmark {name!r} has one conversation; two are needed")
    if not has_probes(benchmark, request.probes):
        advice = advice_without_probes(name, benchmark.spec.imported_from)
        if request.probes is not None and has_probes(benchmark, None):
            advice = f"its review has rejected or not settled all of them; go on with `longbeam review {name}`"
        raise UserError(f"benchmark {name!r} has no probes to ask; {advice}")


def _described(arm: Arm, spec: BenchmarkSpec, settings: EvaluationSettings, learnt_from: str) -> EvaluatedSystem:
    return EvaluatedSystem(
        name=arm.name,
        system=arm.base,
        mode=arm.mode,
        settings=arm.changed(),
        extractor=spec.model_for(Role.EXTRACTOR) if arm.asks_extractor else "",
        embedder=arm.embedder,
        version=arm.version,
        budget=arm.budget_in(settings),
        learnt_from=learnt_from if arm.learns else "",
    )


@dataclass(frozen=True)
class _Evaluation:
    """Parts of an evaluation that all its conversations share."""

    benchmark: Benchmark
    request: EvaluationRequest
    models: Models
    embedder: Embedder | None
    timings: Timings
    progress: Progress

    @cached_property
    def _counts(self) -> dict[str, TemplateCounts]:
        """N-grams of each conversation with probes, to learn from; none where no arm learns, or too few can."""
        ids, probes = self.benchmark.sealed_ids, self.request.probes
        if len(ids) < MEMORIZING.least_to_learn or not any(arm.learns for arm in self.request.arms):
            return {}
        return {id_: counts for id_ in ids if (counts := form_counts(self.benchmark, id_, probes)).sentences[0]}

    def _templates_for(self, conversation_id: str) -> Templates:
        """Return what was learnt on other conversations; with fewer than three of them, what the package ships."""
        ids = self.benchmark.sealed_ids
        place = ids.index(conversation_id)
        others = [c for id_ in (*ids[place + 1 :], *ids[:place]) if (c := self._counts.get(id_)) is not None]
        others = others[: MEMORIZING.learnt_conversations]
        if len(others) < MEMORIZING.least_to_learn - 1:
            return shipped_templates()
        return learn_templates(others, f"{len(others)} other conversations of the benchmark")

    async def of(self, conversation_id: str) -> _Evaluated:
        """Evaluate every arm on one conversation."""
        request = self.request
        spec, folder = request.spec, evaluation_folder(self.benchmark, request.control)
        conversation = read_conversation(self.benchmark, conversation_id, request.control, request.probes)
        assert conversation.read_digests  # made before any system runs
        with WorkLog.open(folder / f"{conversation_id}.sqlite") as log:
            journalled = JournalledModel(self.models.chat, log.journal)
            units = Units(conversation_id, spec, log, replace(self.models, chat=journalled), registry_for(spec))
            if request.is_fresh:
                _forget(log, request.arms)
            units.reporting_to(self.progress, journalled)
            # Every system reads the same exchanges for many questions, and long context the same text for all.
            count_tokens = lru_cache(maxsize=COUNTS_KEPT)(load_tokenizer(spec.tokenizer).count)
            templates = self._templates_for(conversation_id)
            runs = [
                ArmRun(
                    arm,
                    conversation,
                    units,
                    request.settings,
                    self.embedder,
                    self.timings,
                    folder / "systems" / conversation_id,
                    count_tokens,
                    templates if arm.learns else None,
                )
                for arm in request.arms
            ]
            found = await all_of([run.results() for run in runs])
            failed = [f"{conversation_id}/{u.stage}/{u.unit_key}: {u.error}" for u in units.failed]
            made = self.benchmark.spec
            length = made.of_conversation(int(conversation_id[1:])).length if made.composition else 0
            return _Evaluated(
                tokens=conversation.tokens,
                asked=tuple(asked_probe(conversation_id, p, conversation.places, length) for p in conversation.probes),
                results=tuple(result for of_arm in found for result in of_arm),
                failures=(*failed, *(failure for run in runs for failure in run.unclosed)),
                spending=tuple(_spent(log, conversation_id, spec, request.arms)),
                learnt_from=templates.learnt_from,
                used=tuple(Preparation(system=run.arm.name, usage=run.used) for run in runs if run.used is not None),
            )


def _forget(log: WorkLog, arms: Sequence[Arm]) -> None:
    """Remove the stored answers and usage of these arms."""
    asked = {arm.name for arm in arms}
    for stage in (ANSWER.stage, USED.stage):
        keys = log.units.keys(stage)
        log.units.remove(stage, [k for k in keys if not asked & {k, k.rpartition("/")[0]}])


def _spent(log: WorkLog, conversation_id: str, spec: BenchmarkSpec, arms: Sequence[Arm]) -> Iterator[Spending]:
    """Yield the usage in the journal of a conversation, by arm and stage.

    Calls of preparation are made once for all settings of a system; each of its arms has all of them.
    """
    prices = prices_of(spec)
    for arm in arms:
        for stage, name in (("prepare", arm.base), ("answer", arm.name), ("judge", arm.name)):
            if rows := log.journal.usage_under(f"{conversation_id}/{stage}/{name}/"):
                counts = {key: sum(getattr(row, key) for row in rows) for key in _COUNTS}
                given = {"system": arm.name, "stage": stage, "cost_usd": cost_of(prices, rows), **counts}
                yield Spending.model_validate(given)


_COUNTS = ("calls", "prompt_tokens", "output_tokens")


def _spending_of(rows: Sequence[Spending]) -> tuple[Spending, ...]:
    """Add up the rows of each system and stage; a cost is unknown as soon as one of them is."""
    groups: dict[tuple[str, str], Spending] = {}
    for row in rows:
        if (so_far := groups.setdefault((row.system, row.stage), row)) is not row:
            counts = {key: getattr(so_far, key) + getattr(row, key) for key in _COUNTS}
            # A sum that leaves out a model without a price would look like the whole cost.
            is_known = so_far.cost_usd is not None and row.cost_usd is not None
            cost = (so_far.cost_usd or 0.0) + (row.cost_usd or 0.0) if is_known else None
            groups[row.system, row.stage] = so_far.model_copy(update={**counts, "cost_usd": cost})
    return tuple(groups.values())


def _preparations_of(rows: Sequence[Preparation]) -> tuple[Preparation, ...]:
    """Add up what each system's preparations took; systems that took nothing are left out."""
    groups: dict[str, list[PreparationUsage]] = {}
    for row in rows:
        groups.setdefault(row.system, []).append(row.usage)
    found = []
    for system, used in groups.items():
        total = {name: sum(getattr(usage, name) for usage in used) for name in PreparationUsage.model_fields}
        if any(total.values()):
            found.append(Preparation(system=system, usage=PreparationUsage(**total)))
    return tuple(found)


def evaluation_folder(benchmark: Benchmark, control: Control | None = None) -> Path:
    """Return the folder of an evaluation's stores and results."""
    folder = benchmark.root / "evaluation"
    return folder / control.value if control else folder


def results_path(benchmark: Benchmark, control: Control | None = None) -> Path:
    """Return the path of the last run's results."""
    return last_results(evaluation_folder(benchmark), control.value if control else "")


@contextmanager
def stored_embedder(benchmark: Benchmark, embedder: Embedder | None) -> Iterator[Embedder | None]:
    """Yield the embedder with its vectors stored in the benchmark's evaluation folder; None for no embedder."""
    if embedder is None:
        yield None
        return
    stored = StoredEmbedder(embedder, evaluation_folder(benchmark) / "vectors.sqlite")
    try:
        yield stored
    finally:
        stored.close()
