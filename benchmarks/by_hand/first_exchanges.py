"""Cut a JSONL export of one conversation to its first exchanges, with the probes whose evidence lies within.

Usage: `python -m benchmarks.by_hand.first_exchanges EXPORT FOLDER 31`; then `longbeam import jsonl FOLDER --name NAME`.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any


def cut(export: Path, folder: Path, exchanges: int) -> tuple[int, int]:
    """Write the cut export to a new folder, and return its numbers of messages and probes."""
    folder.mkdir(parents=True)
    for name in ("conversations.jsonl", "manifest.json"):
        shutil.copy(export / name, folder)
    kept, seen = [], 0
    for message in _lines(export / "messages.jsonl"):
        seen += message["role"] == "user"
        if seen > exchanges:
            break
        kept.append(message)
    keys = {message["message_key"] for message in kept}
    probes = [
        probe
        for probe in _lines(export / "probes.jsonl")
        if all(e["message_key"] in keys for e in probe["evidence"])
        and (probe["asked_after"] is None or probe["asked_after"] in keys)
    ]
    for name, rows in (("messages", kept), ("probes", probes)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return len(kept), len(probes)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    messages, probes = cut(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
    print(f"{messages} messages, {probes} probes")
