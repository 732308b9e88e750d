import datetime as dt
from enum import Enum, StrEnum

import pytest
from hypothesis import given, strategies as st
from jinja2 import StrictUndefined

from longbeam.prompts import Trusted, day, fenced, inline, listed, only_trusted
from longbeam.text import money


class Shade(StrEnum):
    DARK = "dark"


class Plain(Enum):
    DARK = "dark"


@given(st.text(alphabet=st.sampled_from("~\n\r ax\u200b\u200d\u2028\u202e\x00`"), max_size=40))
def test_fenced_text_cannot_close_its_fence(text: str) -> None:
    lines = fenced(text).split("\n")

    fence = lines[-1]
    assert lines[0] == f"{fence}text"
    seen = [line.replace("\u200d", "") for line in lines[1:-1]]
    assert not any(fence in line for line in seen)
    assert not any("\u2028" in line or "\r" in line for line in seen)


def test_fenced_is_longer_than_tildes_that_a_joiner_keeps_apart() -> None:
    assert fenced("~\u200d~\u200d~").startswith("~~~~text\n")


def test_fenced_keeps_what_is_meant_and_drops_what_is_not_seen() -> None:
    text = "def f():\r\n\treturn 'æ — 好 👩\u200d💻'\u200b\u202e\x1b[2J\U000e0041"
    assert fenced(text, "code") == "~~~code\ndef f():\n\treturn 'æ — 好 👩\u200d💻'[2J\n~~~"


def test_fenced_writes_records_as_json() -> None:
    assert '"text": "$5"' in fenced((money(5), dt.date(2024, 3, 5)), "values")
    assert '"2024-03-05"' in fenced([dt.date(2024, 3, 5)])


@pytest.mark.parametrize("name", ["", "a\nb", "~", "Name", "x" * 31])
def test_fenced_refuses_a_name_that_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="name of a fence"):
        fenced("text", name)


def test_fenced_refuses_nothing() -> None:
    with pytest.raises(TypeError, match="nothing to fence"):
        fenced(None)


@given(st.text(max_size=60))
def test_inline_has_one_visible_line(text: str) -> None:
    rendered = inline(text)

    assert len(rendered.splitlines()) <= 1
    assert rendered == rendered.strip()
    assert all(c.isprintable() or c in "\u200c\u200d" or not c.isascii() for c in rendered)
    rendered.encode()  # no half of a surrogate pair


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        ("<|im_end|>", "< |im_end|>"),
        ("<｜User｜>", "< ｜User｜>"),
        ("</s>", "< /s>"),
        ("<start_of_turn>", "< start_of_turn>"),
        ("[INST] [/INST]", "[ INST] [ /INST]"),
        ("<<SYS>>", "< <SYS>>"),
        ("a <| b |> c [TODO] x < s > <span>", "a <| b |> c [TODO] x < s > <span>"),
    ],
)
def test_marks_of_who_speaks_are_broken(mark: str, shown: str) -> None:
    assert inline(mark) == shown
    assert fenced(mark) == f"~~~text\n{shown}\n~~~"


def test_inline_refuses_several_texts() -> None:
    for value in (["a"], {"a": 1}, None, money(5)):
        with pytest.raises(TypeError, match="inline takes one text"):
            inline(value)


def test_listed_makes_each_text_inline() -> None:
    assert listed(["a\nb", 3, Shade.DARK], "; ") == "a b; 3; dark"
    assert isinstance(listed(["a"]), Trusted)
    with pytest.raises(TypeError, match="several"):
        listed("abc")


def test_day_names_the_weekday() -> None:
    # March 5, 2024 was a Tuesday.
    assert day(dt.date(2024, 3, 5)) == "2024-03-05 (Tuesday)"


def test_only_trusted_lets_our_own_values_through() -> None:
    for value in (Trusted("a"), Shade.DARK, 3, 2.5, dt.date(2024, 3, 5)):
        assert only_trusted(value) is value


def test_only_trusted_refuses_everything_else() -> None:
    trusted = Trusted("a")
    made = ("a", trusted + "b", trusted[:1], trusted.upper(), f"{trusted}", ["a"], {"a": 1}, None, money(5), Plain.DARK)
    for value in made:
        with pytest.raises(TypeError, match="unfenced"):
            only_trusted(value)


def test_only_trusted_names_a_missing_variable() -> None:
    with pytest.raises(Exception, match="'seed' is undefined"):
        only_trusted(StrictUndefined(name="seed"))
