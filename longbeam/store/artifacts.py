"""Sealed conversations: one DuckDB file each, which validation, statistics, review, export and evaluation read.

A sealed file can be made again from the work log, and is replaced as a whole.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
from pydantic import BaseModel

from longbeam.schemas import (
    Advice,
    Assertion,
    Author,
    Bullet,
    ConversationHead,
    Evidence,
    Fact,
    ImportNote,
    Incident,
    Message,
    Narrative,
    Nugget,
    Person,
    Plan,
    PlanSeed,
    Probe,
    PromptRecord,
    RelationshipGraph,
    SubPlan,
    UserTurn,
)
from longbeam.store.artifact_schema import SEALED_CONVERSATION
from longbeam.store.duck import (
    ROW_GROUP,
    Loader,
    Row,
    attach_read_only,
    connect,
    replaced_file,
    select,
    to_json,
    translated_errors,
)
from longbeam.store.spill import LazySequence, SpilledSequence

WITH_MAKING, WITH_ADVICE, WITH_SIDE_STORIES, WITH_SLIPS = 6, 7, 8, 9
"""Versions of the file that first had the table or the column."""
_CACHE_MB = 8
"""Memory limit of DuckDB at first: without one it keeps every page that it has read, 32 MB at 50M tokens."""
_MOST_MB = 64 * 1024
_FETCHED_AT_ONCE = 64
"""Rows that are made Python objects at a time: two thousand messages would leave 15 MB of fragmented memory."""
_CONVERSATION_COLUMNS = ("conversation_id", "target_tokens", "tokenizer", "seed", "profile", "details")


def seal_conversation(
    path: Path,
    head: ConversationHead,
    messages: Iterable[Message],
    probes: Iterable[Probe],
    user_turns: Iterable[UserTurn] = (),
) -> None:
    """Write the sealed conversation to `path`, in place of a former one; messages get the ids 0 to n-1 in this order.

    Messages, probes and `user_turns` are streamed; the latter come after the turns of the head. Raises StoreError if
    the disk is full or refuses; then `path` is as it was.
    """
    with replaced_file(path, SEALED_CONVERSATION) as file:
        # Messages first: they take most memory, and DuckDB keeps some of each table.
        file.load("messages", (_message_row(i, message) for i, message in enumerate(messages)))
        file.check_unique("messages", "message_key")
        _load_head(file, head, user_turns)
        _load_probes(file, probes)


def digest_of_said(contents: Iterable[str]) -> str:
    """Return a digest of the contents of messages, in their order."""
    digest = hashlib.md5(usedforsecurity=False)
    for content in contents:
        digest.update(hashlib.md5(content.encode(), usedforsecurity=False).hexdigest().encode())
    return digest.hexdigest()


class SealedConversation:
    """A `ConversationReader` over a sealed file.

    A reader shows the file that it opened, even after another was sealed in its place. Plans and turns of its head are
    read when they are first used, which must be before the reader is closed.
    """

    def __init__(self, path: Path) -> None:
        """Open the file for reading; StoreError if it is no sealed conversation, damaged, or of another version."""
        self.path = path
        self._memory_mb = _CACHE_MB
        self._db = connect()
        try:
            # Rows come one after another: a second thread makes it no faster, and has buffers of its own.
            self._db.execute(f"SET memory_limit = '{_CACHE_MB}MB'; SET threads = 1")
            self._version = attach_read_only(self._db, path, "sealed", SEALED_CONVERSATION)
            self._db.execute("USE sealed")
        except BaseException:
            self._db.close()
            raise

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Connection for any SQL over the tables, with DuckDB's own limits of memory and threads."""
        self._memory_mb = _MOST_MB
        self._db.execute("RESET memory_limit; RESET threads")
        return self._db

    @cached_property
    def head(self) -> ConversationHead:
        """The conversation without messages and probes; plans and turns are read when they are first used."""
        (row,) = self._rows("conversation", _CONVERSATION_COLUMNS)
        return ConversationHead.model_validate(
            {
                **row,
                "details": json.loads(row["details"]),
                "authors": self._rows("authors", Author, "ORDER BY ordinal"),
                "import_notes": self._rows("import_notes", ImportNote, "ORDER BY ordinal"),
                "making": self._making(),
                "relationships": self._relationships(),
                "narratives": self._rows("narratives", Narrative, "ORDER BY ordinal"),
                "plans": LazySequence(lambda: SpilledSequence(self._plans(), block=1, held=1, kept=1)),
                "plan_seeds": self._rows("plan_seeds", PlanSeed, "ORDER BY ordinal"),
                "user_turns": LazySequence(lambda: SpilledSequence(self._user_turns())),
            }
        )

    def messages(self) -> Iterator[Message]:
        """Yield all messages by `message_id`."""
        for row in self._paged("messages", Message, "message_id"):
            parts, details = json.loads(row["parts"]), json.loads(row["details"])
            yield Message.model_validate({**row, "parts": parts, "details": details})

    @cached_property
    def said_digest(self) -> str:
        """Digest of the contents of all messages, in order."""
        return digest_of_said(row["content"] for row in self._paged("messages", ("content",), "message_id"))

    def probes(self) -> Iterator[Probe]:
        """Yield all candidate probes by ability and rank."""
        rubrics = self._by_probe("nuggets", Nugget)
        evidence = self._by_probe("evidence", Evidence)
        columns = [name for name in Probe.model_fields if name not in {"rubric", "evidence"}]
        for row in self._rows("probes", columns, "ORDER BY ability, rank, ordinal"):
            probe_id = row["probe_id"]
            parts = {"rubric": rubrics[probe_id], "evidence": evidence[probe_id]}
            yield Probe.model_validate({**row, **parts, "details": json.loads(row["details"])})

    def close(self) -> None:
        """Close the file; closing twice is no error."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _relationships(self) -> RelationshipGraph:
        (row,) = self._rows("conversation", ("node_link",))
        people = self._rows("people", Person, "ORDER BY ordinal")
        return RelationshipGraph.model_validate({"people": people, "node_link": json.loads(row["node_link"])})

    def _making(self) -> Row:
        if self._version < WITH_MAKING:  # it was sealed before this was recorded
            return {}
        (row,) = self._rows("making", ("gap_share",))
        prompts = self._rows("prompts", PromptRecord, "ORDER BY ordinal")
        return {**row, "prompts": prompts, "incidents": self._rows("incidents", Incident, "ORDER BY ordinal")}

    def _plans(self) -> Iterator[Plan]:
        for row in self._rows("plans", ("plan_index",), "ORDER BY plan_index"):
            yield self._plan(row["plan_index"])

    def _plan(self, index: int) -> Plan:
        def rows(table: str, columns: type[BaseModel] | Sequence[str], order: str) -> list[dict[str, Any]]:
            return self._rows(table, columns, f"WHERE plan_index = ? ORDER BY {order}", [index])

        bullets: dict[int, list[Row]] = defaultdict(list)
        for row in rows("bullets", ("sub_plan_index", *Bullet.model_fields), "sub_plan_index, ordinal"):
            bullets[row.pop("sub_plan_index")].append(row)
        sub_plans = rows("sub_plans", ("plan_index", "sub_plan_index", "anchor"), "sub_plan_index")
        plan = {
            "plan_index": index,
            "sub_plans": [{**row, "bullets": bullets[row["sub_plan_index"]]} for row in sub_plans],
            "facts": rows("facts", self._fact_columns, "ordinal"),
            "assertions": rows("assertions", Assertion, "ordinal"),
            "advice": rows("advice", Advice, "ordinal") if self._version >= WITH_ADVICE else (),
        }
        return Plan.model_validate(plan)

    @property
    def _fact_columns(self) -> Sequence[str]:
        is_older = self._version < WITH_SIDE_STORIES
        return [column for column in Fact.model_fields if not (is_older and column == "side_story")]

    def _user_turns(self) -> Iterator[UserTurn]:
        is_older = self._version < WITH_SLIPS
        # What a turn wants decides its dialogue, which a sealed conversation has.
        unsealed = {"wants_yes", "wants", *(("slip",) if is_older else ())}
        columns = [column for column in UserTurn.model_fields if column not in unsealed]
        for row in self._paged("user_turns", columns, "ordinal"):
            yield UserTurn.model_validate(row)

    def _by_probe(self, table: str, record: type[BaseModel]) -> dict[str, list[Row]]:
        grouped: dict[str, list[Row]] = defaultdict(list)
        for row in self._rows(table, ("probe_id", *record.model_fields), "ORDER BY probe_id, ordinal"):
            grouped[row.pop("probe_id")].append(row)
        return grouped

    def _paged(self, table: str, columns: type[BaseModel] | Sequence[str], by: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table whose column `by` numbers them from 0; DuckDB reads a row group at a time.

        Rows come in the order in which they were written. With ORDER BY, DuckDB would hold them twice.
        """
        tail, first, is_more = f"WHERE {by} >= ? AND {by} < ?", 0, True
        while is_more:
            is_more = False
            for row in self._each_row(table, columns, tail, [first, first + ROW_GROUP]):
                is_more = True
                yield row
            first += ROW_GROUP

    def _rows(
        self, table: str, columns: type[BaseModel] | Sequence[str], tail: str = "", values: Sequence[object] = ()
    ) -> list[dict[str, Any]]:
        """Return rows by column name; a record for `columns` means its fields."""
        return list(self._each_row(table, columns, tail, values))

    def _each_row(
        self, table: str, columns: type[BaseModel] | Sequence[str], tail: str, values: Sequence[object]
    ) -> Iterator[dict[str, Any]]:
        names = list(columns if isinstance(columns, Sequence) else columns.model_fields)
        for row in self._fetched(select(names, f"sealed.{table}", tail), values):
            yield dict(zip(names, row, strict=True))

    def _fetched(self, query: str, values: Sequence[object]) -> Iterator[tuple[Any, ...]]:
        given = 0
        # A cursor of its own, so that iterators may be interleaved and threads may share the reader.
        with translated_errors(self.path, SEALED_CONVERSATION), self._db.cursor() as cursor:
            while True:
                try:
                    cursor.execute(query, list(values))
                    if given:  # rows that the caller got before the memory ran out
                        cursor.fetchmany(given)
                    while rows := cursor.fetchmany(_FETCHED_AT_ONCE):
                        given += len(rows)
                        yield from rows
                    return
                except duckdb.OutOfMemoryException:  # rows of megabytes
                    if self._memory_mb >= _MOST_MB:
                        raise
                    self._memory_mb *= 2
                    cursor.execute(f"SET memory_limit = '{self._memory_mb}MB'")


