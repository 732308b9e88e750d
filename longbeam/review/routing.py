"""Routing: which items a second opinion is worth most for.

The signs of doubt of an item: checks that fire, an opinion that differs from the judge's verdict on the rubric or was
given much faster than its reviewer usually needs, an ability on which reviewers agree little, and a reviewer who
skipped it. Each sign adds its weight; items without a sign follow in their usual order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from statistics import median

from longbeam.review.fold import Opinion
from longbeam.review.state import ItemState
from longbeam.review.workspace import Workspace
from longbeam.schemas.review import Verdict

ERROR, WARNING, FAST, LOW_AGREEMENT, JUDGE_DIFFERS, SKIPPED = 3.0, 1.0, 2.0, 1.5, 1.0, 0.5
FAST_SHARE = 0.33
"""An opinion is fast if it took less than this share of its reviewer's median time."""
LEAST_OPINIONS = 5
"""Opinions of a reviewer before a time of theirs counts as fast, and items of an ability before agreement counts."""
LOW = 0.8
"""Share of items on which opinions agree, below which an ability is doubtful."""


class Doubts:
    """Signs of doubt over a whole review, gathered once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._median, self._low = _gathered(workspace)

    def of(self, item_id: str, state: ItemState, severities: Mapping[str, int]) -> float:
        """Return the doubt of an item: 0 is no sign of any."""
        doubt = ERROR * severities.get("error", 0) + WARNING * severities.get("warning", 0)
        doubt += FAST * sum(self._is_fast(opinion) for opinion in state.saved)
        doubt += JUDGE_DIFFERS * any(self._differs(item_id, opinion) for opinion in state.saved)
        doubt += LOW_AGREEMENT * (state.base.ability in self._low)
        return doubt + SKIPPED * sum(o.verdict is not None and not o.is_saved for o in state.opinions.values())

    def _differs(self, item_id: str, opinion: Opinion) -> bool:
        trial = self._workspace.rubric_trial(item_id, opinion.probe)
        return trial is not None and trial.is_sound != (opinion.verdict is Verdict.ACCEPT)

    def _is_fast(self, opinion: Opinion) -> bool:
        usual = self._median.get(opinion.reviewer_id)
        return usual is not None and 0 < opinion.active_ms < FAST_SHARE * usual


def _gathered(workspace: Workspace) -> tuple[dict[str, float], set[str]]:
    """Return each reviewer's median time, and the abilities on which reviewers agree little."""
    times: dict[str, list[int]] = defaultdict(list)
    judged: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for conversation_id in workspace.archive.conversation_ids:
        for state, _ in workspace.entry_states(conversation_id).values():
            for opinion in state.saved:
                times[opinion.reviewer_id].append(opinion.active_ms)
            if len(state.saved) > 1:
                judged[state.base.ability] += 1
                agreed[state.base.ability] += len({o.verdict for o in state.saved}) == 1
    usual = {name: median(spent) for name, spent in times.items() if len(spent) >= LEAST_OPINIONS}
    low = {name for name, n in judged.items() if n >= LEAST_OPINIONS and agreed[name] / n < LOW}
    return usual, low
