from __future__ import annotations

from dataclasses import replace

from longbeam.text import money
from longbeam.validation import build_index
from tests.builders import good_conversation


def test_the_index_finds_messages_facts_and_voices() -> None:
    index = build_index(good_conversation())

    assert index.message("p0.s0.t1.n2") == index.messages[4]
    assert index.message("p9") is None
    assert [m.message_key for m in index.voicing("p0.s1.b2")] == ["p0.s1.t0.n0"]
    assert [a.bullet_id for a in index.values_over_time("p0.f2")] == ["p0.s0.b2", "p0.s1.b2"]
    assert index.values_over_time("p0.s0.b0.day") == ()
    assert not index.is_import


def test_assertions_come_in_the_order_of_the_story() -> None:
    reader = good_conversation()
    backwards = reader.with_plan(assertions=reader.head.plans[0].assertions[::-1])

    assert build_index(backwards).values_over_time("p0.f2")[-1].value == money(21_500)


def test_the_cited_messages_are_in_order_and_once() -> None:
    reader = good_conversation()
    probe = reader.probe("summarization")
    doubled = probe.model_copy(update={"evidence": (*probe.evidence[::-1], *probe.evidence)})

    cited = build_index(replace(reader, asked=())).cited(doubled)
    assert [m.message_key for m in cited] == ["p0.s0.t1.n0", "p0.s1.t0.n0", "p0.s1.t3.n0"]
