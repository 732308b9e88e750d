"""Texts that people and models really write, and that no check may report."""

from __future__ import annotations

import pytest

from longbeam.schemas import Difficulty, Domain, Evidence, Severity, Stance
from longbeam.text import money
from longbeam.validation import LEAKS, build_index, check_conversation, check_probes
from tests.builders import MemoryReader, good_conversation
from tests.validation.faults import append, asks_for_a_use, asserted, both, details, evidence, in_domain, on_probe, say


@pytest.mark.parametrize(
    "text",
    [
        " Use bullet points, please, and put that bullet list on page 2.",
        " My to-do list has two todos. I'm the user here: Maya.",
        " See `[insert_at]`, `{first_name}` and `# TODO` in the code.",
        "\n```python\n# TODO\nf'{first_name} {{x_y}}' -> -> [insert]\n```",
        "\n~~~python\nprint(1)\n~~~",
        r" We have \frac{a_b}{c d}, $x_{i j}$ and {1, 2, 3} with f: A -> B -> C.",
        " Read [the plan](https://example.org/plan) and [1].",
        " I work as an AI engineer. The route is /users/{user_id}/items.",
        " Paint the sub-floor, plan the subway trip, anchor the shelf.",
        " The event [sic] was fun; <b>really</b> fun, 3 < 4 > 2.",
        " She is in p0 of the list, version v2.s1.",
    ],
)
@pytest.mark.parametrize("position", [4, 5])
def test_usual_text_is_no_leak(text: str, position: int) -> None:
    reader = append(position, text)(good_conversation())
    assert list(LEAKS.on_conversation(build_index(reader)) if LEAKS.on_conversation else ()) == []


def test_code_talk_may_name_placeholders() -> None:
    reader = both(in_domain(Domain.CODING), append(4, " The f-string has {user_name} in it, arr[first] too."))
    found = check_conversation(reader(good_conversation()))
    assert [f.check for f in found] == ["leaks.maybe_placeholder"]


def errors(reader: MemoryReader) -> list[str]:
    return [f.check for f in check_conversation(reader) if f.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "gold",
    [
        "Tom paints the shop front for 900 dollars.",
        "On March 11 you said that it costs $900.",  # the day on which the message was sent
        "1. Tom\n2. He asks for $900.00, as one of two friends would.",
    ],
)
def test_gold_may_word_values_otherwise(gold: str) -> None:
    assert check_conversation(on_probe("information_extraction", gold_answer=gold)(good_conversation())) == []


def test_computed_gold_may_use_weeks_and_dates_without_year() -> None:
    # 42 days are 6 weeks.
    reader = both(
        details("temporal_reasoning", computed_from=("March 6", "April 17"), computed_value="42 days"),
        on_probe("temporal_reasoning", gold_answer="6 weeks, from March 6 to April 17."),
    )
    assert errors(reader(good_conversation())) == []


def test_a_count_is_computed_from_names() -> None:
    reader = both(
        details(
            "multi_session_reasoning", computed_from=("the shop front", "a deck oven"), computation="count",
            computed_value="2",
        ),
        on_probe("multi_session_reasoning", gold_answer="Two things: the front ($900) and the oven ($7,400)."),
    )  # fmt: skip
    assert "computation.wrong_result" not in errors(reader(good_conversation()))
    assert "computation.gold_lacks_result" not in errors(reader(good_conversation()))


def test_gold_may_say_the_old_value_beside_the_new_or_when_asked_for_it() -> None:
    both_values = on_probe("knowledge_update", gold_answer="It is $21,500; at first it was $18,000.")
    assert check_conversation(both_values(good_conversation())) == []
    asked = on_probe(
        "information_extraction",
        question="What was the original budget for the works?",
        gold_answer="$18,000.",
        rubric=good_conversation().probe("information_extraction").rubric,
        evidence=good_conversation().probe("knowledge_update").evidence[:1],
        fact_ids=("p0.f2",),
    )
    assert not any(c.startswith("stale_gold") for c in errors(asked(good_conversation())))


def test_a_mention_of_the_old_value_is_no_third_value() -> None:
    reader = asserted("p0.s1.b4", "p0.f2", Stance.MENTIONS, money(18_000))(good_conversation())
    assert not any(c.startswith("knowledge_update") for c in errors(reader))


