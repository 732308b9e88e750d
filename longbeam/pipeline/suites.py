"""Makes a benchmark of a suite's conversations."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from longbeam.generators.suites.base import Draw
from longbeam.generators.suites.registry import find_suite, suite_settings
from longbeam.models.tokens import DEFAULT_TOKENIZER, load_tokenizer
from longbeam.pipeline.importing import GivenReport, keep_given


def make_suite(
    suite_name: str, settings: Iterable[str], *, name: str, conversations: int, seed: int, out: Path
) -> GivenReport:
    """Make the benchmark `name` of so many conversations of a suite; UserError for what does not fit."""
    suite = find_suite(suite_name)
    chosen = suite_settings(suite_name, suite, settings)
    count = load_tokenizer(DEFAULT_TOKENIZER).count
    made = (
        suite.make(chosen, Draw(suite_name, seed, index, count, DEFAULT_TOKENIZER)) for index in range(conversations)
    )
    fields = {"name": name, "seed": seed, "length": 0, "suite": suite_name, "models": {}}
    return keep_given(made, fields, out)
