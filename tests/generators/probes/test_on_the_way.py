"""Probes asked on the way: after their evidence, before the last tenth, the same ones in every run."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators.probes import Moments, ask_on_the_way
from longbeam.schemas import Difficulty, Evidence, Message, MessageKind, MessageRole, Nugget, Probe

START = dt.datetime(2026, 1, 1, 9)


def said(count: int) -> list[Message]:
    """A user message and a reply in turn, a minute apart."""
    roles = (MessageRole.USER, MessageKind.QUESTION), (MessageRole.ASSISTANT, MessageKind.REPLY)
    return [
        Message(
            message_key=f"m{i}",
            role=roles[i % 2][0],
            speaker=roles[i % 2][0].value,
            kind=roles[i % 2][1],
            session=0,
            sent_at=START + dt.timedelta(minutes=i),
            content="x",
            tokens=1,
        )
        for i in range(count)
    ]


def probe(ordinal: int, *cites: int, selected: bool = True) -> Probe:
    return Probe(
        probe_id=f"a.{ordinal}",
        ability="information_extraction",
        question="What?",
        gold_answer="x",
        difficulty=Difficulty.EASY,
        rubric=(Nugget(nugget_id=f"a.{ordinal}.n0", text="x"),),
        evidence=tuple(Evidence(message_key=f"m{i}", quote="x") for i in cites),
        is_selected=selected,
    )


def asked(probes: list[Probe], share: float, key: str = "7/c000") -> list[dt.datetime | None]:
    moments = Moments.of(said(100), {f"m{i}" for i in range(100)})
    return [p.asked_at for p in ask_on_the_way(probes, moments, share, key)]


def test_every_time_is_the_end_of_an_exchange_after_the_evidence_and_before_the_last_tenth() -> None:
    for key in map(str, range(50)):
        [time] = asked([probe(0, 10, 40)], 1, key)
        minute = (time - START).total_seconds() / 60 if time else 0
        assert 40 < minute < 90
        assert minute % 2 == 1  # replies have odd ordinals, and an exchange ends with its reply


def test_a_probe_is_asked_one_exchange_after_its_evidence_at_the_earliest() -> None:
    assert Moments.of(said(100), {"m41"}).after(probe(0, 41))[0].position == 43


@pytest.mark.parametrize("cites", [(), (95,), (500,)])  # nothing, the last tenth, a message that does not exist
def test_a_probe_without_a_moment_is_asked_at_the_end(cites: tuple[int, ...]) -> None:
    assert asked([probe(0, *cites)], 1) == [None]


def test_the_share_counts_selected_probes_and_a_replacement_takes_the_place_of_the_replaced() -> None:
    probes = [probe(i, i).model_copy(update={"rank": i}) for i in range(20)]
    before = asked(probes, 0.1)
    places = [i for i, t in enumerate(before) if t is not None]
    assert len(places) == 2
    replaced = [p if i != places[0] else probe(99, 3) for i, p in enumerate(probes)]
    after = asked([p.model_copy(update={"rank": i}) for i, p in enumerate(replaced)], 0.1)
    assert [i for i, t in enumerate(after) if t is not None] == places
    assert after[places[1]] == before[places[1]]


def test_a_share_of_none_asks_everything_at_the_end() -> None:
    assert asked([probe(i, i) for i in range(20)], 0) == [None] * 20


def test_a_request_that_a_wish_applies_to_is_made_at_the_end() -> None:
    wish = probe(0, 10).model_copy(update={"ability": "instruction_following"})
    assert asked([wish], 1) == [None]
