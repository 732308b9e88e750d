from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from longbeam.errors import UserError
from longbeam.memory.paging import (
    BOUNDARIES,
    FORMATS,
    GENERATORS,
    MOST_KEYWORDS,
    Page,
    PageStore,
    PageTurn,
    bookmark,
    boundary_of,
    cut,
    keywords_of,
)


def turn(number: int, text: str = "something was said", *, is_user: bool | None = None, session: int = 0) -> PageTurn:
    who = number % 2 == 0 if is_user is None else is_user
    return PageTurn(f"t{number}", "user" if who else "assistant", text, 10, who, session)


def lengths(turns: list[PageTurn], boundary: str) -> list[int]:
    return [len(page.turns) for page in cut(turns, boundary_of(boundary))]


_turns = st.lists(st.tuples(st.text(max_size=30), st.booleans()), max_size=60).map(
    lambda rows: [turn(i, text, is_user=who) for i, (text, who) in enumerate(rows)]
)


@given(_turns, st.sampled_from([*BOUNDARIES, "session", "fixed_1", "exchange_1"]))
def test_every_turn_is_on_one_page_in_order_and_ids_are_dense(turns: list[PageTurn], boundary: str) -> None:
    pages = cut(turns, boundary_of(boundary))
    assert [t for page in pages for t in page.turns] == turns
    assert [page.page_id for page in pages] == list(range(1, len(pages) + 1))
    assert all(page.turns for page in pages)


def test_fixed_pages_count_messages_and_exchanges_count_pairs() -> None:
    turns = [turn(i) for i in range(23)]
    assert lengths(turns, "fixed_5") == [5, 5, 5, 5, 3]
    assert lengths(turns, "exchange_5") == [10, 10, 3]
    # Two messages of the user in a row are one exchange; a page never ends between a question and its reply.
    doubled = [turn(i, is_user=i % 3 < 2) for i in range(12)]
    assert lengths(doubled, "exchange_2") == [6, 6]


def test_a_page_ends_where_the_topic_shifts() -> None:
    tea = [turn(i, "green tea from the tea shop in town") for i in range(4)]
    bike = [turn(i, "a flat bicycle tyre needs air") for i in range(4, 7)]
    assert lengths([*tea, *bike], "topic_shift") == [4, 3]


def test_sessions_are_pages() -> None:
    assert lengths([turn(i, session=i // 3) for i in range(7)], "session") == [3, 3, 1]


@pytest.mark.parametrize("name", ["fixed_0", "fixed_", "exchange_99999", "pages", ""])
def test_a_boundary_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="fixed_N, exchange_N"):
        boundary_of(name)


def page_of(number: int, *texts: str) -> Page:
    return Page(number, tuple(turn(i, text) for i, text in enumerate(texts)))


PAGES = [
    page_of(1, "Orla is allergic to cashews, since 2019.", "Noted."),
    page_of(2, "The kitchen may cost $4,300 by May 14.", "All right, the kitchen it is."),
    page_of(3, "we went to the market again", "how was the market?"),
]


def test_heuristic_words_are_names_numbers_amounts_and_dates() -> None:
    found = keywords_of(PAGES, "heuristic", seed="s")
    assert found[0] == ("Orla", "2019", "Noted")
    assert found[1] == ("$4,300", "May", "14", "All")
    assert found[2][0] == "market"  # nothing tells: the heaviest words stand in


@pytest.mark.parametrize("generator", GENERATORS)
def test_keywords_are_few_deterministic_and_of_their_page(generator: str) -> None:
    found = keywords_of(PAGES, generator, seed="s")  # type: ignore[arg-type]
    assert found == keywords_of(PAGES, generator, seed="s")  # type: ignore[arg-type]
    for page, words in zip(PAGES, found, strict=True):
        assert 0 < len(words) <= MOST_KEYWORDS
        assert all(word in page.text for word in words)


def test_a_batch_gives_no_word_to_two_pages() -> None:
    pages = [page_of(i, "the market and the garden", f"seedling{i} watering") for i in (1, 2)]
    words = [w.casefold() for found in keywords_of(pages, "batch", seed="") for w in found]
    assert len(words) == len(set(words))


def test_specific_words_are_of_few_pages_and_generic_ones_of_many() -> None:
    pages = [page_of(i, "market garden", f"seedling{i} market watering{i} oak{i} hoe{i} rake{i}") for i in (1, 2, 3)]
    assert all(word.endswith("2") for word in keywords_of(pages, "specific", seed="")[1])
    assert set(keywords_of(pages, "generic", seed="")[1][:2]) == {"market", "garden"}


def test_a_bookmark_holds_its_words_whatever_they_are() -> None:
    assert bookmark(PAGES[1], ("$4,300", "May 14")) == "[p2:$4,300,May 14]"
    assert bookmark(PAGES[0], ("a]b", "c,d", "é\nf", "[")) == "[p1:a b,c d,é f]"
    assert bookmark(PAGES[0], tuple("abcdefgh")) == "[p1:a,b,c,d,e]"
    assert bookmark(PAGES[0], ("x",), "id") == "[p1]"
    assert (
        bookmark(PAGES[0], ("x",), "medium")
        == '[p1:x|"user: Orla is allergic to cashews since 2019. assistant: Noted."]'
    )
    assert bookmark(PAGES[0], ("x",), "structured") == "[p1:t=x;e=user,assistant;n=2]"
    assert len(FORMATS) == 4


def test_recall_is_idempotent_and_passes_over_what_no_page_has() -> None:
    store = PageStore(PAGES)
    assert store.recall([2, 9, 2, 1]) == [PAGES[1], PAGES[0]]
    assert store.recall([2, 9, 2, 1]) == store.recall([2, 1])
    assert store.recall([]) == []
