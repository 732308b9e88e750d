"""The journal of a work log: every model call with its request and raw reply. A repeated text is stored once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from longbeam.schemas import (
    COUNTS,
    Author,
    ChatMessage,
    JournalEntry,
    ModelReply,
    PromptRecord,
    Usage,
    message_hash,
    request_hash,
)
from longbeam.store.digests import checksum_of, damaged
from longbeam.store.group_commit import GroupedConnection

MOST_KNOWN = 8_192
"""Texts in each of the two sets that a work log remembers (3 MB); hundreds of dialogues at once repeat fewer."""


class TextWriter:
    """Writes texts and remembers, by hash, which of the newest and the recently repeated are in the file.

    A unique index would know all texts, but would write a random page for each. A text that was not repeated for long
    is stored a second time.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._newer: dict[bytes, int] = {}
        self._older: dict[bytes, int] | None = None
        """None: not read from the file yet."""

    def put(self, messages: Sequence[ChatMessage]) -> list[int]:
        """Return the numbers of the messages, in order; those not known to be in the file are written."""
        return [self._newer.get(m.hash) or self._number_of(m.hash, m.role, m.content) for m in messages]

    def put_reply(self, text: str) -> tuple[int, bytes]:
        """Return number and hash of a reply's text, which is written unless it is known to be in the file."""
        digest = message_hash("assistant", text)
        return self._number_of(digest, "assistant", text), digest

    def forget(self) -> None:
        """Forget all texts, because a transaction that wrote some of them was rolled back."""
        self._newer, self._older = {}, None

    def _number_of(self, digest: bytes, role: str, content: str) -> int:
        if len(self._newer) >= MOST_KNOWN:
            self._newer, self._older = {}, self._newer
        if self._older is None:
            newest = "SELECT sha256, text_id FROM texts ORDER BY text_id DESC LIMIT ?"
            self._older = dict(self._db.execute(newest, (MOST_KNOWN,)))
        number = self._newer.get(digest) or self._older.get(digest)
        if number is None:
            row = digest, role, content.encode()  # SQLite's own encoding would stay cached in the string
            number = self._db.execute(_INSERT, row).lastrowid
            assert number is not None  # an INSERT has one
        self._newer[digest] = number
        return number


_INSERT = "INSERT INTO texts (sha256, role, content) VALUES (?, ?, CAST(? AS TEXT))"


_KEY_BITS = 2**21
"""Size of the filter of recorded keys: 256 KB per open conversation; a set takes 0.4 MB per million tokens."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request that has a reply."""

    key: str
    unit_key: str
    generation: int
    hash: bytes
    """`request_hash` of its messages."""


