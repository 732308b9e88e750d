"""The tables of a work log. The comments inside the statements are kept by SQLite: `.schema` shows them."""

from __future__ import annotations

from longbeam.store.sqlite import Format

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

WORK_LOG = Format(
    name="work log",
    application_id=0x4C42574C,  # "LBWL"
    migrations=(_CREATE, _COUNT_REASONING, _KEEP_COSTS),
)
