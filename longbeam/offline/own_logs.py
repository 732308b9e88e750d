"""The log and the confidences that the offline writer's user tells beside the story."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from longbeam.offline.language import upper_first
from longbeam.offline.packs import read_yaml
from longbeam.prompts.calls import Confidence, EventsInputs, LogEntry
from longbeam.schemas import ADULT, Domain, Record
from longbeam.text import money, number

COMPANIONS = 3
"""People of a stage who come along on a log: some stay away from each place."""


class OwnLog(Record):
    """Something that the user does again and again, with an amount and a place each time."""

    name: str
    unit: str
    amounts: tuple[int, int]
    places: tuple[str, ...]
    """Places with their prepositions."""
    tell: tuple[str, ...]
    """Sentences with {amount} and {place}; the place may have `with Dana` behind it."""


class Private(Record):
    """Something private that the user tells once: a source that may be named, and a figure that is to stay unsaid."""

    name: str
    tell: str
    """Sentence with {source} and {figure}."""
    sources: tuple[str, ...]
    figures: tuple[int, int]
    """Lowest and highest amount, in hundreds of dollars."""


class Asides(Record):
    """Everything that may be told beside a story."""

    logs: tuple[OwnLog, ...]
    travel_logs: tuple[OwnLog, ...]
    """Logs that somebody keeps up who is on the road."""
    confidences: tuple[Private, ...]
    forget: str
    """Request with {name}."""
    keep: str
    """Request with {name} and {person}."""


@cache
def asides() -> Asides:
    """Return the texts of `data/logs.yaml`."""
    return Asides.model_validate(read_yaml(Path(__file__).parent / "data" / "logs.yaml"))


def log_of(inputs: EventsInputs, rng_key: str) -> OwnLog | None:
    """Return the log of a plan, another one than those of the conversation's other plans; None beyond their number."""
    order = list(asides().travel_logs if inputs.seed.domain is Domain.TRIP else asides().logs)
    random.Random(f"{rng_key}/side").shuffle(order)
    plan_index = inputs.chapter.plan_index if inputs.chapter else 0
    return order[plan_index] if plan_index < len(order) else None


def entries_of(inputs: EventsInputs, log: OwnLog, rng_key: str) -> Iterator[LogEntry]:
    """Yield the entries of a stage, spread over its events; nobody comes along to one place twice."""
    rng = random.Random(f"{rng_key}/side/{inputs.stage_index}")
    cast = inputs.stages[inputs.stage_index].cast
    people = [p.first_name for p in inputs.people if p.age >= ADULT and p.first_name in cast][:COMPANIONS]
    along = people if inputs.seed.domain is not Domain.TRIP else []
    told = {(entry.place, entry.companion) for entry in inputs.logged}
    pairs = [(place, who) for place in log.places for who in along if (place, who) not in told]
    rng.shuffle(pairs)
    for i, event in enumerate(_spread(inputs, inputs.entries)):
        place, who = pairs[i] if i < len(pairs) else (rng.choice(log.places), "")
        amount = number(rng.randint(*log.amounts), log.unit).text
        tell = log.tell[(len(inputs.logged) + i) % len(log.tell)]
        said = tell.format(amount=amount, place=f"{place} with {who}" if who else place)
        yield LogEntry(event=event, amount=amount, place=place, companion=who, text=f"{upper_first(said)}.")


def confidences_of(inputs: EventsInputs, rng_key: str) -> Iterator[Confidence]:
    """Yield what a stage tells in confidence: the figure is to be forgotten, or kept from somebody, in turn."""
    plan_index = inputs.chapter.plan_index if inputs.chapter else 0
    order, rng = list(asides().confidences), random.Random(f"{rng_key}/confidence/{plan_index}/{inputs.stage_index}")
    random.Random(f"{rng_key}/confidence").shuffle(order)
    grown = [p.first_name for p in inputs.people if p.age >= ADULT]
    at = 2 * plan_index + (inputs.stage_index > 0)
    if not inputs.confidences or not grown or at >= len(order):
        return
    private, places = order[at], _spread(inputs, 3)
    source, figure = rng.choice(private.sources), money(100 * rng.randint(*private.figures)).text
    person = rng.choice(grown) if (plan_index + inputs.stage_index + len(grown)) % 2 else ""
    yield Confidence(
        thing=private.name,
        event=places[0],
        text=private.tell.format(source=source, figure=figure),
        open=source,
        figure=figure,
        asked_at=places[-1],
        keep_from=person,
        request=(asides().keep if person else asides().forget).format(name=private.name, person=person),
    )


def _spread(inputs: EventsInputs, count: int) -> Sequence[str]:
    """Return events of the stage's story before its ending, spread over it."""
    numbers = inputs.own_numbers
    own = [n for n in numbers[: len(numbers) - inputs.closing] if n not in inputs.side and n > 1]
    return [f"e{own[(2 * i + 1) * len(own) // (2 * count)]}" for i in range(count)]
