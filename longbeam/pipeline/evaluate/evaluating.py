"""Memory systems over the sealed conversations of a benchmark: prepared, asked, judged and scored, durably.

output/<name>/evaluation/<conversation_id>.sqlite   journal and units of everything that was asked for it
output/<name>/evaluation/vectors.sqlite             vectors of embedding models, by model and text
output/<name>/evaluation/runs/<id>/                 a run that is kept: results, contexts, seconds, and what it was
output/<name>/evaluation/timings.json               seconds, measured
output/<name>/evaluation/systems/                   files that systems keep themselves
output/<name>/evaluation/<control>/                 the same of a negative control

A killed run is resumed: answers and verdicts are units, and preparation is replayed from the journal and the stored
embeddings. Results are computed from answers and verdicts in every run, which is cheap. Replies of a model that answers
by rule count while its rules are the same.
"""

from __future__ import annotations

import datetime as dt
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path

from longbeam import __version__
from longbeam.errors import MemorySystemError, UserError
from longbeam.evaluation import (
    EVIDENCE,
    FIXED_ANSWERS,
    JUDGE_PROMPTS,
    TIMINGS_FILE,
    Arm,
    Control,
    Evaluated,
    Timings,
    about_run,
    asked_probe,
    judge_answer,
    keep_run,
    kind_of,
    last_results,
    retrieval_of,
    score_of,
)
from longbeam.formats import advice_without_probes
from longbeam.memory import (
    AnsweringSystem,
    ContextBuilder,
    Embedder,
    MemorySystem,
    StoredEmbedder,
    Tools,
    dated,
    in_order,
    make_system,
)
from longbeam.models import Asker, JournalledModel, Models, load_tokenizer
from longbeam.pipeline.evaluate.conversations import ReadConversation, has_probes, read_conversation
from longbeam.pipeline.evaluate.preparing import PreparationRun
from longbeam.pipeline.evaluate.spending import preparations_of, spent, summed
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import Blocked, Progress, SilentProgress, Units, all_of
from longbeam.prompts import default_registry, registry_for
from longbeam.prompts.calls import AnswerInputs
from longbeam.schemas import (
    DEFAULT_MODEL,
    Answer,
    AskedProbe,
    BenchmarkSpec,
    Context,
    EvaluatedSystem,
    EvaluationRun,
    EvaluationSettings,
    Judgement,
    PreparationUsage,
    Probe,
    Question,
    Result,
    Role,
    Spending,
    digest_of,
    is_language_model,
)
from longbeam.store import Benchmark, WorkLog, write_recorded

EVALUATION_VERSION = 4
"""Increased when systems behave differently with the same settings, so that stored answers no longer count."""
PREPARE = UnitSpec("prepare", PreparationUsage)
"""Names the calls that prepare a system. It is never a unit: the answers of the prepared system are."""
ANSWER = UnitSpec("answer", Answer, ("answer",), version=EVALUATION_VERSION)
PREPARATION_USAGE = UnitSpec("used", PreparationUsage, version=EVALUATION_VERSION)
JUDGEMENT = UnitSpec("judge", Judgement, JUDGE_PROMPTS, version=EVALUATION_VERSION)
VECTORS_FILE = "vectors.sqlite"
SYSTEMS_FOLDER = "systems"
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
    is_fresh: bool = False
    """Whether systems are prepared and asked again, whatever is stored; equal calls of models are replayed."""
    parallel: int = 1
    """Conversations evaluated at the same time."""
    name: str = ""
    """Name of the run in the list of those that are kept."""
    title: str = ""
    """Title of its report."""


