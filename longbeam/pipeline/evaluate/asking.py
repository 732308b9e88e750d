"""One arm on one conversation: its system is prepared up to each probe, asked and judged.

Answers and verdicts are units; preparation is replayed from the journal and the stored embeddings.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from longbeam.errors import MemorySystemError
from longbeam.evaluation import (
    EVIDENCE,
    FIXED_ANSWERS,
    JUDGE_PROMPTS,
    WRITTEN_ANSWERS,
    Arm,
    Timings,
    judge_answer,
    retrieval_of,
    score_of,
)
from longbeam.memory import (
    AnsweringSystem,
    ContextBuilder,
    MemorySystem,
    Templates,
    Tools,
    dated,
    make_system,
)
from longbeam.models import Asker
from longbeam.models.embedders import Embedder
from longbeam.pipeline.evaluate.conversations import ReadConversation
from longbeam.pipeline.evaluate.preparing import PreparationRun
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import Blocked, Units, all_of
from longbeam.pipeline.tuning import RUNNING
from longbeam.prompts import registry_for
from longbeam.prompts.calls import AnswerInputs, TrialAnswerInputs, TrialForm
from longbeam.schemas import (
    DEFAULT_MODEL,
    Answer,
    BenchmarkSpec,
    Context,
    EvaluationSettings,
    Judgement,
    PreparationUsage,
    Probe,
    Question,
    Result,
    Role,
    digest_of,
    is_language_model,
)

EVALUATION_VERSION = 4
"""Increased when systems behave differently with the same settings, so that stored answers no longer count."""
PREPARE = UnitSpec("prepare", PreparationUsage)
"""Names the calls that prepare a system. It is never a unit: the answers of the prepared system are."""
ANSWER = UnitSpec("answer", Answer, ("answer",), version=EVALUATION_VERSION)
TRIAL = UnitSpec("answer", Answer, ("trial_answer",), version=EVALUATION_VERSION)
"""Answers that a language model writes to try the judge."""
USED = UnitSpec("used", PreparationUsage, version=EVALUATION_VERSION)
"""Usage of a preparation: a unit, because stored answers need no preparation."""
JUDGEMENT = UnitSpec("judge", Judgement, JUDGE_PROMPTS, version=EVALUATION_VERSION)


def judge_name(spec: BenchmarkSpec, settings: EvaluationSettings) -> str:
    """Return the judge's model, prompts with their hashes and strictness, which a reported score must name."""
    prompts = registry_for(spec)
    hashes = ", ".join(f"{p}.v{prompts[p].version} {prompts[p].digest[:12]}" for p in JUDGE_PROMPTS)
    model = spec.model_for(Role.JUDGE)
    rules = "lexical" if model == DEFAULT_MODEL else model
    name = model if is_language_model(model) else f"{rules} judge, no language model"
    return f"{name} ({hashes}; {'strict' if settings.is_strict else 'lenient'})"


