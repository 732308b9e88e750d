"""The tables of a work log. The comments inside the statements are kept by SQLite: `.schema` shows them."""

from __future__ import annotations

from longbeam.store.sqlite import FileFormat

CHECKED_COLUMNS = (
    *("key", "unit_key", "stage", "role", "prompt_id", "prompt_version", "model", "generation", "max_tokens"),
    *("request", "finish_reason", "refusal", "reply_model"),
    *("prompt_tokens", "cached_tokens", "output_tokens", "reasoning_tokens"),
)
"""Columns of `replies` that its checksum covers."""
UNIT_COLUMNS = ("stage", "unit_key", "status", "fingerprint", "generation", "error_kind", "error", "attempts")
"""Columns of `units` that its checksum covers, beside `records_checksum`."""

_CREATE = (
    """
CREATE TABLE texts (
  -- What was said to models and what they said, each once. Requests repeat nearly all of the one before.
  text_id INTEGER PRIMARY KEY,
  sha256  BLOB NOT NULL UNIQUE,  -- of role, a zero byte, content; UTF-8
  role    TEXT NOT NULL,         -- system, user, assistant
  content TEXT NOT NULL
)""",
    """
CREATE TABLE replies (
  -- The journal: one row per reply, committed before anything reads the reply.
  reply_id       INTEGER PRIMARY KEY,  -- in the order of arrival
  key            TEXT NOT NULL UNIQUE, -- ModelCall.key
  unit_key       TEXT NOT NULL,        -- c000/dialogue/p0.s2/t5.n1: conversation, stage, unit, place
  stage          TEXT NOT NULL,
  role           TEXT NOT NULL,        -- as whom the model was asked: planner, assistant, ...
  prompt_id      TEXT NOT NULL,
  prompt_version INTEGER NOT NULL,
  model          TEXT NOT NULL,        -- as the spec names it
  generation     INTEGER NOT NULL,     -- content attempts before this one
  max_tokens     INTEGER,              -- asked for; NULL: no limit was named
  request        BLOB NOT NULL,        -- texts.sha256 of each message, 32 bytes apiece, in order
  reply          BLOB NOT NULL,        -- texts.sha256 of the raw reply
  finish_reason  TEXT NOT NULL,
  reply_model    TEXT NOT NULL,        -- as the server names it
  prompt_tokens  INTEGER NOT NULL,
  cached_tokens  INTEGER NOT NULL,
  output_tokens  INTEGER NOT NULL
)""",
    """
CREATE TABLE units (
  -- Done-marks and failures. A unit that has neither was never finished.
  unit_id     INTEGER PRIMARY KEY,
  stage       TEXT NOT NULL,
  unit_key    TEXT NOT NULL,          -- stable: p0.s2
  status      TEXT NOT NULL CHECK (status IN ('done', 'failed')),
  fingerprint TEXT NOT NULL,          -- of all it depended on; a done-mark counts while this is equal
  generation  INTEGER NOT NULL,       -- done: the one it was made with; failed: the one to try next
  error_kind  TEXT NOT NULL,          -- empty when done
  error       TEXT NOT NULL,
  attempts    INTEGER NOT NULL,       -- of the failure; 0 when done
  UNIQUE (stage, unit_key)
)""",
    """
CREATE TABLE records (
  -- What done units made, in the order in which each unit gave them.
  record_id   INTEGER PRIMARY KEY,
  unit_id     INTEGER NOT NULL REFERENCES units ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  record_type TEXT NOT NULL,          -- name of the class in longbeam/schemas; renaming one needs a migration
  json        TEXT NOT NULL,
  UNIQUE (unit_id, ordinal)
)""",
    """
CREATE TABLE meta (
  -- Facts about the conversation as a whole.
  name TEXT PRIMARY KEY,
  json TEXT NOT NULL
) WITHOUT ROWID""",
)

_COUNT_REASONING = (
    # Of output_tokens, those thought and not said.
    "ALTER TABLE replies ADD COLUMN reasoning_tokens INTEGER NOT NULL DEFAULT 0",
    # What the model said in place of a reply; empty: it did not refuse.
    "ALTER TABLE replies ADD COLUMN refusal TEXT NOT NULL DEFAULT ''",
)

_KEEP_COSTS = (
    """
CREATE TABLE replaced (
  -- What replies cost that another one to the same call has replaced: they were cut off at their length limit.
  replaced_id      INTEGER PRIMARY KEY,
  stage            TEXT NOT NULL,
  role             TEXT NOT NULL,
  prompt_id        TEXT NOT NULL,
  model            TEXT NOT NULL,
  prompt_tokens    INTEGER NOT NULL,
  cached_tokens    INTEGER NOT NULL,
  output_tokens    INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL
)""",
)