@dataclass
class _Subject:
    """One conversation under evaluation, and the systems that are prepared for it."""

    conversation: ReadConversation
    units: Units
    settings: EvaluationSettings
    embedder: Embedder | None
    timings: Timings
    folder: Path
    """Folder of the files that systems keep themselves."""
    systems: dict[str, PreparationRun] = field(default_factory=dict)
    unclosed: list[str] = field(default_factory=list)
    """Failures of systems that could not be closed."""

    @property
    def conversation_id(self) -> str:
        return self.conversation.conversation_id

    @cached_property
    def count_tokens(self) -> Callable[[str], int]:
        # Every system reads the same exchanges for many questions, and long context the same text for all.
        return lru_cache(maxsize=COUNTS_KEPT)(load_tokenizer(self.units.spec.tokenizer).count)

    def read_digest(self, probe: Probe) -> str:
        """Return the digest of what a system has read when the probe is asked."""
        return self.conversation.read_digests[self.conversation.point(probe)]

    def budget(self, arm: Arm) -> int:
        return budget_of(arm, self.settings)


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
    spec, settings, control = request.spec, request.settings, request.control
    sealed = benchmark.sealed_ids
    if not sealed:
        raise UserError(
            f"benchmark {benchmark.spec.name!r} has no finished conversation; finish it with `longbeam resume`"
        )
    if control is Control.SWAPPED and len(sealed) < 2:
        raise UserError(f"--control {control}: benchmark {benchmark.spec.name!r} has one conversation; two are needed")
    if not has_probes(benchmark, request.probes):
        raise _no_probes(benchmark, request)
    folder = evaluation_folder(benchmark, control)
    timings = Timings.read(folder / TIMINGS_FILE)
    shown = progress or SilentProgress()
    with stored_embedder(benchmark, embedder) as stored:
        tools = _Shared(request, models, stored, timings, folder, shown)
        done = await in_order((partial(_evaluate_conversation, benchmark, id_, tools) for id_ in sealed),
                              at_once=request.parallel)  # fmt: skip
    used: dict[str, list[PreparationUsage]] = {arm.name: [] for arm in request.arms}
    for one in done:
        for name, usage in one.used.items():
            used[name].append(usage)
    results = [r for one in done for r in one.results]
    run = EvaluationRun(
        longbeam=__version__,
        benchmark=benchmark.spec.name,
        imported_from=benchmark.spec.imported_from,
        length=benchmark.spec.length,
        tokens=round(sum(one.tokens for one in done) / len(sealed)),
        conversations=len(sealed),
        control=control.value if control else "",
        reader=spec.model_for(Role.READER),
        judge=judge_name(spec, settings),
        settings=settings,
        systems=tuple(arm.name for arm in request.arms),
        versions={arm.name: arm.version for arm in request.arms if arm.version},
        described=tuple(_described(arm, spec, settings) for arm in request.arms if arm.registered is not None),
        probes=tuple(probe for one in done for probe in one.asked),
        spending=summed([row for one in done for row in one.spending]),
        preparations=preparations_of(used),
        failures=tuple(failure for one in done for failure in one.failures),
    )
    write_recorded(folder / TIMINGS_FILE, timings.as_json())
    systems = [arm.name for arm in request.arms if kind_of(arm.name) == "system"]
    about = about_run(run, systems, name=request.name, title=request.title, now=dt.datetime.now(dt.UTC))
    keep_run(evaluation_folder(benchmark), Evaluated(run, tuple(results), timings), about)
    return run, results


def budget_of(arm: Arm, settings: EvaluationSettings) -> int:
    """Return the tokens of context that an arm is allowed."""
    return (arm.budget or settings.budget) if arm.reads_budget else settings.window


def asks_extractor(arm: Arm) -> bool:
    """Return whether an arm's system may ask the extractor, as far as it says."""
    if arm.registered is None or arm.mode in arm.registered.model_modes:
        return arm.registered is not None
    prompts = default_registry()
    return any(prompts[name].role is Role.EXTRACTOR for name in arm.registered.prompts or ())


def _described(arm: Arm, spec: BenchmarkSpec, settings: EvaluationSettings) -> EvaluatedSystem:
    return EvaluatedSystem(
        name=arm.name,
        system=arm.base,
        mode=arm.mode,
        settings=arm.changed(),
        extractor=spec.model_for(Role.EXTRACTOR) if asks_extractor(arm) else "",
        embedder=arm.embedder,
        version=arm.version,
        budget=budget_of(arm, settings),
    )


def _no_probes(benchmark: Benchmark, request: EvaluationRequest) -> UserError:
    name, advice = benchmark.spec.name, advice_without_probes(benchmark.spec.name, benchmark.spec.imported_from)
    if request.probes is not None and has_probes(benchmark, None):
        advice = f"its review has rejected or not settled all of them; go on with `longbeam review {name}`"
    return UserError(f"benchmark {name!r} has no probes to ask; {advice}")


