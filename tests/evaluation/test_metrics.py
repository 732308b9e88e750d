from __future__ import annotations

import pytest

from longbeam.evaluation import retrieval_of
from longbeam.schemas import Answer, Context, Difficulty, Evidence, Nugget, Probe

CONTENTS = {"m1": "The kiln costs 4,200 euros.\nIt is used.", "m2": "Gunnar wants to see the lease."}


def probe(*evidence: Evidence) -> Probe:
    return Probe(
        probe_id="information_extraction.0",
        ability="information_extraction",
        question="What does the kiln cost?",
        gold_answer="4,200 euros",
        difficulty=Difficulty.EASY,
        rubric=(Nugget(nugget_id="n", text="States 4,200 euros."),),
        evidence=evidence,
    )


def answer(text: str, *keys: str) -> Answer:
    context = Context(text=text, tokens=9, message_keys=keys)
    return Answer(conversation_id="c", probe_id="p", system="s", text="", context=context)


KILN = Evidence(message_key="m1", quote="The kiln costs 4,200 euros.")
LEASE = Evidence(message_key="m2", quote="")


@pytest.mark.parametrize(
    ("read", "keys", "recall", "sources"),
    [
        ("the kiln costs some", ("m1", "m2"), 0, 1),  # keys that are repeated, and four words of the message
        ("user: The kiln  costs\n4,200 euros.", ("m1",), 0.5, 0.5),  # line ends and blanks may differ
        ("The kiln costs 4,200 euros. Gunnar wants to see", ("m1", "m2"), 0.5, 1),  # no quote: all of the message
        ("The kiln costs 4,200 euros. Gunnar wants to see the lease.", ("m1", "m2"), 1, 1),
        ("The kiln costs 4,200 euros.", (), 0, 0),
    ],
)
def test_a_message_counts_only_where_its_quote_was_read(
    read: str, keys: tuple[str, ...], recall: float, sources: float
) -> None:
    found = retrieval_of(probe(KILN, LEASE), answer(read, *keys), CONTENTS)
    assert (found.evidence_recall, found.source_recall) == (recall, sources)
    assert found.evidence_precision == (recall * 2 / len(keys) if keys else None)


def test_every_quote_of_a_message_has_to_be_there() -> None:
    used = Evidence(message_key="m1", quote="It is used.")
    assert retrieval_of(probe(KILN, used), answer("The kiln costs 4,200 euros.", "m1"), CONTENTS).evidence_recall == 0


def test_a_probe_without_evidence_has_no_recall() -> None:
    found = retrieval_of(probe(), answer("anything", "m1"), CONTENTS)
    assert (found.evidence_recall, found.source_recall, found.evidence_precision) == (None, None, None)
