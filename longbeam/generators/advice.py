"""Advice that the assistant brings in: figures, days, options, steps, uses of money and corrections of its own.

Code decides which reply gives what, and computes every value from the ledger; a model words the statements and finds
the options, the steps, and what an amount is for. A later bullet may say which option the user took, without its name.
The dialogue then asks the writer of that reply to say it, and checks that it does; a probe on it needs the assistant's
message.
"""

from __future__ import annotations

import datetime as dt
import math
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any

from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.generators.ledger import Ledger, line_of
from longbeam.generators.mentions import ENDED, Mentions
from longbeam.generators.plan_seeds import SELF
from longbeam.generators.plans import Frame
from longbeam.keys import SubPlanKey
from longbeam.models.asking import Asker, ListTask, Sifted
from longbeam.prompts.calls.advice import (
    MOST_ITEM_WORDS,
    AdviceDraft,
    AdviceInputs,
    AdviceLine,
    AdviceReply,
    ChoiceDraft,
    ChoiceLine,
)
from longbeam.prompts.calls.plans import Stage
from longbeam.schemas.base import Record, digest_of
from longbeam.schemas.plans import (
    CLOSING,
    TAKEN,
    Advice,
    AdviceKind,
    Bullet,
    BulletKind,
    Fact,
    Plan,
    SubPlan,
    Value,
    ValueKind,
)
from longbeam.schemas.spec import ENGLISH
from longbeam.text.extraction import values_in
from longbeam.text.matching import quote_for, says
from longbeam.text.sentences import sentences
from longbeam.text.uses import use_quote
from longbeam.text.values import amount_like, date_value
from longbeam.text.words import content_words

ADVICE_PROMPTS = ("advise",)
BULLETS_PER_ADVICE = 3
"""Bullets of a stage for each piece of advice in it."""
ADVICE_PER_STAGE = (4, 7)
"""Fewest and most of these, besides corrections."""
ROUNDS = tuple(
    (AdviceKind.OPTIONS, AdviceKind.FIGURE, AdviceKind.STEPS, kind, AdviceKind.FIGURE)
    for kind in (AdviceKind.USE, AdviceKind.DAY)
)
"""Kinds of a stage's advice, in turn: of stages with an even and of those with an odd index."""
CORRECTIONS_PER_STAGE = 2
OPTIONS, STEPS = 3, 4
"""Items of a list of options, and of a plan."""
ORDINALS = ("first", "second", "third")
HOSTS = frozenset({BulletKind.EVENT, BulletKind.UPDATE})
"""Kinds of bullets whose reply may bring something in."""
DECIDED = re.compile(
    r"\b(?:bought|buy|booked|ordered|signed|settled on|went with|decided (?:on|for)|chose|chosen|paid for)\b",
    re.IGNORECASE,
)
"""Words after which nobody chooses any more."""
AHEAD = (5, 25)
"""Days from a reply to the day that it sets."""
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
LEAST_SET_ASIDE = 10.0
"""Smallest amount that is set aside: nobody saves $3 for something of its own."""
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
MOST_ALSO_TOLD = 6
"""Bullets on a line's thing that its writer sees beside the one that is answered."""
NAMED = frozenset({AdviceKind.FIGURE, AdviceKind.DAY})
"""Kinds whose values the writer names."""
MOST_NAME_WORDS = 5
MOST_TEXT_WORDS = 100
"""Words of a piece of advice with its items; the prompt asks for 60."""
_DAY = "review day"
_STEPS = ((20, 1), (100, 5), (1_000, 10), (10_000, 100), (math.inf, 1_000))
"""Bounds, and the step to which an amount below each bound is rounded."""

Draft = AdviceDraft | ChoiceDraft
"""A worded line of the sheet."""


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


# --- what code draws ----------------------------------------------------------------------------------------------


