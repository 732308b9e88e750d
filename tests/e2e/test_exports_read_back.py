"""A generated benchmark, exported, imported again and checked: no fault may be new."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.cli import OK, run
from longbeam.formats.reading import ImportOptions
from longbeam.formats.registry import exporter, importer
from longbeam.store.artifacts import SealedConversation
from longbeam.store.layout import open_benchmark
from longbeam.validation.run import check_conversation
from tests.builders import MemoryReader

FORMATS = (
    ("jsonl", "jsonl", ""),
    ("beam", "beam", ""),
    ("beam-json", "beam", "beam_100K.json"),
    ("huggingface", "beam", ""),
    ("locomo", "locomo", "locomo10.json"),
    ("longmemeval", "longmemeval", "longmemeval_s_cleaned.json"),
)
"""Format of the export, format of the import, and the file of the export that is read."""
WITHOUT_LEDGER = {"abstention.searched", "later_values.other_later"}
"""Notes on an import, which has no ledger and no search terms: a record, and places to look at."""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder with the benchmark `made` of 16K tokens."""
    out = tmp_path_factory.mktemp("made")
    assert run(["generate", "--name", "made", "--length", "16K", "--runner", "inline", "--out", str(out)]) == OK
    return out


@pytest.mark.parametrize(("exported", "imported", "file"), FORMATS, ids=[f[0] for f in FORMATS])
def test_a_round_through_a_format_finds_nothing_new(
    generated: Path, tmp_path: Path, exported: str, imported: str, file: str
) -> None:
    benchmark = open_benchmark(generated, "made")
    with SealedConversation(benchmark.sealed_path("c000")) as original:
        before = {f.check for f in check_conversation(original)}
        exporter(exported)([original], benchmark.spec, tmp_path / "export")
    (read,) = importer(imported)(tmp_path / "export" / file, ImportOptions())
    after = check_conversation(MemoryReader(read.head, tuple(read.messages()), read.probes))
    new = [f for f in after if f.check not in before | WITHOUT_LEDGER]
    assert [f"{f.check}: {f.message}" for f in new] == []
