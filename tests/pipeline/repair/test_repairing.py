"""Repair on planted faults: what is mended, what it costs, and that nothing else is touched."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, OK, run
from longbeam.formats import ImportOptions, import_beam
from longbeam.models import ModelCall
from longbeam.pipeline import Origin, benchmark_status, check_and_store, import_benchmark
from longbeam.pipeline.repair import Rejections, checker_calls, render_plan, repair, repair_import, repairs_of
from longbeam.pipeline.run import run_inline
from longbeam.review import ActContent, SeenVersions, new_event, probe_version, rejections_of
from longbeam.schemas import BenchmarkSpec, Checks, EventKind, IncidentKind, Message, ModelReply, Probe
from longbeam.store import Benchmark, ReviewStore, SealedConversation, WorkLog, create_benchmark
from tests.formats.sources import beam_folder
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

Spoil = Callable[[str], str]


class FaultyModel(CountingModel):
    """The offline writer, with the replies to some units of some stage spoilt."""

    def __init__(self, faults: dict[str, Spoil]) -> None:
        super().__init__()
        self._faults = faults

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer; a fault belongs to every unit key that holds its place."""
        reply = await super().complete(call)
        for place, spoil in self._faults.items():
            if place in f"{call.unit_key}/":
                return reply.model_copy(update={"text": spoil(reply.text)})
        return reply


def messages_of(benchmark: Benchmark, conversation_id: str = "c000") -> list[Message]:
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        return list(sealed.messages())


def probes_of(benchmark: Benchmark, conversation_id: str = "c000") -> list[Probe]:
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        return list(sealed.probes())


def errors_of(benchmark: Benchmark) -> list[tuple[str, str, str]]:
    found = check_and_store(benchmark)
    return [(f.conversation_id, f.check, f.subject) for f in found if f.severity == "error"]


async def generated(spec: BenchmarkSpec, out: Path, faults: dict[str, Spoil] | None = None) -> Benchmark:
    benchmark = create_benchmark(spec, out)
    await run_inline(benchmark, answered_by(FaultyModel(faults or {})))
    return benchmark


def as_an_ai(text: str) -> str:
    return f"As an AI language model, I cannot be sure. {text}"


def without_a_voice(text: str) -> str:
    reply = json.loads(text)
    turn = next(t for t in reply["turns"] if t.get("voices"))
    turn["voices"] = turn["voices"][1:]
    return json.dumps(reply)


def says_nothing(text: str) -> str:
    reply = json.loads(text)
    turn = next(t for t in reply["turns"] if t.get("voices"))
    turn["text"] = "Something has happened here, and I do not know what to make of it. What now?"
    return json.dumps(reply)


def with_marker(text: str) -> str:
    reply = json.loads(text)
    turn = next(t for t in reply["turns"] if t.get("voices"))
    turn["text"] += " ->-> 1,2"
    return json.dumps(reply)


def the_same(text: str) -> str:
    return "Write the steps down in the order in which you will do them, then strike out the two that you can drop."


def on_and_on(text: str) -> str:
    # Over 3,000 characters in few tokens: what takes its place is shorter, and the length must stay within its bounds.
    return "unfortunately " * 220


FAULTS: dict[str, Spoil] = {
    "c001/dialogue/p0.s0/p0.s0.t2/replyquestion0/": as_an_ai,
    "c001/dialogue/p0.s0/p0.s0.t4/replyquestion0/": on_and_on,
    "c001/dialogue/p0.s1/p0.s1.t6/replyquestion0/": the_same,
    "c001/dialogue/p0.s1/p0.s1.t8/replyquestion0/": the_same,
    "c001/user_turns/p0.s0.b2/": without_a_voice,
    "c001/user_turns/p0.s1.b1/": says_nothing,
    "c001/user_turns/p0.s1.b0/": with_marker,
}


