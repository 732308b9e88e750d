"""Advice that a rule-based assistant brings in: figures, days, options, steps, uses of money, corrections of its own.

A language model is asked for nothing of the kind: what it brings in is read out of its replies (`unasked.py`). Rules
write what they are told to. So code decides which reply gives what, and computes every value from the ledger; the
rules word the statements and find options, steps and uses. A later bullet may say which option the user took, without
its name.
"""

from __future__ import annotations

import datetime as dt
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.generators.ledger import Ledger, line_of
from longbeam.generators.mentions import DECIDED, ENDED, Mentions
from longbeam.generators.plan_seeds import SELF
from longbeam.generators.plans import Frame
from longbeam.generators.tuning import PLANNING
from longbeam.keys import SubPlanKey
from longbeam.models import Asker
from longbeam.prompts.calls import AdviceDraft, AdviceInputs, AdviceLine, AdviceReply, ChoiceLine, Stage
from longbeam.schemas import (
    CLOSING,
    TAKEN,
    Advice,
    AdviceKind,
    Bullet,
    BulletKind,
    Fact,
    Plan,
    Record,
    SubPlan,
    Value,
    ValueKind,
    digest_of,
)
from longbeam.text import amount_like, date_value

ROUNDS = tuple(
    (AdviceKind.OPTIONS, AdviceKind.FIGURE, AdviceKind.STEPS, kind, AdviceKind.FIGURE)
    for kind in (AdviceKind.USE, AdviceKind.DAY)
)
"""Kinds of a stage's advice, in turn: of stages with an even and of those with an odd index."""
HOSTS = frozenset({BulletKind.EVENT, BulletKind.UPDATE})
"""Kinds of bullets whose reply may bring something in."""
_SHARES = (0.1, 0.15, 0.2, 0.25, 0.3)
_Amounts = dict[ValueKind, tuple[str, tuple[float, ...]]]
_FIGURES: _Amounts = {
    ValueKind.MONEY: ("safety margin", _SHARES),
    ValueKind.DURATION: ("time limit", (1.25, 1.5, 1.75, 2.0)),
}
"""Name of the figure that the assistant works out from an amount of each kind, where the writer has none that fits the
thing better, and the factors to choose from."""
_USES: _Amounts = {ValueKind.MONEY: ("use of the money", (0.1, 0.15, 0.2, 0.3))}
"""The same of an amount that is set aside for something. A quarter is none: replies work out a week's share of what a
month has, and the question goes by the amount."""
_NOT_SPENT = re.compile(
    r"\b(?:salary|pay|wages?|income|earnings|revenue|sales|prizes?|compensation|balance|owed|value|demanded|stake|"
    r"damages?|loss(?:es)?|target|transfer|involved)\b",
    re.IGNORECASE,
)
"""Words of attributes whose money nobody spends on the thing, so that nothing is set aside beside it."""
_LOST = re.compile(
    r"\b(?:overrun|over budget|overspend(?:ing)?|shortfall|deficit|debts?|fines?|penalt(?:y|ies))\b", re.IGNORECASE
)
"""Words of things and attributes whose money is missing already."""
_DAY = "review day"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_STEPS = ((20, 1), (100, 5), (1_000, 10), (10_000, 100), (math.inf, 1_000))
"""Bounds, and the step to which an amount below each bound is rounded."""


class Advised(Record):
    """Advice that the assistant brings in during one stage, and the user's choices from earlier stages' options."""

    stage_index: int
    advice: tuple[Advice, ...] = ()
    choices: tuple[Bullet, ...] = ()
    after: tuple[str, ...] = ()
    """For each choice, the id of the bullet that it follows."""
    chosen: tuple[str, ...] = ()
    """For each choice, the id of the advice whose option was taken."""
    ordinals: tuple[int, ...] = ()
    """For each choice, the place of that option, from 1."""