@dataclass
class ArmRun:
    """One arm on one conversation."""

    arm: Arm
    conversation: ReadConversation
    units: Units
    settings: EvaluationSettings
    embedder: Embedder | None
    timings: Timings
    folder: Path
    """Folder of the files that systems keep themselves."""
    count_tokens: Callable[[str], int]
    templates: Templates | None = None
    """What an arm that learns has learnt on other conversations."""
    used: PreparationUsage | None = None
    """Usage of the preparation; None where nothing was prepared, or not to its end."""
    unclosed: list[str] = field(default_factory=list)
    """Failure of a system that could not be closed."""

    def __post_init__(self) -> None:
        """Name what the answers depend on; nothing is prepared before the first answer that is not stored."""
        self.prepared = PreparationRun(self.conversation, self._make)
        self.budget = self.arm.budget_in(self.settings)
        embedder = self.embedder.name if self.embedder else None
        depends_on = [self.conversation.digest, self.arm.name, self.arm.settings, embedder, self.arm.version]
        self.state = Digested(self, [*depends_on, *filter(None, [self.templates])])

    async def results(self) -> list[Result]:
        """Return the results of all probes that were answered and judged, and close the system."""
        found: list[Result | None] = []
        # Probes of one point are asked at the same time; the system reads on when all of them are answered.
        try:
            for probes in self.conversation.probes_by_point.values():
                found += await all_of([self._result(p) for p in probes])
            if self.arm.registered is not None and any(found):
                with suppress(Blocked):  # it answered the first probes and failed on the way to the last
                    spec = USED.asking(*self._prompts())
                    (self.used,) = await self.units.run(spec, self.arm.name, self.state, work=_use)
        finally:
            if self.prepared.ingestion.adds:
                self.timings.add_preparation(self.arm.name, self._id, self.prepared.ingestion)
            try:
                await self.prepared.close()
            except MemorySystemError as exc:  # its answers are complete
                self.unclosed.append(f"{self._id}/close/{self.arm.name}: {exc}")
        return [result for result in found if result is not None]

    @property
    def _id(self) -> str:
        return self.conversation.conversation_id

    async def _result(self, probe: Probe) -> Result | None:
        try:
            answer = await self._answer(probe)
            said = Digested(answer, answer.text)
            judge = Digested(self.settings, judge_name(self.units.spec, self.settings))
            key = f"{self.arm.name}/{probe.probe_id}"
            (judgement,) = await self.units.run(JUDGEMENT, key, probe, said, judge, work=_judge)
        except Blocked:
            return None
        return Result(
            conversation_id=self._id,
            probe_id=probe.probe_id,
            ability=probe.ability,
            system=self.arm.name,
            answer=answer,
            judgement=judgement,
            scores=score_of(probe, judgement, answer.text),
            retrieval=retrieval_of(probe, answer, self.conversation.contents),
        )

    async def _answer(self, probe: Probe) -> Answer:
        """Return the arm's answer; it is a unit unless the arm's answers are fixed."""
        if self.arm.is_fixed:
            return self._made(probe, text=FIXED_ANSWERS[self.arm.name](probe, self.conversation.probes))
        key = f"{self.arm.name}/{probe.probe_id}"
        if (form := WRITTEN_ANSWERS.get(self.arm.name)) is not None:
            by_rule = not is_language_model(self.units.spec.model_for(Role.JUDGE))
            spec = replace(TRIAL, acting=Role.READER) if by_rule else TRIAL
            asked = (probe, form(probe, self.conversation.probes), self.arm.name, self._id)
            (found,) = await self.units.run(spec, key, *asked, work=_write)
            return found
        spec = ANSWER.asking(*self._prompts())
        for _ in range(2):
            (found,) = await self.units.run(spec, key, self.state, probe, self.budget, work=_ask)
            if found.read_digest in ("", self._read_digest(probe)):
                break
            stored = self.units.log.units  # this answer is of another conversation
            stored.remove(ANSWER.stage, keep=set(stored.keys(ANSWER.stage)) - {key})
        return found

    def _made(self, probe: Probe, **fields: object) -> Answer:
        of = {"conversation_id": self._id, "probe_id": probe.probe_id, "system": self.arm.name}
        return Answer.model_validate(of | fields)

    def _read_digest(self, probe: Probe) -> str:
        """Return the digest of what a system has read when the probe is asked."""
        return self.conversation.read_digests[self.conversation.point(probe)]

    async def ask(self, asker: Asker, probe: Probe) -> Answer:
        """Return the answer of the system, or of the reader of the evidence."""
        question = self.conversation.question(probe)  # made anew, so that no system has another's
        began = time.perf_counter()
        if self.arm.name == EVIDENCE:
            given, ready = await _read(asker, question, self._evidence(probe))
        else:
            system = await self.prepared.up_to(self.conversation.point(probe))
            began = time.perf_counter()
            if isinstance(system, AnsweringSystem):
                text, context, calls = await system.answer(question, budget=self.budget, asker=asker)
                given, ready = {"text": text, "context": context, "model_calls": calls}, time.perf_counter()
            else:
                given, ready = await _read(asker, question, await system.context(question, budget=self.budget))
        self.timings.add_answer(self.arm.name, self._id, probe.probe_id, ready - began, time.perf_counter() - began)
        if self.arm.name != EVIDENCE:
            given["ranking"] = tuple(found.message_keys for found in await system.retrieve(question, k=RUNNING.ranked))
            if self.prepared.read_digest != self._read_digest(probe):
                changed = "read another conversation than the benchmark's: it was changed on the way"
                raise MemorySystemError(f"{self.arm.name} {changed}")
            given["read_digest"] = self.prepared.read_digest
        return self._made(probe, **given)

    def _evidence(self, probe: Probe) -> Context:
        cited = {e.message_key for e in probe.evidence}
        builder = ContextBuilder(self.settings.window, self.count_tokens)
        for exchange in self.conversation.exchanges:
            if messages := tuple(m for m in exchange.messages if m.message_key in cited):
                part = exchange.model_copy(update={"messages": messages})
                builder.put("evidence", dated(part), part.message_keys, place=exchange.position)
        return builder.build()

    async def _make(self) -> MemorySystem:
        assert self.arm.registered is not None
        assert self.arm.settings is not None
        folder = self.folder / digest_of(self.arm.name)[:16]
        # A preparation begins from nothing, so that a restart adds nothing twice.
        shutil.rmtree(folder, ignore_errors=True)
        if self.arm.registered.is_product:
            folder.mkdir(parents=True)
        tools = Tools(
            count_tokens=self.count_tokens,
            # Without the arm's settings: what the arms of a grid ask alike is asked once.
            asker=self.units.asker(PREPARE.asking(*self._prompts()), self.arm.base),
            embedder=self.embedder,
            rng_key=f"{self.units.spec.seed}/{self._id}/prepare/{self.arm.name}",
            conversation_id=self._id,
            budget=self.budget,
            templates=self.templates,
            folder=folder,
            tokenizer=self.units.spec.tokenizer,
        )
        return await make_system(self.arm.registered, self.arm.settings, tools)

    def _prompts(self) -> tuple[str, ...]:
        """Return the prompts that the arm's system may ask beside `answer`."""
        if self.arm.registered is None:
            return ()
        if (named := self.arm.registered.prompts) is not None:
            return named
        # A system that names none may ask whatever readers and extractors answer.
        return tuple(p.prompt_id for p in self.units.prompts if p.role in (Role.READER, Role.EXTRACTOR))


