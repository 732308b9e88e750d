"""Whatever a spec file or a command line says is taken, or refused in one line."""

from __future__ import annotations

import json
import math
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from longbeam.cli import INCOMPLETE, OK, USER_ERROR, run
from longbeam.errors import UserError
from longbeam.pipeline import load_spec, with_overrides
from longbeam.schemas import BenchmarkSpec
from tests.properties.hostile import TEXTS, VALUES, spoilt

GOOD: dict[str, Any] = {
    "name": "a",
    "seed": 1,
    "length": "16K",
    "conversations": 2,
    "domains": ["coding"],
    "abilities": ["abstention"],
    "models": {"default": "openai:x", "judge": "offline"},
    "endpoints": {"openai:x": {"base_url": "http://h/v1", "limits": {"concurrency": 2}, "price": {"input": 1.5}}},
    "sampling": {"default": {"temperature": 0.5}},
    "limits": {"concurrency": 4},
    "batch": {"stages": ["probes"]},
    "checks": {"gap_share": 0.1},
}


def toml(value: Any) -> str:
    """A value as TOML writes it; ValueError for one that it cannot."""
    if value is None:
        raise ValueError("TOML has no null")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return "nan" if math.isnan(value) else f"{'-' if value < 0 else ''}inf" if math.isinf(value) else repr(value)
    return json.dumps(value)


@given(spoilt(GOOD))
def test_a_spec_file_is_taken_or_refused_in_one_line(tree: Any) -> None:
    assume(isinstance(tree, dict))
    try:
        text = "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in tree.items())
        data = text.encode()
    except ValueError:  # null, lone surrogates
        assume(False)
    said = ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.toml"
        path.write_bytes(data)
        try:
            load_spec(path)
        except UserError as exc:
            said = str(exc)
    assert len(said) < 2_000


@given(spoilt(GOOD), st.dictionaries(st.sampled_from([*BenchmarkSpec.model_fields]), VALUES, max_size=2))
def test_overrides_are_taken_or_refused_in_one_line(tree: Any, overrides: dict[str, Any]) -> None:
    assume(isinstance(tree, dict))
    spec = BenchmarkSpec(name="a", length=16_000)
    for fields in (tree, overrides):
        with suppress(UserError):
            with_overrides(spec, fields)


# None of these runs or serves anything when its arguments happen to be right.
COMMANDS = (
    "status {}", "resume {}", "validate {}", "stats {} --to {}", "export {} --to {} --format {}", "export {} --to {}",
    "import {} {} --name {}", "import locomo {} --name {} --tokenizer {}", "import beam {} --name {}", "verify {}",
    "generate {}.toml --length {}", "generate --length 1x --name {}", "generate --length 16K --domain {} --runner {}",
    "estimate {}.toml --length {}", "report {} --html {}", "judge-agreement {} {}", "repair {}", "cmv import {}",
    "evaluate {} --system {}", "study controlled {}", "study paging {} --tokens {}", "cmv trim {} --to {}",
    "cmv snapshot {} {}", "cmv delete {}", "reviews export {} {}", "reviews import {} {}", "seeds zz{} --count {}",
    "suite {} --name {}", "{}", "{} {}", "--{}",
)  # fmt: skip


# Typer builds all commands for each line: 0.05 s.
@settings(max_examples=settings().max_examples // 4)
@given(st.sampled_from(COMMANDS), st.lists(TEXTS.filter(lambda text: text.isprintable()), min_size=3, max_size=3))
def test_a_command_line_ends_with_a_code_and_few_lines(
    pattern: str,
    values: list[str],
) -> None:
    arguments = [part.format(values[i % 3]) if "{" in part else part for i, part in enumerate(pattern.split(" "))]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(arguments) in {OK, INCOMPLETE, USER_ERROR}
