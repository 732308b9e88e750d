"""A generated benchmark, exported, imported again and checked: no fault may be new."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.cli import OK, run
from longbeam.formats import ImportOptions, exporter, importer
from longbeam.schemas import ConversationReader
from longbeam.store import SealedConversation, open_benchmark
from longbeam.validation import check_conversation
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
WITHOUT_LEDGER = {"abstention.searched", "later_values.other_later", "ability_fit.said_elsewhere"}
"""Notes on an import, which has no ledger and no search terms: a record, and places to look at."""
MADE = {"short": ("16K", "5"), "long": ("128K", "2")}
"""Length and seed of each benchmark; the long one asks for totals of the user's and sums of the assistant's amounts."""
Found = dict[tuple[str, str], str]
"""Message of each finding, by its check and its subject."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder with a benchmark of each length."""
    folder = tmp_path_factory.mktemp("made")
    for name, (length, seed) in MADE.items():
        arguments = ["--name", name, "--length", length, "--seed", seed, "--runner", "inline", "--out", str(folder)]
        assert run(["generate", *arguments]) == OK
    return folder


@pytest.fixture(scope="module")
def before(out: Path) -> dict[str, Found]:
    """What is found in each benchmark before it is exported."""
    found = {}
    for name in MADE:
        with SealedConversation(open_benchmark(out, name).sealed_path("c000")) as sealed:
            found[name] = _found(sealed)
    return found


def test_the_long_conversation_asks_for_totals_of_the_user(out: Path) -> None:
    with SealedConversation(open_benchmark(out, "long").sealed_path("c000")) as sealed:
        roles = {m.message_key: m.role for m in sealed.messages()}
        asked = {(p.details.variety, *{roles[e.message_key] for e in p.evidence}) for p in sealed.probes()}
    assert ("total", "user") in asked


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(("exported", "imported", "file"), FORMATS, ids=[f[0] for f in FORMATS])
def test_a_round_through_a_format_finds_nothing_new(
    out: Path, before: dict[str, Found], tmp_path: Path, name: str, exported: str, imported: str, file: str
) -> None:
    benchmark = open_benchmark(out, name)
    with SealedConversation(benchmark.sealed_path("c000")) as original:
        exporter(exported)([original], benchmark.spec, tmp_path / "export")
    (read,) = importer(imported)(tmp_path / "export" / file, ImportOptions())
    after = _found(MemoryReader(read.head, tuple(read.messages()), read.probes))
    assert [text for of, text in after.items() if of not in before[name] and of[0] not in WITHOUT_LEDGER] == []


def _found(reader: ConversationReader) -> Found:
    """Return the findings by their check and what they are about: formats name messages and probes anew."""
    named = {m.message_key: str(place) for place, m in enumerate(reader.messages())}
    named |= {p.probe_id: p.question for p in reader.probes()}
    findings = check_conversation(reader)
    return {(f.check, named.get(f.subject, f.subject)): f"{f.check}: {f.message}" for f in findings}