def _load_head(file: Loader, head: ConversationHead, user_turns: Iterable[UserTurn]) -> None:
    file.load("conversation", [_conversation_row(head)])
    file.load("authors", _rows_of(head.authors))
    file.load("import_notes", _rows_of(head.import_notes))
    file.load("making", [{"gap_share": head.making.gap_share}])
    file.load("prompts", _rows_of(head.making.prompts))
    file.load("incidents", _rows_of(head.making.incidents))
    file.load("narratives", _rows_of(head.narratives))
    file.load("people", _rows_of(head.relationships.people))
    file.load("user_turns", _rows_of(chain(head.user_turns, user_turns)))
    file.load("plan_seeds", _rows_of(head.plan_seeds))
    file.load("plans", ({"plan_index": i} for i in range(len(head.plans))))
    file.load("sub_plans", _sub_plan_rows(head))
    file.load("bullets", (row for plan in head.plans for sub_plan in plan.sub_plans for row in _bullet_rows(sub_plan)))
    file.load("facts", (row for plan in head.plans for row in _rows_of(plan.facts, _place_of(plan))))
    file.load("advice", (row for plan in head.plans for row in _rows_of(plan.advice, _place_of(plan))))
    file.load("assertions", (row for plan in head.plans for row in _rows_of(plan.assertions, _place_of(plan))))


