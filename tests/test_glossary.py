"""Classes are named with the words of docs/glossary.md, and each has a name of its own."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
GLOSSARY = REPOSITORY / "docs" / "glossary.md"
ROW = re.compile(r"^\| \*\*(?P<word>[^*]+)\*\* \| (?P<meaning>[^|]+) \| (?P<others>[^|]+) \|$", re.M)


@cache
def classes() -> dict[str, list[str]]:
    """Files in which a class of a name is defined, by name."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((REPOSITORY / "longbeam").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(REPOSITORY)))
    return found


def words_of(name: str) -> list[str]:
    """The words of a class name: `GoldAnswer` has "gold" and "answer"."""
    return [word.casefold() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", name)]


def test_the_glossary_has_at_most_thirty_words_each_in_a_sentence() -> None:
    rows = list(ROW.finditer(GLOSSARY.read_text(encoding="utf-8")))

    assert 20 <= len(rows) <= 30
    assert [row["word"] for row in rows if not re.fullmatch(r"[A-Z].*\.", row["meaning"].strip())] == []


def test_no_two_classes_share_a_name() -> None:
    assert {name: files for name, files in classes().items() if len(files) > 1} == {}


def test_no_class_has_a_word_that_the_glossary_replaces() -> None:
    rows = ROW.finditer(GLOSSARY.read_text(encoding="utf-8"))
    replaced = {other.strip(): row["word"] for row in rows for other in row["others"].split(",")}

    assert [
        f"{name}: say {word}"
        for name in classes()
        for other, word in replaced.items()
        if set(other.split()) <= set(words_of(name)) and len(other.split()) == 1
    ] == []


def test_every_word_of_the_glossary_names_a_class() -> None:
    named = {word for name in classes() for word in words_of(name)}
    wanted = [set(row["word"].split()) for row in ROW.finditer(GLOSSARY.read_text(encoding="utf-8"))]

    assert [words for words in wanted if not words & named] == []
