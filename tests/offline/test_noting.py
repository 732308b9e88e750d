from __future__ import annotations

import datetime as dt

from longbeam.offline import extract_facts
from longbeam.prompts.calls import MOST_STATEMENTS, ExtractFactsInputs, ReadMessage
from longbeam.schemas import MessageRole


def test_a_passage_of_many_statements_fits_the_form_of_the_reply() -> None:
    said = (f"The lamp costs ${i + 10}. The chair weighs {i + 1} kg." for i in range(MOST_STATEMENTS))
    messages = (
        ReadMessage(number=i, role=MessageRole.USER, said_on=dt.date(2024, 1, 1), content=text)
        for i, text in enumerate(said)
    )
    assert len(extract_facts(ExtractFactsInputs(messages=tuple(messages))).statements) == MOST_STATEMENTS