class ReplyJournal:
    """Replies by the keys of their calls. A reply is durable when `record` returns, or when its group is committed."""

    def __init__(self, db: GroupedConnection, texts: TextWriter, *, is_only_writer: bool) -> None:
        self._db = db
        self._texts = texts
        self._is_only_writer = is_only_writer
        """Whether no other process can add a reply, so that this one may know all keys."""
        self._key_filter: bytearray | None = None
        """A bit for the hash of each recorded key; None until it is first needed."""
        db.on_rollback(self._forget_group)

    def reply_of(self, key: str) -> ModelReply | None:
        """Return the recorded reply of the call with this key, or None."""
        if self._is_only_writer and not self._may_have(key):
            return None  # the usual case in a run; a query costs ten times the filter
        row = self._db.one(f"{_SELECT_REPLY} WHERE key = ?", key)
        if row is None:
            return None
        if _fault_of(row):
            raise damaged(self._db.path, f"the reply to {row[2]}")
        _, *checked, content, _, _ = row
        values = content, *checked[len(_CALL_COLUMNS) + 1 :]
        return ModelReply.model_validate(dict(zip(_REPLY_FIELDS, values, strict=True)))

    def max_tokens_of(self, key: str) -> int | None:
        """Return the limit under which the call's recorded reply was written; None if none was named.

        Raises KeyError if no reply is recorded.
        """
        row = self._db.one("SELECT max_tokens FROM replies WHERE key = ?", key)
        if row is None:
            raise KeyError(key)
        return None if row[0] is None else int(row[0])

    def require_room(self) -> None:
        """Raise StoreError where a reply could not be recorded."""
        self._db.require_room()

    def record(self, entry: JournalEntry) -> None:
        """Record a reply with its request.

        A second reply to the same key replaces the first: the call was repeated because the first was cut short. The
        cost of the first is kept.
        """
        counted = [getattr(entry.reply, name) for name in _REPLY_FIELDS[1:]]
        asked = [getattr(entry, name) for name in _CALL_COLUMNS]
        with self._db.grouped() as db:
            request = _list_of(self._texts.put(entry.request))
            number, digest = self._texts.put_reply(entry.reply.text)
            checksum = checksum_of(*asked, request, *counted, digest.hex())
            row = (*asked, request, number, *counted, checksum)
            if db.execute(_RECORD_REPLY, row).rowcount == 0:
                _replace_reply(db, entry.key, row)
            self._note(entry.key)

    def reply_keys(self) -> Iterator[str]:
        """Yield the keys of all recorded replies, in the order of their arrival."""
        for _, key in self._db.paged("SELECT reply_id, key FROM replies WHERE reply_id > ? ORDER BY reply_id"):
            yield key

    def requests(self) -> Iterator[RecordedRequest]:
        """Yield the requests of all recorded replies, in the order of the replies' arrival."""
        query = "SELECT reply_id, key, unit_key, generation, request FROM replies WHERE reply_id > ? ORDER BY reply_id"
        hashes: dict[int, bytes] = {}
        newest = 0
        for _, key, unit_key, generation, request in self._db.paged(query):
            text_ids = self._text_ids_in(request)
            if max(text_ids, default=0) > newest:  # the process that writes the file has added texts
                rows = self._db.all("SELECT text_id, sha256 FROM texts WHERE text_id > ? ORDER BY text_id", newest)
                hashes.update(rows)
                newest = max(hashes, default=0)
            # With a text missing, the hash is that of no request.
            asked = request_hash(hashes.get(i, b"") for i in text_ids)
            yield RecordedRequest(key, unit_key, generation, asked)

    def usage(self) -> list[Usage]:
        """Return calls and tokens by stage, role, prompt and model, in this order, with those of replaced replies."""
        counted = ", ".join(COUNTS[1:])
        return self._usage_in(
            f"(SELECT stage, role, prompt_id, model, {counted} FROM replies"
            f" UNION ALL SELECT stage, role, prompt_id, model, {counted} FROM replaced)"
        )

    def usage_under(self, prefix: str) -> list[Usage]:
        """Return calls and tokens of the calls whose unit key begins with `prefix`, without replaced replies."""
        return self._usage_in("replies WHERE substr(unit_key, 1, ?) = ?", len(prefix), prefix)

    def _usage_in(self, source: str, *values: object) -> list[Usage]:
        sums = ", ".join(f"sum({name})" for name in COUNTS[1:])
        rows = self._db.all(
            f"SELECT stage, role, prompt_id, model, count(*), {sums} FROM {source}"
            " GROUP BY stage, role, prompt_id, model ORDER BY stage, role, prompt_id, model",
            *values,
        )
        return [Usage.of(row[:4], dict(zip(COUNTS, row[4:], strict=True))) for row in rows]

    def prompt_records(self, refused: Collection[tuple[str, str]]) -> tuple[PromptRecord, ...]:
        """Return how many replies to each prompt could be used, by prompt id.

        The last reply to a request was used, unless its prompt id and unit key are in `refused`.
        """
        # Counted by SQLite: the rows of 50M tokens take 70 MB as Python objects.
        rows = self._db.all(_PROMPT_RECORDS, json.dumps(sorted(refused)))
        cut = dict(self._db.all("SELECT prompt_id, sum(output_tokens) FROM replaced GROUP BY prompt_id"))
        return tuple(
            PromptRecord(
                prompt_id=prompt_id,
                requests=requests,
                replies=replies,
                accepted_first=accepted_first,
                output_tokens=tokens + cut.get(prompt_id, 0),
                wasted_tokens=wasted + cut.get(prompt_id, 0),
            )
            for prompt_id, requests, replies, accepted_first, tokens, wasted in rows
        )

    def authors(self) -> tuple[Author, ...]:
        """Return the models that answered, as their endpoints name them, by role and name."""
        rows = self._db.all("SELECT DISTINCT role, reply_model FROM replies ORDER BY role, reply_model")
        return tuple(Author(role=role, model=model) for role, model in rows)

    def faults(self) -> Iterator[str]:
        """Yield a line for each text and reply that is not as it was stored, and each reply whose texts are missing."""
        stored = set()
        query = "SELECT text_id, sha256, role, content FROM texts WHERE text_id > ? ORDER BY text_id"
        for text_id, digest, role, content in self._db.paged(query):
            stored.add(text_id)
            if message_hash(role, content) != digest:
                yield f"text {text_id} is not what its hash says"
        for row in self._db.paged(f"{_SELECT_REPLY} WHERE reply_id > ? ORDER BY reply_id"):
            if fault := _fault_of(row):
                yield f"reply {row[1]}: {fault}"
            elif missing := set(self._text_ids_in(row[1 + len(_CALL_COLUMNS)])) - stored:
                yield f"reply {row[1]}: {len(missing)} of its texts are missing"

    # --- the filter of recorded keys ------------------------------------------------------------------------------

    def _may_have(self, key: str) -> bool:
        """Return False if no reply to this key is recorded; at 10M tokens 2 % of such keys get True."""
        if self._key_filter is None:
            self._key_filter = bytearray(_KEY_BITS // 8)
            for known in self.reply_keys():
                self._note(known)
        bit = hash(key) % _KEY_BITS
        return bool(self._key_filter[bit >> 3] & 1 << (bit & 7))

    def _note(self, key: str) -> None:
        if self._key_filter is not None:
            bit = hash(key) % _KEY_BITS
            self._key_filter[bit >> 3] |= 1 << (bit & 7)

    def _forget_group(self) -> None:
        self._key_filter = None
        self._texts.forget()

    # --- requests as lists of text ids ----------------------------------------------------------------------------

    def _text_ids_in(self, request: str) -> list[int]:
        try:
            text_ids: list[int] = json.loads(request)
        except ValueError as exc:
            raise damaged(self._db.path, "a request is no list of its messages") from exc
        return text_ids


def _replace_reply(db: sqlite3.Connection, key: str, row: tuple[object, ...]) -> None:
    db.execute("SAVEPOINT replacing")  # all or nothing, whatever else is in the group
    try:
        db.execute(_KEEP_COST, (key,))
        db.execute("DELETE FROM replies WHERE key = ?", (key,))
        db.execute(_RECORD_REPLY, row)
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK TO replacing")
        raise
    finally:
        if db.in_transaction:
            db.execute("RELEASE replacing")


_DIGITS = "'0123456789'"
_PROMPT_RECORDS = f"""
SELECT prompt_id, count(*), sum(replies), sum(replies = 1), sum(tokens), sum(wasted)
FROM (
    SELECT prompt_id, sum(replies) AS replies, sum(tokens) AS tokens, sum(wasted) AS wasted
    FROM (
        -- Of the row with the newest generation: SQLite takes bare columns from the row that `max` is found in.
        SELECT prompt_id, unit_key, prompt_version || ' ' || model AS asked_of, count(*) AS replies,
            sum(output_tokens) AS tokens, max(generation),
            sum(output_tokens) - CASE WHEN (prompt_id, unit_key) IN (
                SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)
            ) THEN 0 ELSE output_tokens END AS wasted
        FROM replies GROUP BY prompt_id, unit_key, asked_of
    )
    -- The further rounds of a list (`.../p0.s1+2`) belong to one request.
    GROUP BY prompt_id, asked_of, CASE WHEN rtrim(unit_key, {_DIGITS}) LIKE '%+'
        THEN rtrim(rtrim(rtrim(unit_key, {_DIGITS}), '+'), '/') ELSE unit_key END
)
GROUP BY prompt_id ORDER BY prompt_id"""


def _list_of(text_ids: Sequence[int]) -> str:
    return f"[{','.join(map(str, text_ids))}]"


_CALL_COLUMNS = (
    "key",
    "unit_key",
    "stage",
    "role",
    "prompt_id",
    "prompt_version",
    "model",
    "generation",
    "max_tokens",
)
"""Columns of `replies` that are fields of a `JournalEntry`."""
_REPLY_FIELDS = tuple(ModelReply.model_fields)  # `text` comes first; it is in the table `texts`
_REPLY_COLUMNS = ", ".join(f"reply_{name}" if name == "model" else name for name in _REPLY_FIELDS[1:])

_RECORD_REPLY = f"""
INSERT INTO replies ({", ".join(_CALL_COLUMNS)}, request, reply, {_REPLY_COLUMNS}, checksum)
VALUES ({"?, " * len(_CALL_COLUMNS)}?, ?{", ?" * (len(_REPLY_FIELDS) - 1)}, ?)
ON CONFLICT (key) DO NOTHING"""

_SELECT_REPLY = f"""
SELECT reply_id, {", ".join(f"replies.{name}" for name in _CALL_COLUMNS)}, request, {_REPLY_COLUMNS},
  content, sha256, checksum
FROM replies LEFT JOIN texts ON text_id = reply"""


def _fault_of(row: Sequence[Any]) -> str:
    """Return why a row of _SELECT_REPLY is not as it was stored; empty if it is."""
    _, *checked, content, digest, checksum = row
    if content is None:
        return "its text is missing"
    if digest != message_hash("assistant", content):
        return "its text is not what its hash says"
    return "" if checksum_of(*checked, digest.hex()) == checksum else "its row is not what its checksum says"


_KEEP_COST = f"""
INSERT INTO replaced (stage, role, prompt_id, model, {", ".join(COUNTS[1:])})
SELECT stage, role, prompt_id, model, {", ".join(COUNTS[1:])} FROM replies WHERE key = ?"""
