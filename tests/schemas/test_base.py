"""Records: their digests are stable and never another record's; one is taken from another object."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from longbeam.schemas import ChatMessage, Fact, Plan, Price, Record, ValueKind, compact, digest_of


def test_copy_has_a_digest_of_its_own() -> None:
    message = ChatMessage(role="user", content="one")
    first = message.digest
    copy = message.model_copy(update={"content": "two"})
    assert copy.digest != first
    assert copy.digest == ChatMessage(role="user", content="two").digest


def test_a_record_is_taken_from_the_attributes_of_another_object() -> None:
    class Named(Record):
        name: str
        size: int
        is_new: bool = False

    other = SimpleNamespace(name="a", size=1, colour="red")
    assert Named.taken_from(other, size=2) == Named(name="a", size=2)
    with pytest.raises(ValidationError, match="name"):
        Named.taken_from(SimpleNamespace(size=1))


def test_digest_is_the_sha256_of_the_canonical_json() -> None:
    # echo -n '{"input":0.5,"cached":null,"output":9.0}' | sha256sum
    assert Price(input=0.5, output=9).digest.startswith("c92e2bc484fbbab0")


def test_digest_of_a_message_is_that_of_its_role_and_content() -> None:
    # printf 'user\0one' | sha256sum
    message = ChatMessage(role="user", content="one")
    assert message.digest.startswith("3f82300aaee69d77")
    assert message.hash.hex() == message.digest


def test_a_compact_record_is_equal_and_shares_the_sets_of_field_names() -> None:
    facts = [
        Fact(fact_id=f"p0.f{i}", subject="the page", attribute="colour", kind=ValueKind.NAME, **more)
        for i, more in enumerate([{}, {"is_fixed": True}])
    ]
    plan = Plan(plan_index=0, sub_plans=(), facts=tuple(facts), assertions=())

    result = compact(plan)

    assert (result, result.digest, result.canonical_json()) == (plan, plan.digest, plan.canonical_json())
    assert result.facts[0].model_fields_set is result.facts[1].model_fields_set
    assert result.facts[1].model_copy(update={"is_fixed": False}).digest != result.facts[1].digest


def test_digest_of_tells_nested_parts_apart() -> None:
    assert digest_of(["a"], "b") != digest_of(["a", "b"])
    assert digest_of({"x": 1, "y": 2}) == digest_of({"y": 2, "x": 1})


def test_digest_of_refuses_what_has_no_stable_form() -> None:
    with pytest.raises(TypeError, match="cannot digest set"):
        digest_of({"a", "b"})
