"""Domain packs: every file in the folder is sound, and `lint` finds each fault that is planted."""

from __future__ import annotations

import ast
import datetime as dt
import json
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from longbeam.errors import UserError
from longbeam.generators.probes.checks import words_beyond
from longbeam.generators.probes.evidence import coverage
from longbeam.offline.arithmetic import compute, evaluate
from longbeam.offline.drawing import draw
from longbeam.offline.language import fill
from longbeam.offline.packs import Beat, Pack, Thread, lint, load_pack, pack_for, pack_paths, wishes
from longbeam.offline.planning import (
    ENDING_LABEL,
    INTRODUCTION_LABEL,
    PREFERENCES_LABEL,
    match_beat,
    narratives,
)
from longbeam.offline.story import people_thread
from longbeam.offline.turns import filled_code, problem_in, shown_values
from longbeam.prompts.calls.persona import NarrativesInputs
from longbeam.schemas.plans import Bullet, BulletKind
from longbeam.schemas.seeds import Category, Domain, Seed
from longbeam.text import times

DAY = dt.date(2024, 3, 5)
DRAWS = 200
"""Draws of each problem's parameters: a slip at one value in a hundred is found seven times in eight."""

every_pack = pytest.mark.parametrize("path", pack_paths(), ids=lambda p: p.stem)


# --- the packs ------------------------------------------------------------------------------------------------


@every_pack
def test_pack_loads_under_its_own_name_and_lint_is_empty(path: Path) -> None:
    pack = load_pack(path)
    assert pack.pack == path.stem
    assert lint(pack) == []


@every_pack
def test_pack_takes_exactly_one_thread_from_the_seed(path: Path) -> None:
    threads = load_pack(path).threads
    assert sum(not t.things for t in threads) == 1
    # Facts are about things: the same thing in two threads would share them.
    things = [thing for t in threads for thing in t.things]
    assert len(set(things)) == len(things)


@every_pack
def test_pack_names_each_attribute_once_in_a_thread(path: Path) -> None:
    for thread in load_pack(path).threads:
        attributes = [s.attribute for s in thread.slots.values()]
        assert len(set(attributes)) == len(attributes), thread.thread


@every_pack
def test_pack_tells_each_beat_so_that_it_is_read_back_as_this_beat(path: Path) -> None:
    misread = []
    for thread in load_pack(path).threads:
        for beat in thread.beats:
            for template in beat.tell:
                text = _told(thread, beat, template)
                if (found := _read_back(thread, text)) != beat.beat:
                    misread.append(f"{thread.thread}/{beat.beat} read as {found}: {text!r}")
    assert misread == []


@every_pack
def test_pack_has_code_for_coding_and_problems_for_math(path: Path) -> None:
    pack = load_pack(path)
    category = pack.domain.category
    assert bool(pack.snippets) == (category is Category.CODING)
    assert bool(pack.problems) == (category is Category.MATH)


@every_pack
def test_snippets_can_be_filled_and_differ_from_their_repair(path: Path) -> None:
    for snippet in load_pack(path).snippets:
        code, fixed = filled_code(snippet.code, "the login page"), filled_code(snippet.fixed, "the login page")
        assert code != fixed, snippet.snippet
        # The user's message says the fault as it stands, so it cannot hold a field.
        assert "{" not in snippet.fault, snippet.snippet
        if snippet.lang == "python":
            ast.parse(code)
            ast.parse(fixed)


@every_pack
def test_problems_come_out_right_for_many_draws(path: Path) -> None:
    for problem in load_pack(path).problems:
        rng = random.Random(problem.problem)
        for _ in range(DRAWS):
            known = evaluate(problem.let, rng)
            shown = shown_values(known)
            for text in (problem.text, problem.attempt, problem.mistake, problem.answer, *problem.steps):
                text.format(**shown)
            if problem.confirm:
                assert compute(problem.confirm, known) is True, (problem.problem, known)


@every_pack
def test_problems_are_found_again_in_the_message_that_states_them(path: Path) -> None:
    pack = load_pack(path)
    for problem in pack.problems:
        rng = random.Random(problem.problem)
        for _ in range(20):
            known = evaluate(problem.let, rng)
            shown = shown_values(known)
            begun = problem.text.partition("{")[0]  # as a sentence before it may begin, too
            stated = f"{begun}word of mine. One more: {problem.text.format(**shown)}"
            found = problem_in(pack, f"{stated}\n\n{problem.attempt.format(**shown)}")
            assert found is not None, problem.problem
            assert found[0].problem == problem.problem
            assert evaluate(problem.let, random.Random(0), given=found[1]) == known, problem.problem


