"""The stages of a plan: their days, people and narratives, and how many events each of them tells.

All of it is drawn by code before a model tells anything; the events themselves, and their order, are the writer's.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from longbeam.generators.layout import FEW_NARRATIVES, NARRATIVES, SHORT, Layout
from longbeam.generators.story_graph import Window
from longbeam.prompts.calls import Stage
from longbeam.schemas import Narrative, Person, Timeline

SLACK = 0.9
"""Share of a stage's days that its events use; turns that are asked for later use the rest."""
LAST_SLACK = 0.68
"""`SLACK` of the last stage, which also holds the event that the story prepares (a departure), and the end."""
CLOSING_FROM = 0.9
"""Where the end of the story begins in the last stage."""
OUTCOMES = 3
"""Events of the last stage that tell how a part of the story came out; the last plan has one more, its last word."""
CAST = 4
"""People of a stage ..."""
LEADS = 2
"""... and those of them, at most, who are in every stage because the narratives that carry the story tell of them."""
EVENTS_PER_NARRATIVE = 3
"""Events of a stage for each narrative that moves in it."""
NARRATIVES_PER_STAGE = (3, 6)
"""Fewest and most narratives that move in a stage."""
LEADING = 2
"""Narratives that carry the story: the first ones, which move in every stage."""
_Item = TypeVar("_Item")


def stages_of(
    timeline: Timeline, layout: Layout, narratives: Sequence[Narrative] = (), people: Sequence[Person] = ()
) -> tuple[Stage, ...]:
    """Divide a timeline into stages of equal length, to the day, each with the people and narratives that it moves.

    People and narratives take turns: each comes once before any comes again. The narratives that carry the story come
    in every stage, and so do the people of whom these tell. A stage's narratives bring the people whom they name, and
    one place at least is for those who came least.
    """
    days, count = timeline.days + 1, layout.sub_plans
    if days < count:
        raise ValueError(f"{days} days cannot hold {count} stages")
    starts = [timeline.start + dt.timedelta(days=days * i // count) for i in range(count)]
    ends = [s - dt.timedelta(days=1) for s in starts[1:]] + [timeline.end]
    leads = _named_in(narratives[:LEADING], people)[:LEADS]
    others = [p.first_name for p in people if p.first_name not in leads]
    moving, came = _turns_per_stage(layout), Counter[str]()
    stages = []
    for i, (first, last) in enumerate(zip(starts, ends, strict=True)):
        own = _turn(narratives[LEADING:], i, moving)
        named = [name for name in _named_in(own, people) if name not in leads]
        free = sorted((name for name in others if name not in named), key=lambda name: came[name])
        room = CAST - len(leads)
        cast = (*named[: room - bool(free)], *free)[:room]  # somebody comes whose turn it is
        came.update(cast)
        labels = tuple(narrative.label for narrative in (*narratives[:LEADING], *own))
        stages.append(Stage(stage_index=i, first_day=first, last_day=last, cast=(*leads, *cast), narratives=labels))
    return tuple(stages)


def _named_in(narratives: Sequence[Narrative], people: Sequence[Person]) -> list[str]:
    told = " ".join(narrative.description for narrative in narratives)
    return [p.first_name for p in people if re.search(rf"\b{re.escape(p.first_name)}\b", told)]


def narratives_for(length: int, layout: Layout) -> tuple[int, int]:
    """Return the fewest and the most narratives of a plan: no more than can move in one of its stages."""
    places = LEADING + _turns_per_stage(layout) * layout.sub_plans
    least, most = FEW_NARRATIVES if length <= SHORT else NARRATIVES
    return min(least, places), min(most, places)


def _turns_per_stage(layout: Layout) -> int:
    """Return the number of narratives that move in a stage beside those that carry the story."""
    least, most = NARRATIVES_PER_STAGE
    return min(max(layout.bullets_per_sub_plan // EVENTS_PER_NARRATIVE, least), most) - LEADING


def _turn(items: Sequence[_Item], turn: int, count: int) -> tuple[_Item, ...]:
    """Return the next items of a round, in the turn of a stage."""
    return tuple(items[(turn * count + i) % len(items)] for i in range(min(count, len(items))))


@dataclass(frozen=True)
class StageSize:
    """How much one stage tells."""

    events: int
    """Events, the ending included, without the introduction of the first stage."""
    closing: int
    """Those of them that end the story."""
    is_introduced: bool
    """Whether the stage begins with the introduction of the user."""


def sizes_of(layout: Layout, plan_index: int, *, is_last: bool) -> tuple[StageSize, ...]:
    """Return the size of each stage of a plan; `is_last`: no plan follows, so that the story ends here.

    Wishes are among the bullets of the layout, and are placed when the events are worded.
    """
    sizes = []
    for i in range(layout.sub_plans):
        is_introduced = i == plan_index == 0
        events = max(layout.bullets_per_sub_plan - layout.preferences_in(i) - is_introduced, 3)
        closing = max(min(OUTCOMES + 1, events // 4) - (not is_last), 0) if i == layout.sub_plans - 1 else 0
        sizes.append(StageSize(events, closing, is_introduced))
    return tuple(sizes)


def window_of(stage: Stage, *, is_last: bool, country: str) -> Window:
    """Return the days in which a stage's events are told; `is_last`: the stage is the last one of its plan."""
    days = (stage.last_day - stage.first_day).days

    def day(share: float) -> dt.date:
        return stage.first_day + dt.timedelta(days=int(days * share))

    return Window(stage.first_day, stage.last_day, day(LAST_SLACK if is_last else SLACK), day(CLOSING_FROM), country)


def turns_told(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return stages in which each narrative that moves has its turning point once.

    One for which the outline names no stage, or several, turns in the middle one of those in which it moves.
    """
    turns = Counter(label for stage in stages for label in set(stage.turns) & set(stage.narratives))
    moving: dict[str, list[int]] = {}
    for stage in stages:
        for label in stage.narratives:
            moving.setdefault(label, []).append(stage.stage_index)
    middle = {label: own[len(own) // 2] for label, own in moving.items() if turns[label] != 1}
    return tuple(
        stage.model_copy(
            update={
                "turns": tuple(
                    label
                    for label in stage.narratives
                    if middle.get(label, stage.stage_index if label in stage.turns else -1) == stage.stage_index
                )
            }
        )
        for stage in stages
    )