async def _read(asker: Asker, question: Question, context: Context) -> tuple[dict[str, object], float]:
    """Return the fields of the reader's answer from a context, and the time when the context was ready."""
    ready = time.perf_counter()
    inputs = AnswerInputs(context=context.text, question=question.text, asked_on=question.asked_at.date())
    return {"text": await asker.prose("answer", inputs), "context": context, "model_calls": 1}, ready


async def _write(asker: Asker, probe: Probe, form: TrialForm, system: str, conversation_id: str) -> Sequence[Answer]:
    criteria = tuple(nugget.text for nugget in probe.rubric)
    inputs = TrialAnswerInputs(question=probe.question, gold_answer=probe.gold_answer, criteria=criteria, form=form)
    text = await asker.prose("trial_answer", inputs)
    return [Answer(conversation_id=conversation_id, probe_id=probe.probe_id, system=system, text=text)]


async def _ask(asker: Asker, state: Digested[ArmRun], probe: Probe, _budget: int) -> Sequence[Answer]:
    return [await state.value.ask(asker, probe)]


async def _use(_: Asker, state: Digested[ArmRun]) -> Sequence[PreparationUsage]:
    run = state.value
    await run.prepared.up_to(len(run.conversation.exchanges))
    return [run.prepared.usage]


async def _judge(
    asker: Asker, probe: Probe, said: Digested[Answer], judge: Digested[EvaluationSettings]
) -> Sequence[Judgement]:
    is_strict = judge.value.is_strict
    return [await judge_answer(probe, said.value, asker, judge=str(judge.digest), is_strict=is_strict)]
