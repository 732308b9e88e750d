"""Parts of sentences: they multiply, fit each other, and name the thing where a sentence does not."""

from __future__ import annotations

import random
from itertools import islice

from longbeam.offline import Piece, Point, advice, cycle, example, in_short, labelled, openers, piece_of, reason

PIECE = Piece(do="read the notice aloud", why="mistakes are heard before they are seen", how="Stand up for it.")
IT = "the old lease"


def test_one_piece_of_advice_has_many_wordings() -> None:
    rng = random.Random(1)
    texts = {advice(PIECE, IT, openers(rng), rng) for _ in range(300)}
    assert len(texts) > 200
    assert all("read the notice aloud" in t.casefold() for t in texts)
    assert all(t[0].isupper() and t.endswith(".") for t in texts)


def test_advice_gives_its_reason_or_its_way() -> None:
    rng = random.Random(2)
    texts = [advice(PIECE, IT, openers(rng), rng) for _ in range(50)]
    given = [(PIECE.why in text, "stand up for it" in text.casefold()) for text in texts]
    assert set(given) == {(True, False), (False, True), (True, True)}


def test_openers_do_not_say_the_verb_twice() -> None:
    rng = random.Random(3)
    trying = Piece(do="try a smaller size", why="it is cheaper", how="One is enough.")
    assert not any("try to try" in advice(trying, IT, openers(rng), rng).casefold() for _ in range(200))


def test_a_way_with_a_colon_or_a_quote_does_not_run_on() -> None:
    assert Piece("ask", "it helps", "Take two steps.").can_run_on
    assert not Piece("ask", "it helps", "Take two: one and one.").can_run_on
    assert not Piece("ask", "it helps", '"Two steps" is enough.').can_run_on


def test_labels_name_the_thing_where_the_sentence_does_not() -> None:
    rng = random.Random(4)
    bare, named = labelled(["Keep the old lease.", "Keep it."], ["Note: "], ["Note on {it}: "], IT, rng)
    assert (bare, named) == ("Note: Keep the old lease.", "Note on the old lease: Keep it.")
    assert any(IT in example("Stand up.", IT, rng) for _ in range(10))
    assert any(IT in reason("it helps", IT, rng) for _ in range(10))


def test_a_block_says_no_label_twice_before_all_have_come() -> None:
    rng = random.Random(5)
    assert sorted(islice(cycle(["a", "b", "c"], rng), 3)) == ["a", "b", "c"]


def test_piece_drops_the_example_words_that_its_label_says() -> None:
    point = Point(do="weigh {it}", why="it is heavy", how="For instance: use the scales.")
    assert piece_of(point, {"it": "the box"}) == Piece("weigh the box", "it is heavy", "Use the scales.")


def test_in_short_names_both_steps() -> None:
    second = Piece(do="sign it", why="it is time", how="Use a pen.")
    for seed in range(20):
        text = in_short(PIECE, second, IT, random.Random(seed))
        assert "read the notice aloud" in text.casefold()
        assert "sign it" in text
