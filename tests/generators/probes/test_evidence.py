"""Quotes are verbatim, say the value, and are not made up where nothing says it."""

from __future__ import annotations

from longbeam.generators.probes import closest, coverage, find_words, words_of
from longbeam.text import money, ratio
from tests.generators.probes.story import Story

PRICE = ("the kitchen", "price", money(80))


def test_settled_facts_quote_the_sentence_with_the_value() -> None:
    story = Story()
    story.tell(0, "the kitchen", "The kitchen costs $80.", PRICE, said="Hi! The kitchen costs $80. Is that fine?")
    assert [s.quote for s in story.material().stated.settled] == ["The kitchen costs $80."]


def test_quote_takes_the_sentence_before_when_only_that_names_the_subject() -> None:
    story = Story()
    said = "Hello there. I looked at the kitchen again. It costs $80. Any advice?"
    story.tell(0, "the kitchen", "The kitchen costs $80.", PRICE, said=said)
    assert [s.quote for s in story.material().stated.settled] == ["I looked at the kitchen again. It costs $80."]


def test_fact_that_no_message_says_is_left_out() -> None:
    story = Story()
    story.tell(0, "the kitchen", "The kitchen costs $80.", PRICE, said="The kitchen costs too much.")
    assert story.material().stated.settled == ()


def test_find_words_quotes_the_closest_sentence() -> None:
    story = Story()
    said = "Morning. The town inspected the roof on Monday. My neighbour is fine."
    story.tell(0, "the roof", "The town has inspected the roof.", said=said)
    material = story.material()
    found = find_words(material.voices, next(material.histories.bullets()))
    assert found is not None
    assert found.quote == "The town inspected the roof on Monday."


def test_find_words_returns_none_when_the_bullet_is_not_said() -> None:
    story = Story()
    story.tell(0, "the roof", "The town has inspected the roof.", said="What is the weather like?")
    material = story.material()
    assert find_words(material.voices, next(material.histories.bullets())) is None


def test_words_of_drops_common_words_and_endings() -> None:
    assert words_of("The inspections of my Kitchen's walls") == {"inspection", "kitchen", "wall"}


def test_coverage_is_the_share_of_wanted_words() -> None:
    # budget, table; only "table" is there.
    assert coverage("a budget table", "tables of costs") == 0.5


def test_a_value_is_quoted_from_the_statement_and_not_from_the_question_behind_it() -> None:
    story = Story()
    said = "Something pulled in the routine. I keep to 55% of my limit until I know better. How does 55% feel?"
    story.tell(0, "the routine", "The effort is 55%.", ("the routine", "effort", ratio(0.55)), said=said)
    (quote,) = story.material().stated.settled
    assert quote.quote == "Something pulled in the routine. I keep to 55% of my limit until I know better."


def test_of_two_sentences_with_a_value_the_one_about_its_thing_is_quoted() -> None:
    story = Story()
    said = "I paid $80 for the hall. And then I paid $80 again, to the plumber who mended the sink. What next?"
    told = ("the repair", "price", money(80))
    story.tell(0, "the repair", "The plumber mended the sink for $80.", told, said=said)
    assert [s.quote for s in story.material().stated.settled] == [
        "And then I paid $80 again, to the plumber who mended the sink."
    ]


def test_the_head_of_a_table_is_no_evidence() -> None:
    table = "| Item | Cost of the kitchen tiles |\n|---|---|\n| Tiles of the kitchen | $210 |"
    assert closest(table, "The cost of the kitchen tiles is $210.") == "| Tiles of the kitchen | $210 |"
