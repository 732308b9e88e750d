"""From a whole plan to worded probes, with the offline prober: every probe of every ability proves itself."""

from __future__ import annotations

import asyncio
from functools import lru_cache

import pytest

from longbeam.abilities import is_kind
from longbeam.errors import ReplyError
from longbeam.generators.probes import (
    ProbeCandidate,
    ProbeMaterial,
    further_candidates,
    generator_for,
    plan_candidates,
    planning_prompts,
    probe_inputs,
    wishes_on,
    write_probe,
    writing_prompts,
)
from longbeam.prompts import default_registry
from longbeam.prompts.calls import CandidatesInputs, CandidatesReply, OrderReply, ProbeInputs, ProbeReply
from longbeam.schemas import ABILITIES, Probe, Value, ValueKind
from longbeam.text import parse_value, recompute, says
from longbeam.validation import ConversationIndex, check_probes
from tests.generators.probes.story import OfflineModel, asker, full_story

MATERIAL = full_story().material()
CONTENT = {m.message_key: m.content for m in MATERIAL.voices.messages}


async def _write(ability: str, material: ProbeMaterial = MATERIAL) -> tuple[Probe, ...]:
    candidates = await plan_candidates(asker(), material, ability)
    return tuple(await asyncio.gather(*(write_probe(asker(), material.head, c) for c in candidates)))


@lru_cache(maxsize=16)
def _written(ability: str) -> tuple[Probe, ...]:
    return asyncio.run(_write(ability))


@pytest.mark.parametrize("ability", ABILITIES)
def test_every_ability_gives_eight_probes_and_no_failure(ability: str) -> None:
    written = _written(ability)
    assert len(written) >= 8
    assert [p.rank for p in written] == list(range(len(written)))


async def test_every_writer_sees_the_wishes_that_may_apply() -> None:
    wishes = wishes_on(MATERIAL.wishes)  # those that apply to any question
    assert wishes
    for ability in (a for a in ABILITIES if generator_for(a).draft is None):
        for candidate in await plan_candidates(asker(), MATERIAL, ability):
            inputs = probe_inputs(MATERIAL.head, candidate)
            shown = default_registry()[f"probe_{ability}"].render(inputs)[-1].content
            assert all(f"- {wish}\n" in shown for wish in wishes)


@pytest.mark.parametrize("ability", ABILITIES)
def test_quotes_are_verbatim_and_evidence_exists(ability: str) -> None:
    for probe in _written(ability):
        assert all(e.quote and e.quote in CONTENT[e.message_key] for e in probe.evidence)
        assert bool(probe.evidence) is (ability != "abstention")
        positions = MATERIAL.voices.places_of({e.message_key for e in probe.evidence})
        places = [positions[e.message_key] for e in probe.evidence]
        assert places == sorted(places)


@pytest.mark.parametrize("ability", ABILITIES)
def test_nuggets_and_evidence_point_at_each_other(ability: str) -> None:
    for probe in _written(ability):
        ids = {n.nugget_id for n in probe.rubric}
        named = {n for e in probe.evidence for n in e.nugget_ids}
        assert named == (ids if probe.evidence else set())


@pytest.mark.parametrize("ability", ["temporal_reasoning", "multi_session_reasoning"])
def test_computed_gold_is_computed_again(ability: str) -> None:
    for probe in (p for p in _written(ability) if p.details.computation):
        result = recompute(probe.details.computation, [_read(probe, t) for t in probe.details.computed_from])
        assert result.text == probe.details.computed_value
        assert says(probe.gold_answer, result)


def _read(probe: Probe, text: str) -> Value:
    value = parse_value(text)
    assert value.kind in (ValueKind.DATE, ValueKind.MONEY, ValueKind.NAME, ValueKind.TEXT), probe.probe_id
    return value


@pytest.mark.parametrize("ability", [a for a in ABILITIES if a != "abstention"])
def test_gold_passes_its_own_check_and_wrong_answers_do_not(ability: str) -> None:
    generator = generator_for(ability)
    model = OfflineModel()
    for candidate in asyncio.run(plan_candidates(asker(model), MATERIAL, ability)):
        asyncio.run(write_probe(asker(model), MATERIAL.head, candidate))
        form = OrderReply if ability == "event_ordering" else ProbeReply
        good = form.model_validate_json(asyncio.run(model.complete(model.calls[-1])).text)
        assert not generator.check(candidate, good)
        empty = good.model_copy(update={"gold_answer": " "})
        no_rubric = good.model_copy(update={"nuggets": []})
        off_topic = [n.model_copy(update={"text": "Mentions the weather"}) for n in good.nuggets[:1]]
        vague = good.model_copy(update={"nuggets": off_topic})
        assert all(generator.check(candidate, wrong) for wrong in (empty, no_rubric, vague))


def test_no_check_of_validate_finds_a_fault_in_the_whole_pool() -> None:
    story = full_story()
    messages = tuple(sorted(story.messages, key=lambda m: m.session))
    index = ConversationIndex(head=MATERIAL.head.model_copy(update={"target_tokens": 1}), messages=messages)
    probes = [p for ability in ABILITIES for p in _written(ability)]
    assert check_probes(index, probes) == []


