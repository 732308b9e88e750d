from __future__ import annotations

import json

import pytest

from longbeam.errors import UserError
from longbeam.schemas import ABILITIES, MEASURES, REPETITION_MEASURES, TURN_SHAPES, ConversationReader, Domain
from longbeam.validation import as_json, benchmark_statistics, published_figures, render_text, turn_shape
from tests.tiny import TinyConversation, message, probe, tiny_conversation


def test_counts_of_one_conversation() -> None:
    (row,) = benchmark_statistics([tiny_conversation()]).conversations

    # tests/tiny.py: turn 0 has an answer, turn 1 a follow-up; user tokens 10 + 4 + 12 + 4
    assert {name: getattr(row, name) for name in MEASURES} == {
        "user_messages": 4,
        "replies": 4,
        "answers": 1,
        "follow_ups": 1,
        "turns": 2,
        "tokens": 230,
        "user_tokens": 30,
    }
    assert (row.sessions, row.days, row.candidates, row.probes, row.nuggets) == (2, 0, 3, 2, 3)


def test_means_are_per_conversation() -> None:
    short = tiny_conversation("c001")
    short = TinyConversation(short.head, short.said[:2], ())
    statistics = benchmark_statistics([tiny_conversation(), short])

    assert statistics.mean["user_messages"] == 2.5  # (4 + 1) / 2
    assert statistics.mean["tokens"] == 140  # (230 + 50) / 2
    assert statistics.mean["probes"] == 1


def test_turn_shapes_are_shares_of_all_turns() -> None:
    statistics = benchmark_statistics([tiny_conversation()])
    assert statistics.turn_shapes["one_answer"] == statistics.turn_shapes["one_follow_up"] == 0.5
    assert tuple(statistics.turn_shapes) == TURN_SHAPES


@pytest.mark.parametrize(
    ("answers", "follow_ups", "shape"),
    [
        (0, 0, "no_interaction"),
        (1, 0, "one_answer"),
        (2, 0, "two_answers"),
        (0, 1, "one_follow_up"),
        (0, 2, "two_follow_ups"),
        (1, 1, "answers_and_follow_ups"),
        (3, 0, "other"),
    ],
)
def test_turn_shape(answers: int, follow_ups: int, shape: str) -> None:
    assert turn_shape(answers, follow_ups) == shape


def test_tokens_per_message_are_kept_apart_by_category() -> None:
    statistics = benchmark_statistics([tiny_conversation(), tiny_conversation("c001", domain=Domain.MATH)])

    assert [(t.category, t.conversations) for t in statistics.by_category] == [
        ("general", 1),
        ("math", 1),
    ]
    # 30 tokens in 4 user messages, 200 in 4 replies
    assert statistics.by_category[0].per_user_message == 7.5
    assert statistics.by_category[0].per_reply == 50


def test_turn_shapes_are_kept_apart_by_category() -> None:
    short = tiny_conversation("c001", domain=Domain.MATH)
    short = TinyConversation(short.head, short.said[:4], ())
    general, math = benchmark_statistics([tiny_conversation(), short]).by_category

    assert (general.turn_shapes["one_answer"], general.turn_shapes["one_follow_up"]) == (0.5, 0.5)
    assert (math.turn_shapes["one_answer"], math.turn_shapes["one_follow_up"]) == (1, 0)


def test_repetition_is_a_mean_per_conversation() -> None:
    twice = [message(i, f"p0.s0.t{i}.n0", "reply", f"Day {i} is free for you.", 5) for i in range(4)]
    statistics = benchmark_statistics(
        [tiny_conversation(), TinyConversation(tiny_conversation("c001").head, twice, ())]
    )

    assert tuple(statistics.repetition) == REPETITION_MEASURES
    # None of the first; of the second, three of four say again what the first says but for the number.
    assert statistics.repetition["reply_masked_share"] == (0 + 0.75) / 2
    assert statistics.repetition["frequent_sentences"] == (0 + 1) / 2


def test_abilities_count_selected_probes_only() -> None:
    abstention, extraction = benchmark_statistics([tiny_conversation()]).abilities

    assert (abstention.ability, abstention.probes, abstention.hard) == ("abstention", 1, 1)
    assert (abstention.cited_messages, abstention.median_span) == (0, None)
    assert (extraction.probes, extraction.easy, extraction.nuggets, extraction.cited_messages) == (1, 1, 2, 2)


def test_evidence_is_placed_in_tenths_of_the_messages() -> None:
    statistics = benchmark_statistics([tiny_conversation()])

    # messages 0 and 4 of 8: 0 * 10 // 8 = 0 and 4 * 10 // 8 = 5; the distance is 4 of 7
    assert statistics.deciles == (0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0)
    assert statistics.median_span == pytest.approx(4 / 7, abs=1e-4)


def test_a_probe_counts_once_per_tenth() -> None:
    tiny = tiny_conversation()
    both = probe("a.0", "a", (tiny.said[0], tiny.said[0], tiny.said[7]), selected=True)
    statistics = benchmark_statistics([TinyConversation(tiny.head, tiny.said, (both,))])

    assert (statistics.deciles[0], statistics.deciles[8]) == (0.5, 0.5)  # 7 * 10 // 8 = 8
    assert statistics.abilities[0].cited_messages == 2


