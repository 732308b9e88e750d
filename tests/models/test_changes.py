"""What a repair changed, in one line."""

from __future__ import annotations

from longbeam.models import describe_changes
from longbeam.prompts.calls import UserTurnDraft, UserTurnsReply


def _reply(*voices: list[str]) -> UserTurnsReply:
    return UserTurnsReply(turns=[UserTurnDraft(text=f"turn {i}", voices=v) for i, v in enumerate(voices)])


def test_lost_items_are_counted() -> None:
    assert describe_changes(_reply(["b0"], []), _reply(["b0"])) == "turns: 2 items, now 1"


def test_changed_fields_are_shown() -> None:
    changed = describe_changes(_reply(["b0"], ["b1"]), _reply(["b0"], ["b2"]))
    assert changed == "turns[1].voices[0]: 'b1', now 'b2'"


def test_texts_are_compared_as_a_whole_and_shortened() -> None:
    assert describe_changes("x" * 100, "y") == f"text: '{'x' * 59}..., now 'y'"
    assert describe_changes("same", "same") == "taken as it is"


def test_many_changes_are_counted() -> None:
    before, after = _reply(*[["a"]] * 9), _reply(*[["b"]] * 9)
    assert describe_changes(before, after).endswith("; and 3 more")
