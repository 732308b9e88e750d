"""The libraries that people load data sets with, on our exports; both are for tests only, and kept off the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from longbeam.formats import export_huggingface, export_jsonl, export_lmeb, export_parquet, read_parquet
from tests.builders import good_conversation
from tests.formats.sources import write

OWN = good_conversation()
LEAVE = "\nimport os, sys\nsys.stdout.flush()\nos._exit(0)\n"
"""Arrow's threads may be at work still, and Python that ends beside them may be aborted (seen once)."""


def run_python(code: str, folder: Path) -> Any:
    """What the code prints as JSON, in a process of its own: these libraries read their settings when imported."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / ".home")}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **offline},
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(ran.stdout.splitlines()[-1])


LOAD_TABLES = """
import datasets, json
datasets.disable_progress_bars()
tables = {n: datasets.load_dataset("out", n, split="train") for n in ("conversations", "messages", "probes")}
print(json.dumps({
    "rows": {n: t.num_rows for n, t in tables.items()},
    "sent_at": str(tables["messages"].features["sent_at"]),
    "content": tables["messages"][0]["content"],
    "evidence": tables["probes"][1]["evidence"],
    "default": datasets.load_dataset("out", split="train").num_rows,
}))
"""


@pytest.mark.parametrize("export", [export_jsonl, export_parquet], ids=["jsonl", "parquet"])
def test_load_dataset_reads_the_tables(tmp_path: Path, export: Any) -> None:
    write(export, [OWN, good_conversation("c001")], tmp_path / "out")
    loaded = run_python(LOAD_TABLES, tmp_path)

    assert loaded["rows"] == {"conversations": 2, "messages": 2 * len(OWN.said), "probes": 2 * len(OWN.asked)}
    assert loaded["default"] == 2 * len(OWN.asked)
    assert loaded["sent_at"] == "Value('timestamp[s]')"
    assert loaded["content"] == OWN.said[0].content
    place = {m.message_key: i for i, m in enumerate(OWN.said)}
    second = sorted(OWN.asked, key=lambda p: (p.ability, p.rank))[1]
    assert [(e["message_id"], e["quote"]) for e in loaded["evidence"]] == [
        (place[e.message_key], e.quote) for e in second.evidence
    ]


LOAD_OTHERS = """
import ast, datasets, json
datasets.disable_progress_bars()
beam = datasets.load_dataset("beam", split="8K")
print(json.dumps({
    "columns": beam.column_names,
    "batches": [[m["id"] for m in batch] for batch in beam[0]["chat"]],
    "abilities": len(ast.literal_eval(beam[0]["probing_questions"])),
    "lmeb": {n: datasets.load_dataset("lmeb", n, split="test").num_rows
             for n in ("corpus", "queries", "qrels", "top_ranked", "event_ordering-queries")},
}))
"""


def test_load_dataset_reads_beams_tables_and_the_retrieval_task(tmp_path: Path) -> None:
    write(export_huggingface, [OWN], tmp_path / "beam")
    write(export_lmeb, [OWN], tmp_path / "lmeb")
    loaded = run_python(LOAD_OTHERS, tmp_path)

    assert loaded["columns"] == [
        "conversation_id", "conversation_seed", "narratives", "user_profile", "conversation_plan", "user_questions",
        "chat", "probing_questions",
    ]  # fmt: skip
    assert loaded["batches"] == [list(range(10)), list(range(10, len(OWN.said)))]
    assert loaded["abilities"] == 10
    assert loaded["lmeb"] == {
        "corpus": len(OWN.said),
        "queries": 9,
        "qrels": sum(len({e.message_key for e in p.evidence}) for p in OWN.asked),
        "top_ranked": 9,
        "event_ordering-queries": 1,
    }


READ_CROISSANT = """
import itertools, json
import mlcroissant
found = mlcroissant.Dataset(jsonld="out/croissant.json")
issues = found.metadata.ctx.issues
first = {n: next(iter(found.records(record_set=n))) for n in ("conversations", "messages", "probes")}
print(json.dumps({
    "errors": sorted(issues.errors), "warnings": sorted(issues.warnings), "licence": found.metadata.license,
    "first": {n: {k.partition("/")[2]: v.decode() if isinstance(v, bytes) else str(v) for k, v in row.items()}
              for n, row in first.items()},
}))
"""


@pytest.mark.parametrize("export", [export_jsonl, export_parquet], ids=["jsonl", "parquet"])
def test_croissant_metadata_is_valid_and_reads_the_tables(tmp_path: Path, export: Any) -> None:
    write(export, [OWN], tmp_path / "out")
    read = run_python(READ_CROISSANT, tmp_path)

    assert read["errors"] == []
    # A date of publication would be a clock, and who cites it is for its publisher to say.
    assert [w.partition('"')[2].partition('"')[0].rpartition("/")[2] for w in read["warnings"]] == [
        "citeAs",
        "datePublished",
    ]
    assert read["licence"] == ["CC-BY-4.0"]
    assert read["first"]["messages"]["content"] == OWN.said[0].content
    assert read["first"]["messages"]["sent_at"].startswith("2024-03-04")
    assert read["first"]["probes"]["ability"] == "abstention"


def test_parquet_and_jsonl_hold_the_same_rows(tmp_path: Path) -> None:
    jsonl, parquet = write(export_jsonl, [OWN], tmp_path / "j"), write(export_parquet, [OWN], tmp_path / "p")

    for name in ("conversations", "messages", "probes"):
        rows = [json.loads(line) for line in (jsonl / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        columns = list(read_parquet(parquet / f"{name}.parquet"))
        assert [sorted(row) for row in columns] == [sorted(row) for row in rows]
        for row, column in zip(rows, columns, strict=True):
            for time in {"sent_at", "asked_at"} & set(row):  # DuckDB writes a blank where JSON has a T
                row[time] = row[time] and row[time].replace("T", " ")
            assert column == row
