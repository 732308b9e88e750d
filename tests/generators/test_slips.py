"""Slips: what people misremember, and beside which scenes it would be absurd."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators import Ledger, Mentions, Pace, aftermath, is_fresh, is_settled, scenes_against, slips_of
from longbeam.prompts.calls import Place, Slip
from longbeam.schemas import CLOSING, Assertion, Bullet, BulletKind, Fact, Stance, Value, ValueKind
from longbeam.text import date_value, number
from tests.generators.test_special_targets import ANCHORS, LAYOUT, _plan, _with_text

FAIR = dt.date(2024, 3, 8)


def _bullet(text: str, kind: BulletKind = BulletKind.EVENT, variety: str = "") -> Bullet:
    return Bullet(
        bullet_id="p0.s0.b0", kind=kind, narrative="n", topic="t", text=text, happens_on=ANCHORS[0], variety=variety
    )


def _fact(kind: ValueKind, *, is_fixed: bool) -> Fact:
    return Fact(fact_id="p0.f0", subject="t", attribute="a", kind=kind, is_fixed=is_fixed)


@pytest.mark.parametrize(
    ("bullet", "fact", "slips"),
    [
        # A day, and whether it was done at all.
        (_bullet("I made paneer on May 4."), _fact(ValueKind.DATE, is_fixed=True), (Slip.DAY, Slip.ONCE)),
        # The age of a mill is no act of the user's.
        (
            _bullet("The mill is 6 years old.", BulletKind.RELATIONSHIP),
            _fact(ValueKind.DURATION, is_fixed=True),
            (Slip.LENGTH,),
        ),
        # What somebody else did is not the user's to deny.
        (_bullet("Colton moved 15% of his savings."), _fact(ValueKind.RATIO, is_fixed=True), (Slip.SHARE,)),
        # Another value of what may change is an update.
        (_bullet("The limit is $95."), _fact(ValueKind.MONEY, is_fixed=False), ()),
        (_bullet("Every Sunday the limit is $95."), _fact(ValueKind.MONEY, is_fixed=False), (Slip.HABIT,)),
        # What was chosen was not left undone: another name is mixed up with it.
        (_bullet("I found a pool, Horfield."), _fact(ValueKind.NAME, is_fixed=True), (Slip.NAME,)),
        (_bullet("I booked it for May 4."), _fact(ValueKind.DATE, is_fixed=True), (Slip.DAY,)),
        # Nobody forgets what they use every day.
        (_bullet("I bought it on May 4 and use it every morning."), _fact(ValueKind.DATE, is_fixed=True), (Slip.DAY,)),
        (_bullet("Every morning I walk 3 km."), _fact(ValueKind.NUMBER, is_fixed=False), ()),
        # Nothing follows the end of a story.
        (_bullet("I made it on May 4.", variety=CLOSING), _fact(ValueKind.DATE, is_fixed=True), ()),
    ],
)
def test_only_deniable_kinds_are_slips(bullet: Bullet, fact: Fact, slips: tuple[Slip, ...]) -> None:
    assert slips_of(bullet, fact) == slips


def test_a_flat_denial_is_absurd_beside_every_scene_of_the_thing_and_another_value_beside_the_right_one() -> None:
    plan = _with_text(_plan(), "p0.s1.b2", "We cooked with thing 1 again.", "supper")
    plan = _with_text(plan, "p0.s1.b4", "The $101 for thing 1 hurt.", "purse")
    ledger = Ledger.of(plan)
    told = ledger.bullet["p0.s0.b1"]
    (assertion,) = ledger.by_bullet[told.bullet_id]
    flat = scenes_against(Slip.ONCE, told, assertion, Mentions(ledger))
    assert [b.bullet_id for b in flat] == ["p0.s0.b1", "p0.s1.b2", "p0.s1.b4"]
    valued = scenes_against(Slip.PRICE, told, assertion, Mentions(ledger))
    assert [b.bullet_id for b in valued] == ["p0.s0.b1", "p0.s1.b4"]


def test_another_name_is_absurd_beside_every_bullet_that_has_the_right_one() -> None:
    plan = _with_text(_plan(), "p0.s0.b1", "The flat belongs to Cardinal Rentals.", "the flat")
    plan = _with_text(plan, "p0.s0.b4", "Cardinal Rentals wants papers.", "papers")
    ledger = Ledger.of(plan)
    value = Value(kind=ValueKind.NAME, text="Cardinal Rentals")
    named = plan.assertions[1].model_copy(update={"value": value})
    scenes = scenes_against(Slip.NAME, ledger.bullet["p0.s0.b1"], named, Mentions(ledger))
    assert [b.bullet_id for b in scenes] == ["p0.s0.b1", "p0.s0.b4"]


def test_what_is_told_of_a_thing_from_its_announced_day_on_is_the_aftermath_of_the_day() -> None:
    plan = _plan()
    for n, text in ((1, "The fair is on March 8."), (3, "The fair needs a permit."), (6, "We sold out.")):
        plan = _with_text(plan, f"p0.s0.b{n}", text, "the fair")
    ledger = Ledger.of(plan)
    told, day = ledger.bullet["p0.s0.b1"], plan.assertions[1].model_copy(update={"value": date_value(FAIR)})
    assert [b.bullet_id for b in aftermath(told, day, Mentions(ledger))] == ["p0.s0.b6"]
    assert not aftermath(ledger.bullet["p0.s0.b6"], day, Mentions(ledger))  # the day was past when it was told
    assert not aftermath(told, plan.assertions[1], Mentions(ledger))  # no day


def test_what_the_bullets_just_before_tell_again_is_no_slip() -> None:
    plan = _with_text(_plan(), "p0.s0.b1", "Janice read the legal pack with me on a sunny evening.", "t")
    plan = _with_text(plan, "p0.s0.b2", "We sat over the legal pack that evening, and Janice read on.", "t")
    ledger = Ledger.of(_with_text(plan, "p0.s0.b3", "The surveyor came.", "t"))
    told, again, other = (ledger.bullet[f"p0.s0.b{i}"] for i in (1, 2, 3))
    assert is_fresh(told, [again], Mentions(ledger))
    assert not is_fresh(told, [other], Mentions(ledger))


def test_what_may_change_is_settled_once_the_days_of_its_thing_have_passed() -> None:
    plan = _plan()
    seats, show = plan.bullets()[0], plan.bullets()[2].model_copy(update={"topic": "thing 0"})
    facts = [f.model_copy(update={"kind": ValueKind.NUMBER}) if f.fact_id == "p0.f0" else f for f in plan.facts]
    counted = Assertion(bullet_id=seats.bullet_id, fact_id="p0.f0", stance=Stance.SETS, value=number(7, "seats"))
    day = Assertion(
        bullet_id=show.bullet_id, fact_id="p0.f2", stance=Stance.SETS, value=date_value(dt.date(2024, 3, 20))
    )
    stage = plan.sub_plans[0].model_copy(update={"bullets": (seats, show)})
    ledger = Ledger((stage,), facts, (counted, day))
    before, behind = (Place(after=show.bullet_id, day=dt.date(2024, 3, d)) for d in (20, 21))
    assert not is_settled(ledger, seats, counted, before)
    assert is_settled(ledger, seats, counted, behind)


def test_messages_between_bullets_follow_the_layout() -> None:
    # Ten ordinary messages and three times two special ones for ten bullets: 3.2 messages a bullet, replies included.
    pace = Pace(_plan(), LAYOUT)
    assert pace.messages_between("p0.s0.b0", "p0.s0.b5") == pytest.approx(16)
    assert pace.messages_between("p0.s0.b9", "p0.s1.b0") == pytest.approx(3.2)
    assert pace.messages_between("p0.s0.b0", "p1.s0.b0") == float("inf")


def test_a_place_is_apart_only_by_days_and_messages() -> None:
    pace, told = Pace(_plan(), LAYOUT), _plan().bullets()[0]
    near = Place(after="p0.s0.b7", day=told.happens_on + dt.timedelta(days=13))
    assert not pace.is_apart(near, [told])
    assert pace.is_apart(near.model_copy(update={"day": told.happens_on + dt.timedelta(days=14)}), [told])
    assert not pace.is_apart(Place(after="p0.s0.b6", day=told.happens_on + dt.timedelta(days=30)), [told])
