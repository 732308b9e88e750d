"""The tables of names are Faker's: `python -m tests.text.test_name_tables` writes them again."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from longbeam.text import PLACES, jobs, name_tables, names_of

KINDS = ("first_names_female", "first_names_male", "last_names")


def of_faker(place: str) -> dict[str, list[str]]:
    """The names that Faker lists for a place."""
    provider = import_module(f"faker.providers.person.{place}").Provider
    return {kind: sorted({*getattr(provider, kind)}) for kind in KINDS}


def jobs_of_faker() -> list[str]:
    return sorted({*import_module("faker.providers.job.en_US").Provider.jobs})


@pytest.mark.parametrize("place", PLACES)
def test_names_are_those_of_faker(place: str) -> None:
    names = names_of(place)
    assert {kind: list(getattr(names, kind)) for kind in KINDS} == of_faker(place)
    assert names.first_names == {*names.first_names_female, *names.first_names_male}


def test_jobs_are_those_of_faker() -> None:
    assert list(jobs()) == jobs_of_faker()


def write() -> None:
    """Write the tables of the Faker that is installed."""
    folder = Path(name_tables.__file__).parent / "data"
    names = {place: of_faker(place) for place in PLACES}
    for file, table in (("names.json", names), ("jobs.json", jobs_of_faker())):
        text = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
        (folder / file).write_text(text.replace('],"', '],\n"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
