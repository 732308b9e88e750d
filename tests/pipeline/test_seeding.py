"""`longbeam seeds`: offline and with a model, kept replies, what it says when there is no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, OK, USER_ERROR, run
from longbeam.generators import are_near_duplicates, read_seeds_file
from longbeam.offline import seeds as offline_seeds
from longbeam.pipeline import make_seeds
from longbeam.prompts.calls import SeedsInputs
from longbeam.schemas import BenchmarkSpec, Domain
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by, offline


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_file_of_new_seeds_can_be_generated_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["seeds", "Travel", "coding", "--count", "4", "--out", "mine.json"]) == OK
    assert "8 seeds of 2 domains" in capsys.readouterr().out
    seeds, warnings = read_seeds_file(Path("mine.json"))
    assert warnings == []
    assert [s.domain for s in seeds] == [Domain.TRIP] * 4 + [Domain.CODING] * 4
    assert all(s.timeline is not None and len(s.subtopics) >= 6 for s in seeds)
    assert run(["seeds", "coding", "--out", "mine.json"]) == USER_ERROR
    assert "mine.json exists" in capsys.readouterr().err
    arguments = ["generate", "--name", "x", "--length", "16K", "--seeds", "mine.json", "--runner", "inline"]
    assert run(arguments) == OK
    assert run(["validate", "x"]) == OK


def test_without_a_file_they_are_printed_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["seeds", "sport", "--count", "2"]) == OK
    first = capsys.readouterr()
    assert len(json.loads(first.out)) == 2
    assert first.err.startswith("2 seeds of 1 domain")
    run(["seeds", "sport", "--count", "2"])
    assert capsys.readouterr().out == first.out


def test_offline_says_when_it_has_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["seeds", "cooking", "--count", "60"]) == INCOMPLETE
    streams = capsys.readouterr()
    count = len(json.loads(streams.out))
    assert 4 <= count < 60
    assert f"cooking: {count} of 60; offline has no more that resemble neither each other nor" in streams.err


@pytest.mark.parametrize("name", ["nonsense", ""])
def test_unknown_domain_is_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["seeds", name]) == USER_ERROR
    assert f"domain {name!r} is not built in; say what it is with --about" in capsys.readouterr().err


def test_a_domain_of_ones_own_has_seeds_by_name_and_paragraph(capsys: pytest.CaptureFixture[str]) -> None:
    about = "Administrators write to the support of a bookkeeping cloud about invoices, seats and outages."
    assert run(["seeds", "b2b_support", "--about", about, "--count", "2"]) == OK
    assert [seed["domain"] for seed in json.loads(capsys.readouterr().out)] == ["b2b_support"] * 2
    assert run(["seeds", "b2b_support", "--about", "short"]) == USER_ERROR
    assert "at least 40 characters" in capsys.readouterr().err


async def test_replies_are_kept_and_another_seed_of_randomness_asks_anew(tmp_path: Path) -> None:
    spec = BenchmarkSpec.model_validate({"name": "seeds"})
    other = spec.model_copy(update={"seed": 1})
    counted = []
    for each in (spec, spec, other):
        model = CountingModel()
        written = await make_seeds(each, (Domain.SPORT,), 3, tmp_path / ".seeds", answered_by(model))
        counted.append((len(model.keys) > 0, len(written.seeds)))
    assert counted == [(True, 3), (False, 3), (True, 3)]


@pytest.mark.parametrize("domain", list(Domain))
def test_offline_has_titles_for_every_domain_that_differ(domain: Domain) -> None:
    asked = SeedsInputs(domain=domain, subject="", count=12, taken=())
    first = [d.title for d in offline_seeds(asked).seeds]
    more = [d.title for d in offline_seeds(asked.model_copy(update={"taken": tuple(first)})).seeds]

    assert len(first) == len(set(first)) == 12
    assert more
    assert not set(first) & set(more)


async def test_no_two_written_seeds_are_alike_across_domains(tmp_path: Path) -> None:
    spec = BenchmarkSpec.model_validate({"name": "seeds"})
    written = await make_seeds(spec, tuple(Domain), 5, tmp_path / ".seeds", offline())
    seeds = written.seeds

    assert written.is_complete
    assert not any(are_near_duplicates(a, b) for i, a in enumerate(seeds) for b in seeds[:i])