@dataclass(frozen=True)
class _Shared:
    """Parts of an evaluation that all its conversations share."""

    request: EvaluationRequest
    models: Models
    embedder: Embedder | None
    timings: Timings
    folder: Path
    progress: Progress


@dataclass(frozen=True)
class _Evaluated:
    """Outcome of one conversation."""

    tokens: int
    asked: tuple[AskedProbe, ...]
    results: tuple[Result, ...]
    failures: tuple[str, ...]
    spending: tuple[Spending, ...]
    used: dict[str, PreparationUsage]


async def _evaluate_conversation(benchmark: Benchmark, conversation_id: str, tools: _Shared) -> _Evaluated:
    request, folder = tools.request, tools.folder
    spec, arms = request.spec, request.arms
    conversation = read_conversation(benchmark, conversation_id, request.control, request.probes)
    assert conversation.read_digests  # made before any system runs
    with WorkLog.open(folder / f"{conversation_id}.sqlite") as log:
        journalled = JournalledModel(tools.models.chat, log.journal)
        units = Units(conversation_id, spec, log, replace(tools.models, chat=journalled), registry_for(spec))
        if request.is_fresh:
            _forget(log, arms)
        units.reporting_to(tools.progress, journalled)
        systems = folder / SYSTEMS_FOLDER / conversation_id
        subject = _Subject(conversation, units, request.settings, tools.embedder, tools.timings, systems)
        found = await all_of([_evaluate_arm(subject, arm) for arm in arms])
        return _Evaluated(
            tokens=conversation.tokens,
            asked=tuple(asked_probe(conversation_id, p, conversation.places) for p in conversation.probes),
            results=tuple(result for of_arm, _ in found for result in of_arm),
            failures=(
                *(f"{conversation_id}/{u.stage}/{u.unit_key}: {u.error}" for u in units.failed),
                *subject.unclosed,
            ),
            spending=tuple(spent(log, conversation_id, spec, {arm.name: arm.base for arm in arms})),
            used={arm.name: used for arm, (_, used) in zip(arms, found, strict=True) if used is not None},
        )


@dataclass(frozen=True)
class EvaluationModels:
    """Models of an evaluation."""

    reader: str
    judge: str
    extractor: str


EVALUATION_FIELDS: tuple[str, ...] = ("models", "endpoints", "sampling", "limits", "batch")
"""Fields of a spec that decide how a benchmark is evaluated; of `models`, the roles of `EvaluationModels` count."""


def with_evaluation_fields(
    spec: BenchmarkSpec, given: BenchmarkSpec, fields: Sequence[str] = EVALUATION_FIELDS
) -> BenchmarkSpec:
    """Return the benchmark's spec with those of the fields that another spec sets, but with its own models.

    Each table of `given` takes the place of the benchmark's. Only the endpoints of models that `given` does not name
    are kept, because the benchmark's own models stay in its spec.
    """
    tables = {name: getattr(given, name) for name in fields if name in given.model_fields_set}
    return spec.model_copy(update={**tables, "models": spec.models, "endpoints": {**spec.endpoints, **given.endpoints}})


def evaluation_spec(spec: BenchmarkSpec, models: EvaluationModels, max_cost_usd: float | None = None) -> BenchmarkSpec:
    """Return the benchmark's spec with the models of an evaluation alone, and its cap on cost.

    The models that made the benchmark, and the spec's own cap, are not kept.
    """
    named = {Role.READER: models.reader, Role.JUDGE: models.judge, Role.EXTRACTOR: models.extractor}
    limits = spec.limits.model_copy(update={"max_cost_usd": max_cost_usd})
    return spec.model_copy(update={"models": {role.value: name for role, name in named.items()}, "limits": limits})


def evaluation_folder(benchmark: Benchmark, control: Control | None = None) -> Path:
    """Return the folder of an evaluation's stores and results."""
    folder = benchmark.root / "evaluation"
    return folder / control.value if control else folder


def results_path(benchmark: Benchmark, control: Control | None = None) -> Path:
    """Return the path of the last run's results."""
    return last_results(evaluation_folder(benchmark), control.value if control else "")


