"""Bullets that depend on a value: shares, remainders, and words that reckon."""

from __future__ import annotations

import pytest

from longbeam.generators import Ledger, Mentions, dependents_of, stale_words
from longbeam.prompts.calls import Dependent
from longbeam.schemas import Assertion, Fact, Plan, Stance, Value, ValueKind
from longbeam.text import money, ratio
from tests.generators.test_special_targets import _plan, _with_text


def _dependents(plan: Plan) -> tuple[Dependent, ...]:
    """Return what depends on the cost of thing 0, $100."""
    ledger = Ledger.of(plan)
    told = plan.bullets()[0]
    (assertion,) = ledger.by_bullet[told.bullet_id]
    return dependents_of(Mentions(ledger), told, assertion)


def _told(text: str, value: Value, topic: str = "thing 12") -> Plan:
    """Return the plan with another text and value of bullet p0.s1.b2."""
    plan = _with_text(_plan(), "p0.s1.b2", text, topic)
    fact = Fact(fact_id="p0.f99", subject=topic, attribute="amount", kind=value.kind, is_fixed=False)
    said = Assertion(bullet_id="p0.s1.b2", fact_id="p0.f99", stance=Stance.SETS, value=value)
    kept = tuple(a for a in plan.assertions if a.bullet_id != "p0.s1.b2")
    return plan.model_copy(update={"facts": (*plan.facts, fact), "assertions": (*kept, said)})


def test_a_share_of_the_thing_depends_on_its_amount() -> None:
    (found,) = _dependents(_told("Equipment took 51% of thing 0.", ratio(0.51)))
    assert (found.bullet.bullet_id, found.reason) == ("p0.s1.b2", "51% is a share of it")
    assert [line.fact_id for line in found.stale] == ["p0.f99"]


def test_a_remainder_depends_on_what_it_is_left_of() -> None:
    plan = _told("Of thing 0 there is $70 left.", money(70), topic="thing 0")
    again = Assertion(bullet_id="p0.s1.b1", fact_id="p0.f11", stance=Stance.SETS, value=money(30))
    kept = tuple(a for a in plan.assertions if a.bullet_id != "p0.s1.b1")
    plan = _with_text(plan.model_copy(update={"assertions": (*kept, again)}), "p0.s1.b1", "Paid $30.", "thing 0")
    assert [(d.bullet.bullet_id, d.reason) for d in _dependents(plan)] == [("p0.s1.b2", "$70 is reckoned with it")]


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("I paid $112 for thing 12, and the rest of thing 0 stays.", ["it says 'the rest'"]),
        ("I paid $112 for thing 12, both at the cost of thing 0.", ["it says 'both'"]),
        ("I paid $112 for thing 12 and ignore the rest of the internet for thing 0.", []),
        ("I paid $112 for thing 12, not for thing 0.", []),
        ("Of the cost of thing 0, $112 is left for thing 12.", ["it says 'is left'"]),
        ("I paid $112 for thing 12, and the cost of thing 0 is left open.", []),
        ("The cost of thing 0 is left standing beside the $112 for thing 12.", []),
    ],
)
def test_words_that_reckon_with_the_amount_depend_on_it(text: str, reasons: list[str]) -> None:
    plan = _with_text(_plan(), "p0.s1.b2", text, "thing 12")
    assert [d.reason for d in _dependents(plan)] == reasons


def test_a_rewording_without_the_share_and_the_old_value_is_right() -> None:
    (found,) = _dependents(_told("Equipment took 51% of thing 0.", ratio(0.51)))
    old = money(100)
    assert stale_words("Equipment took a good part of thing 0.", found, old) == ""
    assert stale_words("Equipment took 51% of it.", found, old) == "51%"
    assert stale_words("Equipment took $51 of the $100.", found, old) == "$100"
    assert stale_words("Equipment took half of it.", found, old) == "half"


def test_names_and_days_have_no_dependents() -> None:
    plan = _told("Equipment took 51% of thing 0.", ratio(0.51))
    facts = tuple(f.model_copy(update={"kind": ValueKind.NAME}) if f.fact_id == "p0.f0" else f for f in plan.facts)
    assert _dependents(plan.model_copy(update={"facts": facts})) == ()
