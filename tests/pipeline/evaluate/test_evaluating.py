"""An evaluation of a small benchmark: what is scored, what a second run pays for, what a failure leaves."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam.errors import MemorySystemError, ProviderError, RunStopped, SpecError, UserError
from longbeam.evaluation import (
    MISLEADING,
    Arm,
    Control,
    always_there,
    arm_of,
    arms_of,
    calibration_of,
    notes_on,
    read_results,
    render_table,
    rows_of,
)
from longbeam.formats import ImportOptions, importer
from longbeam.library import MeasuringOptions, measurement_of
from longbeam.memory import (
    FLOORS,
    SYSTEMS,
    ContextBuilder,
    Rag,
    RagSettings,
    Registered,
    Tools,
    exchanges_of,
    settings_of,
)
from longbeam.models import ModelCall
from longbeam.offline import OfflineWriter
from longbeam.pipeline import Origin, benchmark_status, import_benchmark, render_evaluations
from longbeam.pipeline.evaluate import (
    EvaluationRequest,
    evaluate,
    evaluation_folder,
    judge_name,
    results_path,
)
from longbeam.pipeline.run import run_inline
from longbeam.prompts import default_registry
from longbeam.prompts.calls import JudgeInputs, TrialAnswerInputs
from longbeam.schemas import BenchmarkSpec, Context, EvaluationSettings, Exchange, ModelReply, Question, Role
from longbeam.store import Benchmark, SealedConversation, WorkLog, create_benchmark, seal_conversation
from tests.pipeline.conftest import CountingModel, copied
from tests.tiny import tiny_conversation
from tests.wired import answered_by, offline


@pytest.fixture
def benchmark(short: Benchmark) -> Benchmark:
    return short


async def test_floors_gold_and_systems_in_one_table(benchmark: Benchmark) -> None:
    arms = [*always_there(), arm_of("rag", {"k": "3"})]
    run, results = await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline())
    rows = {row.system: row for row in rows_of(results)}
    assert set(rows) == {a.name for a in arms}
    assert rows["blank"].score == 0
    assert (rows["gold"].score or 0) >= 0.95
    assert (rows["blank"].released or 0) > 0  # BEAM's event ordering gives a blank answer something
    # Whole evidence, read from the prompt alone: the rule-based reader does not see the contradictions of this
    # conversation, two of its twenty probes.
    assert (rows["evidence"].score or 0) >= 0.85
    assert (rows["random_units"].score or 0) < 0.5
    assert rows["evidence"].recall == 1
    assert "lexical judge, no language model" in render_table(run, results)
    assert len(results_path(benchmark).read_text(encoding="utf-8").splitlines()) == 1 + len(results)


@pytest.mark.parametrize(
    ("imported_from", "advice"),
    [("chat", "make them with `longbeam probe tiny`"), ("", "`longbeam status tiny` says what is missing")],
)
async def test_a_benchmark_without_probes_says_what_makes_them(imported_from: str, advice: str, out: Path) -> None:
    made, benchmark = tiny_conversation(), create_benchmark(BenchmarkSpec(name="tiny", length=16_000), out)
    spec = benchmark.spec.model_copy(update={"imported_from": imported_from})
    empty = replace(benchmark, spec=spec)
    seal_conversation(empty.sealed_path("c000"), made.head, made.said, ())
    with pytest.raises(UserError, match=f"^benchmark 'tiny' has no probes to ask; {advice}$"):
        await evaluate(empty, EvaluationRequest(spec, [arm_of("rag", {})], EvaluationSettings()), offline())


async def test_without_probes_nothing_is_prepared(benchmark: Benchmark) -> None:
    request = EvaluationRequest(benchmark.spec, [arm_of("rag", {})], EvaluationSettings(), probes={"c000": ()})
    counting = CountingModel()
    with pytest.raises(UserError, match="no probes to ask; its review has rejected or not settled all of them"):
        await evaluate(benchmark, request, answered_by(counting))
    assert not counting.calls
    assert not results_path(benchmark).exists()


async def test_second_run_asks_nothing_and_says_the_same(benchmark: Benchmark) -> None:
    arms = [arm_of("rag", {}), *always_there()]
    first = await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline())
    again = CountingModel()
    assert (
        await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), answered_by(again))
        == first
    )
    assert again.calls == {}
    _, results = first
    status = benchmark_status(benchmark)
    assert status.evaluations.last is not None
    assert (status.evaluations.runs, status.evaluations.judged) == (1, len(results))
    assert status.evaluations.answers == sum(r.answer.context is not None for r in results)
    assert f"evaluations: 1 run kept, the last {status.evaluations.last.run_id} of " in render_evaluations(status)


async def test_a_product_finds_its_folder_there_and_empty(benchmark: Benchmark) -> None:
    arms = [arm_of("tests.memory.third_party:Drawer", {})]
    request = EvaluationRequest(benchmark.spec, arms, EvaluationSettings())
    first, _ = await evaluate(benchmark, request, offline())
    again, results = await evaluate(benchmark, replace(request, is_fresh=True), offline())
    assert first.failures == again.failures == ()
    assert all(r.answer.context and r.answer.context.text for r in results)


async def test_other_offline_rules_answer_anew(benchmark: Benchmark) -> None:
    arms = [arm_of("rag", {})]
    before = await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline())
    again = CountingModel()
    models = replace(answered_by(again), version_of=lambda model: "the next release")
    run, results = await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), models)
    assert results == before[1]
    asked = sum(again.calls.values())
    assert asked == sum(row.calls for row in before[0].spending) > 0
    # The journal keeps the replies that were made by the former rules: they were asked for, too.
    assert run.spending == tuple(
        row.model_copy(
            update={name: 2 * getattr(row, name) for name in ("calls", "prompt_tokens", "output_tokens", "cost_usd")}
        )
        for row in before[0].spending
    )


CUSTOM = """
from longbeam.memory.base import ExchangeMemory
from longbeam.memory.context import ContextBuilder
from longbeam.memory.registry import FLOORS, SYSTEMS, Registered
from longbeam.schemas.base import Record

