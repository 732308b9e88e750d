"""Fill a queue of `longbeam serve-manual` with replies that were written by hand.

Usage: `python -m benchmarks.by_hand.restore REPLIES.jsonl.xz QUEUE`. A run of the same spec with the same code then
gets each of these replies at once, and asks for what is missing.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from longbeam.manual import Queue


def restore(replies: Path, folder: Path) -> int:
    """Add the replies to the queue of `folder`, which is made if it is not there, and return how many were new."""
    with closing(Queue(folder)) as queue:
        queue.begin()
        path = queue.path
    lines = [json.loads(line) for line in lzma.decompress(replies.read_bytes()).decode().splitlines()]
    with closing(sqlite3.connect(path)) as db, db:
        before = db.total_changes
        db.executemany(
            "INSERT OR IGNORE INTO slots (key, prompt, asked_at, asks, clients, writer, reply, replied_at, body)"
            " VALUES (:key, :prompt, 0, 1, 0, 'restored', :reply, 0, '{}')",
            lines,
        )
        return db.total_changes - before


if __name__ == "__main__":
    print(f"{restore(Path(sys.argv[1]), Path(sys.argv[2]))} replies added")