def test_days_of_events_need_not_be_in_the_ledger() -> None:
    reader = on_probe("temporal_reasoning", fact_ids=("p0.s0.b1.day", "p0.f5"))(good_conversation())
    assert check_conversation(reader) == []


def test_short_messages_may_recur_and_searched_terms_may_be_apart() -> None:
    reader = both(say(5, "Thank you, Maya!"), say(7, "Thank you, Maya!"), append(9, " No interest in a car loan?"))
    assert (
        errors(both(reader, details("abstention", searches=("equipment loan", "interest")))(good_conversation())) == []
    )


def test_a_value_may_be_said_by_two_messages_of_one_bullet() -> None:
    reader = good_conversation()
    split = reader.with_message(16, content="The soft opening was wild! How many should we bake next Saturday?")
    split = split.with_message(
        14, bullet_ids=("p0.s1.b3", "p0.s1.b4"), content=f"{reader.said[14].content} 140 loaves!"
    )
    assert not any(f.check.startswith("voicing") for f in check_conversation(split))


def test_check_probes_looks_at_candidates_that_are_not_selected() -> None:
    reader = both(evidence("summarization", quote="never said"), on_probe("summarization", is_selected=False))
    spoilt = reader(good_conversation())
    index = build_index(spoilt)

    assert check_conversation(spoilt) == []
    assert [(f.check, f.subject) for f in check_probes(index, spoilt.asked)] == [
        ("evidence.not_verbatim", "summarization.0")
    ]


def test_findings_are_errors_first_and_always_in_one_order() -> None:
    reader = both(
        on_probe("knowledge_update", gold_answer="More.", difficulty=Difficulty.EASY),
        append(4, " [Your Name]"),
        append(5, " TODO"),
    )(good_conversation())
    found = check_conversation(reader)

    assert [f.severity for f in found] == sorted((f.severity for f in found), key=list(Severity).index)
    assert found == check_conversation(reader)
    assert {f.severity for f in found} == {Severity.ERROR, Severity.WARNING}


@pytest.mark.parametrize(
    "text",
    [
        "As I said, keep the other $77,777 for the lease aside for now.",
        "The other $77,777 for the lease was for the spare keys, as I said.",
        "If the lease took $155,554, I would act as if it were $77,777 for the first half of the year.",
        "Of what you keep for the lease, $77,777 comes to a quarter.",
        "Keep another $7,777 aside for the lease: it is for a lamp.",
        "Keep another $77,777 aside for the oven: it is for a lamp.",
    ],
)
@pytest.mark.parametrize("position", [5, 16])
def test_an_amount_that_is_named_again_has_no_other_use(text: str, position: int) -> None:
    reader = asks_for_a_use(position, text)(good_conversation())
    assert not [f for f in check_conversation(reader) if f.check == "uses.other_use"]


def test_a_reply_that_says_again_what_the_user_told_may_be_cited_beside_it() -> None:
    reader = good_conversation()
    (probe,) = [p for p in reader.probes() if p.ability == "information_extraction"]
    every = tuple(n.nugget_id for n in probe.rubric)
    told = probe.evidence[0].model_copy(update={"nugget_ids": every})
    again = Evidence(message_key=reader.said[5].message_key, quote=reader.said[5].content, nugget_ids=every)
    beside = reader.with_probe("information_extraction", evidence=(told, again))
    assert "evidence_parts.speaker" not in errors(beside)
    assert "evidence_parts.speaker" in errors(beside.with_probe("information_extraction", evidence=(again,)))
    # So may one that says again what another reply brings in.
    advised = reader.with_message(3, bullet_ids=("p0.s0.a0",))
    given = told.model_copy(update={"message_key": advised.said[3].message_key, "quote": advised.said[3].content})
    both = advised.with_probe("information_extraction", bullet_ids=("p0.s0.a0",), evidence=(given, again))
    assert "evidence_parts.speaker" not in errors(both)


def test_items_that_a_question_lists_are_counted() -> None:
    def asking(listed: str) -> list[str]:
        question = f"In which order did I first tell you of {listed}?"
        return errors(on_probe("event_ordering", question=question)(good_conversation()))

    assert "evidence_parts.items_asked" not in asking("the deck oven; the lease; and the painting")
    assert "evidence_parts.items_asked" in asking("the deck oven; the lease; the sign; and the painting")
