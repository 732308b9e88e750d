"""Additions of code beside a story: a log of the user's own, confidences, and a document that somebody pastes.

The log makes questions possible that count, add up and join. Every entry is a bullet of its own, which says its values,
and nothing else in the conversation is about them. Their facts are kept apart (`Fact.side_story`): questions on single
facts, updates and contradictions leave them alone. The side stories themselves are events that the writer tells.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.generators.layout import Layout
from longbeam.generators.story_graph import SIDE_NARRATIVE
from longbeam.keys import BulletId, FactId, SubPlanKey
from longbeam.schemas import (
    AMOUNT_KINDS,
    CLOSING,
    Assertion,
    Bullet,
    BulletKind,
    Domain,
    Fact,
    Person,
    Plan,
    Stance,
    Value,
    ValueKind,
)
from longbeam.text import (
    COMPANION,
    CONFIDENCES,
    FIGURE,
    FORGET,
    FORGET_TEXT,
    KEEP_FROM,
    KEEP_TEXT,
    OWN_LOGS,
    PLACE,
    POISONS,
    QUANTITY,
    SOURCE,
    TRAVEL_LOGS,
    Confidence,
    OwnLog,
    amount_like,
    attribute_of,
    money,
    name,
    number,
)

QUESTIONS_PER_ENTRY = 6
"""Questions of a plan for each entry of its log."""
FEW, FULL, MOST_ENTRIES = 5, 10, 16
"""Entries of the log of a short plan that lacks amounts to add up, and fewest and most entries of a plan that has one
anyway."""
COMPANIONS = 6
"""People who come along on a log: four places more than MOST_ENTRIES pairs, so that some stay away from each."""

CONFIDED, HUSHED, PASTED_AT = (0.05, 0.4), (0.5, 0.85), (0.55, 0.85)
"""Parts of the plan in which something private is told, in which it is to be kept quiet, and of a pasted document."""
OWN = r"(?:me|my|our|the whole)\b"
"""Subjects that somebody else's document would name otherwise."""
WISHES = frozenset({BulletKind.PREFERENCE, BulletKind.INSTRUCTION})
GROWN = 18
"""Age from which somebody comes along."""
LEVELS: Mapping[str, int] = {
    "USD": 1, "EUR": 1, "GBP": 1, "CHF": 1, "CAD": 1, "AUD": 1, "NZD": 1, "SGD": 1, "PLN": 4, "ILS": 4, "BRL": 5,
    "RON": 5, "CNY": 7, "DKK": 7, "HKD": 8, "NOK": 10, "SEK": 10, "kr": 10, "CZK": 20, "MXN": 20, "ZAR": 20, "THB": 30,
    "TWD": 30, "TRY": 40, "UAH": 40, "PHP": 60, "INR": 90, "RUB": 90, "KES": 130, "JPY": 150, "HUF": 350,
    "KRW": 1_400, "NGN": 1_500, "IDR": 16_000, "VND": 26_000,
}  # fmt: skip
"""By what the amounts of a confidence are multiplied, roughly: a wage of 5,900 pesos a month is none."""

SPAN = (0.04, 0.86)
"""Part of the plan over which bullets are spread: none lies in the last tenth."""
Entry = dict[str, Value]
"""Values of an entry by role."""


@dataclass(frozen=True)
class AdditionInputs:
    """Everything from which code draws what it adds beside the story of a plan."""

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
    lacks_amounts: bool = False
    """Whether the story has too few amounts that can be added up."""