@pytest.mark.parametrize(
    ("pack", "title", "theme", "subtopics"),
    [
        ("web_app", "Household Spending Book as a Flask Web App", "An app for money in and out", ("SQLite", "Login")),
        (
            "web_app",
            "Weather Page in JavaScript",
            "Showing forecasts of an open API",
            ("Fetch calls", "Error messages"),
        ),
        ("web_app", "Personal Portfolio with Bootstrap", "A site for one's own work", ("HTML pages", "Contact form")),
        ("web_app", "Bird Notes", "A phone app that works without signal", ("Map view", "Sync conflicts")),
        ("data_pipeline", "ETL for a Hospital", "Nightly loads into a warehouse", ("Schema checks", "Late files")),
        ("data_pipeline", "A Scraper for Job Offers", "Collecting offers from forty sites", ("Parsing", "Duplicates")),
        ("classifier", "Chatbot for a Bank", "Answering what customers ask", ("Intents", "Training on old chats")),
        ("classifier", "Sorting Mail by Urgency", "A text classifier for tickets", ("Labels", "Drift")),
        ("game", "A Small RPG", "Quests in a village by the sea", ("Inventory", "Saving and loading")),
        ("game", "Snake for the Browser", "A game of one screen", ("Game loop", "Collisions")),
        ("web_app", "A Program for My Aunt", "Something useful", ()),
    ],
)
def test_pack_for_takes_the_flavour_that_the_seed_names(
    pack: str, title: str, theme: str, subtopics: tuple[str, ...]
) -> None:
    seed = Seed(domain=Domain.CODING, title=title, theme=theme, subtopics=subtopics)
    assert pack_for(seed).pack == pack


def test_two_packs_told_together_leave_room_for_the_narratives_of_every_story() -> None:
    needed = {PREFERENCES_LABEL, INTRODUCTION_LABEL, ENDING_LABEL, people_thread().narrative}
    packs = [load_pack(path) for path in pack_paths()]
    most = max(len(pack.threads) for pack in packs)
    for pack, other in product((p for p in packs if len(p.threads) == most), packs):
        title = " ".join((*pack.match, *other.match))
        seed = Seed(domain=pack.domain, title=title, theme="", subtopics=("one",), touches=other.domain)
        threads = {t.narrative for t in pack_for(seed).threads}
        labels = [n.label for n in narratives(NarrativesInputs(seed=seed), random.Random(1)).narratives]
        assert threads | needed <= set(labels), (pack.pack, other.pack)
        assert len(labels) <= 20


@pytest.mark.parametrize(
    ("title", "subtopics", "pack"),
    [
        ("Deep Dive into Number Theory", ("Prime numbers", "Diophantine equations"), "number_theory"),
        ("Number Theory from Clock Arithmetic to RSA", ("Divisibility and remainders", "Totients"), "number_theory"),
        ("Developing Skills in Mathematical Induction", ("Inductive step construction", "Divisibility"), "calculus"),
        ("Solving Ordinary Differential Equations (ODEs)", ("Separable equations", "Integrating factors"), "calculus"),
        ("Linear Algebra for Ranking Chess Players", ("Rank and null space", "Determinants"), "calculus"),
        ("Exploring Conic Sections in Depth", ("Focus-directrix property", "Tangent and normal lines"), "geometry"),
        ("Probability for a Board Game Designer", ("Expected score per turn", "Markov chains"), "probability"),
    ],
)
def test_pack_for_takes_the_flavour_of_mathematics(title: str, subtopics: tuple[str, ...], pack: str) -> None:
    seed = Seed(domain=Domain.MATH, title=title, theme="A course of several months", subtopics=subtopics)
    assert pack_for(seed).pack == pack


def _told(thread: Thread, beat: Beat, template: str) -> str:
    rng = random.Random(f"{thread.thread}/{beat.beat}")
    fields = {name: draw(slot, DAY, rng).text for name, slot in thread.slots.items()}
    fields |= {"it": (thread.things or ("planning the first week",))[0], "who": "my friend Dana"}
    fields |= {"day": times.format_date(DAY, with_year=False), "weekday": times.weekday(DAY)}
    text = fill(template, fields)
    text = text[:1].upper() + text[1:]
    return text if text[-1] in ".!?" else f"{text}."


