"""Memory systems over the sealed conversations of a benchmark: prepared, asked, judged and scored, durably.

output/<name>/evaluation/<conversation_id>.sqlite   journal and units of everything that was asked for it
output/<name>/evaluation/vectors.sqlite             vectors of embedding models, by model and text
output/<name>/evaluation/results.jsonl              the last run: its settings, then one result a line
output/<name>/evaluation/results.contexts.jsonl     contexts of the answers, each paragraph once
output/<name>/evaluation/timings.json               seconds, measured: the one file that differs from run to run
output/<name>/evaluation/<control>/                 the same of a negative control

A killed run is resumed: answers and verdicts are units, and preparation is replayed from the journal and the stored
embeddings. Results are computed from answers and verdicts in every run, which is cheap. Replies of a model that answers
by rule count while its rules are the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, lru_cache
from pathlib import Path

from longbeam import __version__
from longbeam.errors import UserError
from longbeam.evaluation.arms import EVIDENCE, FIXED_ANSWERS, Arm
from longbeam.evaluation.controls import Control, as_of, without_evidence
from longbeam.evaluation.judging import JUDGE_PROMPTS, judge_answer
from longbeam.evaluation.metrics import retrieval_of
from longbeam.evaluation.results import RESULTS_FILE, TIMINGS_FILE, asked_probe, write_results
from longbeam.evaluation.scoring import score_of
from longbeam.evaluation.timings import Timings
from longbeam.memory.base import AnsweringSystem, MemorySystem, Tools
from longbeam.memory.context import ContextBuilder
from longbeam.memory.embedding import Embedder, StoredEmbedder
from longbeam.memory.exchanges import dated, exchanges_of
from longbeam.models.asking import Asker
from longbeam.models.base import Models
from longbeam.models.journal import JournalledModel
from longbeam.models.kinds import is_language_model
from longbeam.models.tokens import load_tokenizer
from longbeam.pipeline.evaluate.spending import preparations_of, spent, summed
from longbeam.pipeline.run.unit_spec import UnitSpec
from longbeam.pipeline.run.units import Blocked, Progress, SilentProgress, Units, all_of
from longbeam.prompts.calls.evaluation import AnswerInputs
from longbeam.prompts.declarations import default_registry
from longbeam.schemas.base import digest_of
from longbeam.schemas.evaluation import (
    Answer,
    AskedProbe,
    Context,
    EvaluationRun,
    EvaluationSettings,
    Exchange,
    Judgement,
    PreparationUsage,
    Question,
    Result,
    Spending,
)
from longbeam.schemas.probes import Probe
from longbeam.schemas.progress import Position
from longbeam.schemas.spec import BenchmarkSpec, Role
from longbeam.store.artifacts import SealedConversation
from longbeam.store.files import write_atomically
from longbeam.store.layout import Benchmark
from longbeam.store.worklog import WorkLog

EVALUATION_VERSION = 3
"""Increased when systems behave differently with the same settings, so that stored answers no longer count."""
PREPARE = UnitSpec("prepare", PreparationUsage)
"""Names the calls that prepare a system. It is never a unit: the answers of the prepared system are."""
ANSWER = UnitSpec("answer", Answer, ("answer",), version=EVALUATION_VERSION)
PREPARATION_USAGE = UnitSpec("used", PreparationUsage, version=EVALUATION_VERSION)
JUDGEMENT = UnitSpec("judge", Judgement, JUDGE_PROMPTS, version=EVALUATION_VERSION)
VECTORS_FILE = "vectors.sqlite"
RANKED = 20
"""Passages that a system is asked to rank, for hit@k."""
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


@dataclass(frozen=True)
class _TestConversation:
    """A conversation as the systems read it, and the probes that they are asked."""

    conversation_id: str
    exchanges: tuple[Exchange, ...]
    probes: tuple[Probe, ...]
    places: dict[str, float]
    """Position of each message of the original conversation: 0 for the first, below 1 for the last."""
    tokens: int

    @cached_property
    def digest(self) -> str:
        """Digest of all messages that the systems read."""
        return digest_of([m for e in self.exchanges for m in e.messages])

    def question(self, probe: Probe) -> Question:
        """Return a probe's question; it is asked a day after the last message if the probe names no time."""
        last = self.exchanges[-1].messages[-1].sent_at
        return Question(text=probe.question, asked_at=probe.asked_at or last + timedelta(days=1))