async def test_each_kind_of_fault_in_the_text_is_mended_and_nothing_else_is_touched(
    spec: BenchmarkSpec, out: Path
) -> None:
    # Of this seed every ability has its two probes: c000 has nothing to repair.
    benchmark = await generated(spec.model_copy(update={"conversations": 2, "seed": 6}), out, FAULTS)
    found = errors_of(benchmark)
    assert {check for _, check, _ in found} == {
        "leaks.ai_phrase",
        "degenerate.repeats_itself",
        "duplicates.same_assistant",
        "leaks.marker",
    }
    # What no reply said was said in the bullets' own words.
    with WorkLog.open_read_only(benchmark.work_path("c001")) as log:
        mended = {i.place for i in log.units.incidents() if i.kind is IncidentKind.MENDED}
    assert mended >= {"c001/user_turns/p0.s0.b2", "c001/user_turns/p0.s1.b1"}
    untouched = benchmark.sealed_path("c000").read_bytes()
    before, probes = messages_of(benchmark, "c001"), probes_of(benchmark, "c001")
    model = CountingModel()
    report = await repair(benchmark, answered_by(model))
    assert (report.left, errors_of(benchmark)) == ((), [])
    assert report.conversations == ("c001",)
    assert benchmark.sealed_path("c000").read_bytes() == untouched
    # three replies of which each is asked for by itself; a turn with a new question, as long as the old one
    assert model.calls["repair", "user_turns"] == 1
    assert {stage for stage, _ in model.calls} == {"repair"}
    after = {m.message_key: m for m in messages_of(benchmark, "c001")}
    turns = {line.split()[1].rstrip(":") for line in report.done if line.endswith("said anew")}
    changed = {m.message_key for m in before if m.content != after[m.message_key].content}
    assert len(changed) <= 3 + 2 * 3 + 4
    assert {key.rpartition(".")[0] for key in changed} >= {t for t in turns if ".t" in t}
    # probes are those that were there, with quotes of what is said now
    same = {p.probe_id: p.question for p in probes_of(benchmark, "c001")}
    assert same == {p.probe_id: p.question for p in probes if p.probe_id in same}
    # what was repaired stays so, for nothing
    again = CountingModel()
    await run_inline(benchmark, answered_by(again))
    assert (again.calls, {m.message_key: m for m in messages_of(benchmark, "c001")}) == ({}, after)


def lost_of(benchmark: Benchmark, conversation_id: str) -> list[str]:
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        return [i.place for i in sealed.head.making.incidents if i.kind is IncidentKind.DROPPED]


async def test_bullets_that_a_run_went_on_without_are_said_by_a_repair(spec: BenchmarkSpec, out: Path) -> None:
    """The batch has no usable reply: its bullets leave the plan, and no probe and no check knows them."""
    benchmark = create_benchmark(spec.model_copy(update={"checks": Checks(gap_share=1)}), out)
    await run_inline(benchmark, answered_by(FaultyModel({"/user_turns/p0.s1.b1/": lambda text: "?"})))
    lost = lost_of(benchmark, "c000")
    assert lost
    assert errors_of(benchmark) == []

    await repair(benchmark, answered_by(CountingModel()))
    assert lost_of(benchmark, "c000") == []
    assert {*lost} <= {bullet_id for m in messages_of(benchmark) for bullet_id in m.bullet_ids}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """A benchmark without a fault; to be copied before it is repaired."""
    spec = BenchmarkSpec.model_validate({"name": "short", "seed": 5, "length": "16K", "domains": ["coding"]})
    return asyncio.run(generated(spec, tmp_path_factory.mktemp("pristine")))


@pytest.fixture
def benchmark(pristine: Benchmark, out: Path) -> Benchmark:
    """A copy of it."""
    shutil.copytree(pristine.root, out / "short")
    return Benchmark(pristine.spec, out / "short")


def selected_of(benchmark: Benchmark, ability: str) -> list[str]:
    return [p.probe_id for p in probes_of(benchmark) if p.is_selected and p.ability == ability]


def reject(benchmark: Benchmark, item_id: str, note: str) -> None:
    """As a reviewer does in the browser."""
    probe = next(p for p in probes_of(benchmark) if item_id.endswith(p.probe_id))
    with ReviewStore(benchmark.reviews_path) as store:
        verdict = new_event(
            EventKind.JUDGED,
            item_id,
            "ana",
            ActContent(after={"verdict": "reject"}, note=note),
            SeenVersions(probe=probe_version(probe)),
        )
        store.append([verdict])


