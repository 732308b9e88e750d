"""The tables of a sealed conversation: a data dictionary for queries with SQL.

Columns are named like the fields of the records in `longbeam/schemas/`, which explain them. `ordinal` is a row's
position among its siblings. A column is JSON only where a record is open-ended.

No table has a primary key. With one on `message_id`, DuckDB 2.0.0 reads a range of messages through the index,
row by row out of compressed blocks: 8 s for 2,000 messages instead of 0.1 s. Sealing checks that keys are
unique.
"""

from __future__ import annotations

from longbeam.store.duck import Kind

_TABLES = (
    """
CREATE TABLE conversation (  -- one row
    conversation_id VARCHAR NOT NULL,
    target_tokens BIGINT NOT NULL,  -- 0: no length was asked for
    tokenizer VARCHAR NOT NULL,
    seed STRUCT(domain VARCHAR, about VARCHAR, title VARCHAR, theme VARCHAR, subtopics VARCHAR[],
                timeline STRUCT("start" DATE, "end" DATE), "mode" VARCHAR, touches VARCHAR, source VARCHAR)
                NOT NULL,
    profile STRUCT("name" VARCHAR, first_name VARCHAR, gender VARCHAR, age INTEGER, city VARCHAR, country VARCHAR,
                   profession VARCHAR, employer VARCHAR, traits STRUCT("name" VARCHAR, "value" VARCHAR)[],
                   mbti VARCHAR[], personality VARCHAR),
    node_link JSON NOT NULL,  -- the people as networkx.node_link_data
    details JSON NOT NULL  -- what an import carried and no column holds
)""",
    """
CREATE TABLE authors (  -- every model that answered, as its endpoint names it; none for imports
    ordinal INTEGER NOT NULL,
    "role" VARCHAR NOT NULL,
    model VARCHAR NOT NULL
)""",
    """
CREATE TABLE import_notes (
    ordinal INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    message VARCHAR NOT NULL,
    evidence VARCHAR[] NOT NULL  -- message keys
)""",
    """
CREATE TABLE narratives (
    ordinal INTEGER NOT NULL,
    label VARCHAR NOT NULL,
    description VARCHAR NOT NULL,
    sub_labels VARCHAR[] NOT NULL
)""",
    """
CREATE TABLE people (
    ordinal INTEGER NOT NULL,
    person_id VARCHAR NOT NULL,
    first_name VARCHAR NOT NULL,
    gender VARCHAR NOT NULL,
    age INTEGER NOT NULL,  -- on the first day of the timeline
    relation VARCHAR NOT NULL
)""",
    """
CREATE TABLE plans (
    plan_index INTEGER NOT NULL
)""",
    """
CREATE TABLE plan_seeds (  -- none in a conversation of one plan
    ordinal INTEGER NOT NULL,
    plan_index INTEGER NOT NULL,
    domain VARCHAR NOT NULL,
    touches VARCHAR,
    topic VARCHAR NOT NULL,
    theme VARCHAR NOT NULL,
    subtopics VARCHAR[] NOT NULL,
    timeline STRUCT("start" DATE, "end" DATE) NOT NULL,
    phase VARCHAR NOT NULL,
    tense VARCHAR NOT NULL,
    can_mention VARCHAR[] NOT NULL,
    cannot_mention VARCHAR[] NOT NULL
)""",
    """
CREATE TABLE sub_plans (
    plan_index INTEGER NOT NULL,
    sub_plan_index INTEGER NOT NULL,
    anchor DATE NOT NULL
)""",
    """
CREATE TABLE bullets (
    plan_index INTEGER NOT NULL,
    sub_plan_index INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,  -- in the sub-plan
    bullet_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    narrative VARCHAR NOT NULL,  -- narratives.label
    topic VARCHAR NOT NULL,
    "text" VARCHAR NOT NULL,
    happens_on DATE NOT NULL,
    target_bullet_id VARCHAR,
    condition VARCHAR NOT NULL,
    requirement VARCHAR NOT NULL,
    variety VARCHAR NOT NULL
)""",
    """
CREATE TABLE facts (
    plan_index INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,  -- in the plan
    fact_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    attribute VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    is_fixed BOOLEAN NOT NULL,
    side_story VARCHAR NOT NULL  -- empty: a fact of the story itself
)""",
    """
CREATE TABLE assertions (
    plan_index INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,  -- in the plan
    bullet_id VARCHAR NOT NULL,
    fact_id VARCHAR NOT NULL,
    stance VARCHAR NOT NULL,
    "value" STRUCT(kind VARCHAR, "text" VARCHAR, number DOUBLE, unit VARCHAR, "date" DATE)
)""",
    """
CREATE TABLE advice (  -- what the assistant brings in
    plan_index INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,  -- in the plan
    advice_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    bullet_id VARCHAR NOT NULL,  -- the bullet whose message the reply answers
    narrative VARCHAR NOT NULL,
    topic VARCHAR NOT NULL,
    attribute VARCHAR NOT NULL,
    "text" VARCHAR NOT NULL,
    "value" STRUCT(kind VARCHAR, "text" VARCHAR, number DOUBLE, unit VARCHAR, "date" DATE),
    items VARCHAR[] NOT NULL,
    corrects VARCHAR NOT NULL,  -- advice_id; empty: it corrects nothing
    taken INTEGER NOT NULL,  -- place of the item that the user took, from 1; 0: they do not say
    taken_in VARCHAR NOT NULL  -- the bullet that says so
)""",
    """
CREATE TABLE user_turns (
    ordinal INTEGER NOT NULL,
    turn_id VARCHAR NOT NULL,
    "text" VARCHAR NOT NULL,
    bullet_ids VARCHAR[] NOT NULL,
    about_bullet_ids VARCHAR[] NOT NULL,
    slip VARCHAR NOT NULL  -- a value that it says by a slip; empty: none
)""",
    # zstd: 31 MB instead of 57 MB for 20,000 messages of 4 KB, written as fast, read 0.2 s slower.
    """
CREATE TABLE messages (
    message_id INTEGER NOT NULL,  -- 0 to n-1, as sealed
    message_key VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    speaker VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    session INTEGER NOT NULL,
    plan_index INTEGER,
    sub_plan_index INTEGER,
    turn_index INTEGER,
    bullet_ids VARCHAR[] NOT NULL,
    sent_at TIMESTAMP NOT NULL,  -- local time without zone
    content VARCHAR NOT NULL USING COMPRESSION zstd,
    parts JSON NOT NULL,
    tokens INTEGER NOT NULL,
    details JSON NOT NULL  -- what an import carried and no column holds
)""",
    """
CREATE TABLE making (  -- one row
    gap_share DOUBLE NOT NULL  -- of the parts of the text, those for which no reply could be used
)""",
    """
CREATE TABLE prompts (
    ordinal INTEGER NOT NULL,
    prompt_id VARCHAR NOT NULL,
    requests BIGINT NOT NULL,
    replies BIGINT NOT NULL,
    accepted_first BIGINT NOT NULL,  -- requests whose first reply was used
    output_tokens BIGINT NOT NULL,
    wasted_tokens BIGINT NOT NULL  -- of replies that were refused or cut
)""",
    """
CREATE TABLE incidents (
    ordinal INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    prompt_id VARCHAR NOT NULL,
    place VARCHAR NOT NULL,  -- c000/dialogue/p0.s2/t5/asks0, or the key of a bullet
    detail VARCHAR NOT NULL
)""",
    """
CREATE TABLE probes (
    ordinal INTEGER NOT NULL,  -- as given
    probe_id VARCHAR NOT NULL,
    ability VARCHAR NOT NULL,
    source_category VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    gold_answer VARCHAR NOT NULL,
    difficulty VARCHAR NOT NULL,
    bullet_ids VARCHAR[] NOT NULL,
    fact_ids VARCHAR[] NOT NULL,
    details JSON NOT NULL,
    asked_at TIMESTAMP,  -- local time; null: after the last message
    is_selected BOOLEAN NOT NULL,
    rank INTEGER NOT NULL
)""",
    """
CREATE TABLE nuggets (
    probe_id VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL,  -- in the rubric
    nugget_id VARCHAR NOT NULL,
    "text" VARCHAR NOT NULL
)""",
    """
CREATE TABLE evidence (
    probe_id VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL,  -- in the probe, oldest first
    message_key VARCHAR NOT NULL,
    quote VARCHAR NOT NULL,
    part VARCHAR NOT NULL,
    "group" INTEGER,
    nugget_ids VARCHAR[] NOT NULL
)""",
)

SEALED_CONVERSATION = Kind(
    name="sealed conversation",
    version=9,
    tables=_TABLES,
    remedy="`longbeam resume` makes it again, `longbeam import` an imported one",
    oldest_readable=5,
)
