"""The six kinds of faults that checks missed in unseen conversations of BEAM 500K, on conversations of our own.

How many are named in the ten conversations of BEAM 100K: `python -m benchmarks.unseen_kinds`, docs/checks-on-beam.md.
What no rule can tell, because it shares no words with the question, is brought before the critic of the model checks.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from longbeam.evaluation import matters_of
from longbeam.schemas import Probe, Severity
from longbeam.validation import check_conversation
from tests.builders import MemoryReader
from tests.validation.told import asks, imported

TALK = ("Let us speak of the weather.", "Fine.") * 6


def named(reader: MemoryReader, probe_id: str) -> set[str]:
    """Return the names of the findings on a probe that are no notes."""
    found = check_conversation(reader)
    return {f.check for f in found if f.subject == probe_id and f.severity is not Severity.INFO}


def reaches_critic(reader: MemoryReader, place: int) -> bool:
    """Whether the critic of the model checks sees the message at this place for the only probe."""
    (matter,) = matters_of(reader.messages, tuple(reader.probes()), {})
    return f"m{place}" in {m.message_key for m in (*matter.cited, *matter.neighbours, *matter.found)}


def unanswered(question: str) -> Probe:
    return asks("abstention", question, "There is no information on this in our chats.", {})


@pytest.mark.parametrize(
    ("speaker", "question", "answer"),
    [
        (
            "user",
            "Which dentist did my sister choose in Graz?",
            "My sister did choose a dentist in Graz, Dr. Brandner.",
        ),
        (
            "user",
            "How many hives does my uncle keep on the roof?",
            "My uncle does keep 14 hives on the roof since May.",
        ),
        (
            "user",
            "What did the surveyor say about the cellar wall?",
            "The surveyor did say the cellar wall needs anchors.",
        ),
        (
            "assistant",
            "Which dentist did my sister choose in Graz?",
            "Your sister did choose a dentist in Graz, Dr. Ilse Brandner.",
        ),
        (
            "assistant",
            "Which colours did the jury at Linz prefer?",
            "At Linz the jury did prefer these colours: teal, rust.",
        ),
    ],
)
def test_an_abstention_that_a_speaker_answers_is_named(speaker: str, question: str, answer: str) -> None:
    told = (answer, "Good.") if speaker == "user" else ("Remind me.", answer)
    assert "abstention.maybe_answered" in named(imported((*TALK, *told, *TALK), unanswered(question)), "abstention.0")
    assert not named(imported((*TALK, *TALK), unanswered(question)), "abstention.0")


@pytest.mark.parametrize("speaker", ["user", "assistant"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which dentist did my sister choose in Graz?", "Brandner it is, for her teeth, the practice near Graz."),
        ("How many hives does my uncle keep on the roof?", "Fourteen colonies buzz up there, and the roof holds."),
        ("What did the surveyor say about the cellar wall?", "Two anchors, or the wall goes, was the verdict."),
    ],
)
def test_an_abstention_answered_in_other_words_reaches_the_critic(speaker: str, question: str, answer: str) -> None:
    told = (answer, "Good.") if speaker == "user" else ("Remind me.", answer)
    reader = imported((*TALK, *told, *TALK), unanswered(question))
    assert reaches_critic(reader, len(TALK) + (speaker == "assistant"))


@pytest.mark.parametrize(
    ("ability", "question", "gold", "said", "cited"),
    [
        (
            "temporal_reasoning",
            "How many days lie between the kiln's delivery and the first firing?",
            "There are 17 days between the delivery on March 4, 2024 and the first firing on March 21, 2024.",
            ("The kiln's delivery was on March 4.", "The first firing was on March 21."),
            {0: "first"},
        ),
        (
            "multi_session_reasoning",
            "How much did the loom and the wool cost together?",
            "The loom cost $640 and the wool $85, which makes $725.",
            ("I paid $640 for the loom.", "The wool came to $85 today."),
            {0: "support"},
        ),
        (
            "knowledge_update",
            "How many pupils are in my pottery class?",
            "There are 19 pupils now; there were 12 before.",
            ("My pottery class has 12 pupils.", "My pottery class has grown to 19 pupils."),
            {0: "original"},
        ),
    ],
)
def test_evidence_that_is_missing_is_named(
    ability: str, question: str, gold: str, said: Sequence[str], cited: dict[int, str]
) -> None:
    told = (said[0], "I see.", *TALK, said[1], "I see.")
    both = {**cited, len(told) - 2: {"first": "second", "original": "updated"}.get(cited[0], "support")}
    naming = {"gold_values.not_in_evidence", "gold_values.elsewhere", "evidence_parts.import_missing"}
    missing = named(imported(told, asks(ability, question, gold, cited)), f"{ability}.0")
    whole = named(imported(told, asks(ability, question, gold, both)), f"{ability}.0")
    assert missing & naming, missing
    assert not whole & naming, whole


REVIEW = "How many days are there between my review with Ines and the opening of the shop?"
SPAN = "There are 27 days between the review on March 22, 2024 and the opening on April 18, 2024."


@pytest.mark.parametrize(
    "told",
    [
        "One change: the review with Ines is now on March 29 and no longer on March 22.",
        "The opening of the shop is postponed to April 25 instead of April 18.",
        "A correction: the opening of the shop is on April 20 instead.",
    ],
)
def test_a_stale_gold_of_a_temporal_probe_is_named(told: str) -> None:
    said = ("My review with Ines is on March 22.", "I see.", "The opening of the shop is on April 18.", "I see.", *TALK)
    probe = asks("temporal_reasoning", REVIEW, SPAN, {0: "first", 2: "second"})
    stale = named(imported((*said, told, "I see."), probe), "temporal_reasoning.0")
    assert any(name.startswith("later_values.") for name in stale), stale
    assert not named(imported(said, probe), "temporal_reasoning.0")


def test_a_day_that_is_put_off_without_a_date_reaches_the_critic() -> None:
    said = ("My review with Ines is on March 22.", "I see.", "The opening of the shop is on April 18.", "I see.", *TALK)
    probe = asks("temporal_reasoning", REVIEW, SPAN, {0: "first", 2: "second"})
    reader = imported((*said, "The opening of the shop slips by nine days, alas.", "I see."), probe)
    assert reaches_critic(reader, len(said))


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("When does my first sprint end?", "It ends on March 29, 2024."),
        ("Could you remind me on which day my first sprint ends, please?", "On 29 March 2024."),
        ("What is the last day of my first sprint?", "The last day is 2024-03-29."),
    ],
)
@pytest.mark.parametrize("ability", ["information_extraction", "multi_session_reasoning", "temporal_reasoning"])
def test_a_duplicate_probe_is_named_as_a_duplicate(ability: str, question: str, gold: str) -> None:
    said = ("My first sprint ends on March 29, 2024, with Tom as reviewer.", "Good.", *TALK)
    first = asks(
        "information_extraction", "When does my first sprint end?", "It ends on March 29, 2024.", {0: "support"}
    )
    again = asks(ability, question, gold, {0: "support"}, number=1)
    found = named(imported(said, first, again), again.probe_id)
    assert {"probe_set.same_in_other_words", "probe_set.same_question"} & found, found


NAMING_ORDERS = {"evidence.order", "evidence_parts.item_order", "evidence_parts.mentioned_before"}
ORDER = ("I signed the lease of the studio.", "The oven was delivered today.", "We painted the sign of the bakery.")


@pytest.mark.parametrize("is_cited_in_order", [True, False])
@pytest.mark.parametrize("items", [(2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)])
def test_an_order_that_is_not_chronological_is_named(items: Sequence[int], *, is_cited_in_order: bool) -> None:
    told = tuple(text for said in ORDER for text in (said, "I see.", *TALK))
    texts = ("Signing the lease of the studio", "Delivery of the oven", "Painting the sign of the bakery")

    def problems(places: Sequence[int]) -> set[str]:
        listed = ", ".join(f"{number}) {texts[place]}" for number, place in enumerate(places, 1))
        cited = sorted(places) if is_cited_in_order else places
        question = "In what order did I bring up the work on my bakery? Mention ONLY and ONLY three items."
        gold = f"You mentioned them in this order: {listed}."
        evidence = {place * (len(TALK) + 2): "item" for place in cited}
        probe = asks("event_ordering", question, gold, evidence, *(texts[place] for place in places))
        return named(imported(told, probe, days_apart=1), "event_ordering.0") & NAMING_ORDERS

    assert problems(items)
    assert not problems((0, 1, 2))
