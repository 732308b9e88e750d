from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from longbeam.errors import UserError
from longbeam.formats import (
    EXPORTS,
    IMPORTS,
    beam_day,
    exporter,
    find_day,
    importer,
    locomo_time,
    longmemeval_time,
    read_json,
    read_locomo_time,
    read_longmemeval_time,
    reading,
    stream_list,
)

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values=st.lists(TREES, min_size=1, max_size=6), indent=st.sampled_from([None, 1]), piece=st.integers(1, 9))
def test_a_list_is_read_the_same_in_pieces_of_any_size(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], indent: int | None, piece: int
) -> None:
    path = tmp_path_factory.mktemp("list") / "x.json"
    path.write_text(json.dumps(values, indent=indent), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_PIECE", piece)
        assert list(stream_list(path)) == values


def test_json_lines_and_a_single_object_are_lists_too(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    assert list(stream_list(path)) == [{"a": 1}, {"a": 2}]
    path.write_text('\ufeff{"a": [1]}', encoding="utf-8")
    assert list(stream_list(path)) == [{"a": [1]}]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'[{"a": 1}, {"a": ]', r"x: element 2: not JSON"),
        (b'[{"a": 1}, {"a": 2}', r"x: the list is not closed after element 2; the file is cut off"),
        (b"[]", r"x: holds nothing to import"),
        (b"", r"x: holds nothing to import"),
        (b"[NaN]", r"x: element 1: not JSON: NaN is no JSON"),
        (
            b'[{"a": 1, "a": 1}, {"a": 1, "a": 2}, 3]',
            r"x: element 2: not JSON: 'a' stands twice in one object, with two",
        ),
        (b'["\xff"]', r"x: is not UTF-8 text"),
    ],
)
def test_a_broken_file_is_one_clear_line(tmp_path: Path, content: bytes, complaint: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UserError, match=complaint):
        list(stream_list(tmp_path / "x"))


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="x: cannot be read: No such file"):
        list(stream_list(tmp_path / "x"))
    with pytest.raises(UserError, match="x: cannot be read: No such file"):
        read_json(tmp_path / "x")


def test_where_json_is_broken_is_said(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"a":\n 1,,}', encoding="utf-8")
    with pytest.raises(UserError, match=r"not JSON: .* \(line 2, column 4\)"):
        read_json(tmp_path / "x")


@pytest.mark.parametrize("name", IMPORTS)
def test_every_import_of_the_registry_is_there(name: str) -> None:
    assert callable(importer(name))


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_of_the_registry_is_there_and_documented(name: str) -> None:
    assert callable(exporter(name))
    page = (Path(__file__).parents[2] / "docs" / "export-format.md").read_text(encoding="utf-8")
    assert f"| `{name}` |" in page


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(UserError, match="format 'csv' cannot be exported; formats that can: jsonl, parquet, "):
        exporter("csv")
    with pytest.raises(
        UserError, match="format 'lmeb' cannot be imported; formats that can: beam, locomo, longmemeval"
    ):
        importer("lmeb")


# --- dates ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("March-15-2024", (2024, 3, 15)),
        ("March 5, 2024, 09:00 CET", (2024, 3, 5)),
        ("it was on 8 May, 2023", (2023, 5, 8)),
        ("Sep 3rd, 2024 or 2024-01-01", (2024, 9, 3)),
        ("2023-07-10", (2023, 7, 10)),
        ("February-30-2024", None),
        ("[Start July, 2023 - End August, 2023]", None),
        ("May 2024", None),
    ],
)
def test_days_are_found_in_their_forms(text: str, day: tuple[int, int, int] | None) -> None:
    assert find_day(text) == (None if day is None else dt.date(*day))


@given(st.datetimes(min_value=dt.datetime(1000, 1, 1)))
def test_times_come_back_from_every_form(time: dt.datetime) -> None:
    minute = time.replace(second=0, microsecond=0)
    assert read_locomo_time(locomo_time(minute)) == minute
    assert read_longmemeval_time(longmemeval_time(minute)) == minute
    assert find_day(beam_day(time.date())) == time.date()


def test_forms_are_those_of_the_releases() -> None:
    assert locomo_time(dt.datetime(2023, 9, 13, 0, 9)) == "12:09 am on 13 September, 2023"
    assert longmemeval_time(dt.datetime(2023, 5, 20, 2, 21)) == "2023/05/20 (Sat) 02:21"
    assert beam_day(dt.date(2024, 4, 5)) == "April-05-2024"
    assert read_locomo_time("13:09 am on 13 September, 2023") is None
    assert read_longmemeval_time("yesterday") is None
