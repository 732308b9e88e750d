"""The stages of a plan: their days, and how many events each of them tells.

Code draws both before a model tells anything; what happens in a stage, and who has a part in it, is the writer's.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from longbeam.generators.layout import SHORT, Layout
from longbeam.generators.story_graph import Window
from longbeam.generators.tuning import PLANNING
from longbeam.prompts.calls import Stage
from longbeam.schemas import Timeline


def stages_of(timeline: Timeline, layout: Layout) -> tuple[Stage, ...]:
    """Divide a timeline into stages of equal length, to the day."""
    days, count = timeline.days + 1, layout.sub_plans
    if days < count:
        raise ValueError(f"{days} days cannot hold {count} stages")
    starts = [timeline.start + dt.timedelta(days=days * i // count) for i in range(count)]
    ends = [s - dt.timedelta(days=1) for s in starts[1:]] + [timeline.end]
    spans = enumerate(zip(starts, ends, strict=True))
    return tuple(Stage(stage_index=i, first_day=first, last_day=last) for i, (first, last) in spans)


def told_somewhere(chosen: Sequence[Sequence[str]], everything: Sequence[str]) -> list[tuple[str, ...]]:
    """Return for each stage what its writer chose for it; what no stage has goes to those that have least."""
    own = [list(dict.fromkeys(name for name in names if name in everything)) for names in chosen]
    for name in everything:
        if not any(name in names for names in own):
            min(own, key=len).append(name)
    return [tuple(names) for names in own]


def narratives_for(length: int, layout: Layout) -> tuple[int, int]:
    """Return the fewest and the most narratives of a plan: no more than its events can move."""
    room = layout.bullets_per_sub_plan * layout.sub_plans // PLANNING.events_per_narrative
    least, most = PLANNING.few_narratives if length <= SHORT else PLANNING.narratives
    return min(least, room), min(most, room)


@dataclass(frozen=True)
class StageSize:
    """How much one stage tells."""

    events: int
    """Events, side story and ending included, without the introduction of the first stage."""
    closing: int
    """Those of them that end the story."""
    is_introduced: bool
    """Whether the stage begins with the introduction of the user."""
    entries: int = 0
    """Most entries of the user's log in it."""
    confidences: int = 0
    """Most things that it tells in confidence."""
    is_roomy: bool = False
    """Whether its plan has room for a pasted document."""


def sizes_of(layout: Layout, plan_index: int, *, is_last: bool) -> tuple[StageSize, ...]:
    """Return the size of each stage of a plan; `is_last`: no plan follows, so that the story ends here.

    Wishes are among the bullets of the layout, and are placed when the events are worded.
    """
    sizes = []
    questions = layout.sub_plans * layout.batches * layout.questions
    logged = min(max(questions // PLANNING.questions_per_entry, PLANNING.few_entries), PLANNING.most_entries)
    confiding = {0, layout.sub_plans // 2} if questions >= PLANNING.roomy else {0}
    for i in range(layout.sub_plans):
        is_introduced = i == plan_index == 0
        events = max(layout.bullets_per_sub_plan - layout.preferences_in(i) - is_introduced, 3)
        closing = max(min(PLANNING.outcomes + 1, events // 4) - (not is_last), 0) if i == layout.sub_plans - 1 else 0
        entries = logged * (i + 1) // layout.sub_plans - logged * i // layout.sub_plans
        sizes.append(
            StageSize(
                events + PLANNING.side_events,
                closing,
                is_introduced,
                entries,
                int(i in confiding),
                questions >= PLANNING.roomy,
            )
        )
    return tuple(sizes)


def side_ordinals(sizes: Sequence[StageSize]) -> tuple[int, ...]:
    """Return the ordinals of the side stories' events, in each stage spread over those before the ending."""
    found, told = list[int](), 0
    for size in sizes:
        going_on = size.events - size.closing
        found += [told + 1 + (2 * i + 1) * going_on // (2 * PLANNING.side_events) for i in range(PLANNING.side_events)]
        told += size.events
    return tuple(found)


def window_of(stage: Stage, *, is_last: bool, country: str) -> Window:
    """Return the days in which a stage's events are told; `is_last`: the stage is the last one of its plan."""
    days = (stage.last_day - stage.first_day).days

    def day(share: float) -> dt.date:
        return stage.first_day + dt.timedelta(days=int(days * share))

    closing_from, spread_until = (
        day(PLANNING.closing_from),
        day(PLANNING.last_stage_slack if is_last else PLANNING.stage_slack),
    )
    # What the story prepares may happen on any day before its ending.
    going_on_until = max(closing_from - dt.timedelta(days=1), spread_until) if is_last else spread_until
    return Window(stage.first_day, stage.last_day, going_on_until, closing_from, country, spread_until)


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
