"""Makes a benchmark of a suite's conversations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from longbeam.generators.suites import Draw, find_suite, suite_settings
from longbeam.models import DEFAULT_TOKENIZER, load_tokenizer
from longbeam.pipeline.importing import GivenReport, keep_given


@dataclass(frozen=True)
class SuiteBenchmark:
    """A controlled benchmark to make."""

    name: str
    suite: str
    settings: Iterable[str] = ()
    """Settings of the suite, each as `SETTING=VALUE`."""
    conversations: int = 1
    seed: int = 0


def make_suite(wanted: SuiteBenchmark, out: Path) -> GivenReport:
    """Make a benchmark of a suite's conversations in the folder `out`; UserError for what does not fit."""
    suite = find_suite(wanted.suite)
    chosen = suite_settings(wanted.suite, suite, wanted.settings)
    count = load_tokenizer(DEFAULT_TOKENIZER).count
    draws = (Draw(wanted.suite, wanted.seed, i, count, DEFAULT_TOKENIZER) for i in range(wanted.conversations))
    fields = {"name": wanted.name, "seed": wanted.seed, "length": 0, "suite": wanted.suite, "models": {}}
    return keep_given((suite.make(chosen, draw) for draw in draws), fields, out)