def judge_name(spec: BenchmarkSpec, settings: EvaluationSettings) -> str:
    """Return the judge's model, prompts with their hashes and strictness, which a reported score must name."""
    prompts = registry_for(spec)
    hashes = ", ".join(f"{p}.v{prompts[p].version} {prompts[p].digest[:12]}" for p in JUDGE_PROMPTS)
    model = spec.model_for(Role.JUDGE)
    rules = "lexical" if model == DEFAULT_MODEL else model
    name = model if is_language_model(model) else f"{rules} judge, no language model"
    return f"{name} ({hashes}; {'strict' if settings.is_strict else 'lenient'})"


def _forget(log: WorkLog, arms: Sequence[Arm]) -> None:
    """Remove the stored answers and usage of these arms."""
    asked = {arm.name for arm in arms}
    for stage in (ANSWER.stage, PREPARATION_USAGE.stage):
        keys = log.units.keys(stage)
        log.units.remove(stage, [k for k in keys if not asked & {k, k.rpartition("/")[0]}])


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


async def _evaluate_arm(subject: _Subject, arm: Arm) -> tuple[list[Result], PreparationUsage | None]:
    """Return the results of an arm, and what its preparation used; None where nothing was prepared."""
    results: list[Result | None] = []
    used = None
    # Probes of one point are asked at the same time; the system reads on when all of them are answered.
    try:
        for probes in subject.conversation.probes_by_point.values():
            results += await all_of([_evaluate_probe(subject, arm, p) for p in probes])
        if arm.registered is not None and any(results):
            with suppress(Blocked):  # it answered the first probes and failed on the way to the last
                used = await _used(subject, arm)
    finally:
        if (prepared := subject.systems.pop(arm.name, None)) is not None:
            subject.timings.add_preparation(arm.name, subject.conversation_id, prepared.ingestion)
            try:
                await prepared.close()
            except MemorySystemError as exc:  # its answers are complete
                subject.unclosed.append(f"{subject.conversation_id}/close/{arm.name}: {exc}")
    return [r for r in results if r is not None], used


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
        retrieval=retrieval_of(probe, answer, subject.conversation.contents),
    )


async def _answer(subject: _Subject, arm: Arm, probe: Probe) -> Answer:
    """Return the arm's answer; it is a unit unless the arm's answers are fixed."""
    if arm.is_fixed:
        text = FIXED_ANSWERS[arm.name](probe, subject.conversation.probes)
        return _blank_answer(subject, arm, probe).model_copy(update={"text": text})
    key = f"{arm.name}/{probe.probe_id}"
    for _ in range(2):
        (found,) = await subject.units.run(
            ANSWER.asking(*_prompts_of(subject, arm)),
            key,
            _preparation(subject, arm),
            probe,
            subject.budget(arm),
            work=_ask,
        )
        if not found.read_digest or found.read_digest == subject.read_digest(probe):
            break
        subject.units.log.units.remove(ANSWER.stage, [key])  # the stored answer is of another conversation
    return found


async def _ask(asker: Asker, prepared: Digested[_ArmOfSubject], probe: Probe, budget: int) -> Sequence[Answer]:
    subject, arm = prepared.value.subject, prepared.value.arm
    question = subject.conversation.question(probe)  # made anew, so that no system has another's
    system = None if arm.name == EVIDENCE else await _prepared(subject, arm, subject.conversation.point(probe))
    began = time.perf_counter()
    if system is None:
        text, context, calls, read = await _reply(_evidence(subject, probe), question, asker)
    else:
        text, context, calls, read = await _reply_of(system, question, budget, asker)
    ended = time.perf_counter()
    subject.timings.add_answer(arm.name, subject.conversation_id, probe.probe_id, read - began, ended - began)
    found = await system.retrieve(question, k=RANKED) if system is not None else ()
    ranking = tuple(passage.message_keys for passage in found)
    heard = "" if system is None else subject.systems[arm.name].read_digest
    if heard and heard != subject.read_digest(probe):
        raise MemorySystemError(f"{arm.name} read another conversation than the benchmark's: it was changed on the way")
    given = {"text": text, "context": context, "ranking": ranking, "model_calls": calls, "read_digest": heard}
    return [_blank_answer(subject, arm, probe).model_copy(update=given)]


