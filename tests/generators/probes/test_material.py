"""Reading a conversation once, and searching all of it."""

from __future__ import annotations

from longbeam.text import money
from tests.generators.probes.story import Story


def _story() -> Story:
    story = Story()
    story.tell(0, "the kitchen", "The kitchen costs $80.", ("the kitchen", "price", money(80)))
    story.tell(1, "the roof", "An opinionated roofer looked at the roof.")
    return story


def test_from_messages_keeps_only_messages_that_voice_bullets() -> None:
    material = _story().material()
    assert [m.message_key for m in material.voices.messages] == ["p0.s0.t0.n0", "p0.s1.t1.n0"]
    # Two questions and their replies.
    assert (list(material.voices.positions), material.total_messages) == ([0, 2], 4)


def test_search_finds_words_inside_longer_words() -> None:
    assert [m.message_key for m in _story().material().search.close_together(["opinion", "roof"])] == ["p0.s1.t1.n0"]


def test_search_reads_replies_too() -> None:
    assert [m.message_key for m in _story().material().search.close_together(["let me think"])] == [
        "p0.s0.t0.n1",
        "p0.s1.t1.n1",
    ]


def test_search_returns_nothing_when_terms_stand_in_different_messages() -> None:
    assert list(_story().material().search.close_together(["kitchen", "roofer"])) == []


def test_search_for_no_words_returns_all_messages() -> None:
    assert len(list(_story().material().search.close_together(["?", ""]))) == 4


def test_search_of_the_users_messages_ends_before_a_place() -> None:
    search = _story().material().search
    assert [place for place, _ in search.by_user(["roof"], before=4)] == [2]
    assert list(search.by_user(["roof"], before=2)) == []
    assert list(search.by_user(["let me think"], before=4)) == []
