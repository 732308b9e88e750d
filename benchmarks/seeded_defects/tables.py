"""A JSONL export as plain JSON objects that faults are planted in, and what the planters look up in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longbeam.models import load_tokenizer

Row = dict[str, Any]
TABLES = ("conversations", "messages", "probes")


@dataclass
class Chat:
    """One conversation of an export."""

    head: Row
    messages: list[Row]
    probes: list[Row]
    places: dict[str, int] = field(init=False)
    cited: set[str] = field(init=False)
    """Keys of the messages that any probe cites."""

    def __post_init__(self) -> None:
        """Index the messages."""
        self.places = {m["message_key"]: i for i, m in enumerate(self.messages)}
        self.cited = {e["message_key"] for p in self.probes for e in p["evidence"]}

    @property
    def conversation_id(self) -> str:
        """`c000`."""
        return str(self.head["conversation_id"])

    def message(self, key: str) -> Row:
        """The message of a key."""
        return self.messages[self.places[key]]

    def fact(self, fact_id: str) -> Row:
        """Subject, attribute and kind of a fact."""
        return next(f for plan in self.head["plans"] for f in plan["facts"] if f["fact_id"] == fact_id)

    def values(self, fact_id: str) -> list[Row]:
        """The values that a fact is given, in the order of the story."""
        said = (a for plan in self.head["plans"] for a in plan["assertions"] if a["fact_id"] == fact_id)
        return [a["value"] for a in said if a["value"] is not None]

    def user_messages(self) -> Iterator[Row]:
        """Return the messages of the user."""
        return (m for m in self.messages if m["role"] == "user")

    def spare_messages(self, role: str, after: int = -1) -> list[Row]:
        """Messages that no probe cites and that say no bullet of the plan, from beyond a place on."""
        return [
            m
            for m in self.messages[after + 1 :]
            if m["role"] == role and m["message_key"] not in self.cited and not m["bullet_ids"]
        ]

    def is_said(self, text: str) -> bool:
        """Whether a user message has these words."""
        return any(text.casefold() in m["content"].casefold() for m in self.user_messages())


def read_export(folder: Path) -> list[Chat]:
    """Return the conversations of an export."""
    rows = {name: list(_rows(folder / f"{name}.jsonl")) for name in TABLES}
    return [
        Chat(
            head,
            [m for m in rows["messages"] if m["conversation_id"] == head["conversation_id"]],
            [p for p in rows["probes"] if p["conversation_id"] == head["conversation_id"]],
        )
        for head in rows["conversations"]
    ]


def write_export(chats: Iterable[Chat], folder: Path, manifest: Path) -> None:
    """Write the conversations as `longbeam import jsonl` reads them, with their tokens counted again.

    Without the ledger: the checks are to find the faults in the text, as in anybody's benchmark, and not by looking
    up what the generator meant. The plans, and the ids of bullets and facts, are left out; no length is claimed.
    The digests of the files are left out too, as the files are others.
    """
    folder.mkdir(parents=True)
    told = json.loads(manifest.read_text(encoding="utf-8")) | {"files": {}}
    (folder / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    tables: dict[str, list[Row]] = {name: [] for name in TABLES}
    for chat in chats:
        count = load_tokenizer(chat.head["tokenizer"]).count
        tables["conversations"].append(chat.head | {"plans": [], "target_tokens": 0})
        tables["messages"] += (
            m | {"bullet_ids": [], "plan": None, "subplan": None, "turn": None, "tokens": count(m["content"])}
            for m in chat.messages
        )
        tables["probes"] += (p | {"bullet_ids": [], "fact_ids": []} for p in chat.probes)
    for name, rows in tables.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
