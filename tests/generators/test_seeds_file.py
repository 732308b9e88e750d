from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.errors import UserError
from longbeam.generators import domain_of, parse_seeds, read_seeds_file
from longbeam.schemas import Domain, Seed

GOOD = {"category": "Math", "title": "T", "theme": "th", "subtopics": ["a"]}


def parse_one(**fields: object) -> Seed:
    seeds, warnings = parse_seeds(json.dumps([{**GOOD, **fields}]), name="f.json")
    assert warnings == []
    return seeds[0]


@pytest.mark.parametrize(
    ("category", "domain"),
    [
        ("Coding", Domain.CODING),
        ("  MATHEMATICS ", Domain.MATH),
        ("Writing Assistant & Learning", Domain.WRITING),
        ("Therapy and Emotional Support", Domain.THERAPY),
        ("therapy & emotional-support", Domain.THERAPY),
        ("Career and Professional Development", Domain.CAREER),
        ("Financial Investment", Domain.INVESTMENT),
        ("Legal and Administrative", Domain.LEGAL),
        ("Philosophical or Ethical Discussion", Domain.PHILOSOPHY),
        ("Asking Recommendation", Domain.RECOMMENDATION),
        ("home_real_estate", Domain.HOME),
        ("Travel", Domain.TRIP),
        ("Astrology", None),
        ("", None),
    ],
)
def test_categories_are_matched_by_their_words(category: str, domain: Domain | None) -> None:
    assert domain_of(category) is domain


@pytest.mark.parametrize("domain", Domain)
def test_every_domain_is_known_by_its_own_name(domain: Domain) -> None:
    assert domain_of(domain.value) is domain


def test_an_unknown_category_is_a_domain_of_its_own() -> None:
    seeds, warnings = parse_seeds(json.dumps([GOOD, {**GOOD, "title": "U", "category": "b2b_support"}]), name="f.json")

    assert [seed.domain for seed in seeds] == [Domain.MATH, "b2b_support"]
    assert [seed.category for seed in seeds] == ["math", "general"]
    assert warnings == []


def test_a_category_that_is_nearly_a_built_in_one_has_a_warning() -> None:
    seeds, warnings = parse_seeds(json.dumps([{**GOOD, "category": "Programing"}]), name="f.json")

    assert seeds[0].domain == "Programing"
    assert warnings == [
        "seeds file 'f.json': entry 1: category 'Programing' is a domain of its own; did you mean 'coding'?"
    ]


def test_a_toml_file_holds_seeds_as_tables() -> None:
    text = """
[[seed]]
domain = "b2b support"
title = "Moving the books before the audit"
theme = "From the export to the first closed month"
subtopics = ["Export", "Import"]
timeline = {start = 2024-03-01, end = 2024-09-30}
"""
    (seed,), warnings = parse_seeds(text, name="seeds.toml")

    assert (seed.domain, seed.source, warnings) == ("b2b support", "seeds.toml#1", [])
    assert seed.timeline is not None
    assert seed.timeline.start.isoformat() == "2024-03-01"


@pytest.mark.parametrize("text", ["", "seed = 3", "[seed]\ntitle = 'x'", "[[seed]", "[[seed]]\ntitle = 'x'\n[other]"])
def test_a_toml_file_without_seeds_is_one_line(text: str) -> None:
    with pytest.raises(UserError, match=r"^seeds file 'seeds.toml': [^\n]+$"):
        parse_seeds(text, name="seeds.toml")


def test_a_missing_category_and_an_unused_key_are_warnings() -> None:
    entry = {key: value for key, value in GOOD.items() if key != "category"} | {"sub-topics": []}

    seeds, warnings = parse_seeds(json.dumps([entry]), name="f.json")

    assert seeds[0].domain is Domain.GENERAL
    assert "entry 1: key 'sub-topics' is not used" in warnings[0]
    assert "entry 1: no category; taken as general" in warnings[1]


def test_white_space_and_control_characters_are_tidied() -> None:
    assert parse_one(title="  A\n\tlong\u0000 title ").title == "A long title"


@pytest.mark.parametrize(
    ("value", "start", "end"),
    [
        ("[Start May, 2022 - End May, 2023]", date(2022, 5, 1), date(2023, 5, 31)),
        ("Start Sept 2023 – End Feb. 2024", date(2023, 9, 1), date(2024, 2, 29)),
        ("2022-05-03 - 2022-08-09", date(2022, 5, 3), date(2022, 8, 9)),
        ("2022-05 to 2022-06", date(2022, 5, 1), date(2022, 6, 30)),
        ({"start": "2022-05-03", "end": "June 2022"}, date(2022, 5, 3), date(2022, 6, 30)),
    ],
)
def test_timelines_are_read_in_many_spellings(value: object, start: date, end: date) -> None:
    timeline = parse_one(timeline=value).timeline

    assert timeline is not None
    assert (timeline.start, timeline.end) == (start, end)


