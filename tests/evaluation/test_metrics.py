from __future__ import annotations

import math

import pytest

from longbeam.evaluation import missing_values, ndcg, retrieval_of
from longbeam.schemas import Answer, AskedProbe, Context, Difficulty, Evidence, Nugget, Probe, Result

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


def test_values_that_answers_lack_are_counted_by_where_they_were_lost() -> None:
    rubric = (
        Nugget(nugget_id="a", text="States 4,200 euros."),
        Nugget(nugget_id="b", text="States 17 June 2024."),
        Nugget(nugget_id="c", text="States 18 tiles."),
    )
    told = AskedProbe(
        conversation_id="c", probe_id="p", ability="x", question="What then?", gold_answer="", rubric=rubric
    )

    def result(system: str, context: str | None, text: str) -> Result:
        read = None if context is None else Context(text=context, tokens=1)
        given = Answer(conversation_id="c", probe_id="p", system=system, text=text, context=read)
        return Result(
            conversation_id="c", probe_id="p", ability="x", system=system, answer=given, judgement=None, scores=(),
            retrieval=retrieval_of(probe(), given, {}),
        )  # fmt: skip

    # The day and the tiles were not read; the price was read, and not answered.
    rows = [
        result("rag", "It costs 4,200 euros.", "No idea."),
        result("all", "4,200 euros on 17 June 2024, 18 tiles", "4,200 euros, 17 June 2024 and 18 tiles"),
        result("blank", None, ""),
    ]
    assert missing_values([told], rows) == {"rag": (1, 1, 1)}


def test_every_quote_of_a_message_has_to_be_there() -> None:
    used = Evidence(message_key="m1", quote="It is used.")
    assert retrieval_of(probe(KILN, used), answer("The kiln costs 4,200 euros.", "m1"), CONTENTS).evidence_recall == 0


def test_a_probe_without_evidence_has_no_recall() -> None:
    found = retrieval_of(probe(), answer("anything", "m1"), CONTENTS)
    assert (found.evidence_recall, found.source_recall, found.evidence_precision) == (None, None, None)


def test_ndcg_counts_each_cited_message_once_and_against_the_best_order() -> None:
    # Second of the passages: 1 / log2(3) of the ideal 1 for one cited message; with a second that is never found, the
    # ideal is 1 + 1 / log2(3).
    second = 1 / math.log2(3)
    assert ndcg([["m1"], ["m2"]], {"m1"}, 5) == 1
    assert ndcg([["m9"], ["m1"], ["m1"]], {"m1"}, 5) == pytest.approx(second)
    assert ndcg([["m1"]], {"m1", "m2"}, 5) == pytest.approx(1 / (1 + second))
    assert ndcg([["m1", "m2"]], {"m1", "m2"}, 5) == 1  # one passage has both
    assert ndcg([["m9"]] * 5 + [["m1"]], {"m1"}, 5) == 0
    made = answer("", "m1").model_copy(update={"ranking": (("m9",), ("m1",))})
    assert retrieval_of(probe(KILN), made, CONTENTS).ndcg_at_5 == pytest.approx(second)
    assert retrieval_of(probe(), made, CONTENTS).ndcg_at_10 is None
