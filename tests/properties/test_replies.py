"""Whatever an endpoint sends is a reply, or an error of one line that names the endpoint."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given, strategies as st

from longbeam.errors import ProviderError
from longbeam.models import CompletionReader, HttpAnswer, Redactor, parse_items, parse_reply
from longbeam.prompts import PROMPTS
from tests.models.calls import call
from tests.models.endpoint import completion
from tests.properties.hostile import VALUES, spoilt

READER = CompletionReader("openai:m", "m", Redactor("sk-1"))
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 1}}
BODIES = spoilt(completion("Yes.", usage=USAGE)).map(lambda tree: json.dumps(tree).encode()) | st.binary(max_size=40)
AROUND = ("{}", "Here: {}.", "```json\n{}\n```", "{")
SCHEMAS = [prompt.output for prompt in PROMPTS if prompt.output is not None]


@given(status=st.sampled_from([200, 200, 200, 204, 301, 400, 413, 422, 429, 500, 599]), body=BODIES)
def test_an_answer_is_a_reply_or_one_line(status: int, body: bytes) -> None:
    said = ""
    try:
        READER.reply_of(READER.data_of(HttpAnswer(status, body)), call()).model_dump_json()
    except ProviderError as exc:
        said = str(exc)
    assert "\n" not in said
    assert len(said) < 1_000


@given(schema=st.sampled_from(SCHEMAS), tree=VALUES, around=st.sampled_from(AROUND))
def test_the_text_of_a_reply_fits_its_form_or_says_why_not(schema: Any, tree: Any, around: str) -> None:
    text = around.replace("{}", json.dumps(tree))
    for parse in (parse_reply, parse_items):
        with suppress(ValueError):  # the fault that the model is told
            parse(text, schema)