def test_evidence_says_who_said_it_and_how_far_the_question_and_the_next_mention_are() -> None:
    tiny = tiny_conversation()
    texts = ("It's $80", "Fine.", "Not $800.", "So $80 it is.", "And $90?", "No.", "Bye.", "Bye.")
    said = [m.model_copy(update={"content": text, "tokens": 10}) for m, text in zip(tiny.said, texts, strict=True)]
    both = probe("a.0", "a", (said[0], said[5]), selected=True)
    price = both.model_copy(update={"gold_answer": "It costs $80."})
    other = probe("a.1", "a", (said[4],), selected=True).model_copy(update={"gold_answer": "$90."})
    asked = other.model_copy(update={"asked_at": said[5].sent_at})

    found = benchmark_statistics([TinyConversation(tiny.head, said, (price, asked))]).evidence

    assert (found.user_messages, found.assistant_messages) == (2, 1)
    assert (found.probes, found.probes_of_assistant, found.asked_on_the_way) == (2, 1, 1)
    assert found.tokens_to_question == 15  # 20 from message 5 to the end, 10 from message 4 to the question after 5
    assert (found.messages_to_next_mention, found.mentioned_again) == (3, 0.5)  # $80 after three messages, $90 never


def test_no_evidence_leaves_the_tables_empty() -> None:
    tiny = tiny_conversation()
    statistics = benchmark_statistics([TinyConversation(tiny.head, tiny.said, ())])

    assert (statistics.deciles, statistics.median_span, statistics.abilities) == ((), None, ())
    assert "No probe cites more than one message." in render_text(statistics)


def test_repeated_messages_are_counted() -> None:
    base = "We looked at the flat near the harbour and the rent is nine hundred euros with heating and water"
    said = [
        message(i, f"p0.s0.t{i}.n0", "question", text, 5)
        for i, text in enumerate((base, base.upper(), base + " included", "Thanks.", "thanks.", "Quite another one."))
    ]
    (row,) = benchmark_statistics([TinyConversation(tiny_conversation().head, said, ())]).conversations

    # two equal ones and a near one of six
    assert (row.repetition.figures["user_duplicates"], row.repetition.figures["user_near_share"]) == (2, 0.5)
    assert row.repetition.figures["reply_duplicates"] == row.repetition.figures["reply_near_share"] == 0


def test_no_conversation_is_refused() -> None:
    nothing: list[ConversationReader] = []
    with pytest.raises(UserError, match="no finished conversation"):
        benchmark_statistics(nothing)


@pytest.mark.parametrize(("tokens", "name"), [(16_000, "128K"), (128_000, "128K"), (400_000, "500K"), (990_000, "1M")])
def test_beam_is_shown_at_the_nearest_length(tokens: int, name: str) -> None:
    long = TinyConversation(tiny_conversation().head, (message(0, "p0.s0.t0.n0", "question", "Hello", tokens),), ())
    assert benchmark_statistics([long]).beam.name == name


def test_published_figures_name_our_measures_and_abilities() -> None:
    for length in published_figures().lengths:
        assert set(length.paper) | set(length.measured) <= set(MEASURES)
        assert set(length.turn_shapes) <= set(TURN_SHAPES)
        assert set(length.nuggets) | set(length.cited_messages) <= set(ABILITIES)
        for deciles in (length.paper_deciles, length.measured_deciles):
            assert len(deciles) in (0, 10)
            if deciles:
                assert sum(deciles) == pytest.approx(1, abs=0.015)  # published to 0.01 %, ours to 0.1 %


def test_published_repetition_is_complete() -> None:
    published = published_figures().repetition
    assert set(published.mean) == set(REPETITION_MEASURES)
    assert set(published.pooled) < set(REPETITION_MEASURES)


def test_text_fits_eighty_columns() -> None:
    text = render_text(benchmark_statistics([tiny_conversation()]))
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_text_shows_repetition_beside_beams() -> None:
    said = [message(i, f"p0.s0.t{i}.n0", "reply", f"Day {i} is free for you.", 5) for i in range(4)]
    text = render_text(benchmark_statistics([TinyConversation(tiny_conversation().head, said, ())]))

    (line,) = [line for line in text.splitlines() if line.startswith("replies with the most frequent")]
    assert line.split()[-5:] == ["100.00%", "100.00%", "100.00%", "16.28%", "3.18%"]
    assert "day _ is free for you." in text
    assert "have no ledger" in text


def test_text_shows_ours_beside_beams() -> None:
    text = render_text(benchmark_statistics([tiny_conversation()]))

    (line,) = [line for line in text.splitlines() if line.startswith("user messages  ")]
    assert line.split()[2:] == ["4", "4", "4", "144", "143.3"]
    assert "c000  trip_planning" in text
    assert text.endswith("\n")


def test_json_has_every_table() -> None:
    statistics = benchmark_statistics([tiny_conversation()])
    tables = json.loads(as_json(statistics))

    assert tables["mean"]["tokens"] == 230
    assert tables["beam"]["paper"]["turns"] == 107
    assert tables["repetition"]["reply_near_share"] == 0
    assert tables["beam_repetition"]["conversations"] == 10
    assert [row["conversation_id"] for row in tables["conversations"]] == ["c000"]
