"""Other packages and tests import a package by its face, which holds what they use and nothing else."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.faces import House, misplaced_imports, written_faces

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def house() -> House:
    return House(REPOSITORY)


def test_names_are_imported_from_the_face_of_their_package(house: House) -> None:
    assert misplaced_imports(house) == [], "run `make faces`"


def test_faces_hold_the_names_that_others_use(house: House) -> None:
    wrong = [
        f"{stub.relative_to(REPOSITORY)}: {sorted(_names(text) ^ _names(stub.read_text(encoding='utf-8')))}"
        for stub, text in written_faces(house).items()
        if _names(text) != _names(stub.read_text(encoding="utf-8"))
    ]

    assert wrong == [], "run `make faces`"


def test_an_import_past_the_face_is_found(tmp_path: Path) -> None:
    for name, source in {
        "longbeam/text/__init__.py": "",
        "longbeam/text/words.py": "def words_of(): ...\n",
        "longbeam/store/__init__.py": "",
        "longbeam/store/files.py": "from longbeam.text.words import words_of\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)

    assert misplaced_imports(House(tmp_path)) == [
        "longbeam/store/files.py:1: words_of of longbeam.text.words is longbeam.text's"
    ]
    assert written_faces(House(tmp_path)) == {
        tmp_path / "longbeam/text/__init__.pyi": "from .words import words_of as words_of\n"
    }


def _names(stub: str) -> set[str]:
    words = stub.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return {after for before, after in itertools.pairwise(words) if before == "as"}
