"""Memory systems over the sealed conversations of a benchmark: prepared, asked, judged and scored, durably.

output/<name>/evaluation/<conversation_id>.sqlite   journal and units of everything that was asked for it
output/<name>/evaluation/vectors.sqlite             vectors of embedding models, by model and text
output/<name>/evaluation/results.jsonl              the last run: its settings, then one result a line

A run that was killed goes on where it was: answers and verdicts are units, and preparation is replayed from the
journal and the stored embeddings. Results are computed anew from answers and verdicts each time; that is cheap.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from longbeam import __version__
from longbeam.errors import UserError
from longbeam.evaluation.arms import EVIDENCE, FIXED_ANSWERS, Arm
from longbeam.evaluation.judging import JUDGE_PROMPTS, judge_answer
from longbeam.evaluation.metrics import retrieval_of
from longbeam.evaluation.scoring import score_of
from longbeam.generators.asking import Asker
from longbeam.memory.base import AnsweringSystem, ContextBuilder, MemorySystem, Tools, dated, exchanges_of
from longbeam.memory.embedding import Embedder, StoredEmbedder
from longbeam.models.base import ChatModel
from longbeam.models.journal import JournalledModel
from longbeam.models.tokens import load_tokenizer
from longbeam.pipeline.benchmark import Benchmark
from longbeam.pipeline.units import Blocked, Units, all_of
from longbeam.prompts.declarations import default_registry
from longbeam.schemas.base import digest_of
from longbeam.schemas.evaluation import (
    Answer,
    Context,
    EvaluationRun,
    EvaluationSettings,
    Exchange,
    Judgement,
    Question,
    Result,
)
from longbeam.schemas.evaluation_calls import AnswerInputs
from longbeam.schemas.probes import Probe
from longbeam.schemas.spec import BenchmarkSpec, Role
from longbeam.store.artifacts import SealedConversation
from longbeam.store.files import write_atomically
from longbeam.store.worklog import WorkLog

EVALUATION_VERSION = 1
"""Raised when what a system does with the same settings changes, so that old answers no longer count."""
RESULTS_FILE = "results.jsonl"
VECTORS_FILE = "vectors.sqlite"


@dataclass
class _Subject:
    """One conversation under evaluation."""

    conversation_id: str
    exchanges: tuple[Exchange, ...]
    probes: tuple[Probe, ...]
    units: Units
    settings: EvaluationSettings
    embedder: Embedder | None
    systems: dict[str, asyncio.Task[MemorySystem]] = field(default_factory=dict)

    @cached_property
    def count_tokens(self) -> Callable[[str], int]:
        return load_tokenizer(self.units.spec.tokenizer).count

    @cached_property
    def digest(self) -> str:
        """Of all that was said."""
        return digest_of([m for e in self.exchanges for m in e.messages])

    @cached_property
    def asked_at(self) -> Question:
        last = self.exchanges[-1].messages[-1].sent_at
        return Question(text="", asked_at=last + timedelta(days=1))

    def question(self, probe: Probe) -> Question:
        return self.asked_at.model_copy(update={"text": probe.question})

    def budget(self, arm: Arm) -> int:
        everything = arm.registered is not None and arm.registered.reads_everything
        return self.settings.window if everything else self.settings.budget


async def evaluate(
    benchmark: Benchmark,
    spec: BenchmarkSpec,
    arms: Sequence[Arm],
    settings: EvaluationSettings,
    model: ChatModel,
    *,
    embedder: Embedder | None = None,
    on_result: Callable[[Result], None] = lambda result: None,
) -> tuple[EvaluationRun, list[Result]]:
    """Evaluate every arm on the selected probes of all finished conversations, and keep the results.

    `spec`: the benchmark's, with the models that read, judge and extract here. Raises UserError when no
    conversation is finished.
    """
    if not benchmark.sealed_ids:
        raise UserError(
            f"benchmark {benchmark.spec.name!r} has no finished conversation; finish it with `longbeam resume`"
        )
    results: list[Result] = []
    failures: list[str] = []
    for conversation_id in benchmark.sealed_ids:
        async with _opened(benchmark, spec, conversation_id, settings, model, embedder) as subject:
            found = await all_of([_evaluate_arm(subject, arm) for arm in arms])
            for result in (r for of_arm in found for r in of_arm):
                results.append(result)
                on_result(result)
            failures += [f"{conversation_id}/{u.stage}/{u.unit_key}: {u.error}" for u in subject.units.failed]
    run = EvaluationRun(
        longbeam=__version__,
        benchmark=benchmark.spec.name,
        length=benchmark.spec.length,
        conversations=len(benchmark.sealed_ids),
        reader=spec.model_for(Role.READER),
        judge=judge_name(spec, settings),
        settings=settings,
        systems=tuple(arm.name for arm in arms),
        failures=tuple(failures),
    )
    lines = [run.model_dump_json(), *(r.model_dump_json(exclude_defaults=True) for r in results)]
    write_atomically(results_path(benchmark), "\n".join(lines) + "\n")
    return run, results


def evaluation_spec(spec: BenchmarkSpec, *, reader: str, judge: str, extractor: str) -> BenchmarkSpec:
    """Return the benchmark's spec with the models of an evaluation."""
    models = {**spec.models, Role.READER.value: reader, Role.JUDGE.value: judge, Role.EXTRACTOR.value: extractor}
    return spec.model_copy(update={"models": models})


