"""What a negative control leaves of a conversation."""

from __future__ import annotations

from longbeam.evaluation import as_of, without_evidence
from longbeam.memory import exchanges_of
from longbeam.schemas import Assertion, Difficulty, Evidence, Nugget, Plan, Probe, ProbeDetails, Stance
from longbeam.text import name
from tests.memory.test_systems import SAID, messages

EXCHANGES = tuple(exchanges_of(messages((*SAID, ("It was €4,200, as I said.", "Yes, €4,200.")))))


def probe(rubric: str, *, cites: str, items: tuple[str, ...] = (), fact_ids: tuple[str, ...] = ()) -> Probe:
    return Probe(
        probe_id="p",
        ability="information_extraction",
        question="What?",
        gold_answer="gold",
        difficulty=Difficulty.EASY,
        rubric=(Nugget(nugget_id="n", text=rubric),),
        evidence=(Evidence(message_key=cites, quote=""),),
        details=ProbeDetails(items=items),
        fact_ids=fact_ids,
    )


def left(*probes: Probe, plans: tuple[Plan, ...] = ()) -> str:
    return " ".join(m.content for e in without_evidence(EXCHANGES, probes, plans) for m in e.messages)


def test_what_is_cited_and_what_says_its_values_again_is_taken_out() -> None:
    text = left(probe("States that the kiln costs 4,200 euros", cites="p0.s0.t0.n0"))
    assert "4,200" not in text
    assert "lease" in text


def test_a_thing_to_be_put_in_order_is_not_named_again() -> None:
    text = left(probe("Mentions lease", cites="p0.s0.t3.n0", items=("lease",)))
    assert "lease" not in text
    assert "kiln" in text


def test_the_ledger_knows_values_that_are_only_words_and_who_voices_them() -> None:
    said = Assertion(bullet_id="p0.s0.b1", fact_id="p0.f0", stance=Stance.SETS, value=name("Gunnar"))
    plan = Plan(plan_index=0, sub_plans=(), facts=(), assertions=(said,))
    text = left(probe("States who it was", cites="p0.s0.t3.n0", fact_ids=("p0.f0",)), plans=(plan,))
    assert "Gunnar" not in text
    assert "Gunnar" in left(probe("States who it was", cites="p0.s0.t3.n0"), plans=(plan,))


def test_positions_stay_and_keys_of_another_conversation_are_told_apart() -> None:
    kept = without_evidence(EXCHANGES, [probe("States 4,200 euros", cites="p0.s0.t0.n0")])
    assert [e.position for e in kept] == [0, 1, 2, 3]  # of the first, the reply is left; of the last, nothing
    assert as_of(kept, "c001")[1].message_keys == ("c001:p0.s0.t1.n0", "c001:p0.s0.t1.n1")
