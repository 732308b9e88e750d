"""Domain packs: every file in the folder is sound, and is chosen by a seed."""

from __future__ import annotations

import ast
import datetime as dt
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from longbeam.errors import UserError
from longbeam.generators.probes import coverage, words_beyond
from longbeam.offline import (
    ENDING_LABEL,
    INTRODUCTION_LABEL,
    PREFERENCES_LABEL,
    Beat,
    Pack,
    Thread,
    compute,
    draw,
    evaluate,
    fill,
    filled_code,
    load_pack,
    match_beat,
    narratives,
    pack_for,
    pack_paths,
    people_thread,
    problem_in,
    shown_values,
    wishes,
)
from longbeam.prompts.calls import NarrativesInputs
from longbeam.schemas import Bullet, BulletKind, Category, Domain, Seed
from longbeam.text import times
from tests.builders import PROFILE
from tests.offline.good_pack import good_pack
from tests.offline.pack_rules import find_problems

DAY = dt.date(2024, 3, 5)
DRAWS = 200
"""Draws of each problem's parameters: a slip at one value in a hundred is found seven times in eight."""

every_pack = pytest.mark.parametrize("path", pack_paths(), ids=lambda p: p.stem)


# --- the packs ------------------------------------------------------------------------------------------------


@every_pack
def test_pack_loads_under_its_own_name_and_keeps_every_rule(path: Path) -> None:
    pack = load_pack(path)
    assert pack.pack == path.stem
    assert find_problems(pack) == []


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
        labels = [
            n.label
            for n in narratives(
                NarrativesInputs(seed=seed, profile=PROFILE, people=(), at_least=15, at_most=20)
            ).narratives
        ]
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


# --- loading --------------------------------------------------------------------------------------------------


def test_load_pack_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(yaml.safe_dump(good_pack()), encoding="utf-8")
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
    data = good_pack()
    data["threads"][0]["slots"]["more"] = slot
    with pytest.raises(ValueError, match="validation error") as caught:
        Pack.model_validate(data)
    assert said in str(caught.value)
