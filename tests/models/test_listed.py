"""Lists in several replies: good items are kept, and only what is missing is asked for again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.errors import ReplyError
from longbeam.models import CALLING, Asker, ListTask, Sifted
from longbeam.prompts.calls import NarrativesInputs, NarrativesReply
from longbeam.schemas import Domain, IncidentKind, ModelReply, Narrative, Seed
from tests.builders import PROFILE
from tests.generators.scripted import ScriptedModel, asker_for

SEED = Seed(domain=Domain.GENERAL, title="A trip", theme="By train", subtopics=("tickets",))


def _reply(*labels: str) -> str:
    return NarrativesReply(
        narratives=[Narrative(label=label, description=f"about {label}", sub_labels=("one",)) for label in labels]
    ).model_dump_json()


def _inputs(count: int) -> NarrativesInputs:
    return NarrativesInputs(seed=SEED, profile=PROFILE, people=(), at_least=count, at_most=count)


def _sift(count: int, kept: tuple[Narrative, ...], reply: NarrativesReply) -> Sifted[Narrative]:
    """Keep new labels in lower case, up to `count` of them."""
    known, faults = {n.label for n in kept}, []
    for found in reply.narratives:
        if not found.label.islower():
            faults.append(f"{found.label!r} is not in lower case")
        elif found.label not in known and len(kept) < count:
            known.add(found.label)
            kept = (*kept, found)
    missing = count - len(kept)
    return Sifted(kept, (*faults, f"{missing} are missing") if missing else ())


async def _listed(asker: Asker, count: int, least: int = 1, refused: Sequence[str] = ()) -> list[str]:
    async def confirm(narrative: Narrative) -> str:
        return f"{narrative.label} is no part of this" if narrative.label in refused else ""

    task = ListTask(
        inputs=_inputs(count),
        sift=partial(_sift, count),
        rest=lambda kept: _inputs(count - len(kept)),
        show=lambda narrative: narrative.label,
        least=least,
        confirm=confirm,
    )
    return [n.label for n in await asker.listed("narratives", task)]


async def test_only_what_is_missing_is_asked_for_and_what_is_kept_is_named() -> None:
    model = ScriptedModel({"narratives": [_reply("tickets", "Money", "food"), _reply("money", "trains")]})
    asker = asker_for(model)
    assert await _listed(asker, 4) == ["tickets", "food", "money", "trains"]

    first, rest = model.calls
    assert (first.inputs.at_least, rest.inputs.at_least) == (4, 2)
    assert first.retry is None
    assert rest.retry is not None
    assert rest.retry.kept == ("tickets", "food")
    said = rest.messages()[-1].content
    assert all(text in said for text in ("- tickets", "- food", "'Money' is not in lower case", "2 are missing"))
    assert (first.unit_key, rest.unit_key) == ("c000/stage/unit", "c000/stage/unit/+1")
    assert asker.incidents == []


async def test_an_item_that_a_model_refuses_costs_no_other() -> None:
    model = ScriptedModel({"narratives": [_reply("tickets", "sheep", "food"), _reply("trains")]})
    assert await _listed(asker_for(model), 3, refused=["sheep"]) == ["tickets", "food", "trains"]
    assert len(model.calls) == 2
    assert "sheep is no part of this" in model.calls[1].retry.text


async def test_a_reply_of_refused_items_is_an_attempt_without_progress() -> None:
    model = ScriptedModel({"narratives": [_reply("tickets"), _reply("sheep"), _reply("goats"), _reply("food")]})
    assert await _listed(asker_for(model), 2, refused=["sheep", "goats"]) == ["tickets", "food"]
    faults = [call.retry.text for call in model.calls[1:]]
    assert "sheep is no part" in faults[1]
    assert "goats is no part" in faults[2]


@pytest.mark.parametrize("reason", ["length", "loop"])
async def test_items_of_a_reply_that_breaks_off_are_judged_too(reason: str) -> None:
    cut = ModelReply(text=_reply("sheep", "food", "trains")[:-20], finish_reason=reason)
    model = ScriptedModel({"narratives": [cut, _reply("trains")]})
    assert await _listed(asker_for(model), 2, refused=["sheep"]) == ["food", "trains"]


async def test_an_empty_list_is_taken_where_none_is_needed() -> None:
    model = ScriptedModel({"narratives": [_reply("sheep")]})
    assert await _listed(asker_for(model), 2, least=0, refused=["sheep"]) == []


async def test_a_complete_list_takes_one_call() -> None:
    model = ScriptedModel({"narratives": [_reply("a", "b")]})
    assert await _listed(asker_for(model), 2) == ["a", "b"]
    assert len(model.calls) == 1


async def test_a_list_that_stays_short_is_taken_and_noted() -> None:
    model = ScriptedModel({"narratives": [_reply("a", "b")]})
    asker = asker_for(model)
    assert await _listed(asker, 3) == ["a", "b"]
    # The first reply adds two items; then three attempts add none.
    assert len(model.calls) == 1 + CALLING.attempts
    refused, incident = asker.incidents
    assert (refused.kind, refused.place) == (IncidentKind.REFUSED, "c000/stage/unit/+1")
    assert (incident.kind, incident.prompt_id, incident.place) == (IncidentKind.SHORT, "narratives", "c000/stage/unit")
    assert incident.detail == "taken with 2 items; 1 are missing"


async def test_too_short_a_list_fails() -> None:
    model = ScriptedModel({"narratives": [_reply("a", "b")]})
    with pytest.raises(ReplyError, match="1 are missing"):
        await _listed(asker_for(model), 3, least=3)


async def test_a_list_that_grows_by_one_item_a_reply_ends() -> None:
    model = ScriptedModel({"narratives": [_reply(f"item{i}") for i in "abcdefghijklmnop"]})
    asker = asker_for(model)
    assert len(await _listed(asker, 12)) == CALLING.list_rounds
    assert len(model.calls) == CALLING.list_rounds


async def test_an_item_copied_from_the_example_is_left_out_alone() -> None:
    model = ScriptedModel({"narratives": [_reply("tickets", "marionette"), _reply("trains")]})
    assert await _listed(asker_for(model), 2) == ["tickets", "trains"]
    assert "'marionette' is from the example" in model.calls[1].retry.text


async def test_an_item_that_stands_beside_what_it_was_drawn_from_is_left_out_as_well() -> None:
    # The lines of a plan: each a pair of a line of the sheet and its draft.
    def sift(kept: tuple[tuple[int, Narrative], ...], reply: NarrativesReply) -> Sifted[tuple[int, Narrative]]:
        found = (*kept, *enumerate(reply.narratives, len(kept)))[:2]
        return Sifted(found, () if len(found) == 2 else ("one is missing",))

    task = ListTask(
        inputs=_inputs(2),
        sift=sift,
        rest=lambda kept: _inputs(2 - len(kept)),
        show=lambda item: item[1].label,
    )
    model = ScriptedModel({"narratives": [_reply("tickets", "lantern play"), _reply("trains")]})
    written = await asker_for(model).listed("narratives", task)
    assert [narrative.label for _, narrative in written] == ["tickets", "trains"]
    assert "'lantern play' is from the example" in model.calls[1].retry.text


async def test_an_item_that_does_not_fit_the_schema_costs_no_other() -> None:
    broken = _reply("tickets", "food").replace('"sub_labels":["one"]', '"sub_labels":[]', 1)
    model = ScriptedModel({"narratives": [broken, _reply("trains")]})
    assert await _listed(asker_for(model), 2) == ["food", "trains"]
    assert "narratives.0.sub_labels" in model.calls[1].retry.text


@pytest.mark.parametrize("reason", ["length", "loop", "stop"])
async def test_a_reply_that_breaks_off_keeps_its_whole_items(reason: str) -> None:
    cut = ModelReply(text=_reply("tickets", "food", "trains")[:-20], finish_reason=reason)
    model = ScriptedModel({"narratives": [cut, _reply("trains")]})
    assert await _listed(asker_for(model), 3) == ["tickets", "food", "trains"]
    assert model.calls[1].retry.kept == ("tickets", "food")


async def test_a_cut_reply_without_a_new_item_is_treated_as_cut() -> None:
    cut = ModelReply(text='{"narratives": [{"lab', finish_reason="length")
    model = ScriptedModel({"narratives": [cut, _reply("trains")]})
    assert await _listed(asker_for(model), 1) == ["trains"]
    assert "cut off" in model.calls[1].retry.text


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "E"]), max_size=4), min_size=1, max_size=40))
async def test_no_script_of_replies_loses_a_good_item_or_asks_without_end(script: Sequence[Sequence[str]]) -> None:
    model = ScriptedModel({"narratives": [_reply(*labels) for labels in script]})
    try:
        found = await _listed(asker_for(model), 4)
    except ReplyError:
        found = []
    asked = [*script, *[script[-1]] * len(model.calls)][: len(model.calls)]
    good = list(dict.fromkeys(label for labels in asked for label in labels if label.islower()))
    assert found == good[:4]
    assert len(model.calls) <= CALLING.list_rounds * CALLING.attempts
