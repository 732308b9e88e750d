"""Models check probes before they are selected: an error lets the next of the pool in, and nothing is asked twice."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from longbeam.errors import RunStopped
from longbeam.evaluation import PROMPTS
from longbeam.keys import ProbeId
from longbeam.models import ModelCall, has_model_checks
from longbeam.pipeline.evaluate import run_model_checks, stored_model_findings
from longbeam.pipeline.run import run_inline
from longbeam.prompts.calls import CriticInputs
from longbeam.schemas import BenchmarkSpec, IncidentKind, ModelReply, Probe, Role
from longbeam.store import Benchmark, SealedConversation, create_benchmark, write_spec
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

ABILITIES = ("information_extraction", "knowledge_update")
"""Abilities of which the rule-based reader answers all."""
FIRST, SECOND = "openai:first", "openai:second"


class Checker(CountingModel):
    """The offline writer, whose critic refuses or rewords some questions."""

    def __init__(
        self,
        refuses: Callable[[ModelCall, str], bool] = lambda call, question: False,
        verdict: str = "refuse",
        **spoilt: str,
    ) -> None:
        super().__init__(**spoilt)
        self._refuses, self._verdict = refuses, verdict

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer; the critic's verdict on a refused question is another one."""
        reply = await super().complete(call)
        if not isinstance(call.inputs, CriticInputs):
            return reply
        said = json.loads(reply.text)
        for critique, probe in zip(said["critiques"], call.inputs.probes, strict=True):
            if self._refuses(call, probe.question):
                nuggets = [{"text": n, "passages": list(probe.cited)} for n in probe.nuggets]
                words = {"question": f"Again: {probe.question}", "gold_answer": probe.gold_answer, "nuggets": nuggets}
                critique |= {"verdict": self._verdict, **words}
        return reply.model_copy(update={"text": json.dumps(said)})

    @property
    def asked(self) -> int:
        """Calls of the checks."""
        return sum(count for (stage, _), count in self.calls.items() if stage == "checks")


class Agreeable(Checker):
    """To whom every message says every claim, as to a model that judges at chance."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer; a verdict on a claim is yes."""
        if call.prompt.prompt_id != "check_entailment":
            return await super().complete(call)
        verdicts = [{"claim": i, "reason": "r", "is_said": True} for i in range(1, 5)]
        return ModelReply(text=json.dumps({"verdicts": verdicts}), finish_reason="stop")


def spec_of(**values: object) -> BenchmarkSpec:
    return BenchmarkSpec.model_validate(
        {
            "name": "short",
            "seed": 5,
            "length": "16K",
            "domains": ["cooking"],
            "abilities": ABILITIES,
            "checks": {"model": True},
            **values,
        }
    )


