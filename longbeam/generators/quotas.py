"""Quotas that the abilities set a story: how many values of which sort, and the next menu.

A writer who is told which value a line must have finds an excuse for it. Here what all abilities need is counted
over the ledger, and a group of events is asked for what is missing, together and where a person would name it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from longbeam.generators.layout import SpecialCounts
from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_seeds import SELF
from longbeam.generators.tuning import PLANNING
from longbeam.prompts.calls import Figure, Quota, StoryEvent
from longbeam.schemas import AMOUNT_KINDS, CLOSING, BulletKind, Category, Fact, Value, ValueKind

CHANGING = AMOUNT_KINDS | {ValueKind.NAME, ValueKind.VERSION, ValueKind.RATIO}
"""Kinds of values that an update changes, beside days."""
OWN_KINDS = {
    Category.GENERAL: (ValueKind.NAME, ValueKind.DURATION),
    Category.CODING: (ValueKind.VERSION, ValueKind.DURATION),
    Category.MATH: (ValueKind.EXPRESSION, ValueKind.RATIO),
}
"""Kinds of values that stories of a category have and forget: they stand on the menu by name."""
WORDINGS = {
    ValueKind.NAME: "name of what was chosen (a firm, a place, a make)",
    ValueKind.DURATION: "length of time",
    ValueKind.VERSION: "version number",
    ValueKind.EXPRESSION: "formula",
    ValueKind.RATIO: "share in per cent",
}
UNTOUCHED = ("day", "alike")
"""Sorts that serve as long as nothing changes or denies them: spans of days, and sums."""
Told = tuple[Fact, Value]
"""A fact of the plan that one bullet told, and its value."""


@dataclass(frozen=True)
class Quotas:
    """Values that the abilities need from a whole plan."""

    pool: int
    """Candidates that each ability needs."""
    counts: SpecialCounts
    """Special bullets of the plan, each of which takes a value."""
    category: Category

    def wanted(self) -> dict[str, int]:
        """Return how many values of each sort a plan needs.

        One more day than candidates makes a pair for each; sums need two amounts each, and the user's log gives half of
        them; half of the values that may change or be misremembered stand where nothing can change them any more, or
        too near.
        """
        pool = self.pool
        own = {kind.value: max(pool // 3, 1) for kind in OWN_KINDS[self.category]}
        return {
            "day": pool + 1,
            "alike": pool,
            "changing": 2 * self.counts.updates,
            "fixed": 2 * self.counts.contradictions,
            **own,
        }

    def sorts(self, ledger: Ledger) -> dict[str, list[str]]:
        """Return the facts of each sort that a story has so far, by id; one fact may be of several sorts."""
        told = list(told_once(ledger))
        families = _families(told)
        found = {sort: list[str]() for sort in self.wanted()}
        for fact, value in told:
            is_alike = len(families.get((fact.attribute.casefold(), value.unit), ())) > 1
            for sort, fits in (
                ("day", fact.kind is ValueKind.DATE),
                ("alike", is_alike and fact.kind in AMOUNT_KINDS),
                ("changing", not fact.is_fixed and fact.kind in CHANGING),
                ("fixed", fact.is_fixed and fact.kind is not ValueKind.DATE),
                (fact.kind.value, fact.kind in OWN_KINDS[self.category]),
            ):
                if fits:
                    found[sort].append(fact.fact_id)
        return found

    def menu(self, ledger: Ledger, told: float, events: Sequence[StoryEvent]) -> tuple[Quota, ...]:
        """Return the menu of the next `events`; `told`: share of the plan's events that is told behind them.

        Values that are missing by then are asked for, of each sort one for three events and a day for two, and no more
        than events have such values: more would have to be found where nobody has them. Nothing changes any more behind
        an ending.
        """
        found = self.sorts(ledger)
        lacking = {sort: round(wanted * told) - len(found[sort]) for sort, wanted in self.wanted().items()}
        anchors = self._anchors(ledger, events)
        wordings = self._wordings(anchors)
        telling = [e for e in events if e.kind is not BulletKind.SIDE]
        third, figures = (len(telling) + 2) // 3, [e.figure for e in telling]
        changing = 0 if events[0].part == CLOSING else figures.count(Figure.MAY_CHANGE)
        having = len(telling) - figures.count(Figure.NONE)
        most = {
            "day": (len(telling) + 1) // 2,
            "changing": min(changing, third),
            "alike": min(having, PLANNING.most_alike) if anchors else 0,
        }
        quotas = ((sort, min(count, most.get(sort, min(third, having)))) for sort, count in lacking.items())
        return tuple(Quota(least=least, wording=wordings[sort](least)) for sort, least in quotas if least > 0)

    @staticmethod
    def _anchors(ledger: Ledger, events: Sequence[StoryEvent]) -> list[Told]:
        """Return amounts of the events' narratives of which no other thing has one to compare.

        An event about the same thing would give its own amount another value. Money and then the newest stand last.
        """
        labels, things = {e.narrative for e in events}, {e.thing.casefold() for e in events}
        near = {b.topic for b in ledger.bullets if b.narrative in labels and b.kind is not BulletKind.SIDE}
        alone = [told[0] for told in _families(list(told_once(ledger))).values() if len(told) == 1]
        fitting = [t for t in alone if t[0].subject in near and t[0].subject.casefold() not in things]
        return sorted(fitting, key=lambda told: told[0].kind is ValueKind.MONEY)[-PLANNING.named_amounts :]

    def _wordings(self, anchors: Sequence[Told]) -> dict[str, Callable[[int], str]]:
        named = " or ".join(f"the {fact.attribute} of {fact.subject} ({value.text})" for fact, value in anchors)
        return {
            "day": _counted("day"),
            "alike": _counted(f"amount of another thing, under the same name, to compare with {named}"),
            "changing": _counted("amount, name or length that may change later"),
            "fixed": _counted("amount, count or name of what happened once"),
            **{kind.value: _counted(WORDINGS[kind]) for kind in OWN_KINDS[self.category]},
        }


def _counted(wording: str) -> Callable[[int], str]:
    head, gap, rest = wording.partition(" ")
    return lambda n: wording if n == 1 else f"{head.rstrip(',')}s{',' * head.endswith(',')}{gap}{rest}"


def told_once(ledger: Ledger) -> Iterator[Told]:
    """Yield the facts of things that one bullet tells, with their values."""
    for fact in ledger.facts:
        own = ledger.by_fact.get(fact.fact_id, ())
        if len(own) == 1 and own[0].value is not None and not fact.side_story and fact.subject.casefold() not in SELF:
            yield fact, own[0].value


def _families(told: Sequence[Told]) -> dict[tuple[str, str], list[Told]]:
    """Return the amounts of several things that have one name and one unit, so that they can be added and compared."""
    found: dict[tuple[str, str], list[Told]] = {}
    for fact, value in told:
        if fact.kind in AMOUNT_KINDS and value.number is not None:
            found.setdefault((fact.attribute.casefold(), value.unit), []).append((fact, value))
    return found
