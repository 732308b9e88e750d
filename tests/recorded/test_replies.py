"""No check refuses the replies of a very good model, which a reader found right (README.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from longbeam.generators import Frame, Ledger, TurnBatch, TurnScene, write_narratives, write_user_turns
from longbeam.generators.probes import ProbeCandidate, ProbeMaterial, generator_for, plan_candidates, write_probe
from longbeam.generators.probes.abstention import ABILITY as ABSTENTION
from longbeam.keys import UnitKey
from longbeam.models import outcome_of, parse_reply
from longbeam.prompts import default_registry
from longbeam.prompts.calls import OrderReply, ProbeReply, Stage, UserTurnsReply
from longbeam.schemas import MessageRole, ModelReply
from longbeam.text import ENGLISH, trace_problem
from tests.recorded import recording
from tests.recorded.recording import ApprovingModel, RecordedReply, RepeatingModel, asker_of

CANDIDATES = {c.candidate_id: c for c in recording.records(ProbeCandidate)}
WORDED = [r for r in recording.replies() if r.unit_key.rpartition("/")[2] in CANDIDATES]
TURNS = recording.replies("user_turns")
COPIED = "the question copies {} from the original; say it in words of both sides"
REFUSED = {
    # Event ordering asked for a list without naming its things; since then the question lists them out of order.
    **{f"event_ordering.{i}": "`items` are missing" for i in (1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 19, 21)},
    # Only the message with the superseded value has these words, so a search for the question's words finds it.
    "knowledge_update.3": COPIED.format("'end the year with'"),
    "knowledge_update.5": COPIED.format("'tin in the hall'"),
}
"""Wordings that were right when they were recorded, and that later rules refuse on purpose: the reason for each."""


def test_the_recording_is_whole() -> None:
    assert len(recording.replies()) == 223
    assert (len(WORDED), len(TURNS)) == (106, 28)
    assert len(recording.sealed().messages) == 142
    assert sum(p.is_selected for p in recording.sealed().probes) == 20


def test_no_reply_is_taken_for_a_refusal_or_a_copy_of_the_example() -> None:
    registry = default_registry()
    for reply in recording.replies():
        is_prose = reply.prompt_id not in registry or registry[reply.prompt_id].output is None
        assert outcome_of(ModelReply(text=reply.text), ENGLISH, is_prose=is_prose) is None, reply.unit_key
        assert registry.find_copied(reply.text, known=()) is None, reply.unit_key


def test_no_reply_holds_eight_words_of_its_prompt() -> None:
    registry = default_registry()
    known = {prompt.prompt_id for prompt in registry}
    for reply in recording.replies():
        if reply.prompt_id in known:
            for text in _texts_in(reply.text):
                assert registry.find_passage(reply.prompt_id, text, known=()) is None, (reply.unit_key, text)


def _texts_in(text: str) -> Iterator[str]:
    """Yield the texts of a reply: those in its JSON, or itself."""
    try:
        parts = [json.loads(text[text.index("{") : text.rindex("}") + 1])]
    except ValueError:
        parts = [text]
    while parts:
        part = parts.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict | list):
            parts += part.values() if isinstance(part, dict) else part


@pytest.mark.parametrize("reply", WORDED, ids=lambda r: f"{r.unit_key.rpartition('/')[2]}-{r.generation}")
def test_every_worded_probe_passes_the_checks_of_its_ability(reply: RecordedReply) -> None:
    """Found 11: a check refused right replies. Those of an older rule are refused for that rule alone."""
    candidate = CANDIDATES[reply.unit_key.rpartition("/")[2]]
    worded = parse_reply(reply.text, ProbeReply)
    expected = [REFUSED[candidate.candidate_id]] if candidate.candidate_id in REFUSED else []
    assert list(generator_for(candidate.ability).check(candidate, worded)) == expected


def test_every_wording_of_an_older_rule_is_recorded() -> None:
    assert REFUSED.keys() <= {r.unit_key.rpartition("/")[2] for r in WORDED}


@pytest.mark.parametrize("name", [name for name in REFUSED if name.startswith("event_ordering.")])
def test_an_order_of_the_older_rule_does_not_name_its_things(name: str) -> None:
    """The items are not all that such a wording lacks: with those of its gold answer it is refused for the question."""
    (text,) = (r.text for r in WORDED if r.unit_key.endswith(f"/{name}"))
    worded = parse_reply(text, ProbeReply)
    assert isinstance(worded, ProbeReply)
    items = [item.strip(" .,;") for item in re.split(r"\d+\. ", worded.gold_answer)[1:]]
    problems = generator_for(CANDIDATES[name].ability).check(
        CANDIDATES[name], OrderReply(**worded.model_dump(), items=items)
    )
    assert f"the question does not name {items[0]!r}; list the items as they are in `items`" in problems


async def test_a_probe_that_once_failed_for_good_is_written_at_the_first_attempt() -> None:
    """Found 11: a right nugget was refused six times, and the unit failed for good."""
    model, candidate = RepeatingModel(), CANDIDATES["contradiction_resolution.2"]
    asker = asker_of(model, "probes", candidate.candidate_id)
    probe = await write_probe(asker, recording.sealed().head, candidate)
    assert probe.rubric[2].text == "States that the user said they have never made paneer themselves"
    assert model.refused() == []


async def test_questions_without_an_answer_are_proved_at_the_first_attempt() -> None:
    model, sealed = RepeatingModel(), recording.sealed()
    material = ProbeMaterial.from_messages(sealed.head, sealed.messages)
    candidates = await plan_candidates(asker_of(model, "probes", f"{ABSTENTION}.candidates"), material, ABSTENTION)
    assert (len(candidates), model.refused(), model.unknown) == (12, [], [])


async def test_narratives_are_accepted() -> None:
    model = RepeatingModel()
    head = recording.sealed().head
    assert head.profile is not None
    asker = asker_of(model, "persona", "narratives")
    narratives = await write_narratives(asker, head.seed, (15, 20), head.profile, ())
    assert (narratives, model.refused()) == (head.narratives, [])


@pytest.mark.parametrize("reply", TURNS, ids=lambda r: r.unit_key.rpartition("/")[2])
async def test_every_batch_of_user_turns_is_accepted(reply: RecordedReply) -> None:
    """Found 11: no check may refuse a right reply."""
    head, model, unit = recording.sealed().head, ApprovingModel(), UnitKey.parse(reply.unit_key).unit
    (plan,) = head.plans
    assert head.profile is not None
    said = parse_reply(reply.text, UserTurnsReply)
    assert isinstance(said, UserTurnsReply)
    voiced = tuple(bullet_id for turn in said.turns for bullet_id in turn.voices)
    sub_plan = next(s for s in plan.sub_plans if unit.startswith(f"{s.key}."))
    batch = TurnBatch(batch_index=int(unit.rpartition("b")[2]), bullet_ids=voiced, questions=len(said.turns))
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    days = [b.happens_on for b in sub_plan.bullets]
    stage = Stage(stage_index=sub_plan.sub_plan_index, first_day=min(days), last_day=max(days))
    scene = TurnScene(frame, Ledger.of(plan), stage, sub_plan)
    turns = await write_user_turns(asker_of(model, "user_turns", unit), scene, batch)
    assert (len(turns), model.refused(), model.unknown) == (len(said.turns), [], [])


def test_no_message_has_a_trace_of_the_machinery() -> None:
    sealed = recording.sealed()
    found = [trace_problem(m.content, MessageRole(m.role), sealed.head.seed.category) for m in sealed.messages]
    assert set(found) == {None}
