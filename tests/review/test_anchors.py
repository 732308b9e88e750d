"""Anchors: quotes are found again without markdown, and after their message has moved."""

from __future__ import annotations

import pytest

from longbeam.review import Anchor, Attachment, anchor_at, content_hash, find_anchor, find_quote


@pytest.mark.parametrize(
    ("content", "quote", "found"),
    [
        ("The **deck oven** costs\n$7,400 now.", "deck oven costs $7,400", "deck oven** costs\n$7,400"),
        ("| Oven | $7,400 |", "Oven $7,400", "Oven | $7,400"),
        ("Äpfel und STRASSE", "äpfel und strasse", "Äpfel und STRASSE"),
        ("nothing here", "something", None),
        ("anything", "  ", None),
    ],
)
def test_a_selection_is_found_without_markdown_and_white_space(content: str, quote: str, found: str | None) -> None:
    place = find_quote(content, quote)
    assert (content[place[0] : place[1]] if place else None) == found


def test_of_several_places_the_one_with_the_same_surroundings_is_taken() -> None:
    content = "first: 12 days. second: 12 days!"
    assert find_quote(content, "12 days", prefix="second: ") == (24, 31)


def test_anchors_move_with_their_message_and_break_when_it_is_gone() -> None:
    content = "On Monday we sold 140 loaves at the opening."
    anchor = anchor_at("k1", content, 13, 28)
    assert (anchor.quote, anchor.prefix, anchor.content_hash) == (
        "sold 140 loaves",
        "On Monday we ",
        content_hash(content),
    )
    assert find_anchor(anchor, content, ()).attachment is Attachment.ATTACHED
    alike = "They never sold 140 loaves at the opening."
    moved = find_anchor(anchor, None, [("k5", alike), ("k7", content)])
    assert (moved.attachment, moved.message_key) == (Attachment.MOVED, "k7")
    assert find_anchor(anchor, "rewritten", [("k5", alike)]).message_key == "k5"
    assert find_anchor(anchor, None, [("k9", "sold 140 loaves")]).attachment is Attachment.BROKEN
    assert find_anchor(Anchor(message_key="k1", quote="gone"), content, ()).attachment is Attachment.BROKEN