def _conversation_row(head: ConversationHead) -> Row:
    row = head.model_dump(mode="json", include=set(_CONVERSATION_COLUMNS))
    if row["profile"] is not None:
        row["profile"] = {"employer": "", "traits": [], **row["profile"]}
    row["seed"] = {"about": "", **row["seed"]}
    return {**row, "node_link": _json(head.relationships, "node_link"), "details": _json(head, "details")}


def _place_of(plan: Plan) -> Row:
    return {"plan_index": plan.plan_index}


def _sub_plan_rows(head: ConversationHead) -> Iterator[Row]:
    """Yield the rows; ValueError unless plans and sub-plans are numbered by position, which the tables rely on."""
    for i, plan in enumerate(head.plans):
        found = [(plan.plan_index, -1), *((s.plan_index, s.sub_plan_index) for s in plan.sub_plans)]
        if found != [(i, j) for j in range(-1, len(plan.sub_plans))]:
            raise ValueError(f"{head.conversation_id}: plan {i} and its sub-plans are not numbered by their place")
        yield from (sub_plan.model_dump(mode="json", exclude={"bullets"}) for sub_plan in plan.sub_plans)


def _bullet_rows(sub_plan: SubPlan) -> Iterator[Row]:
    place = {"plan_index": sub_plan.plan_index, "sub_plan_index": sub_plan.sub_plan_index}
    return _rows_of(sub_plan.bullets, place)


def _message_row(message_id: int, message: Message) -> Row:
    if message.sent_at.tzinfo is not None:
        raise ValueError(f"{message.message_key}: sent_at {message.sent_at} has a zone; local time is stored")
    row = message.model_dump(mode="json")
    return {**row, "message_id": message_id, "parts": to_json(row["parts"]), "details": to_json(row["details"])}


def _load_probes(file: Loader, probes: Iterable[Probe]) -> None:
    # Kept whole: a conversation has some hundred candidates, and three tables are made of them.
    kept = list(probes)
    file.load("probes", (_probe_row(i, probe) for i, probe in enumerate(kept)))
    file.check_unique("probes", "probe_id")
    file.load("nuggets", (row for p in kept for row in _rows_of(p.rubric, {"probe_id": p.probe_id})))
    file.load("evidence", (row for p in kept for row in _rows_of(p.evidence, {"probe_id": p.probe_id})))


def _probe_row(ordinal: int, probe: Probe) -> Row:
    row = probe.model_dump(mode="json", exclude={"rubric", "evidence", "details"})
    return {**row, "ordinal": ordinal, "details": _json(probe, "details")}


def _rows_of(records: Iterable[BaseModel], place: Row | None = None) -> Iterator[Row]:
    """Yield the records' fields with their ordinal and the indexes of their parent."""
    for i, record in enumerate(records):
        yield {**(place or {}), "ordinal": i, **record.model_dump(mode="json")}


def _json(record: BaseModel, field: str) -> str:
    return to_json(record.model_dump(mode="json", include={field})[field])
