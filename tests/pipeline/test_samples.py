"""A sample made from the recorded conversation in /work/shared, a stand-in for those that the package ships."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.pack_sample import write
from longbeam.cli import OK, USER_ERROR, run
from longbeam.errors import UserError
from longbeam.pipeline import SAMPLES, Sample, sample_named, samples, unpack
from longbeam.store import sha256_of

RECORDED = Path("/work/shared/data/recorded-16k/benchmark")


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    if not RECORDED.is_dir():
        pytest.skip(f"{RECORDED} is not on this machine")
    shutil.copytree(RECORDED, tmp_path / "out")
    return write(tmp_path / "out", "frontier16", tmp_path / "samples" / "cooking16", "Supper clubs")


def test_a_packed_sample_unpacks_into_a_benchmark_that_the_commands_take(
    sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (sample.counts["probes"], sample.counts["tokens"]) == (20, 16_000)
    report = unpack(sample, tmp_path / "out")
    assert (report.messages, report.probes, report.benchmark.spec.licence) == (142, 20, "CC-BY-4.0")
    out = ["--out", str(tmp_path / "out")]
    assert run(["validate", "cooking16", *out]) == OK
    assert run(["show", "cooking16", *out]) == OK
    assert run(["evaluate", "cooking16", "--system", "bm25", *out]) == OK
    assert run(["export", "cooking16", "--to", str(tmp_path / "export"), *out]) == OK
    assert "writer | `frontier`" in (tmp_path / "export" / "README.md").read_text()
    assert "Not longbeam" not in (tmp_path / "export" / "README.md").read_text()
    capsys.readouterr()


def test_a_samples_card_says_who_wrote_and_that_nobody_read(sample: Sample) -> None:
    card = (sample.folder / "README.md").read_text()
    assert "Writer: a large language model, replies relayed by hand. Nobody has read the probes yet." in card
    assert "Licence: CC-BY-4.0" in card
    assert "GUID 0ab5f813" in card
    manifest = json.loads((sample.folder / "manifest.json").read_text())
    assert manifest["files"]["README.md"]["sha256"] == sha256_of(sample.folder / "README.md")
    assert json.loads((sample.folder / "journal.json").read_text())["conversations"][0]["calls"]


def test_a_sample_is_packed_again_in_place(sample: Sample, tmp_path: Path) -> None:
    again = write(tmp_path / "out", "frontier16", sample.folder, "Another title", "Qwen2.5-Coder-1.5B")
    assert "Writer: Qwen2.5-Coder-1.5B. " in (sample.folder / "README.md").read_text()
    assert [s.about.title for s in samples(sample.folder.parent)] == [again.about.title] == ["Another title"]


def test_a_sample_that_is_not_there_is_refused_with_the_names_of_others(sample: Sample) -> None:
    with pytest.raises(UserError, match=r"there is no sample 'home'; there is cooking16"):
        sample_named("home", sample.folder.parent)


def test_the_command_lists_the_samples_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sample"]) == OK
    shown = capsys.readouterr().out
    assert all(f"{sample.name}: {sample.about.title}" in shown for sample in samples())
    assert run(["sample", "nowhere"]) == USER_ERROR


@pytest.mark.parametrize("sample", [pytest.param(s, id=s.name) for s in samples()])
def test_every_sample_of_the_package_is_small_sound_and_says_who_wrote(sample: Sample, tmp_path: Path) -> None:
    assert sum(path.stat().st_size for path in sample.folder.iterdir()) <= 2_000_000
    assert "reviewed by people" not in (sample.folder / "README.md").read_text()
    assert sample.folder.parent == SAMPLES
    unpack(sample, tmp_path)
    assert (run(["validate", sample.name, "--out", str(tmp_path)]) == OK) is (not sample.about.errors)


@pytest.mark.parametrize("name", ["cafe128", "legal16", "home16", "coding32"])
def test_the_card_of_a_read_sample_contradicts_itself_nowhere(name: str) -> None:
    card = (sample_named(name).folder / "README.md").read_text(encoding="utf-8")
    assert f"\n# {name}\n" in card
    assert "Readers of the probes" in card
    assert "Nobody has reviewed" not in card
    assert "unreviewed 1" not in card
    assert "unreviewed 2" not in card