def _read_back(thread: Thread, text: str) -> str | None:
    bullet = Bullet(
        bullet_id="p0.s0.b0",
        kind=BulletKind.EVENT,
        narrative=thread.narrative,
        topic=(thread.things or ("planning the first week",))[0],
        text=text,
        happens_on=DAY,
    )
    return next((b.beat for b in thread.beats for t in b.tell if match_beat(t, bullet) is not None), None)


@every_pack
def test_no_question_of_a_wish_repeats_what_was_wished(path: Path) -> None:
    everything = wishes(load_pack(path))
    for wish in (*everything.instructions, *everything.preferences):
        own = words_beyond(wish.requirement, f"{wish.condition} {wish.topic}")
        for question in wish.probe:
            if own:
                assert coverage(own, question) < 0.5, (wish.requirement, question)


# --- lint -----------------------------------------------------------------------------------------------------


def _standing(number: int) -> dict[str, Any]:
    return {
        "tell": [f"when I ask about matter {number}, be brief", f"be brief when I ask about matter {number}"],
        "topic": f"matter {number}",
        "condition": f"when I ask about matter {number}",
        "requirement": "is brief",
        "probe": ["What now?", "What then?"],
        "honour": ["In brief.", "Briefly."],
    }


def _thread(name: str) -> dict[str, Any]:
    ask = [{"q": "How do I begin {it}?", "card": "c0"}, {"q": "What about {it}?", "card": "c1"}]
    points = [{"do": f"begin {{it}} at end {i}", "why": "it is near", "how": "Take the left one."} for i in range(4)]
    return {
        "thread": name,
        "narrative": f"Narrative {name}",
        "about": "What happens",
        "sub_labels": ["one", "two", "three"],
        "things": [f"the gate of {name}"],
        "slots": {
            "due": {"attribute": "due date", "type": "date", "in_days": [3, 9], "moved": ["{it} is due on {new}"]},
            "size": {"attribute": "size", "type": "number", "trend": "either", "range": [2, 9]},
            "paid": {"attribute": "price", "type": "money", "range": [10, 90], "misremember": ["{it} was {other}"]},
        },
        "beats": [
            {"beat": "plan", "tell": ["{it} is due on {due}", "by {due} I want {it}"], "sets": ["due"], "ask": ask},
            {
                "beat": "pay",
                "who": "friend",
                "tell": ["{who} had {paid} from me for {it}", "{it} cost {paid}, says {who}"],
                "fixed": ["paid"],
                "deny": ["I've never paid for {it}"],
                "not_yet": ["I still haven't paid for {it}"],
                "ask": ask,
            },
            {"beat": "move", "tell": ["{it} moves to {due}", "{due} now for {it}"], "updates": ["due"], "ask": ask},
            {"beat": "rest", "tell": ["{it} rests", "nothing new on {it}"], "ask": ask},
        ],
        "cards": [
            {
                "card": f"c{i}",
                "about": f"matter {i}",
                "ask": ["What is {it}?", "Why {it}?", "When {it}?"],
                "points": points,
                "watch": ["Mind {it}.", "Mind the gap."],
                "check": ["It shuts.", "It opens."],
            }
            for i in range(3)
        ],
        "outcome": ["{it} stands", "{it} cost {paid} in the end"],
        "ask_back": [{"q": f"Is {{it}} number {i}?", "a": ["Yes.", "No.", "Perhaps."]} for i in range(3)],
        "options": [{"name": f"way {i}", "good": "short", "bad": "steep", "fits": "if dry"} for i in range(2)],
    }


def _good_pack() -> dict[str, Any]:
    """A small sound pack; through JSON and back, so that no two of its parts are the same object."""
    data = {
        "pack": "good",
        "domain": "coding",
        "match": ["gate"],
        "intro": ["I'm {name}."] * 3,
        "ending": ["it is over and it held", "that was the end, and I'd do it again"],
        "intro_ask": [{"q": "Where to begin?", "card": "t0/c0"}, {"q": "And then?", "card": "t1/c1"}],
        "threads": [_thread(f"t{i}") for i in range(5)],
        "instructions": [_standing(i) for i in range(12)],
        "preferences": [_standing(20 + i) for i in range(12)],
        "snippets": [
            {"snippet": "s", "kind": "bug", "lang": "python", "fault": "x", "code": "a", "fixed": "b", "why": "c"}
        ],
    }
    pack: dict[str, Any] = json.loads(json.dumps(data))
    return pack


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


