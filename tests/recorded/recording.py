"""The recorded benchmark, and a model that repeats its replies."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TypeVar

from longbeam.keys import UnitKey
from longbeam.models import Asker, ModelCall
from longbeam.prompts import default_registry
from longbeam.prompts.calls import EntailmentInputs
from longbeam.schemas import BenchmarkSpec, ConversationHead, Message, ModelReply, Probe, Record
from longbeam.store import SealedConversation
from tests.wired import answered_by

FOLDER = Path(__file__).parent
NAME = "frontier16"
R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class RecordedReply:
    """A reply, and the call that it answered."""

    prompt_id: str
    unit_key: str
    generation: int
    text: str


@dataclass(frozen=True)
class SealedText:
    """The sealed conversation, in memory."""

    head: ConversationHead
    messages: tuple[Message, ...]
    probes: tuple[Probe, ...]


def spec() -> BenchmarkSpec:
    """Return the spec of the recorded benchmark."""
    return BenchmarkSpec.model_validate_json((FOLDER / f"{NAME}.spec.json").read_text(encoding="utf-8"))


def work_log() -> bytes:
    """Return the whole work log, as a SQLite file."""
    return gzip.decompress((FOLDER / f"{NAME}.sqlite.gz").read_bytes())


@cache
def sealed() -> SealedText:
    """Return the sealed conversation."""
    path = Path(mkdtemp(prefix="longbeam-recorded-")) / "c000.duckdb"
    path.write_bytes(gzip.decompress((FOLDER / f"{NAME}.duckdb.gz").read_bytes()))
    with SealedConversation(path) as reader:
        head = reader.head.model_copy(update={"plans": tuple(reader.head.plans), "user_turns": ()})
        found = SealedText(head, tuple(reader.messages()), tuple(reader.probes()))
    path.unlink()
    path.parent.rmdir()
    return found


@cache
def _log() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.deserialize(work_log())
    return db


def replies(prompt_id: str = "") -> list[RecordedReply]:
    """Return the replies to a prompt, or to all, in the order in which they came."""
    found = _log().execute(
        "SELECT prompt_id, unit_key, generation, content FROM replies JOIN texts ON texts.text_id = replies.reply "
        "ORDER BY reply_id"
    )
    return [r for r in (RecordedReply(*row) for row in found) if not prompt_id or r.prompt_id == prompt_id]


def records(record: type[R]) -> list[R]:
    """Return the records of a type, in the order in which units made them."""
    query = "SELECT json FROM records WHERE record_type = ? ORDER BY record_id"
    return [record.model_validate_json(text) for (text,) in _log().execute(query, (record.__name__,))]


class RepeatingModel:
    """Answers with the reply that was recorded for the same prompt, unit and attempt; notes what it cannot answer."""

    def __init__(self, *, otherwise: dict[str, str] | None = None) -> None:
        self.calls: list[ModelCall] = []
        self.unknown: list[str] = []
        self._known = {(r.prompt_id, r.unit_key, r.generation): r.text for r in replies()}
        self._otherwise = otherwise or {}
        """Replies of prompts where none is recorded, by prompt."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the recorded reply; an empty one, which is refused, where none is recorded."""
        self.calls.append(call)
        text = self._known.get((call.prompt.prompt_id, call.unit_key, call.generation))
        if text is None:
            text = self._otherwise.get(call.prompt.prompt_id)
        if text is None:
            self.unknown.append(f"{call.prompt.prompt_id} {call.unit_key} {call.generation}")
        return ModelReply(text=text or "")

    def refused(self) -> Sequence[str]:
        """Return what was said of replies that were asked for again."""
        return [f"{c.unit_key}: {c.retry.text}" for c in self.calls if c.retry]


class ApprovingModel(RepeatingModel):
    """Answers as recorded, and as a checker that finds every claim said."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return a verdict on each claim, or the recorded reply."""
        if not isinstance(call.inputs, EntailmentInputs):
            return await super().complete(call)
        self.calls.append(call)
        verdicts = [
            {"claim": i, "reason": "It is said.", "is_said": True} for i in range(1, len(call.inputs.claims) + 1)
        ]
        return ModelReply(text=json.dumps({"verdicts": verdicts}))


def asker_of(model: RepeatingModel, stage: str, unit: str) -> Asker:
    """Return an asker for a unit of the recorded conversation."""
    return Asker(
        models=answered_by(model),
        prompts=default_registry(),
        spec=spec(),
        unit_key=UnitKey(sealed().head.conversation_id, stage, unit),
    )