@dataclass(frozen=True)
class StageToAdvise:
    """Inputs of what the assistant brings in during one stage."""

    frame: Frame
    plan: Plan
    """The plan with its special bullets."""
    stage: Stage
    before: tuple[Advised, ...]
    """Advice and choices of the earlier stages."""
    rng_key: str

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all parts."""
        return digest_of(self.frame, self.plan.digest, self.stage, self.before, self.rng_key)


class AdviceSheet:
    """Draws the lines of one stage."""

    def __init__(self, task: StageToAdvise) -> None:
        self._task = task
        self._rng = random.Random(f"{task.rng_key}/advice/{task.stage.stage_index}")
        self._ledger = Ledger.of(task.plan)
        self._mentions = Mentions(self._ledger)
        earlier = [a for stage in task.before for a in stage.advice]
        replaced = {a.corrects for a in earlier}
        self.uses_before = tuple(item for a in earlier if a.kind is AdviceKind.USE for item in a.items)
        valued = (a for a in earlier if a.value is not None and not a.items)
        self._open = [a for a in valued if a.advice_id not in replaced and not a.corrects]
        chosen = {i for stage in task.before for i in stage.chosen}
        self._unchosen = [a for a in earlier if a.kind is AdviceKind.OPTIONS and a.advice_id not in chosen]
        self._slots = {(a.topic.casefold(), a.attribute) for a in earlier}
        self._slots |= {(f.subject.casefold(), f.attribute.casefold()) for f in task.plan.facts}
        told = (a.value for a in task.plan.assertions)
        self._values = {value.meaning for value in (*told, *(a.value for a in earlier)) if value is not None}
        denied = {b.target_bullet_id for b in task.plan.bullets() if b.kind is BulletKind.CONTRADICTION}
        # Nobody gives an acquaintance a review day.
        people = {p.first_name for p in task.frame.relationships.people}
        hosts = (
            b for b in self._sub_plan.bullets if _is_host(b) and b.bullet_id not in denied and b.topic not in people
        )
        self._hosts = [b for b in hosts if not ENDED.search(b.text)]
        self._rng.shuffle(self._hosts)

    @property
    def _sub_plan(self) -> SubPlan:
        return self._task.plan.sub_plans[self._task.stage.stage_index]

    def advice(self) -> tuple[AdviceLine, ...]:
        """Return the stage's lines in the order of the story."""
        least, most = PLANNING.advice_per_stage
        wanted = min(max(len(self._hosts) // PLANNING.bullets_per_advice, least), most, len(self._hosts))
        drawn = [line for _ in range(PLANNING.corrections_per_stage) if (line := self._correction()) is not None]
        first = self._task.stage.stage_index
        kinds = ROUNDS[first % len(ROUNDS)]
        for i in range(wanted):
            line = self._line(kinds[(first + i) % len(kinds)])
            drawn += [line] if line is not None else []
        place = {b.bullet_id: i for i, b in enumerate(self._sub_plan.bullets)}
        drawn.sort(key=lambda line: place[line.bullet.bullet_id])
        return tuple(line.model_copy(update={"line_id": f"a{i}"}) for i, line in enumerate(drawn))

    def _line(self, kind: AdviceKind) -> AdviceLine | None:
        """Return a line of this kind, or of a day where no bullet gives what the kind needs."""
        makers: dict[AdviceKind, Callable[[Bullet], AdviceLine | None]] = {
            AdviceKind.FIGURE: lambda b: self._amount(b, AdviceKind.FIGURE, _FIGURES),
            AdviceKind.USE: lambda b: self._amount(b, AdviceKind.USE, _USES, count=1),
            AdviceKind.DAY: self._day,
            AdviceKind.OPTIONS: lambda b: self._list(b, AdviceKind.OPTIONS, PLANNING.advice_options),
            AdviceKind.STEPS: lambda b: self._list(b, AdviceKind.STEPS, PLANNING.advice_steps),
        }
        for maker in (makers[kind], self._day):
            for host in self._hosts:
                line = maker(host)
                if line is not None and (host.topic.casefold(), line.attribute) not in self._slots:
                    self._hosts.remove(host)
                    self._slots.add((host.topic.casefold(), line.attribute))
                    self._values |= {line.value.meaning} if line.value is not None else set()
                    return line
        return None

    def _amount(self, host: Bullet, kind: AdviceKind, amounts: _Amounts, count: int = 0) -> AdviceLine | None:
        for assertion in self._ledger.by_bullet.get(host.bullet_id, ()):
            fact, value = self._ledger.fact.get(assertion.fact_id), assertion.value
            # Nobody plans with a share of what has happened, or with a multiple of what was counted.
            if fact is None or fact.is_fixed or value is None or value.kind not in amounts:
                continue
            if kind is AdviceKind.USE and _is_unspent(fact):
                continue
            attribute, rates = amounts[value.kind]
            found = [new for rate in self._rng.sample(rates, len(rates)) if (new := _scaled(value, rate)) is not None]
            if kind is AdviceKind.USE:
                found = [new for new in found if (new.number or 0) >= PLANNING.least_set_aside]
            if new := next((v for v in found if self._is_new(v) and not _shares_number(v.text, host.text)), None):
                return _line_for(host, kind, attribute, base=line_of(fact, value), value=new, count=count)
        return None

    def _day(self, host: Bullet) -> AdviceLine | None:
        """Return a line that sets a day before the story ends, and before what the user has planned for the thing."""
        end = min(self._days_ahead(host))
        days = (
            host.happens_on + dt.timedelta(days=n)
            for n in range(PLANNING.advice_ahead_days[0], PLANNING.advice_ahead_days[1] + 1)
        )
        new = [value for day in days if day < end and self._is_new(value := date_value(day))]
        return _line_for(host, AdviceKind.DAY, _DAY, value=self._rng.choice(new)) if new else None

    def _days_ahead(self, host: Bullet) -> Iterator[dt.date]:
        """Yield the days behind a bullet on which its thing is dealt with, or over, and that of the story's end."""
        position = self._ledger.position
        closing = (b.happens_on for b in self._ledger.bullets if b.variety == CLOSING)
        yield next(closing, self._ledger.bullets[-1].happens_on)
        for bullet in self._mentions.of(host.topic):
            if position[bullet.bullet_id] > position[host.bullet_id] and ENDED.search(bullet.text):
                yield bullet.happens_on
            told = (a.value for a in self._ledger.by_bullet.get(bullet.bullet_id, ()))
            yield from (v.date for v in told if v is not None and v.date is not None and v.date > host.happens_on)

    def _list(self, host: Bullet, kind: AdviceKind, count: int) -> AdviceLine:
        return _line_for(host, kind, kind.value, count=count)

    def _correction(self) -> AdviceLine | None:
        """Return a line that corrects what was said in an earlier stage; None if there is nothing to correct."""
        for former, host in self._occasions():
            told = self._ledger.bullet[former.bullet_id]
            # A day is put off before it has come.
            if host.happens_on >= _latest(former) or self._has_ended(told, host):
                continue
            if (value := self._other(former, host)) is None:
                continue
            self._open.remove(former)
            self._hosts.remove(host)
            self._values.add(value.meaning)
            line = _line_for(host, AdviceKind.CORRECTION, former.attribute, value=value, former=former)
            return line.model_copy(update={"topic": former.topic})
        return None

    def _occasions(self) -> Iterator[tuple[Advice, Bullet]]:
        """Yield what may be corrected with each bullet that may be the occasion, the best first.

        Those are bullets on the thing itself or that name it, then those of its narrative while the thing is fresh.
        """
        near: list[tuple[Advice, Bullet]] = []
        for former in self._rng.sample(self._open, len(self._open)):
            own = {b.bullet_id for b in self._mentions.of(former.topic)}
            for host in self._hosts:
                if host.bullet_id in own:
                    yield former, host
                elif host.narrative == former.narrative and self._days_since(former.topic, host) <= PLANNING.fresh_days:
                    near.append((former, host))
        yield from near

    def _days_since(self, thing: str, now: Bullet) -> float:
        """Return the days from the last word on a thing to a bullet; infinite if there was none."""
        days = ((now.happens_on - b.happens_on).days for b in self._mentions.of(thing))
        return min((n for n in days if n >= 0), default=math.inf)

    def _other(self, former: Advice, host: Bullet) -> Value | None:
        old = former.value
        assert old is not None  # only what has a value is corrected
        if old.kind is ValueKind.DATE:
            day = self._day(host)
            return day.value if day is not None else None
        found = (_scaled(old, rate) for rate in self._rng.sample((0.5, 0.75, 1.25, 1.5, 2.0), 5))
        return next((value for value in found if value is not None and self._is_new(value)), None)

    def _has_ended(self, told: Bullet, now: Bullet) -> bool:
        return self._mentions.has_ended(told, self._ledger.position[now.bullet_id])

    def _is_decided(self, told: Bullet, now: Bullet) -> bool:
        """Return whether the thing of an earlier bullet is bought or booked by now: nobody chooses after that."""
        position = self._ledger.position
        later = (b for b in self._mentions.of(told.topic) if position[told.bullet_id] < position[b.bullet_id])
        return any(position[b.bullet_id] <= position[now.bullet_id] and DECIDED.search(b.text) for b in later)

    def _is_new(self, value: Value) -> bool:
        return value.meaning not in self._values

    def choices(self) -> tuple[ChoiceLine, ...]:
        """Return the user's choices from the options of earlier stages, each behind a bullet of this stage."""
        places = [b for b in self._sub_plan.bullets if b.kind is BulletKind.EVENT and b.variety != CLOSING]
        lines = []
        for i, options in enumerate(self._unchosen if places else ()):
            told = self._ledger.bullet[options.bullet_id]
            fitting = [b for b in places if not self._has_ended(told, b) and not self._is_decided(told, b)]
            if not fitting:
                continue  # given up or bought before the stage began
            near = [b for b in fitting if self._days_since(told.topic, b) <= PLANNING.fresh_days]
            after = self._rng.choice(near or fitting)
            ordinal = self._rng.randint(1, len(options.items))
            lines.append(
                ChoiceLine(
                    line_id=f"c{i}", after=after.bullet_id, day=after.happens_on, options=options, ordinal=ordinal
                )
            )
        return tuple(lines)


def _is_host(bullet: Bullet) -> bool:
    return bullet.kind in HOSTS and bullet.variety != CLOSING and bullet.topic.casefold() not in SELF


def _latest(former: Advice) -> dt.date:
    value = former.value
    return value.date if value is not None and value.date is not None else dt.date.max


def _line_for(host: Bullet, kind: AdviceKind, attribute: str, **more: Any) -> AdviceLine:  # Any: fields of AdviceLine
    """Return a line without its final id."""
    return AdviceLine(line_id="a", kind=kind, bullet=host, topic=host.topic, attribute=attribute, **more)


def _is_unspent(fact: Fact) -> bool:
    """Return whether a fact's money is missing already, or nothing that anybody spends on the thing."""
    return bool(_LOST.search(f"{fact.subject} {fact.attribute}") or _NOT_SPENT.search(fact.attribute))


def _shares_number(text: str, other: str) -> bool:
    """Return whether two texts have a number in common."""
    return not {*_NUMBER.findall(text)}.isdisjoint(_NUMBER.findall(other))


def _scaled(value: Value, rate: float) -> Value | None:
    """Return a multiple of an amount as somebody would say it; None for one too small or without a unit."""
    assert value.number is not None  # amounts have numbers
    step = next(step for below, step in _STEPS if value.number * rate < below)
    amount = float(round(value.number * rate / step) * step)
    if amount < 2 or amount == value.number or not value.unit:
        return None
    return amount_like(value, amount)


ADVICE_PROMPTS = ("advise",)


async def write_advice(asker: Asker, task: StageToAdvise) -> Advised:
    """Return what the assistant brings in during a stage; a line with an item that is told elsewhere is left out."""
    sheet = AdviceSheet(task)
    inputs = AdviceInputs(
        seed=task.frame.seed,
        stage=task.stage,
        advice=sheet.advice(),
        choices=sheet.choices(),
        uses_before=sheet.uses_before,
    )
    if not inputs.advice and not inputs.choices:
        return Advised(stage_index=task.stage.stage_index)
    reply: AdviceReply = await asker.structured("advise", inputs)
    return _assembled(task, inputs, reply)


def _assembled(task: StageToAdvise, inputs: AdviceInputs, reply: AdviceReply) -> Advised:
    told = " ".join((*(b.text for b in task.plan.bullets()), *inputs.uses_before)).casefold()
    drafts = {d.line_id: d for d in reply.advice if not any(item.casefold() in told for item in d.items)}
    worded = {d.line_id: d for d in reply.choices}
    sub_plan = task.plan.sub_plans[task.stage.stage_index]
    key = SubPlanKey(sub_plan.plan_index, sub_plan.sub_plan_index)
    lines = [line for line in inputs.advice if line.line_id in drafts]
    choices = [line for line in inputs.choices if line.line_id in worded]
    return Advised(
        stage_index=task.stage.stage_index,
        advice=tuple(_advice(str(key.advice(i)), line, drafts[line.line_id]) for i, line in enumerate(lines)),
        choices=tuple(
            Bullet(
                bullet_id=str(key.bullet(len(sub_plan.bullets) + i)),
                kind=BulletKind.EVENT,
                narrative=line.options.narrative,
                topic=line.options.topic,
                text=worded[line.line_id].text.strip(),
                happens_on=line.day,
                variety=TAKEN,
            )
            for i, line in enumerate(choices)
        ),
        after=tuple(line.after for line in choices),
        chosen=tuple(line.options.advice_id for line in choices),
        ordinals=tuple(line.ordinal for line in choices),
    )


def _advice(advice_id: str, line: AdviceLine, draft: AdviceDraft) -> Advice:
    return Advice(
        advice_id=advice_id,
        kind=line.kind,
        bullet_id=line.bullet.bullet_id,
        narrative=line.bullet.narrative,
        topic=line.topic,
        attribute=line.attribute,
        text=draft.text.strip(),
        value=line.value,
        items=tuple(draft.items),
        corrects=line.former.advice_id if line.former is not None else "",
    )


def advised_plan(plan: Plan, advised: Sequence[Advised]) -> Plan:
    """Return the plan with what the assistant brings in, and the user's choices at their places."""
    taken = {
        advice_id: (ordinal, bullet.bullet_id)
        for stage in advised
        for advice_id, ordinal, bullet in zip(stage.chosen, stage.ordinals, stage.choices, strict=True)
    }
    advice = (a for stage in advised for a in stage.advice)
    told = tuple(
        a.model_copy(update={"taken": taken[a.advice_id][0], "taken_in": taken[a.advice_id][1]})
        if a.advice_id in taken
        else a
        for a in advice
    )
    chosen = [Augmented(stage_index=s.stage_index, bullets=s.choices, after=s.after, assertions=()) for s in advised]
    return augmented_plan(plan, chosen).model_copy(update={"advice": told})