def _blank_answer(subject: _Subject, arm: Arm, probe: Probe) -> Answer:
    return Answer(conversation_id=subject.conversation_id, probe_id=probe.probe_id, system=arm.name, text="")


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


async def _prepared(subject: _Subject, arm: Arm, point: int) -> MemorySystem:
    """Return the arm's system when it has read this many exchanges."""
    if arm.name not in subject.systems:
        subject.systems[arm.name] = PreparationRun(subject.conversation, partial(_make, subject, arm))
    return await subject.systems[arm.name].up_to(point)


async def _make(subject: _Subject, arm: Arm) -> MemorySystem:
    assert arm.registered is not None
    assert arm.settings is not None
    units = subject.units
    folder = subject.folder / digest_of(arm.name)[:16]
    # A preparation begins from nothing, so that a restart adds nothing twice.
    shutil.rmtree(folder, ignore_errors=True)
    if arm.registered.is_product:
        folder.mkdir(parents=True)
    tools = Tools(
        count_tokens=subject.count_tokens,
        # Without the arm's settings: what the arms of a grid ask alike is asked once.
        asker=units.asker(PREPARE.asking(*_prompts_of(subject, arm)), arm.base),
        embedder=subject.embedder,
        rng_key=f"{units.spec.seed}/{subject.conversation_id}/prepare/{arm.name}",
        conversation_id=subject.conversation_id,
        budget=subject.budget(arm),
        folder=folder,
        tokenizer=units.spec.tokenizer,
    )
    return await make_system(arm.registered, arm.settings, tools)


async def _used(subject: _Subject, arm: Arm) -> PreparationUsage:
    """Return the usage of the arm's preparation: a unit, because stored answers need no preparation."""
    spec = PREPARATION_USAGE.asking(*_prompts_of(subject, arm))
    (found,) = await subject.units.run(spec, arm.name, _preparation(subject, arm), work=_use)
    return found


async def _use(_: Asker, prepared: Digested[_ArmOfSubject]) -> Sequence[PreparationUsage]:
    subject, arm = prepared.value.subject, prepared.value.arm
    await _prepared(subject, arm, len(subject.conversation.exchanges))
    return [subject.systems[arm.name].usage]


@dataclass(frozen=True)
class _ArmOfSubject:
    """A system or reference answer, and the conversation that it reads."""

    subject: _Subject
    arm: Arm


def _preparation(subject: _Subject, arm: Arm) -> Digested[_ArmOfSubject]:
    """Return an arm and its conversation; the fingerprint holds what a prepared system depends on."""
    embedder = subject.embedder.name if subject.embedder else None
    depends_on = [subject.conversation.digest, arm.name, arm.settings, embedder, arm.version]
    return Digested(_ArmOfSubject(subject, arm), depends_on)


def _prompts_of(subject: _Subject, arm: Arm) -> tuple[str, ...]:
    """Return the prompts that an arm's system may ask beside `answer`."""
    if arm.registered is None:
        return ()
    if (named := arm.registered.prompts) is not None:
        return named
    # A system that names none may ask whatever readers and extractors answer.
    return tuple(p.prompt_id for p in subject.units.prompts if p.role in (Role.READER, Role.EXTRACTOR))


async def _judgement(subject: _Subject, arm: Arm, probe: Probe, answer: Answer) -> Judgement:
    # The judge's name says whether it is strict.
    name = judge_name(subject.units.spec, subject.settings)
    judge = Digested(_Judge(name, subject.settings.is_strict), name)
    said = Digested(answer, answer.text)
    (found,) = await subject.units.run(JUDGEMENT, f"{arm.name}/{probe.probe_id}", probe, said, judge, work=_judge)
    return found


@dataclass(frozen=True)
class _Judge:
    name: str
    is_strict: bool


async def _judge(asker: Asker, probe: Probe, answer: Digested[Answer], judge: Digested[_Judge]) -> Sequence[Judgement]:
    by = judge.value
    return [await judge_answer(probe, answer.value, asker, judge=by.name, is_strict=by.is_strict)]