_NUMBER_TEXTS = (
    "ALTER TABLE texts RENAME TO former_texts",
    "ALTER TABLE replies RENAME TO former_replies",
    """
CREATE TABLE texts (
  -- What was said to models and what they said. Requests repeat nearly all of the one before: a text is stored once,
  -- or again when it was not said for a long time.
  text_id INTEGER PRIMARY KEY,
  sha256  BLOB NOT NULL,  -- of role, a zero byte, content; UTF-8
  role    TEXT NOT NULL,  -- system, user, assistant
  content TEXT NOT NULL
)""",
    """
CREATE TABLE replies (
  -- The journal: one row per reply, committed before anything reads the reply.
  reply_id         INTEGER PRIMARY KEY,  -- in the order of arrival
  key              TEXT NOT NULL UNIQUE, -- ModelCall.key
  unit_key         TEXT NOT NULL,        -- c000/dialogue/p0.s2/t5.n1: conversation, stage, unit, place
  stage            TEXT NOT NULL,
  role             TEXT NOT NULL,        -- as whom the model was asked: planner, assistant, ...
  prompt_id        TEXT NOT NULL,
  prompt_version   INTEGER NOT NULL,
  model            TEXT NOT NULL,        -- as the spec names it
  generation       INTEGER NOT NULL,     -- content attempts before this one
  max_tokens       INTEGER,              -- asked for; NULL: no limit was named
  request          TEXT NOT NULL,        -- texts.text_id of each message, in order, as a JSON list
  reply            INTEGER NOT NULL,     -- texts.text_id of the raw reply
  finish_reason    TEXT NOT NULL,
  reply_model      TEXT NOT NULL,        -- as the server names it
  prompt_tokens    INTEGER NOT NULL,
  cached_tokens    INTEGER NOT NULL,
  output_tokens    INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,     -- of output_tokens, those thought and not said
  refusal          TEXT NOT NULL         -- what the model said in place of a reply; empty: it did not refuse
)""",
    "INSERT INTO texts SELECT text_id, sha256, role, content FROM former_texts",
    # A text that is missing gets the number 0, which none has: `WorkLog.verify` names the reply.
    """
INSERT INTO replies
SELECT reply_id, key, unit_key, stage, role, prompt_id, prompt_version, model, generation, max_tokens,
  (
    WITH RECURSIVE places (place) AS (
      SELECT 0 WHERE length(request) > 0
      UNION ALL SELECT place + 1 FROM places WHERE (place + 1) * 32 < length(request)
    )
    SELECT json_group_array(coalesce(text_id, 0)) FROM (
      SELECT text_id FROM places LEFT JOIN former_texts ON sha256 = substr(request, place * 32 + 1, 32) ORDER BY place
    )
  ),
  coalesce((SELECT text_id FROM former_texts WHERE sha256 = reply), 0),
  finish_reason, reply_model, prompt_tokens, cached_tokens, output_tokens, reasoning_tokens, refusal
FROM former_replies ORDER BY reply_id""",
    "DROP TABLE former_replies",
    "DROP TABLE former_texts",
)

_ADD_CHECKSUMS = (
    # `checksum` is `store.checksums.checksum_of`. Rows of an older longbeam are taken as they are.
    # Of CHECKED_COLUMNS, and texts.sha256 of the reply, in hex.
    "ALTER TABLE replies ADD COLUMN checksum INTEGER NOT NULL DEFAULT -1",
    f"""
UPDATE replies SET checksum = checksum({", ".join(CHECKED_COLUMNS)},
  coalesce((SELECT lower(hex(sha256)) FROM texts WHERE text_id = reply), ''))""",
    # The sum of checksum(ordinal, record_type, json) of the unit's records.
    "ALTER TABLE units ADD COLUMN records_checksum INTEGER NOT NULL DEFAULT -1",
    """
UPDATE units SET records_checksum = coalesce(
  (SELECT sum(checksum(ordinal, record_type, json)) FROM records WHERE records.unit_id = units.unit_id), 0)""",
    # Of UNIT_COLUMNS and records_checksum.
    "ALTER TABLE units ADD COLUMN checksum INTEGER NOT NULL DEFAULT -1",
    f"UPDATE units SET checksum = checksum({', '.join(UNIT_COLUMNS)}, records_checksum)",
    # Of name and json.
    "ALTER TABLE meta ADD COLUMN checksum INTEGER NOT NULL DEFAULT -1",
    "UPDATE meta SET checksum = checksum(name, json)",
)

WORK_LOG = FileFormat(
    name="work log",
    application_id=0x4C42574C,  # "LBWL"
    migrations=(_CREATE, _COUNT_REASONING, _KEEP_COSTS, _NUMBER_TEXTS, _ADD_CHECKSUMS),
)