class _Sheet:
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
        self._values = [value for value in (*told, *(a.value for a in earlier)) if value is not None]
        denied = {b.target_bullet_id for b in task.plan.bullets() if b.kind is BulletKind.CONTRADICTION}
        hosts = (b for b in self._sub_plan.bullets if _is_host(b) and b.bullet_id not in denied)
        self._hosts = [b for b in hosts if not ENDED.search(b.text)]
        self._rng.shuffle(self._hosts)

    @property
    def _sub_plan(self) -> SubPlan:
        return self._task.plan.sub_plans[self._task.stage.stage_index]

    def advice(self) -> tuple[AdviceLine, ...]:
        """Return the stage's lines in the order of the story."""
        least, most = ADVICE_PER_STAGE
        wanted = min(max(len(self._hosts) // BULLETS_PER_ADVICE, least), most, len(self._hosts))
        drawn = [line for _ in range(CORRECTIONS_PER_STAGE) if (line := self._correction()) is not None]
        first = self._task.stage.stage_index
        kinds = ROUNDS[first % len(ROUNDS)]
        for i in range(wanted):
            line = self._line(kinds[(first + i) % len(kinds)])
            drawn += [self._with_steps(line)] if line is not None else []
        place = {b.bullet_id: i for i, b in enumerate(self._sub_plan.bullets)}
        drawn.sort(key=lambda line: place[line.bullet.bullet_id])
        return tuple(
            line.model_copy(update={"line_id": f"a{i}", "also_told": self._also_told(line)})
            for i, line in enumerate(drawn)
        )

    def _also_told(self, line: AdviceLine) -> tuple[Bullet, ...]:
        """Return what is told of a line's thing on other days: the nearest bullets, in their order."""
        position = self._ledger.position
        here = position[line.bullet.bullet_id]
        others = [b for b in self._mentions.of(line.topic) if b.bullet_id != line.bullet.bullet_id]
        near = sorted(others, key=lambda b: abs(position[b.bullet_id] - here))[:MOST_ALSO_TOLD]
        return tuple(sorted(near, key=lambda b: position[b.bullet_id]))

    def _line(self, kind: AdviceKind) -> AdviceLine | None:
        """Return a line of this kind, or of a day where no bullet gives what the kind needs."""
        makers: dict[AdviceKind, Callable[[Bullet], AdviceLine | None]] = {
            AdviceKind.FIGURE: lambda b: self._amount(b, AdviceKind.FIGURE, _FIGURES),
            AdviceKind.USE: lambda b: self._amount(b, AdviceKind.USE, _USES, count=1),
            AdviceKind.DAY: self._day,
            AdviceKind.OPTIONS: lambda b: self._list(b, AdviceKind.OPTIONS, OPTIONS),
            AdviceKind.STEPS: lambda b: self._list(b, AdviceKind.STEPS, STEPS),
        }
        for maker in (makers[kind], self._day):
            for host in self._hosts:
                line = maker(host)
                if line is not None and (host.topic.casefold(), line.attribute) not in self._slots:
                    self._hosts.remove(host)
                    self._slots.add((host.topic.casefold(), line.attribute))
                    self._values += [line.value] if line.value is not None else []
                    return line
        return None

    def name_fault(self, line: AdviceLine, draft: AdviceDraft) -> str:
        """Return what is wrong with the name that a draft gives a value; empty if nothing is."""
        name = draft.name.strip()
        is_other = line.kind in NAMED and name not in ("", line.attribute)
        if is_other and (line.topic.casefold(), name.casefold()) in self._slots:
            return f"has the name {name!r}, of which a value was told before; find another"
        return ""

    def _with_steps(self, line: AdviceLine) -> AdviceLine:
        """Let steps stand in the place of a figure, a day or a use, where none are given for the thing."""
        slot = (line.topic.casefold(), AdviceKind.STEPS.value)
        if line.value is None or slot in self._slots:
            return line
        self._slots.add(slot)
        return line.model_copy(update={"or_steps": STEPS})

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
                found = [new for new in found if (new.number or 0) >= LEAST_SET_ASIDE]
            if new := next(filter(self._is_new, found), None):
                return _line_for(host, kind, attribute, base=line_of(fact, value), value=new, count=count)
        return None

    def _day(self, host: Bullet) -> AdviceLine | None:
        """Return a line that sets a day before the story ends, and before what the user has planned for the thing."""
        end = min(self._days_ahead(host))
        days = (host.happens_on + dt.timedelta(days=n) for n in range(AHEAD[0], AHEAD[1] + 1))
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
            self._values.append(value)
            line = _line_for(host, AdviceKind.CORRECTION, former.attribute, value=value, former=former)
            return line.model_copy(update={"topic": former.topic})
        return None

    def _occasions(self) -> list[tuple[Advice, Bullet]]:
        """Return what may be corrected with each bullet that may be the occasion, the best first.

        Those are bullets on the thing itself or that name it, then those of its narrative.
        """
        found: list[tuple[int, Advice, Bullet]] = []
        for former in self._rng.sample(self._open, len(self._open)):
            own = {b.bullet_id for b in self._mentions.of(former.topic)}
            for host in self._hosts:
                distance = 0 if host.bullet_id in own else 1 if host.narrative == former.narrative else 2
                found.append((distance, former, host))
        return [(former, host) for _, former, host in sorted(found, key=lambda occasion: occasion[0])]

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
        return not any(value.means_same_as(other) for other in self._values)

    def choices(self) -> tuple[ChoiceLine, ...]:
        """Return the user's choices from the options of earlier stages, each behind a bullet of this stage."""
        places = [b for b in self._sub_plan.bullets if b.kind is BulletKind.EVENT and b.variety != CLOSING]
        lines = []
        for i, options in enumerate(self._unchosen if places else ()):
            told = self._ledger.bullet[options.bullet_id]
            fitting = [b for b in places if not self._has_ended(told, b) and not self._is_decided(told, b)]
            if not fitting:
                continue  # given up or bought before the stage began
            after = self._rng.choice(fitting)
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


def _scaled(value: Value, rate: float) -> Value | None:
    """Return a multiple of an amount as somebody would say it; None for one too small or without a unit."""
    assert value.number is not None  # amounts have numbers
    step = next(step for below, step in _STEPS if value.number * rate < below)
    amount = float(round(value.number * rate / step) * step)
    if amount < 2 or amount == value.number or not value.unit:
        return None
    return amount_like(value, amount)


# --- what a model words -------------------------------------------------------------------------------------------


async def write_advice(asker: Asker, task: StageToAdvise) -> Advised:
    """Return what the assistant brings in during a stage; lines whose words stay faulty are left out, and noted.

    Good lines are kept, and only the others are asked for again. A stage of which no line is left has no advice.
    """
    sheet = _Sheet(task)
    inputs = AdviceInputs(
        seed=task.frame.seed,
        stage=task.stage,
        advice=sheet.advice(),
        choices=sheet.choices(),
        uses_before=sheet.uses_before,
    )
    if not inputs.advice and not inputs.choices:
        return Advised(stage_index=task.stage.stage_index)
    told = "\n".join((*(b.text for b in task.plan.bullets()), *sheet.uses_before)).casefold()

    def sift(kept: tuple[Draft, ...], reply: AdviceReply) -> Sifted[Draft]:
        good: dict[str, Draft] = {draft.line_id: draft for draft in kept}
        drafts, choices = _by_line(reply)
        language = asker.spec.language
        faults = {
            x.line_id: _advice_fault(x, drafts.get(x.line_id), told, language)
            or sheet.name_fault(x, drafts[x.line_id])
            or _shared_use_fault(x, inputs.advice, drafts | good)
            for x in inputs.advice
        }
        faults |= {x.line_id: _choice_fault(x, choices.get(x.line_id), language) for x in inputs.choices}
        new = {i: fault for i, fault in faults.items() if i not in good}
        good |= {i: draft for i, draft in (drafts | choices).items() if new.get(i) == ""}
        return Sifted(tuple(good.values()), tuple(f"{i} {fault}" for i, fault in new.items() if fault))

    def rest(kept: tuple[Draft, ...]) -> AdviceInputs:
        written = {draft.line_id for draft in kept}
        advice = tuple(line for line in inputs.advice if line.line_id not in written)
        choices = tuple(line for line in inputs.choices if line.line_id not in written)
        return inputs.model_copy(update={"advice": advice, "choices": choices})

    lines = ListTask(inputs, sift, rest, show=lambda draft: f"{draft.line_id}: {draft.text}", least=0)
    return _assembled(task, inputs, await asker.listed("advise", lines))


def _by_line(reply: AdviceReply) -> tuple[dict[str, AdviceDraft], dict[str, ChoiceDraft]]:
    return {d.line_id: d for d in reversed(reply.advice)}, {d.line_id: d for d in reversed(reply.choices)}


def _advice_fault(line: AdviceLine, draft: AdviceDraft | None, told: str, language: str) -> str:
    """Return what is wrong with a draft; empty if nothing is."""
    if draft is None:
        return "is missing"
    if (words := len(draft.text.split())) > MOST_TEXT_WORDS:
        return f"has {words} words; write one to three sentences of at most 60"
    line = _chosen(line, draft)
    if line.value is not None and not says(draft.text, line.value):
        return f"must say {line.value.text!r}, in these words"
    if fault := _name_fault(line, draft):
        return fault
    former = line.former.value if line.former is not None else None
    if former is not None and says(draft.text, former):
        return f"repeats {former.text!r}, which it replaces; leave the earlier value out"
    items = [item.casefold() for item in _items(draft)]
    if len(items) != line.count or len(set(items)) != len(items):
        return f"has {len(set(items))} different items; exactly {line.count} are asked for"
    if long := [item for item in items if not item or len(item.split()) > MOST_ITEM_WORDS]:
        return f"has the item {long[0]!r}; an item has 1 to {MOST_ITEM_WORDS} words"
    if known := [item for item in items if re.search(rf"(?<!\w){re.escape(item)}(?!\w)", told)]:
        return f"has the item {known[0]!r}, which was told before or will be; find another"
    if not _in_order(draft.text, items):
        return "must have its items in its text, in the same words and order"
    return _use_fault(line, draft, language)


def _items(draft: AdviceDraft) -> tuple[str, ...]:
    return tuple(item.strip().rstrip(".") for item in draft.items)


def _use_fault(line: AdviceLine, draft: AdviceDraft, language: str) -> str:
    """Return what is wrong with what an amount is for; empty if nothing is, and for other kinds of advice."""
    if line.kind is not AdviceKind.USE or line.value is None:
        return ""
    (use,) = _items(draft)
    if any(value.kind is ValueKind.MONEY for value in values_in(use)):
        return f"names an amount in {use!r}; the item says only what the amount is for"
    own = content_words(use)
    if own and own <= content_words(f"{line.topic} {line.bullet.text}"):
        return f"is for {use!r}, which the remark says already; find something that nobody would guess"
    quote = use_quote(draft.text, line.value, use)
    if quote is None or len(sentences(quote)) > 1:
        return f"must say in one sentence, with no other amount, that {line.value.text!r} is for {use!r}"
    if language == ENGLISH and not re.search(rf"\bfor\W+{re.escape(use)}", quote, re.IGNORECASE):
        return f"must have {use!r} right behind 'for'"
    return ""


def _shared_use_fault(line: AdviceLine, lines: Iterable[AdviceLine], drafts: Mapping[str, Draft]) -> str:
    """Return that an earlier line of the stage has its amount for the same thing; empty if none has."""
    use = _use(line, drafts)
    earlier = takewhile(lambda other: other.line_id != line.line_id, lines)
    if use and any(_use(other, drafts) == use for other in earlier):
        return f"has the item {use!r}, which another line has; find another"
    return ""


def _use(line: AdviceLine, drafts: Mapping[str, Draft]) -> str:
    """Return what the amount of a line is for, case-folded; empty for other kinds of advice."""
    draft = drafts.get(line.line_id)
    if not isinstance(draft, AdviceDraft) or _chosen(line, draft).kind is not AdviceKind.USE:
        return ""
    return "; ".join(_items(draft)).casefold()


def _chosen(line: AdviceLine, draft: AdviceDraft) -> AdviceLine:
    """Return a line as its draft has it: under the writer's name, or with steps in the place of a value."""
    if line.or_steps and len(draft.items) > line.count:
        kind = AdviceKind.STEPS
        return line.model_copy(
            update={"kind": kind, "attribute": kind.value, "count": line.or_steps, "value": None, "base": None}
        )
    name = draft.name.strip() if line.kind in NAMED else ""
    return line.model_copy(update={"attribute": name}) if name else line


def _name_fault(line: AdviceLine, draft: AdviceDraft) -> str:
    if line.value is None or line.count:
        return ""
    words = line.attribute.split()
    if len(words) > MOST_NAME_WORDS or any(c.isdigit() for c in line.attribute):
        return f"has the name {line.attribute!r}; a name has 1 to {MOST_NAME_WORDS} words and no digits"
    if line.attribute.casefold() not in draft.text.casefold():
        return f"must call the value by its name, {line.attribute!r}"
    return ""


def _choice_fault(line: ChoiceLine, draft: ChoiceDraft | None, language: str) -> str:
    if draft is None or not draft.text.strip():
        return "is missing"
    named = next((item for item in line.options.items if _names(draft.text, item, line.options)), None)
    if named is not None:
        return f"gives {named!r} away; say by its number which one the user took"
    if language == ENGLISH and not re.search(rf"\b{ORDINALS[line.ordinal - 1]}\b", draft.text, re.IGNORECASE):
        return f"must say that it was the {ORDINALS[line.ordinal - 1]} of them"
    return ""


def _names(text: str, item: str, options: Advice) -> bool:
    """Return whether a text has the item, or all of its words that topic and other items do not have."""
    others = " ".join((options.topic, *(i for i in options.items if i != item)))
    own = content_words(item) - content_words(others)
    return item.casefold() in text.casefold() or (bool(own) and own <= content_words(text))


def _in_order(text: str, items: Iterable[str]) -> bool:
    folded, at = text.casefold(), 0
    for item in items:
        at = folded.find(item.casefold(), at)
        if at < 0:
            return False
        at += len(item)
    return True


def _assembled(task: StageToAdvise, inputs: AdviceInputs, written: Sequence[Draft]) -> Advised:
    drafts = {d.line_id: d for d in written if isinstance(d, AdviceDraft)}
    worded = {d.line_id: d for d in written if isinstance(d, ChoiceDraft)}
    sub_plan = task.plan.sub_plans[task.stage.stage_index]
    key = SubPlanKey(sub_plan.plan_index, sub_plan.sub_plan_index)
    lines = [line for line in inputs.advice if line.line_id in drafts]
    choices = [line for line in inputs.choices if line.line_id in worded]
    return Advised(
        stage_index=task.stage.stage_index,
        advice=tuple(
            _advice(str(key.advice(i)), _chosen(line, drafts[line.line_id]), drafts[line.line_id])
            for i, line in enumerate(lines)
        ),
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
        items=_items(draft),
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


# --- what a reply says --------------------------------------------------------------------------------------------


def advice_quote(advice: Advice, text: str) -> str | None:
    """Return the words of a reply that give a piece of advice, verbatim; None if it does not give it."""
    if advice.kind is AdviceKind.USE and advice.value is not None:
        return use_quote(text, advice.value, advice.items[0])
    if advice.value is not None:
        quote = quote_for(text, [advice.value])
        return None if quote is None else _with_name(text, quote, advice.attribute)
    spans = [item_span(advice, text, i) for i in range(len(advice.items))]
    found = [span for span in spans if span is not None]
    if len(found) < len(spans):
        return None
    return text[found[0][0] : found[-1][1]]


def _with_name(text: str, quote: str, attribute: str) -> str | None:
    """Return a quote, with the sentence before it where only that names the attribute; None if neither does."""
    wanted = content_words(attribute)
    if wanted <= content_words(quote):
        return quote
    start = text.find(quote)
    earlier = [span for span in sentences(text) if span[1] <= start]
    if not earlier or not wanted <= content_words(text[earlier[-1][0] : start]):
        return None
    return text[earlier[-1][0] : start + len(quote)]


def item_span(advice: Advice, text: str, place: int) -> tuple[int, int] | None:
    """Return start and end of the sentence or line of a reply that has an item, behind the items before it.

    A reply may mention an item elsewhere, too; the places are those where all items stand closest together in order.
    """
    places = _closest_run(text, advice.items)
    if places is None:
        return None
    found = places[place]
    end = found + len(advice.items[place])
    own = [span for span in sentences(text) if span[0] <= found < span[1]]
    first = max(own[0][0] if own else found, text.rfind("\n", 0, found) + 1)
    line_end = text.find("\n", end)
    last = min(own[0][1] if own and own[0][1] >= end else end, len(text) if line_end < 0 else line_end)
    return first, max(last, end)


def _closest_run(text: str, items: Sequence[str]) -> list[int] | None:
    """Return the starts of the items in the shortest part of a text that has all of them in order; None if none has."""
    folded = text.casefold()
    if len(folded) != len(text):
        folded = text.lower()
    best: list[int] | None = None
    start = folded.find(items[0].casefold())
    while start >= 0:
        run = [start]
        for item, next_item in pairwise(items):
            run.append(folded.find(next_item.casefold(), run[-1] + len(item)))
            if run[-1] < 0:
                return best
        if best is None or run[-1] - run[0] < best[-1] - best[0]:
            best = run
        start = folded.find(items[0].casefold(), start + 1)
    return best


def advice_faults(due: Iterable[Advice], text: str) -> Iterator[str]:
    """Yield what a reply does not say of what it has to bring in."""
    for advice in due:
        if advice_quote(advice, text) is not None:
            continue
        if advice.kind is AdviceKind.USE and advice.value is not None:
            yield (
                f"it must say in one sentence, in these words, that {advice.value.text} for {advice.topic} "
                f"is for {advice.items[0]}"
            )
        else:
            yield (
                f"it must give the {advice.attribute} for {advice.topic}, under this name and in these words: "
                f"{advice.given}"
            )


def said_advice(due: Iterable[Advice], text: str) -> tuple[str, ...]:
    """Return the ids of the advice that a reply gives."""
    return tuple(a.advice_id for a in due if advice_quote(a, text) is not None)


def known_advice(advice: Iterable[Advice], sub_plans: Collection[str]) -> tuple[str, ...]:
    """Return the statements of what the assistant brought in during these sub-plans, without what it corrected."""
    given = [a for a in advice if a.sub_plan in sub_plans]
    replaced = {a.corrects for a in given}
    return tuple(a.text for a in given if a.advice_id not in replaced)
