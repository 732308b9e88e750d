"""Counter-evidence, dates and rubric trials over the hand-written conversation of the checks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longbeam.keys import NuggetId
from longbeam.offline import judge
from longbeam.review import (
    OpenConversation,
    RubricJudge,
    SearchFilter,
    count_hits,
    counter_evidence,
    dates_view,
    places_of,
    try_rubric,
)
from longbeam.schemas import Probe
from longbeam.store import seal_conversation
from longbeam.text import content_words
from tests.builders import good_conversation

JUDGE = RubricJudge("lexical", judge)


@pytest.fixture
def sealed(tmp_path: Path) -> OpenConversation:
    story = good_conversation()
    path = tmp_path / "c000.duckdb"
    seal_conversation(path, story.head, story.messages(), story.probes())
    return OpenConversation(path)


def probe_of(sealed: OpenConversation, ability: str) -> Probe:
    return next(p for p in sealed.probes.values() if p.ability == ability)


def test_the_other_side_of_an_update_is_the_first_counter_evidence(sealed: OpenConversation) -> None:
    update = probe_of(sealed, "knowledge_update")
    stale = update.model_copy(
        update={"gold_answer": "$18,000 are set aside for the renovation.", "evidence": update.evidence[:1]}
    )
    found = counter_evidence(sealed, stale)
    assert found.candidates[0].message.message_key == update.evidence[1].message_key
    assert {"other_value", "later"} <= set(found.candidates[0].signs)
    assert update.evidence[0].message_key not in {c.message.message_key for c in found.candidates}
    assert found.words  # whole words of the question, not the stems that are searched
    assert set(found.words) <= set(re.findall(r"[^\W_]+", stale.question.lower()))


def test_counter_evidence_is_on_the_topic_and_not_behind_the_question(sealed: OpenConversation) -> None:
    update = probe_of(sealed, "knowledge_update")
    stale = update.model_copy(update={"evidence": update.evidence[:1]})
    keys = {c.message.message_key for c in counter_evidence(sealed, stale).candidates}
    for message in sealed.messages_of(sealed.ids[key] for key in keys):
        assert content_words("renovation") & content_words(message.content), message.content
    before = stale.model_copy(update={"asked_at": sealed.lines[sealed.ids[update.evidence[0].message_key]].sent_at})
    assert all(c.message.sent_at <= before.asked_at for c in counter_evidence(sealed, before).candidates)
    assert update.evidence[1].message_key not in {
        c.message.message_key for c in counter_evidence(sealed, before).candidates
    }
    # An import has no ledger: one word of the question, of many, is no topic.
    question = "How did Piotr limit the renovation to weekends?"
    of_import = stale.model_copy(update={"fact_ids": (), "bullet_ids": (), "question": question})
    for candidate in counter_evidence(sealed, of_import).candidates:
        shared = content_words("limit renovation weekends") & content_words(candidate.message.content)
        assert len(shared) > 1 or "piotr" in candidate.message.content.lower()


def test_the_old_value_is_no_wrong_answer_where_it_is_the_gold(sealed: OpenConversation) -> None:
    update = probe_of(sealed, "knowledge_update")
    kinds = [row.answer_kind for row in try_rubric(JUDGE, update).rows]
    as_of = update.model_copy(update={"gold_answer": f"It was {update.details.old_value} on that day."})
    assert "old_value" in kinds
    assert "old_value" not in [row.answer_kind for row in try_rubric(JUDGE, as_of).rows]


def test_days_are_counted_without_and_with_the_first_and_held_against_the_gold(sealed: OpenConversation) -> None:
    temporal = probe_of(sealed, "temporal_reasoning")
    view = dates_view(sealed, temporal)
    span = next(s for s in view.spans if str(s.first) == "2024-03-06" and str(s.second) == "2024-04-17")
    assert (span.days, span.days_inclusive, span.weeks) == (42, 43, 6.0)
    assert {length.verdict for length in view.lengths if length.text == "42 days"} == {"right"}
    both_ends = temporal.model_copy(update={"gold_answer": temporal.gold_answer.replace("42", "43")})
    assert [x.verdict for x in dates_view(sealed, both_ends).lengths if x.text == "43 days"] == ["both_ends"]


def test_a_rubric_that_gives_marks_for_nothing_is_not_sound(sealed: OpenConversation) -> None:
    probe = probe_of(sealed, "information_extraction")
    sound = try_rubric(JUDGE, probe, sealed.probes.values())
    assert {row.answer_kind: row.is_as_expected for row in sound.rows}["gold"]
    assert sound.is_sound
    weak = probe.model_copy(
        update={"rubric": tuple(n.model_copy(update={"text": f"Mentions {probe.question}"}) for n in probe.rubric)}
    )
    assert "echo" in [row.answer_kind for row in try_rubric(JUDGE, weak).rows if not row.is_as_expected]


def test_two_nuggets_that_ask_for_the_same_are_named(sealed: OpenConversation) -> None:
    probe = probe_of(sealed, "information_extraction")
    (nugget,) = probe.rubric
    twin = nugget.model_copy(update={"nugget_id": str(NuggetId(probe.probe_id, 1))})
    (lint,) = try_rubric(JUDGE, probe.model_copy(update={"rubric": (nugget, twin)})).lint
    assert lint.nugget_ids == (nugget.nugget_id, twin.nugget_id)


def test_a_length_in_words_is_read_whole(sealed: OpenConversation) -> None:
    gold = "There are fifty-seven days between August 19, 2025 and October 15, 2025."
    probe = probe_of(sealed, "temporal_reasoning").model_copy(update={"gold_answer": gold})
    (length,) = (found for found in dates_view(sealed, probe).lengths if found.where == "gold_answer")
    assert (length.verdict, length.span and length.span.days) == ("right", 57)


def test_a_day_without_a_year_is_next_to_its_message(sealed: OpenConversation) -> None:
    gold = {"gold_answer": "The new end is December 28."}  # the cited messages are of March and April 2024
    probe = probe_of(sealed, "temporal_reasoning").model_copy(update=gold)
    (day,) = (found for found in dates_view(sealed, probe).dates if found.where == "gold_answer")
    assert (str(day.date), day.is_year_guessed) == ("2023-12-28", True)


@pytest.mark.parametrize(("query", "found"), [("rent", 2), ("Rent is", 1), ("“rent", 1), ("ifferent", 0), ("$5", 1)])
def test_a_search_finds_beginnings_of_words(query: str, found: int) -> None:
    assert len(places_of("A different flat: the “rent” is $5, and rent is due.", query)) == found


def test_the_count_of_a_search_is_that_of_its_places(sealed: OpenConversation) -> None:
    for query in ("th", "budget", "the "):
        counted = count_hits(sealed, query, SearchFilter())
        messages = sealed.messages_of(list(counted))
        assert counted == {m.message_id: len(places_of(m.content, query.strip())) for m in messages}
        assert counted
