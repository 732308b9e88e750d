"""Counts against tiktoken's; every expected number is derived or was made by tiktoken 0.14.0."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from longbeam.errors import UserError
from longbeam.models import DEFAULT_TOKENIZER, TOKENIZER_NAMES, load_tokenizer

# Each row: a text, its tokens in o200k_base, its tokens in cl100k_base.
VECTORS = [
    ("", 0, 0),
    ("hello world", 2, 2),  # [24912, 2375] and [15339, 1917]
    ("tiktoken is great!", 6, 6),  # [83, 8251, 2488, 382, 2212, 0] and [83, 1609, 5963, 374, 2294, 0]
    ("日本語 naïve 🧑\u200d🚀", 10, 14),
    ("<|endoftext|>", 7, 7),  # ordinary text: `<` `|` three pieces of `endoftext` `|` `>`
    ("<|fim_prefix|><|im_start|>", 11, 12),
    ("    return {'total': 1_250.00}\n\n\n", 12, 12),
    ("\x00\r\n\t", 3, 3),
]


@pytest.mark.parametrize(("text", "o200k", "cl100k"), VECTORS)
def test_count_equals_tiktoken(text: str, o200k: int, cl100k: int) -> None:
    assert load_tokenizer("o200k_base").count(text) == o200k
    assert load_tokenizer("cl100k_base").count(text) == cl100k


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 100_000, 12_500),  # the longest token of a's is 8 long
        (
            " " * 100_000,
            782,
        ),  # the longest token of spaces is 128 long: 781.25, rounded up
    ],
)
@pytest.mark.parametrize("name", TOKENIZER_NAMES)
@pytest.mark.timeout(5)
def test_count_of_100k_characters_without_a_break_is_quick(name: str, text: str, expected: int) -> None:
    assert load_tokenizer(name).count(text) == expected


def test_count_of_100k_characters_of_prose() -> None:
    # "hello", then 9,999 times " hello" and 10,000 times " world": every word is one token.
    assert load_tokenizer("o200k_base").count(" ".join(["hello world"] * 10_000)) == 20_000


@pytest.mark.parametrize("name", TOKENIZER_NAMES)
def test_count_takes_a_lone_surrogate_as_the_replacement_character(name: str) -> None:
    tokenizer = load_tokenizer(name)
    assert tokenizer.count("a\ud800b") == tokenizer.count("a\ufffdb")


@given(st.text(alphabet=st.characters(codec=None)))
def test_count_is_between_zero_and_the_number_of_bytes(text: str) -> None:
    count = load_tokenizer("o200k_base").count(text)
    # Every token is at least one byte of UTF-8; a surrogate stands for the three bytes of U+FFFD.
    assert (1 if text else 0) <= count <= len(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", TOKENIZER_NAMES)
def test_load_tokenizer_keeps_one_of_each_name(name: str) -> None:
    tokenizer = load_tokenizer(name)
    assert tokenizer.name == name
    assert load_tokenizer(name) is tokenizer


def test_default_tokenizer_can_be_loaded() -> None:
    assert load_tokenizer(DEFAULT_TOKENIZER).count("hello world") == 2


@pytest.mark.parametrize("name", ["", "gpt-4o", "O200K_BASE", "o200k_base "])
def test_load_tokenizer_refuses_an_unknown_name_and_says_what_is_allowed(name: str) -> None:
    with pytest.raises(UserError) as caught:
        load_tokenizer(name)
    assert str(caught.value) == f"tokenizer {name!r} is unknown; allowed: o200k_base, cl100k_base"


def test_importing_tokens_does_not_load_the_vocabularies() -> None:
    code = "import sys, longbeam.models.tokens; sys.exit('toktok' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