def test_superseded_and_contested_facts_are_nobody_elses_gold() -> None:
    facts = {life.fact.fact_id for life in MATERIAL.histories.lives()}
    unsettled = facts - {s.fact_id for s in MATERIAL.stated.settled}
    for ability in ("information_extraction", "temporal_reasoning"):
        plain = [p for p in _written(ability) if not is_kind(p.details.variety)]
        assert not unsettled & {f for p in plain for f in p.fact_ids}
    # sums and differences are over values as they are now, which nothing contests
    contested = facts - {s.fact_id for s in MATERIAL.stated.current}
    assert not contested & {f for p in _written("multi_session_reasoning") for f in p.fact_ids}


def test_model_chooses_where_code_finds_more() -> None:
    async def chosen(ids: list[str]) -> list[ProbeCandidate]:
        model = OfflineModel({"probe_candidates": CandidatesReply(chosen=ids, purposes=["to tell Ann"] * len(ids))})
        return await plan_candidates(asker(model), MATERIAL, "temporal_reasoning", 2)

    picked = asyncio.run(chosen(["temporal_reasoning.7", "temporal_reasoning.3"]))
    assert [(c.candidate_id, c.rank) for c in picked] == [("temporal_reasoning.7", 0), ("temporal_reasoning.3", 1)]


@pytest.mark.parametrize("count", [6, 0])
def test_model_may_leave_bad_candidates_out(count: int) -> None:
    every = [c.candidate_id for c in generator_for("temporal_reasoning").candidates(MATERIAL)]
    ids = every[:count]
    model = OfflineModel({"probe_candidates": CandidatesReply(chosen=ids, purposes=["to tell Ann"] * len(ids))})
    chosen = asyncio.run(plan_candidates(asker(model), MATERIAL, "temporal_reasoning", 12))
    assert [c.candidate_id for c in chosen] == ids
    further = {c.candidate_id for c in further_candidates(MATERIAL, "temporal_reasoning", chosen)}
    assert not further & set(every[:12])


def test_whoever_chooses_sees_where_the_user_stands_and_the_writer_what_it_is_for() -> None:
    ids = ["knowledge_update.2", "knowledge_update.0"]
    chosen = CandidatesReply(chosen=ids, purposes=["to tell Ann", "to order it"])
    model = OfflineModel({"probe_candidates": chosen})
    candidate, _ = asyncio.run(plan_candidates(asker(model), MATERIAL, "knowledge_update", 3))
    asyncio.run(write_probe(asker(model), MATERIAL.head, candidate))
    choice, wording = (call.inputs for call in model.calls)
    assert isinstance(choice, CandidatesInputs)
    assert isinstance(wording, ProbeInputs)
    told = [b.text for b in MATERIAL.histories.bullets() if b.kind in ("event", "relationship", "update")]
    assert choice.situation == tuple(told[-12:])
    assert (candidate.candidate_id, wording.purpose) == ("knowledge_update.2", "to tell Ann")


def test_probe_that_cannot_be_worded_says_why() -> None:
    stubborn = ProbeReply(question="What?", gold_answer="It is $87.", nuggets=[{"text": "$87", "excerpts": [1]}])

    async def outcomes() -> list[Probe | BaseException]:
        model = OfflineModel({"probe_knowledge_update": stubborn})
        candidates = await plan_candidates(asker(model), MATERIAL, "knowledge_update")
        writing = (write_probe(asker(model), MATERIAL.head, c) for c in candidates)
        return await asyncio.gather(*writing, return_exceptions=True)

    found = asyncio.run(outcomes())
    # One deposit is $87 after its update; the wording fits that candidate and no other.
    assert sum(isinstance(outcome, Probe) for outcome in found) == 1
    failures = [outcome for outcome in found if isinstance(outcome, ReplyError)]
    assert len(failures) == 9
    assert "3 replies did not fit" in str(failures[0])


def test_candidates_survive_a_round_trip() -> None:
    for candidate in asyncio.run(plan_candidates(asker(), MATERIAL, "event_ordering")):
        assert ProbeCandidate.model_validate_json(candidate.model_dump_json()) == candidate


def test_same_material_gives_the_same_probes() -> None:
    again = asyncio.run(_write("summarization", full_story().material()))
    assert again == _written("summarization")


def test_every_ability_has_a_generator_with_prompts_for_planning_or_wording() -> None:
    for ability in ABILITIES:
        prompts = (*planning_prompts(ability), *writing_prompts(ability))
        assert f"probe_{ability}" in prompts


def test_what_a_model_left_out_stays_unused() -> None:
    ids = [c.candidate_id for c in generator_for("temporal_reasoning").candidates(MATERIAL)]
    model = OfflineModel({"probe_candidates": CandidatesReply(chosen=ids[1:3], purposes=["to tell Ann", "a bill"])})
    chosen = asyncio.run(plan_candidates(asker(model), MATERIAL, "temporal_reasoning"))
    left_out = {c.candidate_id for c in further_candidates(MATERIAL, "temporal_reasoning", chosen)} & set(ids[:12])
    assert left_out == set()
    # rules choose without a purpose, so what they passed over may still be asked
    ruled = [c.model_copy(update={"purpose": ""}) for c in chosen]
    assert ids[0] in {c.candidate_id for c in further_candidates(MATERIAL, "temporal_reasoning", ruled)}