def results_path(benchmark: Benchmark) -> Path:
    """Where the last run's results are."""
    return benchmark.root / "evaluation" / RESULTS_FILE


def judge_name(spec: BenchmarkSpec, settings: EvaluationSettings) -> str:
    """Model, prompts with their hashes, strictness: what a judged score is worth nothing without."""
    prompts = default_registry()
    hashes = ", ".join(f"{p}.v{prompts[p].version} {prompts[p].digest[:12]}" for p in JUDGE_PROMPTS)
    model = spec.model_for(Role.JUDGE)
    name = "lexical judge, no language model" if model == "offline" else model
    return f"{name} ({hashes}; {'strict' if settings.is_strict else 'lenient'})"


@asynccontextmanager
async def _opened(
    benchmark: Benchmark,
    spec: BenchmarkSpec,
    conversation_id: str,
    settings: EvaluationSettings,
    model: ChatModel,
    embedder: Embedder | None,
) -> AsyncIterator[_Subject]:
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        exchanges = tuple(exchanges_of(sealed.messages()))
        probes = tuple(p for p in sealed.probes() if p.is_selected)
    path = benchmark.root / "evaluation" / f"{conversation_id}.sqlite"
    with WorkLog.open(path) as log:
        units = Units(conversation_id, spec, log, JournalledModel(model, log), default_registry())
        with _stored(benchmark, embedder) as stored:
            yield _Subject(conversation_id, exchanges, probes, units, settings, stored)


@contextmanager
def _stored(benchmark: Benchmark, embedder: Embedder | None) -> Iterator[Embedder | None]:
    if embedder is None:
        yield None
        return
    stored = StoredEmbedder(embedder, benchmark.root / "evaluation" / VECTORS_FILE)
    try:
        yield stored
    finally:
        stored.close()


async def _evaluate_arm(subject: _Subject, arm: Arm) -> list[Result]:
    results = await asyncio.gather(*(_evaluate_probe(subject, arm, p) for p in subject.probes))
    subject.systems.pop(arm.name, None)
    return [r for r in results if r is not None]


async def _evaluate_probe(subject: _Subject, arm: Arm, probe: Probe) -> Result | None:
    try:
        answer = await _answer(subject, arm, probe)
        judgement = await _judgement(subject, arm, probe, answer)
    except Blocked:
        return None
    return Result(
        conversation_id=subject.conversation_id,
        probe_id=probe.probe_id,
        ability=probe.ability,
        system=arm.name,
        answer=answer,
        judgement=judgement,
        scores=score_of(probe, judgement, answer.text),
        retrieval=retrieval_of(probe, answer),
    )