def _without_denials(pack: dict[str, Any]) -> None:
    thread = pack["threads"][0]
    del thread["beats"][1]["deny"], thread["beats"][1]["not_yet"]


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
    "outcome_unknown": (_set("outcome", 0, to="{it} took {weight}"), "outcome uses 'weight', which is no slot"),
    "outcome_nameless": (_set("outcome", 0, to="it stands"), "outcome does not name {it}"),
    "one_outcome": (_set("outcome", to=["{it} stands"]), "thread t0: needs two outcomes"),
    "ending_field": (_set("ending", 0, to="{it} is over"), "ending has a field"),
    "recalled_early": (_beat_rest(recalls=["size"]), "beat rest: slot 'size' is recalled before it is set"),
    "told_by_nothing": (_set("slots", "due", "told_by", to="never"), "slot due: told_by names no beat: 'never'"),
    "no_trend": (_set("slots", "size", "trend", to=None), "slot size: say its trend: falls, rises or either"),
    "fixed_trend": (_set("slots", "paid", "trend", to="falls"), "slot paid: has a trend, and never changes"),
    "misremember_without_other": (_set("slots", "paid", "misremember", to=["{it} cost"]), "slot paid: needs {other}"),
    "card_field": (_set("cards", 0, "watch", 0, to="Mind {due}."), "card c0: only {it} is allowed: 'Mind {due}.'"),
    "point_field": (_set("cards", 1, "points", 0, "how", to="On {day}."), "card c1: only {it} is allowed: 'On {day}.'"),
    "do_upper_case": (_set("cards", 0, "points", 0, "do", to="Begin it"), "card c0: `do` is a clause"),
    "do_full_stop": (_set("cards", 0, "points", 0, "do", to="begin it."), "card c0: `do` is a clause"),
    "ask_back": (_set("ask_back", 0, "q", to="Tell me."), "thread t0: ask_back is no question: 'Tell me.'"),
    "instruction_condition": (
        _set("instructions", 0, "condition", to="if I ask"),
        "must begin with 'when': 'if I ask'",
    ),
    "preference_condition": (_set("preferences", 0, "condition", to="if I ask"), "must begin with 'when': 'if I ask'"),
    "intro_card": (_set("intro_ask", 0, "card", to="c0"), "intro_ask: no card 'c0'; write thread/card"),
    "snippet_code": (_set("snippets", 0, "code", to=""), "snippet s: no code"),
}


def test_lint_finds_nothing_in_a_good_pack() -> None:
    assert lint(Pack.model_validate(_good_pack())) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_lint_finds_a_planted_fault(fault: str) -> None:
    plant, message = FAULTS[fault]
    data = _good_pack()
    plant(data)
    found = lint(Pack.model_validate(data))
    assert len(found) == 1, found
    assert found[0].startswith("good: ")
    assert message in found[0]


def test_lint_finds_a_fixed_value_and_a_thread_without_denial() -> None:
    data = _good_pack()
    _without_denials(data)
    del data["threads"][0]["slots"]["paid"]["misremember"]
    assert lint(Pack.model_validate(data)) == [
        "good: thread t0, beat pay: has fixed values, but neither deny nor misremember",
        "good: thread t0: no beat has deny or not_yet",
    ]


def test_lint_takes_misremembering_for_a_denial_of_a_fixed_value() -> None:
    data = _good_pack()
    _without_denials(data)
    assert lint(Pack.model_validate(data)) == ["good: thread t0: no beat has deny or not_yet"]


# --- loading --------------------------------------------------------------------------------------------------


def test_load_pack_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(yaml.safe_dump(_good_pack()), encoding="utf-8")
    assert load_pack(path).thread("t3").narrative == "Narrative t3"
    assert pack_paths(tmp_path) == (path,)


@pytest.mark.parametrize(
    ("text", "said"),
    [("pack: [", "domain pack bad.yaml: while parsing"), ("pack: bad", "domain pack bad.yaml: 8 validation errors")],
)
def test_load_pack_names_file_and_fault(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_pack(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("slot", "said"),
    [
        ({"attribute": "day", "type": "date"}, "slot 'day': a date needs in_days"),
        ({"attribute": "tool", "type": "name", "choose": ["a", "b", "c"]}, "slot 'tool': name needs choose"),
        ({"attribute": "cost", "type": "money"}, "slot 'cost': money needs range"),
    ],
)
def test_slots_need_a_source_of_values(slot: dict[str, Any], said: str) -> None:
    data = _good_pack()
    data["threads"][0]["slots"]["more"] = slot
    with pytest.raises(ValueError, match="validation error") as caught:
        Pack.model_validate(data)
    assert said in str(caught.value)
