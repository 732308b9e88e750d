"""A world of one's own: `init`, `generate` in its folder, what the card and the checks say of it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import longbeam
from longbeam.cli import OK, USER_ERROR, run
from longbeam.offline import tells
from longbeam.schemas import BenchmarkSpec, OwnDomain, Seed

ABOUT = "Administrators write to the support of a bookkeeping cloud about invoices, seats and outages."


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_init_writes_a_spec_and_seeds_that_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "mine", "--domain", "cooking", "--length", "32K"]) == OK
    spec = tomllib.loads((tmp_path / "mine" / "spec.toml").read_text())
    assert (spec["name"], spec["domains"], spec["length"]) == ("mine", ["cooking"], "32K")
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["seeds.toml", "spec.toml"]
    assert "cd mine && longbeam generate" in capsys.readouterr().out
    assert run(["init", "mine"]) == USER_ERROR
    assert "mine/spec.toml exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--domain", "b2b"], "is not built in; say what people do there"),
        (["--domain", "b2b", "--about", "short"], "domain.about"),
        (["--length", "2K"], "at least 16000 tokens"),
        (["--name", "a b"], "name 'a b'"),
    ],
)
def test_init_refuses_answers_that_no_spec_may_hold(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["init", "mine", *options]) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (tmp_path / "mine").exists()


@pytest.mark.slow
def test_generate_in_the_folder_of_init_makes_its_world(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "--name", "b2b", "--domain", "b2b support", "--about", ABOUT, "--people"]) == OK
    assert run(["generate", "--runner", "inline"]) == OK
    away = "this conversation will not be about its seed"
    assert f"warning: c000: {away}" in capsys.readouterr().err
    run(["status", "b2b"])
    assert away in capsys.readouterr().out
    assert run(["validate", "b2b"]) == OK
    assert "subject.other_story" in capsys.readouterr().out

    (conversation,) = longbeam.run(longbeam.load("b2b"))
    assert conversation.seed.domain == "b2b support"
    assert conversation.seed.about == ABOUT
    assert conversation.profile is not None
    assert conversation.profile.profession == "support lead"
    assert conversation.profile.traits

    assert run(["export", "b2b", "--to", "exported"]) == OK
    card = Path("exported/README.md").read_text()
    assert f"> {ABOUT}" in card
    assert "seeds are written by its makers" in card
    assert "**Not about the seeds.**" in card
    line = json.loads(Path("exported/conversations.jsonl").read_text())
    assert {"name": "plan", "value": "Enterprise"} in line["profile"]["traits"]
    assert run(["import", "jsonl", "exported", "--name", "back"]) == OK


@pytest.mark.slow
def test_seeds_of_a_domain_are_written_by_the_planner_and_kept(tmp_path: Path) -> None:
    domain = OwnDomain(name="b2b support", about=ABOUT)
    spec = BenchmarkSpec(name="b", length=16_000, domain=domain, probes_per_ability=1)
    first = longbeam.run(longbeam.generate(spec))
    kept = Path("output/b/seeds.json").read_text()
    assert first["c000"].seed.about == ABOUT
    again = longbeam.run(longbeam.generate(spec.model_copy(update={"conversations": 2})))
    assert again["c000"].seed == first["c000"].seed
    assert json.loads(Path("output/b/seeds.json").read_text())[:1] == json.loads(kept)
    assert again["c001"].seed.title != first["c000"].seed.title


def test_offline_writer_knows_the_subjects_of_its_packs() -> None:
    own = Seed(domain="b2b support", title="Moving the books", theme="t", subtopics=("a",), source="f.json#1")
    assert not tells(own)
    assert tells(own.model_copy(update={"source": "catalogue"}))
    assert tells(Seed(domain="trip_planning", title="By train to the sea", theme="t", subtopics=("a",), source="x"))
    assert not tells(Seed(domain="home_real_estate", title="Zzz", theme="t", subtopics=("a",), source="x"))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('domain = "none.yaml"', "cannot be read"),
        ("domain = 'bad.yaml'", "not YAML"),
        ('domains = ["coding"]\n[domain]\nname = "x"\nabout = "' + ABOUT + '"', "stands in their place"),
        ('[domain]\nname = "x?"\nabout = "' + ABOUT + '"', "domain.name"),
        ("[people]\nrows = 3", "unknown key 'people.rows'"),
        ("[people]\ntable = 'none.csv'", "cannot be read"),
        ("[prompts]\nfolder = 'none'", "cannot be read"),
    ],
)
def test_a_spec_whose_world_cannot_be_used_is_one_line(
    table: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.yaml").write_text("a: [")
    Path("s.toml").write_text(f'name = "b"\nlength = "16K"\n{table}\n')
    assert run(["generate", "s.toml", "--runner", "inline"]) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_domain_may_be_a_yaml_file() -> None:
    from longbeam.pipeline import load_spec

    Path("b2b.yaml").write_text(f"name: b2b support\nabout: >\n  {ABOUT}\n")
    Path("s.toml").write_text('name = "b"\ndomain = "b2b.yaml"\n')
    assert load_spec(Path("s.toml")).domain == OwnDomain(name="b2b support", about=f"{ABOUT}\n")