@dataclass
class _Subject:
    """One conversation under evaluation, and the systems that are prepared for it."""

    conversation: _TestConversation
    units: Units
    settings: EvaluationSettings
    embedder: Embedder | None
    timings: Timings
    systems: dict[str, asyncio.Task[MemorySystem]] = field(default_factory=dict)
    used: dict[str, PreparationUsage] = field(default_factory=dict)
    """Usage of each system's preparation, before the first question."""

    @property
    def conversation_id(self) -> str:
        return self.conversation.conversation_id

    @cached_property
    def count_tokens(self) -> Callable[[str], int]:
        # Every system reads the same exchanges for many questions, and long context the same text for all.
        return lru_cache(maxsize=COUNTS_KEPT)(load_tokenizer(self.units.spec.tokenizer).count)

    def budget(self, arm: Arm) -> int:
        everything = arm.registered is not None and arm.registered.reads_everything
        return self.settings.window if everything else self.settings.budget


async def evaluate(
    benchmark: Benchmark,
    request: EvaluationRequest,
    models: Models,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> tuple[EvaluationRun, list[Result]]:
    """Evaluate every arm on the probes of all finished conversations, and store the results.

    Raises UserError when no conversation is finished, or when only one is and the control swaps conversations.
    """
    spec, arms, settings, control = request.spec, request.arms, request.settings, request.control
    sealed = benchmark.sealed_ids
    if not sealed:
        raise UserError(
            f"benchmark {benchmark.spec.name!r} has no finished conversation; finish it with `longbeam resume`"
        )
    if control is Control.SWAPPED and len(sealed) < 2:
        raise UserError(f"--control {control}: benchmark {benchmark.spec.name!r} has one conversation; two are needed")
    folder = evaluation_folder(benchmark, control)
    timings = Timings.read(folder / TIMINGS_FILE)
    results: list[Result] = []
    failures: list[str] = []
    spending: list[Spending] = []
    used: dict[str, list[PreparationUsage]] = {}
    asked: list[AskedProbe] = []
    tokens = 0
    shown = progress or SilentProgress()
    for conversation_id in sealed:
        conversation = _test_conversation(benchmark, conversation_id, request)
        tokens += conversation.tokens
        asked += (asked_probe(conversation_id, p, conversation.places) for p in conversation.probes)
        with WorkLog.open(folder / f"{conversation_id}.sqlite") as log, stored_embedder(benchmark, embedder) as stored:
            journalled = JournalledModel(models.chat, log.journal)
            units = Units(conversation_id, spec, log, replace(models, chat=journalled), default_registry())
            units.on_unit = _progress_of(conversation_id, journalled, shown)
            subject = _Subject(conversation, units, settings, stored, timings)
            found = await all_of([_evaluate_arm(subject, arm) for arm in arms])
            results += (r for of_arm in found for r in of_arm)
            failures += [f"{conversation_id}/{u.stage}/{u.unit_key}: {u.error}" for u in subject.units.failed]
            spending += spent(log, conversation_id, spec, [arm.name for arm in arms])
            for arm in arms:
                used.setdefault(arm.name, []).extend([subject.used[arm.name]] if arm.name in subject.used else [])
    run = EvaluationRun(
        longbeam=__version__,
        benchmark=benchmark.spec.name,
        imported_from=benchmark.spec.imported_from,
        length=benchmark.spec.length,
        tokens=round(tokens / len(sealed)),
        conversations=len(sealed),
        control=control.value if control else "",
        reader=spec.model_for(Role.READER),
        judge=judge_name(spec, settings),
        settings=settings,
        systems=tuple(arm.name for arm in arms),
        probes=tuple(asked),
        spending=summed(spending),
        preparations=preparations_of(used),
        failures=tuple(failures),
    )
    write_results(folder / RESULTS_FILE, run, results)
    write_atomically(folder / TIMINGS_FILE, timings.as_json())
    return run, results


def evaluation_spec(spec: BenchmarkSpec, *, reader: str, judge: str, extractor: str) -> BenchmarkSpec:
    """Return the benchmark's spec with the models of an evaluation."""
    models = {**spec.models, Role.READER.value: reader, Role.JUDGE.value: judge, Role.EXTRACTOR.value: extractor}
    return spec.model_copy(update={"models": models})


def evaluation_folder(benchmark: Benchmark, control: Control | None = None) -> Path:
    """Return the folder of an evaluation's stores and results."""
    folder = benchmark.root / "evaluation"
    return folder / control.value if control else folder


def results_path(benchmark: Benchmark, control: Control | None = None) -> Path:
    """Return the path of the last run's results."""
    return evaluation_folder(benchmark, control) / RESULTS_FILE


def judge_name(spec: BenchmarkSpec, settings: EvaluationSettings) -> str:
    """Return the judge's model, prompts with their hashes and strictness, which a reported score must name."""
    prompts = default_registry()
    hashes = ", ".join(f"{p}.v{prompts[p].version} {prompts[p].digest[:12]}" for p in JUDGE_PROMPTS)
    model = spec.model_for(Role.JUDGE)
    name = model if is_language_model(model) else "lexical judge, no language model"
    return f"{name} ({hashes}; {'strict' if settings.is_strict else 'lenient'})"


def _test_conversation(benchmark: Benchmark, conversation_id: str, request: EvaluationRequest) -> _TestConversation:
    control = request.control
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        exchanges = tuple(exchanges_of(sealed.messages()))
        if request.probes is None:
            probes = tuple(p for p in sealed.probes() if p.is_selected)
        else:
            probes = tuple(request.probes[conversation_id])
        plans = tuple(sealed.head.plans) if control is Control.EVIDENCE_REMOVED else ()
    keys = [m.message_key for e in exchanges for m in e.messages]
    tokens = sum(m.tokens for e in exchanges for m in e.messages)
    if control is Control.EVIDENCE_REMOVED:
        exchanges = without_evidence(exchanges, probes, plans)
    elif control is Control.SWAPPED:
        ids = benchmark.sealed_ids
        other = ids[(ids.index(conversation_id) + 1) % len(ids)]
        with SealedConversation(benchmark.sealed_path(other)) as sealed:
            exchanges = as_of(tuple(exchanges_of(sealed.messages())), other)
    return _TestConversation(conversation_id, exchanges, probes, {k: i / len(keys) for i, k in enumerate(keys)}, tokens)


def _progress_of(
    conversation_id: str, journalled: JournalledModel, progress: Progress
) -> Callable[[str, int, int, int], None]:
    """Return the function that shows the progress of a conversation's units."""

    def show(stage: str, done: int, total: int, tokens: int) -> None:
        position = Position(stage=stage, units_done=done, units_total=total, tokens=tokens, calls=journalled.asks)
        progress.update(conversation_id, position)

    return show


@contextmanager
def stored_embedder(benchmark: Benchmark, embedder: Embedder | None) -> Iterator[Embedder | None]:
    """Yield the embedder with its vectors stored in the benchmark's evaluation folder; None for no embedder."""
    if embedder is None:
        yield None
        return
    stored = StoredEmbedder(embedder, benchmark.root / "evaluation" / VECTORS_FILE)
    try:
        yield stored
    finally:
        stored.close()


async def _evaluate_arm(subject: _Subject, arm: Arm) -> list[Result]:
    results = await asyncio.gather(*(_evaluate_probe(subject, arm, p) for p in subject.conversation.probes))
    if arm.registered is not None and any(results):  # something was answered, so it could be prepared
        subject.used[arm.name] = await _used(subject, arm)
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
    """Return the arm's answer; it is a unit unless the arm's answers are fixed."""
    answer = Answer(conversation_id=subject.conversation_id, probe_id=probe.probe_id, system=arm.name, text="")
    if arm.is_fixed:
        return answer.model_copy(update={"text": FIXED_ANSWERS[arm.name](probe)})

    async def work(asker: Asker, _: object, probe: Probe, __: int) -> Sequence[Answer]:
        return [await _ask(subject, arm, probe, asker, answer)]

    (found,) = await subject.units.run(
        ANSWER.asking(*_prompts_of(subject, arm)),
        f"{arm.name}/{probe.probe_id}",
        _preparation(subject, arm),
        probe,
        subject.budget(arm),
        work=work,
    )
    return found


async def _ask(subject: _Subject, arm: Arm, probe: Probe, asker: Asker, blank: Answer) -> Answer:
    question = subject.conversation.question(probe)
    system = None if arm.name == EVIDENCE else await _prepared(subject, arm)
    began = time.perf_counter()
    if system is None:
        text, context, calls, read = await _reply(_evidence(subject, probe), question, asker)
    else:
        text, context, calls, read = await _reply_of(system, question, subject.budget(arm), asker)
    ended = time.perf_counter()
    subject.timings.add_answer(arm.name, subject.conversation_id, probe.probe_id, read - began, ended - began)
    found = await system.retrieve(question, k=RANKED) if system is not None else ()
    ranking = tuple(passage.message_keys for passage in found)
    return blank.model_copy(update={"text": text, "context": context, "ranking": ranking, "model_calls": calls})


async def _reply_of(
    system: MemorySystem, question: Question, budget: int, asker: Asker
) -> tuple[str, Context, int, float]:
    if isinstance(system, AnsweringSystem):
        return *await system.answer(question, budget=budget, asker=asker), time.perf_counter()
    return await _reply(await system.context(question, budget=budget), question, asker)


async def _reply(context: Context, question: Question, asker: Asker) -> tuple[str, Context, int, float]:
    """Return the reader's answer, its context, the number of its calls, and the time when the context was ready."""
    read = time.perf_counter()
    inputs = AnswerInputs(context=context.text, question=question.text, asked_on=question.asked_at.date())
    return await asker.prose("answer", inputs), context, 1, read


def _evidence(subject: _Subject, probe: Probe) -> Context:
    cited = {e.message_key for e in probe.evidence}
    builder = ContextBuilder(subject.settings.window, subject.count_tokens)
    for exchange in subject.conversation.exchanges:
        if messages := tuple(m for m in exchange.messages if m.message_key in cited):
            part = exchange.model_copy(update={"messages": messages})
            builder.put("evidence", dated(part), part.message_keys, place=exchange.position)
    return builder.build()


async def _prepared(subject: _Subject, arm: Arm) -> MemorySystem:
    """Return the arm's system after it has read the whole conversation; the first caller prepares it."""
    if arm.name not in subject.systems:
        subject.systems[arm.name] = asyncio.create_task(_prepare(subject, arm))
    return await asyncio.shield(subject.systems[arm.name])


async def _prepare(subject: _Subject, arm: Arm) -> MemorySystem:
    assert arm.registered is not None
    units = subject.units
    # Without the arm's settings: what the arms of a grid ask alike is asked once.
    asker = units.asker(PREPARE.asking(*_prompts_of(subject, arm)), arm.name.partition("[")[0])
    tools = Tools(
        count_tokens=subject.count_tokens,
        asker=asker,
        embedder=subject.embedder,
        rng_key=f"{units.spec.seed}/{subject.conversation_id}/prepare/{arm.name}",
    )
    system = arm.registered.make(arm.settings, tools)
    began = time.perf_counter()
    for exchange in subject.conversation.exchanges:
        await system.add(exchange)
    await system.finish()
    subject.timings.add_preparation(arm.name, subject.conversation_id, time.perf_counter() - began)
    subject.used[arm.name] = system.usage()
    return system


async def _used(subject: _Subject, arm: Arm) -> PreparationUsage:
    """Return the usage of the arm's preparation: a unit, because stored answers need no preparation."""

    async def work(asker: Asker, _: object) -> Sequence[PreparationUsage]:
        await _prepared(subject, arm)
        return [subject.used[arm.name]]

    spec = PREPARATION_USAGE.asking(*_prompts_of(subject, arm))
    (found,) = await subject.units.run(spec, arm.name, _preparation(subject, arm), work=work)
    return found


def _preparation(subject: _Subject, arm: Arm) -> list[object]:
    """Return the inputs that a prepared system depends on."""
    embedder = subject.embedder.name if subject.embedder else None
    return [subject.conversation.digest, arm.name, arm.settings, embedder]


def _prompts_of(subject: _Subject, arm: Arm) -> tuple[str, ...]:
    """Return the prompts that an arm's system may ask beside `answer`."""
    if arm.registered is None:
        return ()
    if (named := arm.registered.prompts) is not None:
        return named
    # A system that names none may ask whatever readers and extractors answer.
    return tuple(p.prompt_id for p in subject.units.prompts if p.role in (Role.READER, Role.EXTRACTOR))


async def _judgement(subject: _Subject, arm: Arm, probe: Probe, answer: Answer) -> Judgement:
    judge = judge_name(subject.units.spec, subject.settings)

    async def work(asker: Asker, probe: Probe, text: str, judge: str) -> Sequence[Judgement]:
        is_strict = subject.settings.is_strict
        return [await judge_answer(probe, answer, asker, judge=judge, is_strict=is_strict)]

    (found,) = await subject.units.run(JUDGEMENT, f"{arm.name}/{probe.probe_id}", probe, answer.text, judge, work=work)
    return found
