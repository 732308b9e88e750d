"""Panels over the hand-written conversation of the checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.annotation_ui import ItemPlace, counter_view, panel_view, role_of, without_markdown
from longbeam.review import CounterEvidence, OpenConversation
from longbeam.schemas import Probe
from longbeam.store import seal_conversation
from longbeam.text import LaterPassage
from tests.builders import good_conversation


@pytest.fixture
def sealed(tmp_path: Path) -> OpenConversation:
    story = good_conversation()
    seal_conversation(tmp_path / "c000.duckdb", story.head, story.messages(), story.probes())
    return OpenConversation(tmp_path / "c000.duckdb")


def probe_of(sealed: OpenConversation, ability: str, **details: object) -> Probe:
    probe = next(p for p in sealed.probes.values() if p.ability == ability)
    return probe.model_copy(update={"details": probe.details.model_copy(update=details)})


def standings(sealed: OpenConversation, probe: Probe) -> list[tuple[str, str]]:
    return [(v.standing, v.value) for v in panel_view(ItemPlace(sealed, f"c000/{probe.probe_id}"), probe).values]


def doubts(sealed: OpenConversation, probe: Probe) -> list[str]:
    return [d.text for d in panel_view(ItemPlace(sealed, f"c000/{probe.probe_id}"), probe).doubts]


def test_a_value_is_called_old_or_one_of_two_sides_or_later_than_the_question(sealed: OpenConversation) -> None:
    update = probe_of(sealed, "knowledge_update")
    assert standings(sealed, update) == [("old: changed later", "$18,000"), ("the last value", "$21,500")]
    first = sealed.lines[sealed.ids[update.evidence[0].message_key]]
    on_the_way = update.model_copy(update={"asked_at": first.sent_at})
    assert [standing for standing, _ in standings(sealed, on_the_way)][1] == "told after the question"
    contested = probe_of(sealed, "contradiction_resolution")
    assert {standing for standing, _ in standings(sealed, contested)} == {"one of two sides"}


def test_what_must_not_be_said_is_not_called_untold(sealed: OpenConversation) -> None:
    def names(probe: Probe) -> dict[str, str]:
        panel = panel_view(ItemPlace(sealed, f"c000/{probe.probe_id}"), probe)
        return {row.name: row.text for row in panel.details}

    banned = names(probe_of(sealed, "instruction_following", missing="$8,900"))
    assert banned["must not be said"] == "$8,900"
    assert "should be told nowhere" in names(probe_of(sealed, "abstention", missing="the dentist"))
    as_of = names(probe_of(sealed, "temporal_reasoning", variety="as_of", old_value="$18,000"))
    assert as_of["value on that day"] == "$18,000"
    assert "old value" not in as_of


def test_evidence_has_the_role_that_it_plays_for_the_answer(sealed: OpenConversation) -> None:
    def roles(probe: Probe) -> list[str]:
        return [role_of(probe, evidence) for evidence in probe.evidence]

    assert roles(probe_of(sealed, "knowledge_update")) == ["old value", "new value"]
    assert roles(probe_of(sealed, "contradiction_resolution")) == ["one side", "the other side"]
    assert roles(probe_of(sealed, "event_ordering")) == ["1: the lease", "2: the painting", "3: the deck oven"]
    assert roles(probe_of(sealed, "temporal_reasoning", variety="as_of")) == ["held then", "later value"]


def test_what_no_check_settles_is_named_once(sealed: OpenConversation) -> None:
    sums = probe_of(sealed, "multi_session_reasoning")
    assert doubts(sealed, sums) == []  # the sum is computed
    told = sums.model_copy(update={"gold_answer": f"{sums.gold_answer} That is $77 more."})
    assert doubts(sealed, told) == ["No quote says $77."]
    nugget = sums.rubric[0].model_copy(update={"nugget_id": "multi_session_reasoning.0.n9"})
    assert f"No quote is cited for nugget {len(sums.rubric) + 1}." in doubts(
        sealed, sums.model_copy(update={"rubric": (*sums.rubric, nugget)})
    )
    order = probe_of(sealed, "event_ordering")
    turned = tuple(e.model_copy(update={"group": 2 - i}) for i, e in enumerate(order.evidence))
    assert doubts(sealed, order) == []
    assert "another order" in doubts(sealed, order.model_copy(update={"evidence": turned}))[0]


def test_an_excerpt_shows_no_sign_of_a_table_and_cuts_no_word(sealed: OpenConversation) -> None:
    table = "| item | price |\n|---|:---:|\n| hotel | 90 euros |\n| fare"
    assert without_markdown(table) == "item, price; hotel, 90 euros; fare;"
    message = sealed.messages(0, 1)[0]
    told = message.model_copy(update={"content": "anticipated expenditures " * 80})
    passage = LaterPassage(told, 0, 850, 950, 1.0, ("later",), 900)
    (row,) = counter_view(ItemPlace(sealed, "c000/x.0"), CounterEvidence((), (passage,)), ()).candidates
    assert set(row.excerpt_html.split()) == {"…", "anticipated", "expenditures"}