class Settings(Record):
    pass

class Mine(ExchangeMemory[Settings]):
    async def context(self, question, *, budget):
        builder = ContextBuilder(budget, self._tools.count_tokens)
        builder.put_while_fitting("mine", self._exchanges[{part}])
        return builder.build()

MINE = Registered(Settings, Mine, "a part of the exchanges")
"""


async def test_an_edited_system_is_asked_again(
    benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # bytecode knows an edit by its second and its size

    async def read(part: str) -> list[str]:
        (tmp_path / "mine_of_mine.py").write_text(CUSTOM.replace("{part}", part), encoding="utf-8")
        sys.modules.pop("mine_of_mine", None)
        importlib.invalidate_caches()
        arms = [arm_of("mine_of_mine:MINE", {})]
        _, results = await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline())
        return [r.answer.context.text for r in results if r.answer.context]

    first, last = await read(":1  "), await read("-1: ")
    assert first != last
    assert await read("-1: ") == last


async def test_fresh_prepares_and_asks_again(benchmark: Benchmark) -> None:
    seen: list[str] = []
    registered = Registered(RagSettings, lambda settings, tools: Counting(settings, tools, seen), "counts", prompts=())
    request = EvaluationRequest(benchmark.spec, [Arm("http://x/y", registered, RagSettings())], EvaluationSettings())
    _, first = await evaluate(benchmark, request, offline())
    _, again = await evaluate(benchmark, request, offline())
    assert (len(seen), again) == (1, first)
    model = CountingModel()
    _, fresh = await evaluate(benchmark, replace(request, is_fresh=True), answered_by(model))
    assert (len(seen), fresh) == (2, first)
    assert model.calls == {}  # the reader is asked the same, so its replies are replayed


async def test_probes_are_asked_at_their_own_point(benchmark: Benchmark) -> None:
    (conversation_id,) = benchmark.sealed_ids
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        exchanges = list(exchanges_of(sealed.messages()))
        probe = next(p for p in sealed.probes() if p.is_selected)
    middle = exchanges[4]
    early = probe.model_copy(update={"asked_at": middle.messages[-1].sent_at})
    late = probe.model_copy(update={"probe_id": "abstention.99", "question": "And now?"})
    read: list[str] = []
    registered = Registered(RagSettings, lambda settings, tools: Noting(settings, tools, read), "notes", prompts=())
    request = EvaluationRequest(
        benchmark.spec,
        [Arm("noting", registered, RagSettings())],
        EvaluationSettings(),
        probes={conversation_id: [late, early]},
    )
    _, results = await evaluate(benchmark, request, offline())
    sources = {r.probe_id: r.answer.context.message_keys for r in results if r.answer.context}
    assert sources[early.probe_id] == middle.message_keys
    assert sources[late.probe_id] == exchanges[-1].message_keys
    assert read == ["finish 5", f"asked {probe.question}", f"finish {len(exchanges)}"]


class Noting(Rag):
    """Reads the last exchange, and writes down what happens to it."""

    def __init__(self, settings: RagSettings, tools: Tools, read: list[str]) -> None:
        super().__init__(settings, tools)
        self._read = read

    async def finish(self) -> None:
        self._read.append(f"finish {len(self._exchanges)}")

    async def asked(self, question: Question) -> None:
        self._read.append(f"asked {question.text}")

    async def context(self, question: Question, *, budget: int) -> Context:
        builder = ContextBuilder(budget, self._tools.count_tokens)
        builder.put_exchange("last", self._exchanges[-1])
        return builder.build()


async def test_a_system_that_fails_at_a_probe_fails_there_only(benchmark: Benchmark) -> None:
    registered = Registered(RagSettings, Failing, "fails at questions about summaries", prompts=())
    arms = [Arm("failing", registered, RagSettings()), arm_of("rag", {})]
    run, results = await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline())
    assert len(run.failures) == len(run.probes) - sum(r.system == "failing" for r in results) > 0
    assert all("answer/failing/" in f and "out of cheese" in f for f in run.failures)
    assert sum(r.system == "rag" for r in results) == len(run.probes)


class Failing(Rag):
    """Fails at every question with a w in it."""

    async def context(self, question: Question, *, budget: int) -> Context:
        if "w" in question.text:
            raise MemorySystemError("out of cheese")
        return await super().context(question, budget=budget)


async def test_a_system_that_fails_on_the_way_keeps_what_it_answered_before(benchmark: Benchmark) -> None:
    (conversation_id,) = benchmark.sealed_ids
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        exchanges = list(exchanges_of(sealed.messages()))
        late = next(p for p in sealed.probes() if p.is_selected)
    asked_at = exchanges[4].messages[-1].sent_at
    early = late.model_copy(update={"probe_id": "abstention.98", "asked_at": asked_at})
    registered = Registered(RagSettings, Forgetful, "fails at the sixth exchange", prompts=())
    request = EvaluationRequest(
        benchmark.spec,
        [Arm("forgetful", registered, RagSettings()), arm_of("rag", {})],
        EvaluationSettings(),
        probes={conversation_id: [late, early]},
    )
    run, results = await evaluate(benchmark, request, offline())
    assert sorted((r.system, r.probe_id) for r in results) == [
        ("forgetful", early.probe_id), ("rag", late.probe_id), ("rag", early.probe_id),
    ]  # fmt: skip
    assert run.failures == (
        f"c000/answer/forgetful/{late.probe_id}: out of shelves",
        "c000/used/forgetful: out of shelves",
        "c000/close/forgetful: the door is stuck",
    )


class Forgetful(Rag):
    """Takes five exchanges, and cannot be closed."""

    async def add(self, exchange: Exchange) -> None:
        if len(self._exchanges) == 5:
            raise MemorySystemError("out of shelves")
        await super().add(exchange)

    async def close(self) -> None:
        raise MemorySystemError("the door is stuck")


async def test_a_limit_takes_each_conversation_and_each_ability_in_its_turn(two: Benchmark) -> None:
    asked = measurement_of(two, [], {"limit": 3}).request.probes
    assert asked is not None
    assert sorted(len(of) for of in asked.values()) == [1, 2]
    assert len({probe.ability for of in asked.values() for probe in of}) == 3
    request = replace(measurement_of(two, [], {"limit": 1}).request, arms=[Arm("gold")])
    run, _ = await evaluate(two, request, offline())
    assert (run.conversations, len(run.probes)) == (1, 1)  # a conversation that is not asked counts for no interval


async def test_conversations_side_by_side_say_the_same(two: Benchmark) -> None:
    request = EvaluationRequest(two.spec, [arm_of("rag", {}), Arm("gold")], EvaluationSettings(), is_fresh=True)
    assert await evaluate(two, replace(request, parallel=2), offline()) == await evaluate(two, request, offline())


class Counting(Rag):
    """Writes down that it was made."""

    def __init__(self, settings: RagSettings, tools: Tools, seen: list[str]) -> None:
        super().__init__(settings, tools)
        seen.append(tools.rng_key)


def test_a_results_file_says_which_judge_gave_its_verdicts() -> None:
    for model, name in (
        ("offline", "lexical judge, no language model ("),
        ("similarity", "similarity judge, no language model ("),
        ("gguf:small.gguf", "gguf:small.gguf ("),
    ):
        spec = BenchmarkSpec(name="t", models={"default": "offline", "judge": model})
        assert judge_name(spec, EvaluationSettings()).startswith(name)


async def test_another_judge_asks_the_judge_only(benchmark: Benchmark) -> None:
    arms = [arm_of("rag", {})]
    await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline())
    lenient = CountingModel()
    _, results = await evaluate(
        benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings(is_strict=False)), answered_by(lenient)
    )
    assert {stage for stage, _ in lenient.calls} == {"judge"}
    prompt = default_registry()["judge_nugget"]
    named = f"lexical judge, no language model (judge_nugget.v{prompt.version} {prompt.digest[:12]}"
    for result in results:
        assert result.judgement is not None
        assert result.judgement.judge.startswith(named)
        assert result.judgement.judge.endswith("lenient)")


async def test_a_failed_answer_is_missing_and_never_a_zero(benchmark: Benchmark) -> None:
    arms = [arm_of("rag", {})]
    run, results = await evaluate(
        benchmark,
        EvaluationRequest(benchmark.spec, arms, EvaluationSettings()),
        answered_by(BrokenFor("summarization")),
    )
    assert len(run.failures) == 2
    assert all("nobody listens" in f for f in run.failures)
    assert {r.ability for r in results}.isdisjoint({"summarization"})
    healed, results = await evaluate(
        benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline()
    )
    assert healed.failures == ()
    assert sum(r.ability == "summarization" for r in results) == 2


@pytest.fixture(scope="module")
def pair(spec: BenchmarkSpec, tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    made = create_benchmark(spec.model_copy(update={"conversations": 2}), tmp_path_factory.mktemp("pair"))
    asyncio.run(run_inline(made, offline()))
    return made


@pytest.fixture
def two(pair: Benchmark, out: Path) -> Benchmark:
    return copied(pair, out)


FEW = ("long_context", "rag", "bm25", "random_units")


@pytest.mark.parametrize("names", [FEW, pytest.param((*SYSTEMS, *FLOORS), marks=pytest.mark.slow)], ids=["few", "all"])
async def test_negative_controls_drop_every_system_to_the_random_floor(two: Benchmark, names: tuple[str, ...]) -> None:
    arms = [*(arm_of(name, {}) for name in names), Arm("evidence"), Arm("gold")]
    scores = {}
    for control in (None, *Control):
        run, results = await evaluate(
            two, EvaluationRequest(two.spec, arms, EvaluationSettings(budget=600), control=control), offline()
        )
        rows = rows_of([r for r in results if r.ability != "abstention"])  # right without evidence
        scores[control] = {row.system: row.score or 0 for row in rows}
        assert run.control == (control or "")
        assert results_path(two, control).exists()
        if control is not None:
            assert {row.recall for row in rows if row.system in names} == {0}
    intact = scores[None]
    assert intact["long_context"] > intact["rag"] > intact["random_units"]
    for control in Control:
        for name in (*names, "evidence"):
            # 36 probes: two that are right by chance are .056.
            assert scores[control][name] <= intact["random_units"] + 0.06, (control, name)
        assert scores[control]["gold"] == intact["gold"]  # the judge is the same


async def test_one_conversation_cannot_be_swapped(benchmark: Benchmark) -> None:
    with pytest.raises(UserError, match="two are needed"):
        await evaluate(
            benchmark, EvaluationRequest(benchmark.spec, [], EvaluationSettings(), control=Control.SWAPPED), offline()
        )


async def test_a_system_with_settings_has_its_calls_of_preparation_in_the_results(benchmark: Benchmark) -> None:
    arms = [arm_of("summary", {}), arm_of("summary", {"last": 2})]
    run, _ = await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline())
    prepared = {s.system: s.calls for s in run.spending if s.stage == "prepare"}
    assert [*prepared] == [arm.name for arm in arms]
    assert len({*prepared.values()}) == 1  # equal calls of both rows, made once


async def test_rankings_give_hits_and_probes_stand_in_the_results_file(benchmark: Benchmark) -> None:
    arms = [arm_of("rag", {}), arm_of("long_context", {})]
    run, results = await evaluate(benchmark, EvaluationRequest(benchmark.spec, arms, EvaluationSettings()), offline())
    row, whole = rows_of(results)
    hits = [row.hits[k] or 0 for k in (1, 5, 10, 20)]
    assert hits == sorted(hits)
    assert hits[-1] > 0
    assert whole.hits[5] is None  # it retrieves nothing
    assert {p.key for p in run.probes} == {(r.conversation_id, r.probe_id) for r in results}
    assert all(0 <= d < 10 for p in run.probes for d in p.deciles)
    read = read_results(results_path(benchmark))
    assert (read.run, list(read.results)) == (run, results)
    assert {s.stage for s in run.spending if s.system == "rag"} == {"answer", "judge"}
    latency = read.timings.of("rag")
    assert latency is not None
    assert latency.answers == 20
    assert latency.prepare_s is not None


class BrokenFor:
    """An offline writer that nobody reaches when the question is of one ability."""

    def __init__(self, ability: str) -> None:
        self._ability = ability
        self._inner = OfflineWriter()

    async def complete(self, call: ModelCall) -> ModelReply:
        if f"/{self._ability}." in call.unit_key:
            raise ProviderError("nobody listens", kind="connection", is_retryable=True)
        return await self._inner.complete(call)


class Rambling:
    """An offline writer whose judge writes texts of all kinds, none of which has its form."""

    def __init__(self) -> None:
        self._inner = OfflineWriter()
        self.judged = 0

    async def complete(self, call: ModelCall) -> ModelReply:
        if call.role is not Role.JUDGE:
            return await self._inner.complete(call)
        self.judged += 1
        said = ("It meets it, I think.", '{"verdict": "perhaps"}', '{"reason": "it does"}', "[]", '"met"')
        return ModelReply(text=f"{said[self.judged % len(said)]} {self.judged}" if self.judged % 2 else "")


async def test_a_judge_that_never_fits_its_form_stops_after_a_few_calls_whatever_it_says(benchmark: Benchmark) -> None:
    model = Rambling()
    request = EvaluationRequest(benchmark.spec, [*always_there(), arm_of("rag", {})], EvaluationSettings())
    with pytest.raises(RunStopped) as caught:
        await evaluate(benchmark, request, answered_by(model))
    limits = benchmark.spec.limits  # calls that are in flight at the last one of the row are awaited
    assert limits.unusable_in_a_row <= model.judged <= limits.unusable_in_a_row + limits.concurrency
    line = str(caught.value)
    assert f"as judge: the last {limits.unusable_in_a_row} replies could not be used (the last: " in line
    assert "\n" not in line


async def test_a_stored_answer_to_another_conversation_is_asked_for_anew(benchmark: Benchmark) -> None:
    request = EvaluationRequest(benchmark.spec, [arm_of("rag", {})], EvaluationSettings())
    _, first = await evaluate(benchmark, request, offline())
    right = first[0].answer
    assert all(result.answer.read_digest for result in first)
    with WorkLog.open(evaluation_folder(benchmark) / f"{right.conversation_id}.sqlite") as log:
        unit = log.units.find("answer", f"rag/{right.probe_id}")
        assert unit is not None
        wrong = right.model_copy(update={"text": "Of another one.", "read_digest": "0" * 64})
        log.units.finish(unit.stage, unit.unit_key, fingerprint=unit.fingerprint, records=[wrong])
    model = CountingModel()
    _, again = await evaluate(benchmark, request, answered_by(model))
    assert again == first
    assert set(model.unit_keys) <= {f"{right.conversation_id}/answer/rag/{right.probe_id}"}


def test_grids_are_crossed_and_mistakes_named() -> None:
    arms = arms_of("rag,long_context", ["rag.order=rank"], ["rag.k=5,10", "rag.copies=once,released"])
    assert [a.name for a in arms] == [
        "rag[k=5,order=rank]",
        "rag[copies=released,k=5,order=rank]",
        "rag[k=10,order=rank]",
        "rag[copies=released,k=10,order=rank]",
        "long_context",
    ]
    with pytest.raises(SpecError, match="'light' is not among"):
        arms_of("rag", ["light.k=5"], [])
    with pytest.raises(SpecError, match=r"write SYSTEM\.SETTING=VALUE"):
        arms_of("rag", ["k=5"], [])
    with pytest.raises(SpecError, match="asked for twice"):
        arms_of("rag,rag", [], [])


async def test_an_evaluation_has_its_own_models_alone(benchmark: Benchmark) -> None:
    changed = measurement_of(benchmark, [], {"reader": "openai:small", "judge": "openai:big"}).request.spec
    assert changed.model_for(Role.READER) == "openai:small"
    assert changed.model_for(Role.JUDGE) == "openai:big"
    assert set(changed.models) == {"reader", "judge", "extractor"}


async def test_an_imported_locomo_is_measured_by_its_cited_messages(out: Path, tmp_path: Path) -> None:
    said = [("Ana", "I adopted a dog named Rex."), ("Ben", "Lovely!"), ("Ana", "I work at the harbour now.")]
    sample = {
        "sample_id": "one",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": s, "dia_id": f"D1:{i}", "text": t} for i, (s, t) in enumerate(said, 1)],
        },
        "qa": [
            {"question": "What is the dog's name?", "answer": "Rex", "evidence": ["D1:1"], "category": 4},
            {"question": "Where does Ben work?", "adversarial_answer": "harbour", "evidence": ["D1:3"], "category": 5},
            {"question": "Would Ana like cats?", "answer": "Likely no", "evidence": [], "category": 3},
        ],
    }
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps([sample]), encoding="utf-8")
    options = ImportOptions()
    origin = Origin("locomo", "", options.tokenizer)
    made = import_benchmark(importer("locomo")(file, options), "talk", out, origin).benchmark
    measured = measurement_of(made, [arm_of("rag", {"k": "1"})], {})
    run, results = await evaluate(made, measured.request, offline())
    by_category = {
        p.source_category: r for p, r in zip(run.probes, (r for r in results if r.system == "rag[k=1]"), strict=True)
    }
    assert set(by_category) == {"single-hop", "adversarial", "open-domain"}
    assert by_category["single-hop"].retrieval.evidence_recall == 1
    assert by_category["open-domain"].retrieval.evidence_recall is None  # it cites nothing
    assert run.length == 0
    assert run.tokens > 0
    gold = next(row for row in rows_of(results) if row.system == "gold")
    assert gold.score == 1


class TrialModel(OfflineWriter):
    """A judge that writes the answers it is tried on, and takes a number of their forms for right."""

    def __init__(self, *right: str) -> None:
        super().__init__()
        self.right, self.asked = right, Counter[tuple[str, Role]]()

    async def complete(self, call: ModelCall) -> ModelReply:
        inputs = call.inputs
        if isinstance(inputs, TrialAnswerInputs):
            self.asked[inputs.form, call.role] += 1
            return ModelReply(text=f"An answer of the form {inputs.form}.")
        if isinstance(inputs, JudgeInputs) and (form := re.search(r"of the form (.+)\.$", inputs.answer)):
            verdict = "met" if form[1] in self.right else "not met"
            return ModelReply(text=json.dumps({"reason": "read", "verdict": verdict}))
        return await super().complete(call)


@pytest.mark.parametrize(("judge", "role"), [("openai:big", Role.JUDGE), ("offline", Role.READER)])
@pytest.mark.parametrize("right", [("right",), ("right", "two values"), ()])
async def test_a_judge_is_tried_on_answers_that_a_model_writes(
    judge: str, role: Role, right: tuple[str, ...], benchmark: Benchmark
) -> None:
    options: MeasuringOptions = {"reader": "openai:small", "judge": judge, "limit": 10}
    request = measurement_of(benchmark, [], options).request
    assert {"reworded", "misleading"} <= {arm.name for arm in request.arms}
    probes = {c: [p for p in of if p.ability != "event_ordering"] for c, of in (request.probes or {}).items()}
    arms = [Arm(name) for name in ("gold", "wrong", "reworded", "misleading")]
    request = replace(request, arms=arms, probes=probes)
    model = TrialModel(*right)
    run, results = await evaluate(benchmark, request, answered_by(model))
    assert run.failures == ()
    # Nine probes: each has a right answer, and a wrong one in the next of four forms.
    assert model.asked["right", role] == 9
    assert [model.asked[form, role] for form in MISLEADING] == [3, 2, 2, 2]
    judged = calibration_of(rows_of(results), run.judge)
    assert judged.right["reworded"] == (1 if right else 0)
    assert (judged.wrong["misleading"] > 0) is ("two values" in right)
    assert judged.can_score is (right == ("right",))
    again = TrialModel(*right)
    assert await evaluate(benchmark, request, answered_by(again)) == (run, results)
    assert not again.asked


def test_rules_write_no_answers_to_be_tried_on(benchmark: Benchmark) -> None:
    assert "reworded" not in {arm.name for arm in measurement_of(benchmark, [], {}).request.arms}


@pytest.mark.parametrize(
    ("conversations", "learnt"),
    [(1, "ten conversations of 32K by the offline writer"), (5, "4 other conversations of the benchmark")],
)
async def test_the_floor_of_templates_learns_on_the_other_conversations(
    conversations: int, learnt: str, out: Path
) -> None:
    spec = BenchmarkSpec(name="tiny", length=16_000, conversations=conversations)
    made = create_benchmark(spec, out)
    for conversation_id in made.conversation_ids:
        one = tiny_conversation(conversation_id)
        seal_conversation(made.sealed_path(conversation_id), one.head, one.said, one.asked)
    arms = [Arm("templates", FLOORS["templates"], settings_of("templates", FLOORS["templates"], {}))]
    run, results = await evaluate(made, EvaluationRequest(spec, arms, EvaluationSettings()), offline())
    assert run.described[0].learnt_from.startswith(learnt)
    assert f"`templates` learnt from {learnt}" in " ".join(notes_on(run, rows_of(results), results))
    counting = CountingModel()
    _, again = await evaluate(made, EvaluationRequest(spec, arms, EvaluationSettings()), answered_by(counting))
    assert (again, counting.calls) == (results, {})