@pytest.fixture(scope="module")
def unchecked(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """A finished benchmark without checks; to be copied before it is changed."""
    benchmark = create_benchmark(spec_of(checks={"model": False}), tmp_path_factory.mktemp("unchecked"))
    asyncio.run(run_inline(benchmark, answered_by(CountingModel())))
    return benchmark


@pytest.fixture
def begun(unchecked: Benchmark, out: Path) -> Callable[..., Benchmark]:
    """Returns a copy of it under a spec with checks: only what comes after the dialogues is made again."""

    def copied(name: str = "short", **values: object) -> Benchmark:
        root = out / name / "short"
        shutil.copytree(unchecked.root, root)
        spec = spec_of(**values)
        write_spec(root, spec)
        return Benchmark(spec, root)

    return copied


def selected(benchmark: Benchmark) -> list[str]:
    return [p.probe_id for p in probes_of(benchmark) if p.is_selected]


def probes_of(benchmark: Benchmark) -> Sequence[Probe]:
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        return tuple(sealed.probes())


def about(benchmark: Benchmark, *probe_ids: str) -> Callable[[ModelCall, str], bool]:
    """Whether a question is that of one of these probes."""
    questions = {p.question for p in probes_of(benchmark) if p.probe_id in probe_ids}
    return lambda call, question: question.replace("Again: ", "") in questions


def test_checks_are_for_what_language_models_write() -> None:
    """Found 7: model checks did not run by default."""
    assert not has_model_checks(spec_of(checks={}))
    assert has_model_checks(spec_of(checks={}, models={"default": "openai:writer"}))
    assert not has_model_checks(spec_of(checks={"model": False}, models={"default": "openai:writer"}))


async def test_without_checks_no_checker_is_asked(begun: Callable[..., Benchmark]) -> None:
    benchmark, model = begun(checks={"model": False}), Checker(lambda call, question: True)
    await run_inline(benchmark, answered_by(model))
    assert model.calls == {}


async def test_the_objections_of_an_unfit_checker_replace_no_probe(
    unchecked: Benchmark, begun: Callable[..., Benchmark]
) -> None:
    refused = selected(unchecked)[0]
    benchmark = begun(models={"default": "offline", "checker": FIRST})
    await run_inline(benchmark, answered_by(Agreeable(about(unchecked, refused))))
    assert selected(benchmark) == selected(unchecked)
    found = [f for f in stored_model_findings(benchmark) if f.subject == refused]
    assert {(f.check, f.severity.value) for f in found} == {("gate.unfit", "info")}
    assert "calibration items right, 80% are needed), not refused: " in found[0].message
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        (incident,) = [i for i in sealed.head.making.incidents if i.kind is IncidentKind.UNFIT]
    assert incident.detail.startswith(refused)

    judged = begun(
        "judged", models={"default": "offline", "checker": FIRST}, checks={"model": True, "least_accuracy": 0}
    )
    await run_inline(judged, answered_by(Agreeable(about(unchecked, refused))))
    assert refused not in selected(judged)


async def test_probes_without_an_error_stay_as_they_are(unchecked: Benchmark, begun: Callable[..., Benchmark]) -> None:
    benchmark, model = begun(), Checker()
    assert (await run_inline(benchmark, answered_by(model))).failures == ()
    # The rule-based reader errs on one of the four at most.
    assert len(set(selected(benchmark)) & set(selected(unchecked))) >= 3
    # A batch of the four selected probes: three readings, the critic, the marks; and one for a further probe.
    assert 5 <= model.asked <= 12


async def test_an_error_lets_the_next_of_the_pool_in(unchecked: Benchmark, begun: Callable[..., Benchmark]) -> None:
    """Found 7: model checks saw sealed, selected probes only."""
    benchmark, wrong = begun(), selected(unchecked)[0]
    await run_inline(benchmark, answered_by(Checker(about(unchecked, wrong))))
    assert wrong not in {p.probe_id for p in probes_of(benchmark)}
    assert {ProbeId.parse(i).ability for i in selected(benchmark)} == set(ABILITIES)
    assert len(selected(benchmark)) == len(selected(unchecked))
    assert stored_model_findings(benchmark) == []


async def test_validate_asks_nothing_that_generate_asked(begun: Callable[..., Benchmark]) -> None:
    benchmark = begun()
    await run_inline(benchmark, answered_by(Checker()))
    model = Checker()
    ended = await run_model_checks(benchmark, benchmark.spec, answered_by(model))
    assert (ended.calls, ended.replayed, model.calls) == (0, 0, {})


async def test_an_error_of_the_first_judge_counts_when_the_second_agrees(
    unchecked: Benchmark, begun: Callable[..., Benchmark]
) -> None:
    # Of two abilities: an error lets another selection in, of all probes of its ability.
    wrong, fine = selected(unchecked)[0], selected(unchecked)[-1]
    extras = {"sends_extras": True}
    judges = {"checker": FIRST, "second_checker": SECOND, "default": "offline"}
    benchmark = begun(models=judges, endpoints={FIRST: extras, SECOND: extras})
    is_wrong, is_fine = about(unchecked, wrong), about(unchecked, fine)
    model = Checker(lambda call, q: is_wrong(call, q) or (is_fine(call, q) and call.role is Role.CHECKER))
    await run_inline(benchmark, answered_by(model))
    assert wrong not in selected(benchmark)
    assert fine in selected(benchmark)
    assert any("/second" in key for key in model.unit_keys)
    assert stored_model_findings(benchmark) == []


async def test_a_probe_may_be_reworded_twice(unchecked: Benchmark, begun: Callable[..., Benchmark]) -> None:
    one = selected(unchecked)[0]
    benchmark, asked = begun(), about(unchecked, one)
    model = Checker(lambda call, q: asked(call, q) and not q.startswith("Again: Again: "), "reword")
    await run_inline(benchmark, answered_by(model))
    (kept,) = [p for p in probes_of(benchmark) if p.probe_id == one]
    assert kept.is_selected
    assert kept.question.startswith("Again: Again: ")
    assert model.asked >= 10
    assert stored_model_findings(benchmark) == []
    again = Checker()
    await run_model_checks(benchmark, benchmark.spec, answered_by(again))
    assert again.calls == {}

    stubborn = begun("stubborn")
    await run_inline(stubborn, answered_by(Checker(asked, "reword")))
    assert one not in selected(stubborn)


async def test_a_short_pool_asks_for_further_candidates(unchecked: Benchmark, begun: Callable[..., Benchmark]) -> None:
    ability = ABILITIES[0]
    known = {p.probe_id for p in probes_of(unchecked) if p.ability == ability}
    benchmark, model = begun(), Checker(about(unchecked, *known))
    await run_inline(benchmark, answered_by(model))
    mine = [i for i in selected(benchmark) if ProbeId.parse(i).ability == ability]
    assert len(mine) == 2
    assert not set(mine) & known


async def test_a_judge_without_a_usable_verdict_stops_nothing(
    unchecked: Benchmark, begun: Callable[..., Benchmark]
) -> None:
    benchmark = begun()
    model = Checker(spoil="/checks/gate/")
    assert (await run_inline(benchmark, answered_by(model))).failures == ()
    assert selected(benchmark) == selected(unchecked)
    assert {f.check for f in stored_model_findings(benchmark)} == {"gate.undecided"}
    # `validate` asks again what is undecided, and nothing else
    again = Checker()
    await run_model_checks(benchmark, benchmark.spec, answered_by(again))
    assert set(again.calls) == {("checks", prompt) for prompt in PROMPTS}
    assert stored_model_findings(benchmark) == []


class Stopping(Checker):
    """Stops the run after some calls of the checks."""

    most = 3

    async def complete(self, call: ModelCall) -> ModelReply:
        if self.asked >= self.most:
            raise RunStopped("enough for now")
        return await super().complete(call)


async def test_a_stopped_run_goes_on_and_pays_nothing_twice(
    unchecked: Benchmark, begun: Callable[..., Benchmark]
) -> None:
    wrong = selected(unchecked)[0]
    whole, parts = begun("whole"), begun("parts")
    at_once = Checker(about(unchecked, wrong))
    await run_inline(whole, answered_by(at_once))
    keys: list[str] = []
    for _ in range(30):
        model = Stopping(about(unchecked, wrong))
        ended = await run_inline(parts, answered_by(model))
        keys += model.keys
        if not ended.stopped:
            break
    assert len(keys) == len(set(keys))
    assert set(keys) == set(at_once.keys)
    assert probes_of(parts) == probes_of(whole)