async def _answer(subject: _Subject, arm: Arm, probe: Probe) -> Answer:
    """The arm's answer; only those that a model or a memory gave are units."""
    answer = Answer(conversation_id=subject.conversation_id, probe_id=probe.probe_id, system=arm.name, text="")
    if arm.is_fixed:
        return answer.model_copy(update={"text": FIXED_ANSWERS[arm.name](probe)})

    async def work(asker: Asker) -> Sequence[Answer]:
        text, context, calls = await _ask(subject, arm, probe, asker)
        return [answer.model_copy(update={"text": text, "context": context, "model_calls": calls})]

    embedder = subject.embedder.name if subject.embedder else None
    needs = [EVALUATION_VERSION, subject.digest, probe, arm.name, arm.settings, subject.budget(arm), embedder]
    (found,) = await subject.units.run(
        "answer",
        f"{arm.name}/{probe.probe_id}",
        record=Answer,
        needs=needs,
        work=work,
        prompts=("answer",),
        roles=(Role.READER, Role.EXTRACTOR),
    )
    return found


async def _ask(subject: _Subject, arm: Arm, probe: Probe, asker: Asker) -> tuple[str, Context, int]:
    question, budget = subject.question(probe), subject.budget(arm)
    if arm.name == EVIDENCE:
        context = _evidence(subject, probe)
    else:
        system = await _prepared(subject, arm)
        if isinstance(system, AnsweringSystem):
            return await system.answer(question, budget=budget, asker=asker)
        context = await system.context(question, budget=budget)
    inputs = AnswerInputs(context=context.text, question=question.text, asked_on=question.asked_at.date())
    return await asker.prose("answer", inputs, role=Role.READER), context, 1


def _evidence(subject: _Subject, probe: Probe) -> Context:
    cited = {e.message_key for e in probe.evidence}
    builder = ContextBuilder(subject.settings.window, subject.count_tokens)
    for exchange in subject.exchanges:
        if messages := tuple(m for m in exchange.messages if m.message_key in cited):
            part = exchange.model_copy(update={"messages": messages})
            builder.put("evidence", dated(part), part.message_keys, place=exchange.position)
    return builder.build()


async def _prepared(subject: _Subject, arm: Arm) -> MemorySystem:
    """The arm's system with the whole conversation told, made once by whoever needs it first."""
    if arm.name not in subject.systems:
        subject.systems[arm.name] = asyncio.create_task(_prepare(subject, arm))
    return await asyncio.shield(subject.systems[arm.name])


async def _prepare(subject: _Subject, arm: Arm) -> MemorySystem:
    assert arm.registered is not None
    units = subject.units
    # Without the arm's settings: what the arms of a grid ask alike is asked once.
    place = f"{subject.conversation_id}/prepare/{arm.name.partition('[')[0]}"
    tools = Tools(
        count_tokens=subject.count_tokens,
        asker=Asker(model=units.model, prompts=units.prompts, spec=units.spec, unit_key=place),
        embedder=subject.embedder,
        rng_key=f"{units.spec.seed}/{place}",
    )
    system = arm.registered.make(arm.settings, tools)
    for exchange in subject.exchanges:
        await system.add(exchange)
    await system.finish()
    return system


async def _judgement(subject: _Subject, arm: Arm, probe: Probe, answer: Answer) -> Judgement:
    judge = judge_name(subject.units.spec, subject.settings)

    async def work(asker: Asker) -> Sequence[Judgement]:
        is_strict = subject.settings.is_strict
        return [await judge_answer(probe, answer, asker, judge=judge, is_strict=is_strict)]

    (found,) = await subject.units.run(
        "judge",
        f"{arm.name}/{probe.probe_id}",
        record=Judgement,
        needs=[EVALUATION_VERSION, probe, answer.text, judge],
        work=work,
        prompts=JUDGE_PROMPTS,
        roles=(Role.JUDGE,),
    )
    return found