@pytest.mark.parametrize("value", [None, "", "N/A"])
def test_no_timeline_is_no_error(value: object) -> None:
    assert parse_one(timeline=value).timeline is None


@pytest.mark.parametrize(("given", "kept"), [("similar", "hierarchical"), ("Following", "sequential"), (None, None)])
def test_modes_have_beams_names_too(given: str | None, kept: str | None) -> None:
    assert parse_one(mode=given).mode == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: Expecting value (line 1, column 1)"),
        ("[{},]", "not JSON: "),
        ("[" * 100_000, "not usable JSON: "),
        ("[" + "9" * 5_000 + "]", "not usable JSON: "),
        ('{"title": "T"}', "found an object; a list of seeds is needed"),
        ("[]", "the list is empty; at least one seed is needed"),
        ("[3]", "entry 1: found a number 3; an object with title, theme and subtopics is needed"),
    ],
)
def test_a_text_that_is_no_list_of_seeds_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_seeds(text, name="f.json")

    assert str(caught.value).startswith("seeds file 'f.json': ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("title", 7, "title: found a number 7; needed: a text that is not empty"),
        ("title", " \n", r'title: found text " \n"; needed: a text that is not empty'),
        ("title", "a\ud800", r'title: found text "a\ud800"; needed: text without half a surrogate pair'),
        ("theme", None, "theme: found null; needed: a text"),
        ("subtopics", "a, b", 'subtopics: found text "a, b"; needed: a list of one or more texts'),
        ("subtopics", [], "subtopics: found an empty list; needed: a list of one or more texts"),
        ("subtopics", ["a", 2], "subtopics, item 2: found a number 2; needed: a text that is not empty"),
        ("category", ["Math"], "category: found a list; needed: the name of a domain"),
        ("mode", "spiral", 'mode: found text "spiral"; needed: hierarchical or similar or'),
        ("timeline", "next year", 'timeline: found text "next year"; needed: '),
        ("timeline", "Mayhem 2022 - May 2023", "timeline: found text"),
        ("timeline", [2022, 2023], "timeline: found a list; needed: "),
        ("timeline", "May 2023 - May 2022", "needed: an end after the start"),
        ("id", True, "id: found a truth value true; needed: a number or a text"),
    ],
)
def test_a_malformed_field_is_named(field: str, value: object, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_seeds(json.dumps([GOOD, {**GOOD, "title": "U", field: value}]), name="f.json")

    assert str(caught.value).startswith(f"seeds file 'f.json': entry 2: {field}")
    assert message in str(caught.value)
    str(caught.value).encode()


@pytest.mark.parametrize("field", ["title", "theme", "subtopics"])
def test_a_missing_field_is_named(field: str) -> None:
    entry = {key: value for key, value in GOOD.items() if key != field}

    with pytest.raises(UserError, match=f"entry 1: {field} is missing; needed: a "):
        parse_seeds(json.dumps([entry]), name="f.json")


def test_a_title_may_stand_only_once() -> None:
    with pytest.raises(UserError, match='entry 2: title: found text "t"; needed: titles that differ; entry 1 has'):
        parse_seeds(json.dumps([GOOD, {**GOOD, "title": " t "}]), name="f.json")


def test_files_that_cannot_be_read_are_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes('["é"]'.encode("latin-1"))

    for path, reason in (
        (tmp_path / "none.json", "cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
        (tmp_path / "latin.json", r"not UTF-8 text \(byte 2\)"),
        (tmp_path / "a\0b", "cannot be read: embedded null byte"),
    ):
        with pytest.raises(UserError, match=reason):
            read_seeds_file(path)


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bom.json"
    path.write_text(json.dumps([GOOD]), encoding="utf-8-sig")

    assert read_seeds_file(path)[0][0].title == "T"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["title", "theme", "subtopics", "timeline", "mode", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(st.lists(JSON | st.fixed_dictionaries({"title": JSON, "theme": JSON, "subtopics": JSON}), max_size=3))
def test_any_json_is_seeds_or_one_line(entries: list[object]) -> None:
    try:
        seeds, _ = parse_seeds(json.dumps(entries), name="f.json")
    except UserError as exc:
        lines = str(exc).splitlines()
        assert len(lines) == 1
    else:
        assert len(seeds) == len(entries)
        assert all(seed.digest for seed in seeds)
