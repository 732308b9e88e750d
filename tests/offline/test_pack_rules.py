"""The rules for domain packs find each fault that is planted, and none in a good pack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from longbeam.offline import Pack
from tests.offline.good_pack import good_pack
from tests.offline.pack_rules import find_problems


def _set(*way: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    """A fault: another value at the end of a way through the first thread."""

    def plant(pack: dict[str, Any]) -> None:
        at: Any = pack if way[0] in pack else pack["threads"][0]
        for step in way[:-1]:
            at = at[step]
        at[way[-1]] = to

    return plant


def _beat_rest(**keys: list[str]) -> Callable[[dict[str, Any]], None]:
    """A fault in the last beat, whose tellings say what it lists."""

    def plant(pack: dict[str, Any]) -> None:
        (name,) = next(iter(keys.values()))
        pack["threads"][0]["beats"][3] |= {**keys, "tell": [f"{{it}}: {{{name}}}", f"{{{name}}} for {{it}}"]}

    return plant


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "unknown_slot": (_beat_rest(sets=["weight"]), "beat rest: unknown slot 'weight'"),
    "set_twice": (_set("beats", 2, "sets", to=["due"]), "beat move: slot 'due' is set a second time"),
    "updated_early": (_beat_rest(updates=["size"]), "beat rest: slot 'size' is updated before it is set"),
    "unknown_who": (_set("beats", 1, "who", to="boss"), "beat pay: who is 'boss'; allowed are friend"),
    "value_not_told": (_set("beats", 0, "tell", 0, to="{it} is due"), "beat plan: tell does not say 'due'"),
    "value_not_listed": (_set("beats", 3, "tell", 0, to="{it}: {due}"), "beat rest: tell uses 'due', which the beat"),
    "nobody": (
        _set("beats", 3, "tell", 0, to="{it} for {who}"),
        "beat rest: tell uses {who} and the beat names nobody",
    ),
    "ask_without_card": (_set("beats", 0, "ask", 0, "card", to="c9"), "beat plan: no card 'c9' in this thread"),
    "ask_unknown": (_set("beats", 0, "ask", 0, "q", to="Why {paid}?"), "beat plan: 'paid' is not known yet"),
    "deny_unknown": (_set("beats", 0, "deny", to=["Never {paid}"]), "beat plan: 'paid' is not known yet"),
    "not_yet_unknown": (_set("beats", 0, "not_yet", to=["Not {paid}"]), "beat plan: 'paid' is not known yet"),
    "moved_without_new": (_set("slots", "due", "moved", to=["{it} moves"]), "slot due: needs {new}"),
    "moved_with_more": (_set("slots", "due", "moved", to=["{it}, {new}, {day}"]), "slot due: needs {new}"),
    "moved_to_another": (_set("slots", "due", "moved", to=["the next time for {it} is {new}"]), "of a second occasion"),
    "second_occasion": (_set("beats", 2, "tell", 0, to="{it} meets again on {due}"), "beat move: tells of a second"),
    "outcome_unknown": (_set("outcome", 0, to="{it} took {weight}"), "outcome uses 'weight', which is no slot"),
    "outcome_nameless": (_set("outcome", 0, to="it stands"), "outcome does not name {it}"),
    "one_outcome": (_set("outcome", to=["{it} stands"]), "thread t0: needs two outcomes"),
    "ending_field": (_set("ending", 0, to="{it} is over"), "ending has a field"),
    "recalled_early": (_beat_rest(recalls=["size"]), "beat rest: slot 'size' is recalled before it is set"),
    "told_by_nothing": (_set("slots", "due", "told_by", to="never"), "slot due: told_by names no beat: 'never'"),
    "no_trend": (_set("slots", "size", "trend", to=None), "slot size: say its trend: falls, rises or either"),
    "fixed_trend": (_set("slots", "paid", "trend", to="falls"), "slot paid: has a trend, and never changes"),
    "misremember_without_other": (_set("slots", "paid", "misremember", to=["{it} cost"]), "slot paid: needs {other}"),
    "users_voice": (_set("slots", "due", "choose", to=["my day"]), "slot due: a value speaks as the user: 'my day'"),
    "card_field": (_set("cards", 0, "watch", 0, to="Mind {due}."), "card c0: only {it} is allowed: 'Mind {due}.'"),
    "point_field": (_set("cards", 1, "points", 0, "how", to="On {day}."), "card c1: only {it} is allowed: 'On {day}.'"),
    "do_upper_case": (_set("cards", 0, "points", 0, "do", to="Begin it"), "card c0: `do` is a clause"),
    "do_full_stop": (_set("cards", 0, "points", 0, "do", to="begin it."), "card c0: `do` is a clause"),
    "do_long": (_set("cards", 0, "points", 0, "do", to="go on " * 7 + "{it}"), "card c0: `do` has more than 14 words"),
    "ask_back": (_set("ask_back", 0, "q", to="Tell me."), "thread t0: ask_back is no question: 'Tell me.'"),
    "instruction_condition": (
        _set("instructions", 0, "condition", to="if I ask"),
        "must begin with 'when': 'if I ask'",
    ),
    "preference_condition": (_set("preferences", 0, "condition", to="if I ask"), "must begin with 'when': 'if I ask'"),
    "preferred_alone": (
        _set("preferences", 0, "tell", 0, to="only be brief when I ask about matter 0"),
        "the requirement does not leave out what is not preferred: 'is brief'",
    ),
    "required_alone": (
        _set("preferences", 0, "requirement", to="uses only bricks"),
        "the requirement is stronger than what is preferred: 'uses only bricks'",
    ),
    "request_without_name": (
        _set("preferences", 0, "condition", to="when I ask about Python"),
        "a request does not name Python",
    ),
    "intro_card": (_set("intro_ask", 0, "card", to="c0"), "intro_ask: no card 'c0'; write thread/card"),
    "snippet_code": (_set("snippets", 0, "code", to=""), "snippet s: no code"),
}


def test_a_good_pack_has_no_problem() -> None:
    assert find_problems(Pack.model_validate(good_pack())) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str) -> None:
    plant, message = FAULTS[fault]
    data = good_pack()
    plant(data)
    found = find_problems(Pack.model_validate(data))
    assert len(found) == 1, found
    assert found[0].startswith("good: ")
    assert message in found[0]


def test_a_fixed_value_and_a_thread_without_denial_are_found() -> None:
    data = good_pack()
    thread = data["threads"][0]
    del thread["beats"][1]["deny"], thread["beats"][1]["not_yet"]
    assert find_problems(Pack.model_validate(data)) == [
        "good: thread t0, beat pay: has fixed values and no deny",
        "good: thread t0: no beat has deny or not_yet",
    ]
