"""Failures of an evaluation as a reader needs them: one line for all probes at which a system failed alike.

A run keeps one line a unit, `c000/answer/rag/x: reason`, because a results file is checked for missing answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from longbeam.terminal import counted, without_places


def grouped_failures(failures: Sequence[str]) -> tuple[str, ...]:
    """Return the failures, first ones first: those of a system and stage with one reason as one line with their number.

    Reasons are one where they differ in numbers and in the places of the calls alone; the first one is shown.

    A failure that no other one equals stays as it is, with its conversation and probe.
    """
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for failure in failures:
        unit, _, reason = failure.partition(": ")
        groups[_system_of(unit), without_places(reason)].append(failure)
    return tuple(
        alike[0]
        if len(alike) == 1
        else f"{system} ({counted(len(alike), _noun(system))}): {alike[0].partition(': ')[2]}"
        for (system, _), alike in groups.items()
    )


def _system_of(unit: str) -> str:
    """Return stage and system of a unit: `answer/rag` of `c000/answer/rag/x`, `used/rag` of `c000/used/rag`."""
    within = unit.partition("/")[2]
    return within if _noun(within) == "conversation" else within.rpartition("/")[0]


def _noun(within: str) -> str:
    """Return the name of the units of a stage: use and close of a system are counted once a conversation."""
    return "conversation" if within.startswith(("used/", "close/")) else "probe"