def with_additions(inputs: AdditionInputs) -> Plan:
    """Return a plan with its confidences and, from FULL entries on, its log and a pasted document."""
    plan, layout = inputs.plan, inputs.layout
    questions = layout.sub_plans * layout.batches * layout.questions
    count = min(questions // QUESTIONS_PER_ENTRY, MOST_ENTRIES)
    pen = Pen(plan)
    # The few bullets with bounds of their own get their places first.
    tell_confidences(pen, inputs, both=count >= FULL)
    if count >= FULL:
        paste_claim(pen, inputs)
    elif inputs.lacks_amounts:
        count = FEW
    if count >= (FEW if inputs.lacks_amounts else FULL) and (log := _own_log(inputs)) is not None:
        _tell_log(pen, log, count, inputs)
    return pen.plan_told()


def _own_log(inputs: AdditionInputs) -> OwnLog | None:
    """Return the log of a plan, another one than those of the conversation's other plans; None beyond their number."""
    order = list(TRAVEL_LOGS if inputs.domain is Domain.TRIP else OWN_LOGS)
    random.Random(f"{inputs.rng_key}/side").shuffle(order)
    return order[inputs.plan.plan_index] if inputs.plan.plan_index < len(order) else None


def _tell_log(pen: Pen, log: OwnLog, count: int, inputs: AdditionInputs) -> None:
    """Tell the entries of a log; nobody comes along to one place twice, and nobody while the user is away."""
    rng = random.Random(f"{inputs.rng_key}/side/{inputs.plan.plan_index}")
    grown = [p for p in inputs.people if p.age >= GROWN]
    people = rng.sample(grown, min(COMPANIONS, len(grown))) if inputs.domain is not Domain.TRIP else []
    pairs = [(place, person.first_name) for place in log.places for person in people]
    rng.shuffle(pairs)
    for i, after in enumerate(pen.places(count)):
        place, who = pairs[i] if len(pairs) >= count else (rng.choice(log.places), "")
        entry = {QUANTITY: number(rng.randint(*log.amounts), log.unit), PLACE: name(place)}
        if who:
            entry[COMPANION] = name(who)
        said = log.tell[i % len(log.tell)].format(
            amount=entry[QUANTITY].text, place=f"{place} with {who}" if who else place
        )
        pen.tell(after, log.name, f"{said[:1].upper()}{said[1:]}.", entry)


# --- what is to stay unsaid ---------------------------------------------------------------------------------------


def tell_confidences(pen: Pen, inputs: AdditionInputs, *, both: bool) -> None:
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


def paste_claim(pen: Pen, inputs: AdditionInputs) -> None:
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


# --- where it is told ------------------------------------------------------------------------------------------------


class Pen:
    """Adds bullets beside the story to a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._added: list[tuple[Bullet, str]] = []
        self._facts: list[Fact] = []
        self._assertions: list[Assertion] = []
        self._used: set[str] = set()
        self._next_fact = max((FactId.parse(f.fact_id).ordinal for f in plan.facts), default=-1) + 1

    def places(self, count: int, span: tuple[float, float] = SPAN) -> list[Bullet]:
        """Return bullets that additions may follow, on different days, spread over the plan; each is given once."""
        by_day = {b.happens_on: b for b in self._plan.bullets() if b.variety != CLOSING}
        free = [b for b in by_day.values() if b.bullet_id not in self._used]
        first, last = (int(share * len(free)) for share in span)
        free = free[first:last]
        count = min(count, len(free))
        chosen = [free[(2 * i + 1) * len(free) // (2 * count)] for i in range(count)]
        self._used |= {b.bullet_id for b in chosen}
        return chosen

    def add(self, after: Bullet, kind: BulletKind, topic: str, text: str, **fields: str) -> Bullet:
        """Add a bullet behind another one, on its day, and return it."""
        bullet = Bullet(
            bullet_id=self._new_id(after),
            kind=kind,
            narrative=SIDE_NARRATIVE,
            topic=topic,
            text=text,
            happens_on=after.happens_on,
            **fields,
        )
        self._added.append((bullet, after.bullet_id))
        return bullet

    def tell(self, after: Bullet, topic: str, text: str, entry: Entry) -> None:
        """Add a bullet that tells an entry of a log or a confidence, with its facts."""
        bullet = self.add(after, BulletKind.SIDE, topic, text)
        for role, value in entry.items():
            fact = Fact(
                fact_id=str(FactId(self._plan.plan_index, self._next_fact)),
                subject=topic,
                attribute=attribute_of(role, bullet.happens_on),
                kind=value.kind,
                is_fixed=True,
                side_story=topic,
            )
            self._next_fact += 1
            self._facts.append(fact)
            self._assertions.append(
                Assertion(bullet_id=bullet.bullet_id, fact_id=fact.fact_id, stance=Stance.SETS, value=value)
            )

    def _new_id(self, after: Bullet) -> str:
        place = BulletId.parse(after.bullet_id)
        key = SubPlanKey(place.plan_index, place.sub_plan_index)
        own = len(self._plan.sub_plans[place.sub_plan_index].bullets)
        before = sum(BulletId.parse(b.bullet_id)[:2] == place[:2] for b, _ in self._added)
        return str(key.bullet(own + before))

    def plan_told(self) -> Plan:
        """Return the plan with the added bullets and their facts."""
        plan = self._plan.model_copy(update={"facts": (*self._plan.facts, *self._facts)})
        if not self._added:
            return plan
        bullets, after = zip(*self._added, strict=True)
        return augmented_plan(
            plan, [Augmented(stage_index=0, bullets=bullets, after=after, assertions=tuple(self._assertions))]
        )
