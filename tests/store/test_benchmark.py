from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.errors import StoreError
from longbeam.schemas import Finding, Seed, Severity
from longbeam.store import read_findings, read_statistics, write_benchmark
from tests.store.stored_seeds import stored_seeds
from tests.store.strategies import JSON, TEXT, records_of

FINDING = Finding(
    check="stale_gold",
    severity=Severity.ERROR,
    conversation_id="c000",
    subject="knowledge_update.3",
    message="says 900 euros",
    evidence=("p0.s0.t0.n0",),
)


@given(
    seeds=st.lists(st.tuples(TEXT, records_of(Seed)), max_size=3),
    findings=st.lists(records_of(Finding), max_size=3),
    statistics=st.dictionaries(TEXT, JSON, max_size=3),
)
@settings(max_examples=10)
def test_what_is_written_comes_back_equal_and_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    seeds: list[tuple[str, Seed]],
    findings: list[Finding],
    statistics: dict[str, Any],
) -> None:
    path = tmp_path_factory.mktemp("benchmark") / "benchmark.duckdb"
    write_benchmark(path, seeds=seeds, findings=findings, statistics=statistics)

    assert stored_seeds(path) == seeds
    assert read_findings(path) == findings
    assert list(read_statistics(path).items()) == list(statistics.items())


def test_the_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "benchmark.duckdb"
    write_benchmark(path, seeds=[], findings=[FINDING], statistics={"tokens": 1})
    write_benchmark(path, seeds=[], findings=[], statistics={"tokens": {"c000": 230}})

    assert read_findings(path) == []
    assert read_statistics(path) == {"tokens": {"c000": 230}}
    assert sorted(os.listdir(tmp_path)) == ["benchmark.duckdb", "benchmark.duckdb.sha256"]


def test_a_statistic_that_is_no_json_leaves_the_former_file(tmp_path: Path) -> None:
    path = tmp_path / "benchmark.duckdb"
    write_benchmark(path, seeds=[], findings=[FINDING], statistics={})

    with pytest.raises(ValueError, match="not JSON compliant"):
        write_benchmark(path, seeds=[], findings=[], statistics={"mean": float("nan")})

    assert read_findings(path) == [FINDING]


def test_a_missing_or_damaged_file_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "benchmark.duckdb"
    with pytest.raises(StoreError, match="there is no benchmark file here"):
        read_findings(path)
    path.write_bytes(b"garbage" * 5000)
    with pytest.raises(StoreError, match="is not a DuckDB file") as refused:
        read_findings(path)
    assert "\n" not in str(refused.value)