async def test_the_next_candidate_takes_the_place_of_a_rejected_probe_for_nothing(benchmark: Benchmark) -> None:
    ranked = [p.probe_id for p in probes_of(benchmark) if p.ability == "temporal_reasoning"]
    others = [p for p in probes_of(benchmark) if p.ability != "temporal_reasoning"]
    model = CountingModel()
    reject(benchmark, f"c000/{ranked[0]}", "asks for a trifle")
    report = await repair(benchmark, answered_by(model), rejected=partial(rejections_of, benchmark))
    assert (model.calls, report.left) == ({}, ())
    assert report.done == (
        f"c000 {ranked[0]}: left out (asks for a trifle)",
        f"c000 {ranked[2]}: taken in its place",
    )
    assert selected_of(benchmark, "temporal_reasoning") == ranked[1:3]
    assert [p for p in probes_of(benchmark) if p.ability != "temporal_reasoning"] == others
    assert errors_of(benchmark) == []
    # neither resume nor a second repair brings it back
    await run_inline(benchmark, answered_by(model))
    report = await repair(benchmark, answered_by(model), rejected=partial(rejections_of, benchmark))
    assert (model.calls, report.done) == ({}, ())
    assert selected_of(benchmark, "temporal_reasoning") == ranked[1:3]


class NewWords(CountingModel):
    """The offline writer, which words what it is asked to word again in other words."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer; the reason is in the request."""
        reply = await super().complete(call)
        assert "asks for a trifle" in call.messages()[-1].content
        return reply.model_copy(update={"text": reply.text.replace('"question":"', '"question":"Tell me, please: ')})


async def test_where_no_candidate_is_left_the_refused_are_worded_again(benchmark: Benchmark) -> None:
    pool = [p.probe_id for p in probes_of(benchmark) if p.ability == "knowledge_update"]
    model = NewWords()

    def rejected() -> Rejections:
        old = [p.probe_id for p in probes_of(benchmark) if p.probe_id in pool and "please" not in p.question]
        return {"c000": dict.fromkeys(old, "asks for a trifle")}

    report = await repair(benchmark, answered_by(model), rejected=rejected)
    assert report.left == ()
    now = [p for p in probes_of(benchmark) if p.is_selected and p.ability == "knowledge_update"]
    assert sum(model.calls.values()) == 2
    assert [p.question.startswith("Tell me, please: ") for p in now] == [True, True]
    assert errors_of(benchmark) == []


async def test_what_cannot_be_mended_is_reported(benchmark: Benchmark) -> None:
    model = CountingModel()
    pool = [p.probe_id for p in probes_of(benchmark) if p.ability == "abstention"]
    report = await repair(benchmark, answered_by(model), rejected=lambda: {"c000": dict.fromkeys(pool, "no")})
    # the questions of abstention are drafted together: one by one there is nothing to word again
    assert report.left == (
        "c000 abstention: probe_set.number: 0 probes of abstention are selected; 2 were asked for "
        "(no candidate is left that may be worded again)",
    )
    assert sum(model.calls.values()) == 0


