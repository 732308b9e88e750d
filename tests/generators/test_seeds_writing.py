"""New seeds: asked for until there are enough, none like another, with timelines that code has drawn."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

from longbeam.generators import (
    PLANNING,
    are_near_duplicates,
    load_catalogue,
    read_seeds_file,
    seeds_as_json,
    timeline_of,
    write_seeds,
)
from longbeam.models import ModelCall
from longbeam.prompts.calls import SeedsInputs
from longbeam.schemas import Domain, Seed
from tests.generators.scripted import ScriptedModel, asker_for

WORDS = "kites maps bees clocks moss tiles canoes rugs drums quilts globes stilts".split()  # noqa: SIM905


def _draft(title: str, *, month: int = 5, months: int = 6) -> dict[str, object]:
    word = title.split()[0]
    return {
        "title": title,
        "theme": f"All about {word}",
        "subtopics": [f"{word}{part}" for part in ("first", "second", "third", "fourth")],
        "start_month": month,
        "months": months,
    }


def _model(*replies: list[dict[str, object]]) -> ScriptedModel:
    return ScriptedModel({"seeds": [json.dumps({"seeds": reply}) for reply in replies]})


def _inputs(call: ModelCall) -> SeedsInputs:
    assert isinstance(call.inputs, SeedsInputs)
    return call.inputs


async def test_near_duplicates_are_left_out_and_asked_for_again() -> None:
    catalogue = next(s for s in load_catalogue() if s.domain is Domain.COOKING)
    model = _model(
        [_draft("Kites for a Windy Island"), _draft("Windy Kites for an Island"), _draft(catalogue.title)],
        [_draft("Maps of an Old Forest"), _draft("Clocks That Run Backwards")],
    )
    written = await write_seeds(asker_for(model), Domain.COOKING, 3)

    assert [s.title for s in written.seeds] == [
        "Kites for a Windy Island",
        "Maps of an Old Forest",
        "Clocks That Run Backwards",
    ]
    assert written.duplicates == 2
    first, second = (_inputs(c) for c in model.calls)
    assert (first.count, second.count) == (3, 2)
    assert catalogue.title in first.taken
    assert {"Kites for a Windy Island", "Windy Kites for an Island"} <= set(second.taken)


async def test_asking_is_bounded_and_says_what_is_missing() -> None:
    model = _model([_draft("Kites for a Windy Island")])
    written = await write_seeds(asker_for(model), Domain.COOKING, 3)
    assert (len(written.seeds), written.asked, len(model.calls)) == (1, 3, PLANNING.seed_rounds)

    empty = _model([_draft("Kites for a Windy Island")], [])
    written = await write_seeds(asker_for(empty), Domain.COOKING, 3)
    assert (len(written.seeds), len(empty.calls), written.problem) == (1, 2, "")


async def test_a_model_that_fails_keeps_what_it_gave() -> None:
    model = ScriptedModel({"seeds": [json.dumps({"seeds": [_draft("Kites for a Windy Island")]}), "nonsense"]})
    written = await write_seeds(asker_for(model), Domain.COOKING, 2)
    assert [s.title for s in written.seeds] == ["Kites for a Windy Island"]
    assert "3 replies did not fit" in written.problem


async def test_a_written_file_reads_back_as_the_same_seeds(tmp_path: Path) -> None:
    model = _model([_draft(f"{w.title()} for the {w}house") for w in WORDS])
    written = await write_seeds(asker_for(model), Domain.LEGAL, 12)
    path = tmp_path / "seeds.json"
    path.write_text(seeds_as_json(written.seeds), encoding="utf-8")
    seeds, warnings = read_seeds_file(path)

    assert warnings == []
    assert len(seeds) == 12
    assert [s.model_copy(update={"source": "catalogue"}) for s in seeds] == list(written.seeds)


def test_no_two_seeds_of_the_catalogue_are_near_duplicates() -> None:
    assert not any(are_near_duplicates(a, b) for a, b in combinations(load_catalogue(), 2))


def test_near_duplicates_are_found_by_their_titles_or_by_all_their_words() -> None:
    def seed(title: str, theme: str, *subtopics: str) -> Seed:
        return Seed(domain=Domain.SPORT, title=title, theme=theme, subtopics=subtopics)

    one = seed("Learning to Row on the River", "From capsizing to a race", "Technique", "Crew", "Winter")
    assert are_near_duplicates(one, seed("Learning Rowing on a River", "Something else", "Boats"))
    assert are_near_duplicates(one, seed("An Oar of One's Own", "From capsizing to a first race", "Technique", "Crew"))
    assert not are_near_duplicates(one, seed("Learning to Dance", "From stumbling to a show", "Steps", "Winter"))


def test_timelines_begin_in_the_month_of_the_story_on_many_days_and_years() -> None:
    drawn = [timeline_of(9, 8, f"0/x/{i}") for i in range(60)]

    assert {t.start.month for t in drawn} == {9}
    # September + 8 months lies within 2019..2025 for six years.
    assert {t.start.year for t in drawn} == set(range(2019, 2025))
    assert max(Counter(t.start for t in drawn).values()) <= 3
    assert all(240 <= t.days <= 246 for t in drawn)
    assert timeline_of(12, 24, "k").end.year <= 2025
