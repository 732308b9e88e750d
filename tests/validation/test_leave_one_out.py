"""Facts that the ledger still gives when one cited message is left out."""

from __future__ import annotations

import pytest

from longbeam.schemas import Assertion, Stance
from longbeam.text import money
from longbeam.validation import build_index
from longbeam.validation.leave_one_out import find_problems
from tests.builders import LEASE_DAY, MemoryReader, good_conversation


def dispensable(reader: MemoryReader, ability: str) -> list[str]:
    return [key for p in find_problems(build_index(reader), reader.probe(ability)) for key in p.evidence]


def with_said(reader: MemoryReader, again: Assertion) -> MemoryReader:
    """Return the conversation with another assertion of a value, which a message of its bullet says."""
    assert again.value is not None
    messages = list(reader.messages())
    place = next(i for i, m in enumerate(messages) if again.bullet_id in m.bullet_ids)
    content = f"{messages[place].content} As I said: {again.value.text}."
    return reader.with_assertion(again).with_message(place, content=content)


@pytest.mark.parametrize("ability", ["summarization", "temporal_reasoning", "multi_session_reasoning"])
def test_a_value_that_one_message_gives_needs_it(ability: str) -> None:
    assert dispensable(good_conversation(), ability) == []


def test_a_value_that_two_messages_give_needs_neither() -> None:
    again = Assertion(bullet_id="p0.s1.b3", fact_id="p0.f1", stance=Stance.MENTIONS, value=LEASE_DAY)
    spoilt = with_said(good_conversation(), again)
    for ability in ("summarization", "temporal_reasoning"):
        assert dispensable(spoilt, ability) == ["p0.s0.t1.n0"]
    assert dispensable(spoilt, "multi_session_reasoning") == []  # rests on other facts


def test_the_finding_names_one_message_or_several() -> None:
    def said(reader: MemoryReader) -> list[str]:
        return [p.message for p in find_problems(build_index(reader), reader.probe("temporal_reasoning"))]

    again = Assertion(bullet_id="p0.s1.b3", fact_id="p0.f1", stance=Stance.MENTIONS, value=LEASE_DAY)
    reader = with_said(good_conversation(), again)
    assert said(reader) == ["the gold answer also follows when the cited message p0.s0.t1.n0 is left out"]
    evidence = reader.probe("temporal_reasoning").evidence
    (teller,) = build_index(reader).voicing("p0.s1.b3")
    bullets = (*reader.probe("temporal_reasoning").bullet_ids, "p0.s1.b3")
    both = (*evidence, evidence[0].model_copy(update={"message_key": teller.message_key}))
    assert said(reader.with_probe("temporal_reasoning", evidence=both, bullet_ids=bullets)) == [
        f"the gold answer also follows when any one of the cited p0.s0.t1.n0, {teller.message_key} is left out"
    ]


def test_a_value_that_another_bullet_has_and_no_other_message_says_needs_its_message() -> None:
    again = Assertion(bullet_id="p0.s1.b3", fact_id="p0.f1", stance=Stance.MENTIONS, value=LEASE_DAY)
    assert dispensable(good_conversation().with_assertion(again), "temporal_reasoning") == []


def test_a_message_whose_bullets_the_ledger_does_not_know_is_needed() -> None:
    reader = good_conversation()
    told = reader.probe("temporal_reasoning")
    (place,) = [i for i, m in enumerate(reader.messages()) if m.message_key == told.evidence[0].message_key]
    advised = reader.with_message(place, bullet_ids=("p0.s0.a0",))
    for bullets in (told.bullet_ids, (*told.bullet_ids, "p0.s0.a0")):
        assert dispensable(advised.with_probe("temporal_reasoning", bullet_ids=bullets), "temporal_reasoning") == []


def test_another_value_of_the_same_fact_spares_nothing() -> None:
    other = Assertion(bullet_id="p0.s1.b4", fact_id="p0.f3", stance=Stance.UPDATES, value=money(950))
    assert dispensable(good_conversation().with_assertion(other), "multi_session_reasoning") == []


def test_an_item_told_again_before_the_next_keeps_its_place() -> None:
    # The lease is told in s0.t1; the painting, the next item, in s0.t1.n2, and the oven in s1.t0.
    reader = good_conversation()
    early = reader.with_bullet("p0.s0.b0", topic="the lease")  # before the item itself: no second mention
    assert dispensable(early, "event_ordering") == []
    painting = reader.with_bullet("p0.s0.b4", topic="the shop front")  # s0.t2, before the oven
    assert dispensable(painting, "event_ordering") == ["p0.s0.t1.n2"]
    last = reader.with_bullet("p0.s1.b4", topic="the deck oven")  # nothing comes after the last item
    assert dispensable(last, "event_ordering") == ["p0.s1.t0.n0"]


def test_a_bullet_that_two_messages_voice_needs_neither() -> None:
    reader = good_conversation()
    denial_twice = reader.with_message(16, bullet_ids=("p0.s1.b4", "p0.s1.b3"))
    assert dispensable(denial_twice, "contradiction_resolution") == ["p0.s1.t2.n0"]


def test_evidence_without_a_nugget_is_not_asked_for() -> None:
    reader = good_conversation()
    original, updated = reader.probe("knowledge_update").evidence
    bare = reader.with_probe("knowledge_update", evidence=(original.model_copy(update={"nugget_ids": ()}), updated))
    again = Assertion(bullet_id="p0.s1.b4", fact_id="p0.f2", stance=Stance.MENTIONS, value=money(18_000))
    assert dispensable(with_said(bare, again), "knowledge_update") == []
    assert dispensable(with_said(reader, again), "knowledge_update") == ["p0.s0.t1.n0"]
