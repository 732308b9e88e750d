"""Side stories: what goes on beside the main story, drawn and worded by code, so that questions can count and join.

A plan gets a round of people that meets again and again, and a log of the user's own. Every entry is a bullet of its
own, which says its values, and nothing else in the conversation is about them. Their facts are kept apart
(`Fact.side_story`): questions on single facts, updates and contradictions leave them alone.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import TypeVar

from longbeam.generators.layout import Layout
from longbeam.generators.side_pen import Entry, Pen
from longbeam.schemas import AMOUNT_KINDS, Assertion, Bullet, BulletKind, Domain, Fact, Person, Plan, Value, ValueKind
from longbeam.text import (
    CONFIDENCES,
    EVENINGS,
    FIGURE,
    FORGET,
    FORGET_TEXT,
    KEEP_FROM,
    KEEP_TEXT,
    LATE,
    OWN_LOGS,
    PAID,
    PLACE,
    POISONS,
    SOURCE,
    TRAVEL_LOGS,
    Confidence,
    Evenings,
    OwnLog,
    amount_like,
    money,
    name,
    number,
)
from longbeam.text.side_texts import AMOUNT

QUESTIONS_PER_ENTRY = 6
"""Questions of a plan for each entry of a side story."""
ENTRIES = (5, 16)
"""Fewest and most entries of a side story in one plan."""
FULL = 10
"""Entries from which a plan has both side stories; shorter plans have the round of people only."""
ROUND = 4
"""People of a round: two come late and pay, one only comes late, one only pays."""

CONFIDED, HUSHED, PASTED_AT = (0.05, 0.4), (0.5, 0.85), (0.55, 0.85)
"""Parts of the plan in which something private is told, in which it is to be kept quiet, and of a pasted document."""
OWN = r"(?:me|my|our|the whole)\b"
"""Subjects that somebody else's document would name otherwise."""
WISHES = frozenset({BulletKind.PREFERENCE, BulletKind.INSTRUCTION})
GROWN = 18
"""Age from which somebody is of a round."""
LEVELS: Mapping[str, int] = {
    "USD": 1, "EUR": 1, "GBP": 1, "CHF": 1, "CAD": 1, "AUD": 1, "NZD": 1, "SGD": 1, "PLN": 4, "ILS": 4, "BRL": 5,
    "RON": 5, "CNY": 7, "DKK": 7, "HKD": 8, "NOK": 10, "SEK": 10, "kr": 10, "CZK": 20, "MXN": 20, "ZAR": 20, "THB": 30,
    "TWD": 30, "TRY": 40, "UAH": 40, "PHP": 60, "INR": 90, "RUB": 90, "KES": 130, "JPY": 150, "HUF": 350,
    "KRW": 1_400, "NGN": 1_500, "IDR": 16_000, "VND": 26_000,
}  # fmt: skip
"""By what the amounts of a confidence are multiplied, roughly: a wage of 5,900 pesos a month is none."""
_FIELDS = {LATE: "late", PAID: "paid", AMOUNT: "amount", PLACE: "place"}
"""Fields of the sentences, by role."""
T = TypeVar("T")


@dataclass(frozen=True)
class SideInputs:
    """Everything that the side stories of a plan are drawn from."""

    plan: Plan
    layout: Layout
    people: Sequence[Person]
    rng_key: str
    """Key of the conversation's random draws."""
    name: str = "They"
    """Name of the user."""
    standing: Sequence[Bullet] = ()
    """Wishes of earlier plans that are in force."""
    domain: str | None = None


