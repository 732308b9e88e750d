from __future__ import annotations

from longbeam.store import FOLDED_BLOCK, FoldedTexts


def test_texts_that_hold_all_words_are_found_in_order() -> None:
    contents = ["The Kitchen and the plumber", "nothing", "a plumber", "KITCHENS? My plumber.", "STRASSE, Straße"]
    texts = FoldedTexts(contents)
    assert list(texts.holding(["plumber", "kitchen"])) == [(0, contents[0].casefold()), (3, contents[3].casefold())]
    assert [i for i, _ in texts.holding(["strasse"])] == [4]
    assert list(texts.holding(["kitchen", "nobody"])) == []


def test_words_across_two_texts_are_in_neither() -> None:
    texts = FoldedTexts(["the plum", "ber is here", "", "a plumber", ""])
    assert [i for i, _ in texts.holding(["plumber"])] == [3]


def test_many_texts_are_searched_like_one_by_one() -> None:
    contents = [f"{'even' if i % 2 == 0 else 'odd'} {i}" for i in range(2 * FOLDED_BLOCK + 7)]
    texts = FoldedTexts(contents)
    for words in (["odd"], ["even", "00"], ["1"], ["even", "even 1"]):
        assert [i for i, _ in texts.holding(words)] == [
            i for i, text in enumerate(contents) if all(w in text for w in words)
        ]


def test_searches_do_not_disturb_each_other() -> None:
    names = ["jillian", "nickname", "calendar", "calendars", "book"]
    contents = [
        " ".join(n for j, n in enumerate(names) if (i >> j) % 2 or i % 37 == j) for i in range(3 * FOLDED_BLOCK)
    ]
    contents += ["padding"] * 2 * FOLDED_BLOCK  # blocks that have none of the words
    texts = FoldedTexts(contents)
    next(texts.holding(["calend"]))  # stopped early
    for words in (["nicknam"], ["nickname", "book"], ["calendar"], ["calendars"], ["jillian", "calend"], ["absent"]):
        for _ in range(2):
            assert [i for i, _ in texts.holding(words)] == [
                i for i, text in enumerate(contents) if all(w in text for w in words)
            ]
