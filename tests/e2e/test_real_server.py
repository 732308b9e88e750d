"""The whole pipeline against a real server: grammatical nonsense goes through every stage, and the checks flag it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import longbeam
from longbeam.store.worklog import WorkLog
from tests.e2e.tiny_model import write_tiny_model

SPEC = """
name = "nonsense"
seed = 3
length = "16K"
domains = ["trip"]
models = {{ default = "openai:tiny" }}
[endpoints."openai:tiny"]
base_url = "{base_url}"
structured = "json_schema"
[limits]
concurrency = 8
[sampling.default]
temperature = 1.0
max_tokens = 12000
"""


@pytest.fixture
def base_url(tmp_path: Path) -> Iterator[str]:
    model = tmp_path / "tiny.gguf"
    write_tiny_model(model, Path(longbeam.__file__).parent / "prompts")
    command = [sys.executable, "-m", "tests.e2e.llama_server", str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(line.split()[1] for line in process.stdout if line.startswith("LISTENING")) + "/v1"
        finally:
            process.kill()


def _longbeam(*arguments: str, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "longbeam", *arguments, "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=800)


@pytest.mark.timeout(850)
def test_nonsense_goes_through_every_stage_and_is_flagged(tmp_path: Path, base_url: str) -> None:
    spec, out = tmp_path / "nonsense.toml", tmp_path / "out"
    spec.write_text(SPEC.format(base_url=base_url))

    made = _longbeam("generate", str(spec), "--runner", "inline", out=out)
    # Exit 1 if a probe that no wording makes right is a failed unit; nothing else fails.
    assert made.returncode in (0, 1), made.stdout + made.stderr
    assert "1 of 1 conversation finished" in made.stdout + made.stderr
    with WorkLog.open_read_only(out / "nonsense" / "work" / "c000.sqlite") as log:
        assert set(log.units.counts()) == {"persona", "plan", "user_turns", "dialogue", "probes", "seal"}
        assert {unit.stage for unit in log.units.failures()} <= {"probes"}

    checked = _longbeam("validate", "nonsense", "--json", out=out)
    assert checked.returncode == 1, checked.stderr
    errors = {f["check"] for f in json.loads(checked.stdout) if f["severity"] == "error"}
    # What was planned is not said, and there are no probes.
    assert "probe_set.number" in errors
    assert any(check.startswith("voicing.") for check in errors)

    exported = _longbeam("export", "nonsense", "--to", str(tmp_path / "export"), out=out)
    assert exported.returncode == 0, exported.stderr
    messages = [json.loads(line) for line in (tmp_path / "export" / "messages.jsonl").read_text().splitlines()]
    assert sum(m["tokens"] for m in messages) > 8_000
