"""Keys: each form is read back as it was written, ordered by its numbers, and refused where it is no key."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from longbeam.keys import (
    BulletId,
    DialogueKey,
    FactId,
    ItemId,
    MessageKey,
    NuggetId,
    ProbeId,
    SubPlanKey,
    TurnKey,
    UnitKey,
    conversation_of,
    natural_order,
    plan_index_of,
)

_NUMBER = st.integers(0, 10_000)


@pytest.mark.parametrize(
    ("kind", "parts"), [(SubPlanKey, 2), (TurnKey, 3), (MessageKey, 4), (BulletId, 3), (FactId, 2)]
)
@given(data=st.data())
def test_a_numbered_key_is_read_back(kind: Any, parts: int, data: st.DataObject) -> None:
    key = kind(*data.draw(st.lists(_NUMBER, min_size=parts, max_size=parts)))

    assert kind.parse(str(key)) == key
    assert plan_index_of(str(key)) == key.plan_index


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (MessageKey(0, 2, 5, 0), "p0.s2.t5.n0"),
        (DialogueKey(SubPlanKey(0, 2)), "p0.s2"),
        (DialogueKey(SubPlanKey(0, 2), 1), "p0.s2.settle1"),
        (ProbeId("knowledge_update", "3"), "knowledge_update.3"),
        (NuggetId("knowledge_update.3", 0), "knowledge_update.3.n0"),
        (ItemId("c000", "a/b.3"), "c000/a/b.3"),
        (UnitKey("c000", "dialogue", "p0.s2", "t5/reply0"), "c000/dialogue/p0.s2/t5/reply0"),
        (UnitKey("c000", "dialogue"), "c000/dialogue"),
    ],
)
def test_a_key_is_written_and_read(key: Any, text: str) -> None:
    assert str(key) == text
    assert type(key).parse(text) == key


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (SubPlanKey, "p0"),
        (SubPlanKey, "p0.b2"),
        (TurnKey, "p0.s2.t"),
        (MessageKey, "p0.s2.t5"),
        (MessageKey, "p0.s2.t5.n-1"),
        (BulletId, "p0.s2.b٣"),
        (FactId, "f3"),
        (DialogueKey, "p0.s2.settle"),
        (NuggetId, "knowledge_update.3"),
        (ItemId, "c000"),
        (UnitKey, "c000"),
        (UnitKey, "c000//p0"),
    ],
)
def test_other_text_is_refused(kind: Any, text: str) -> None:
    with pytest.raises(ValueError, match=r"key|item"):
        kind.parse(text)


def test_keys_sort_by_their_numbers() -> None:
    texts = ["p0.s10", "p0.s2", "p1.s0"]

    assert sorted(texts, key=SubPlanKey.parse) == sorted(texts, key=natural_order) == ["p0.s2", "p0.s10", "p1.s0"]


def test_keys_lead_to_the_keys_around_them() -> None:
    message = SubPlanKey(0, 2).turn(5).message(1)

    assert (str(message), str(message.turn), str(message.sub_plan)) == ("p0.s2.t5.n1", "p0.s2.t5", "p0.s2")
    assert str(UnitKey("c000", "dialogue", "p0.s2").at("more1").at("t5")) == "c000/dialogue/p0.s2/more1/t5"
    assert UnitKey.parse("c000/dialogue/p0.s2/t5").without_place == UnitKey("c000", "dialogue", "p0.s2")


@given(keys=st.lists(st.text("ps.0129²", max_size=8), unique=True))
def test_any_keys_have_one_order(keys: list[str]) -> None:
    backwards = keys[::-1]
    assert sorted(keys, key=natural_order) == sorted(backwards, key=natural_order)


@pytest.mark.parametrize(("subject", "conversation"), [("c000/abstention.0", "c000"), ("c000", "c000"), ("", "")])
def test_subjects_of_the_review_name_their_conversation(subject: str, conversation: str) -> None:
    assert conversation_of(subject) == conversation