async def test_a_repair_that_was_killed_goes_on_and_pays_nothing_twice(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = await generated(spec, out, {k.replace("c001", "c000"): v for k, v in FAULTS.items()})
    shutil.copytree(benchmark.root, out / "copy")
    whole = CountingModel()
    await repair(Benchmark(spec, out / "copy"), answered_by(whole))
    keys: list[str] = []
    for killed_at in (1, 1, 100):
        model = Killed(killed_at)
        if killed_at < 100:
            with pytest.raises(ConnectionAbortedError):
                await repair(benchmark, answered_by(model))
        else:
            assert (await repair(benchmark, answered_by(model))).left == ()
        keys += model.keys
    assert sorted(keys) == sorted(whole.keys)
    assert messages_of(benchmark) == messages_of(Benchmark(spec, out / "copy"))
    assert probes_of(benchmark) == probes_of(Benchmark(spec, out / "copy"))


class Killed(CountingModel):
    """The offline writer, whose process ends at some call."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._at = at

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer the first calls."""
        if len(self.keys) >= self._at:
            raise ConnectionAbortedError
        return await super().complete(call)


def test_an_import_is_never_reworded_and_bad_probes_are_withdrawn_on_demand(tmp_path: Path, out: Path) -> None:
    options = ImportOptions()
    source = beam_folder(tmp_path)
    origin = Origin("beam", "", options.tokenizer)
    benchmark = import_benchmark(import_beam(source, options), "theirs", out, origin).benchmark
    before, said = probes_of(benchmark), messages_of(benchmark)
    bad = {subject for _, _, subject in errors_of(benchmark)} & {p.probe_id for p in before}
    assert bad
    sealed = benchmark.sealed_path("c000").read_bytes()
    report = repair_import(benchmark, withdraws=False)
    assert (report.done, benchmark.sealed_path("c000").read_bytes()) == ((), sealed)
    assert {line.split()[1].rstrip(":") for line in report.left} >= bad
    report = repair_import(benchmark, withdraws=True)
    assert {line.split()[1].rstrip(":") for line in report.done} == bad
    assert not any(probe_id in line for line in report.left for probe_id in bad)
    after = probes_of(benchmark)
    assert messages_of(benchmark) == said
    assert {p.probe_id for p in after if p.is_selected} == {p.probe_id for p in before} - bad
    assert [p.model_copy(update={"is_selected": True}) for p in after] == before


async def test_a_dry_run_says_what_would_be_done_and_changes_nothing(
    spec: BenchmarkSpec, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Of this seed every ability has its two probes: the reply is all that there is to repair.
    faults: dict[str, Spoil] = {"c000/dialogue/p0.s0/p0.s0.t2/replyquestion0/": as_an_ai}
    benchmark = await generated(spec.model_copy(update={"seed": 6}), out, faults)
    sealed, calls = benchmark.sealed_path("c000").read_bytes(), benchmark_status(benchmark).calls
    assert await asyncio.to_thread(run, ["repair", "short", "--dry-run", "--out", str(out)]) == INCOMPLETE
    printed = capsys.readouterr().out
    assert "c000 p0.s0.t2: would be said anew (the assistant says 'As an AI" in printed
    assert "about 1 model call, 0 prompt tokens, 0 output, $0.00; nothing was changed" in printed
    assert (benchmark.sealed_path("c000").read_bytes(), benchmark_status(benchmark).calls) == (sealed, calls)
    assert await asyncio.to_thread(run, ["repair", "short", "--out", str(out)]) == OK
    assert "short: 1 conversation sealed again, 1 model call; 0 errors left" in capsys.readouterr().out
    assert (benchmark_status(benchmark).calls, benchmark_status(benchmark).finished) == (calls + 1, 1)
    assert await asyncio.to_thread(run, ["repair", "short", "--out", str(out)]) == OK
    assert "0 conversations sealed again, 0 model calls" in capsys.readouterr().out


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """A benchmark whose probes a checker judges, with one reply that a check refuses; to be copied."""
    spec = BenchmarkSpec.model_validate(
        {"name": "short", "seed": 5, "length": "16K", "domains": ["coding"], "checks": {"model": True}}
    )
    faults: dict[str, Spoil] = {"c000/dialogue/p0.s0/p0.s0.t4/replyquestion0/": as_an_ai}
    return asyncio.run(generated(spec, tmp_path_factory.mktemp("checked"), faults))


@pytest.mark.parametrize(
    ("ability", "refused", "calls"),
    [
        ("temporal_reasoning", 1, 5),  # one batch: three readings, the critic, the marks
        ("knowledge_update", 99, 7),  # all refused, two worded again, and one batch
    ],
)
async def test_a_dry_run_counts_the_calls_of_the_checker(
    checked: Benchmark, out: Path, ability: str, refused: int, calls: int
) -> None:
    shutil.copytree(checked.root, out / "short")
    benchmark = Benchmark(checked.spec, out / "short")
    pool = sorted((p for p in probes_of(benchmark) if p.ability == ability), key=lambda p: p.rank)
    rejected = {"c000": {p.probe_id: "asks for a trifle" for p in pool[:refused]}}
    printed = render_plan(benchmark, repairs_of(benchmark, [], rejected))
    assert f"about {calls} model calls, " in printed
    model = CountingModel()
    await repair(benchmark, answered_by(model), rejected=lambda: rejected, rounds=1)
    # The reply that a check refuses is regenerated as well, upon which the probes that stay are judged again.
    assert sum(model.calls.values()) >= calls + 1


def test_a_dry_run_counts_the_checks_that_read_a_regenerated_message(checked: Benchmark) -> None:
    repairs = repairs_of(checked, check_and_store(checked), {})
    # Verdicts are on the whole conversation: all twenty probes are judged again, in three batches.
    assert checker_calls(checked, "c000", repairs["c000"]) == {
        "guess_answers": 1,
        "read_passages": 6,
        "criticise_probes": 3,
        "mark_answers": 3,
    }