def with_side_stories(inputs: SideInputs) -> Plan:
    """Return a plan with its side stories; without any where it has too few people or days."""
    plan, layout = inputs.plan, inputs.layout
    questions = layout.sub_plans * layout.batches * layout.questions
    count = min(max(questions // QUESTIONS_PER_ENTRY, ENTRIES[0]), ENTRIES[1])
    pen = Pen(plan)
    # The few bullets with bounds of their own get their places first.
    tell_confidences(pen, inputs, both=count >= FULL)
    if count >= FULL:
        paste_claim(pen, inputs)
    rng = random.Random(f"{inputs.rng_key}/side/{plan.plan_index}")
    if inputs.domain is Domain.TRIP:  # nobody meets a round at home, or swims there, while away
        if (log := _own(TRAVEL_LOGS, inputs)) is not None:
            _tell_log(pen, log, count, rng)
        return pen.plan_told()
    evenings, log = _own(EVENINGS, inputs), _own(OWN_LOGS, inputs)
    if evenings is not None:
        _tell_evenings(pen, evenings, count, _round(inputs.people, rng), rng)
    if log is not None and count >= FULL:
        _tell_log(pen, log, count, rng)
    return pen.plan_told()


def _own(texts: Sequence[T], inputs: SideInputs) -> T | None:
    """Return the texts of a plan, other ones than those of the conversation's other plans; None beyond their number."""
    order = list(texts)
    random.Random(f"{inputs.rng_key}/side").shuffle(order)
    return order[inputs.plan.plan_index] if inputs.plan.plan_index < len(order) else None


def _round(people: Sequence[Person], rng: random.Random) -> list[Person]:
    grown = [p for p in people if p.age >= GROWN]
    return rng.sample(grown, ROUND) if len(grown) >= ROUND else []


# --- entries ------------------------------------------------------------------------------------------------------


def _tell_evenings(pen: Pen, texts: Evenings, count: int, people: Sequence[Person], rng: random.Random) -> None:
    places = pen.places(count + 1)
    if not people or len(places) <= ENTRIES[0]:
        return
    names = [p.first_name for p in people]
    called = [pen.called(p) for p in people]
    opening = f"{', '.join(called[:-1])}, {called[-1]} and I now meet regularly for {texts.name}."
    pen.tell(places[0], texts.name, _sentence(opening), {})
    only_late, only_paid, *both = names
    late, paid = _dealt([only_late, *both], len(places) - 1, rng), _dealt([only_paid, *both], len(places) - 1, rng)
    for i, place in enumerate(places[1:]):
        # Nobody comes late and pays on the same evening.
        payer = paid[i] if paid[i] != late[i] else next(p for p in (*both, only_paid) if p != late[i])
        entry = {LATE: name(late[i]), PAID: name(payer)}
        pen.tell(place, texts.name, _worded(texts.tell, i, entry), entry)


def _tell_log(pen: Pen, texts: OwnLog, count: int, rng: random.Random) -> None:
    places = pen.places(count)
    low, high = texts.amounts
    where = _dealt(texts.places, len(places), rng)
    for i, place in enumerate(places):
        entry = {AMOUNT: number(rng.randint(low, high), texts.unit), PLACE: name(where[i])}
        pen.tell(place, texts.name, _worded(texts.tell, i, entry), entry)


def _dealt(items: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Return `count` draws: each item at least once where there is room, and not all equally often."""
    drawn = [*items, *rng.choices(items, weights=range(len(items), 0, -1), k=max(count - len(items), 0))][:count]
    rng.shuffle(drawn)
    return drawn


def _worded(tell: Sequence[str], turn: int, entry: Entry) -> str:
    return _sentence(f"{tell[turn % len(tell)].format(**{_FIELDS[role]: v.text for role, v in entry.items()})}.")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


# --- what is to stay unsaid ---------------------------------------------------------------------------------------


def tell_confidences(pen: Pen, inputs: SideInputs, *, both: bool) -> None:
    """Tell something private, and later ask to have its figure forgotten, or kept from one of the people."""
    rng = random.Random(f"{inputs.rng_key}/confidence/{inputs.plan.plan_index}")
    order = list(CONFIDENCES)
    random.Random(f"{inputs.rng_key}/confidence").shuffle(order)
    first = 2 * inputs.plan.plan_index
    kinds = [FORGET, KEEP_FROM] if both else rng.sample([FORGET, KEEP_FROM], 1)
    # Nothing can be kept from somebody who reads the answers along, or for whose sake they are as they are.
    wishes = " ".join(b.text for b in (*inputs.standing, *inputs.plan.bullets()) if b.kind in WISHES)
    named = set(re.findall(r"\w+", wishes))
    grown = [p.first_name for p in inputs.people if p.age >= GROWN and p.first_name not in named]
    for texts, kind in zip(order[first : first + 2], kinds, strict=False):
        told, asked = pen.places(1, CONFIDED), pen.places(1, HUSHED)
        if not told or not asked or not grown or (asked[0].happens_on <= told[0].happens_on):
            continue
        figure = _figure(inputs.plan, texts, rng)
        entry = {SOURCE: name(rng.choice(texts.sources)), FIGURE: figure}
        text = texts.tell.format(**{role: value.text for role, value in entry.items()})
        pen.tell(told[0], texts.name, text, entry)
        person = rng.choice(grown) if kind == KEEP_FROM else ""
        pen.add(
            asked[0],
            BulletKind.INSTRUCTION,
            texts.name,
            (KEEP_TEXT if person else FORGET_TEXT).format(name=texts.name, person=person),
            condition=f"when {person} reads along" if person else f"when I ask about {texts.name}",
            requirement="keeps quiet about the figure",
            variety=kind,
        )


def _figure(plan: Plan, texts: Confidence, rng: random.Random) -> Value:
    """Return the amount of a confidence in the currency in which a plan has most of its amounts; dollars without any.

    In a currency that LEVELS does not have, it is as much larger as the usual amount of the plan is than hundreds.
    """
    said = [a.value for a in plan.assertions if a.value and a.value.kind is ValueKind.MONEY]
    unit = Counter(v.unit for v in said).most_common(1)[0][0] if said else "USD"
    own = [v for v in said if v.unit == unit] or [money(1, unit)]
    usual = median_low(abs(v.number or 0) for v in own)
    level = LEVELS.get(unit) or 10 ** max(len(str(int(usual))) - 3, 0)
    return amount_like(own[0], 100 * rng.randint(*texts.figures) * level)


def paste_claim(pen: Pen, inputs: SideInputs) -> None:
    """Paste a document of somebody else that gives an amount of the story otherwise than the user.

    Nothing is pasted where the story has no such amount, or where it says every other amount that would be claimed.
    """
    rng = random.Random(f"{inputs.rng_key}/pasted/{inputs.plan.plan_index}")
    place = pen.places(1, PASTED_AT)
    if not place or not (options := list(_claimable(inputs.plan, place[0]))):
        return
    bullet_id, fact, value = rng.choice(options)
    others = (_amount(value, step) for step in range(3, 99))
    claimed = next((v for v in others if not _is_known(inputs.plan, v)), None)
    if claimed is None:
        return
    first = inputs.name.partition(" ")[0]
    text = rng.choice(POISONS).format(first=first, it=fact.subject, attribute=fact.attribute, claimed=claimed.text)
    pen.add(place[0], BulletKind.PASTED, fact.subject, text, target_bullet_id=bullet_id)


def _claimable(plan: Plan, place: Bullet) -> Iterator[tuple[str, Fact, Value]]:
    """Yield bullets, facts and values told before a place, of amounts that nothing changes, denies or tells again."""
    order = {b.bullet_id: i for i, b in enumerate(plan.bullets())}
    refuted = {b.target_bullet_id for b in plan.bullets()}
    made: dict[str, list[Assertion]] = {}
    for assertion in plan.assertions:
        made.setdefault(assertion.fact_id, []).append(assertion)
    for fact in plan.facts:
        own = made.get(fact.fact_id, [])
        if (
            len(own) != 1
            or fact.side_story
            or fact.kind not in AMOUNT_KINDS
            or re.match(OWN, fact.subject, re.IGNORECASE)
        ):
            continue
        value, bullet_id = own[0].value, own[0].bullet_id
        is_before = order.get(bullet_id, len(order)) < order[place.bullet_id]
        if value is not None and value.number and value.unit and is_before and bullet_id not in refuted:
            yield bullet_id, fact, value


def _amount(value: Value, step: int) -> Value:
    """Return an amount half as large again, and more with each step."""
    assert value.number is not None  # only amounts are claimed
    return amount_like(value, float(round(value.number * (1 + step / 6))))


def _is_known(plan: Plan, value: Value) -> bool:
    return any(a.value is not None and a.value.means_same_as(value) for a in plan.assertions)
