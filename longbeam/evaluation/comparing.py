"""Two runs side by side: paired differences by probe, and how many conversations a difference would need."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean, stdev

from longbeam.errors import UserError
from longbeam.evaluation.resampling import Comparison, compare, few_conversations, holm
from longbeam.evaluation.results import Evaluated
from longbeam.evaluation.table import kind_of, rule
from longbeam.evaluation.tuning import MEASURING
from longbeam.schemas import Result
from longbeam.terminal import counted

_SEEN = 0.005
"""Difference of an ability that two digits show."""
_NAMED = 10
"""Probes that changed sides and are named for each system."""


@dataclass(frozen=True)
class RunPair:
    """One system in two runs, or two systems of one run, probe by probe."""

    comparison: Comparison
    won: int
    """Probes that went from below `MEASURING.passed` to it or above; `lost` is the reverse, `tied` all others."""
    lost: int
    tied: int
    by_ability: dict[str, float]
    """Difference of the means of each ability, over the same probes."""
    changed: tuple[tuple[str, str, float, float], ...]
    """Probes that changed sides: conversation, probe, score before, score now."""


def compare_runs(before: Evaluated, now: Evaluated, systems: Sequence[str] = ()) -> list[RunPair]:
    """Return `now` minus `before` for each system of both runs, p-values corrected for their number (Holm).

    UserError where no system, or no probe, is in both.
    """
    both = [s for s in now.run.systems if s in before.run.systems and (s in systems or not systems)]
    shown = [s for s in both if kind_of(s) == "system" or s in systems]
    if not shown:
        raise UserError(f"no system is in both runs: {', '.join(before.run.systems)} and {', '.join(now.run.systems)}")
    pairs = [_paired(_of(now, s), _of(before, s), (f"{s} now", f"{s} before")) for s in shown]
    found = [pair for pair in pairs if pair is not None]
    if not found:
        raise UserError("no probe has a score in both runs; they are of other conversations or other probes")
    corrected = holm([pair.comparison for pair in found])
    return [replace(pair, comparison=c) for c, pair in zip(corrected, found, strict=True)]


def _of(one: Evaluated, system: str) -> list[Result]:
    return [r for r in one.results if r.system == system]


def _paired(first: Sequence[Result], second: Sequence[Result], names: tuple[str, str]) -> RunPair | None:
    """Return the first minus the second; None where no probe has a score in both."""
    results = [
        r.model_copy(update={"system": name}) for name, of in zip(names, (first, second), strict=True) for r in of
    ]
    comparison = compare(results, *names, rule("paper"))
    if comparison is None:
        return None
    before = {(r.conversation_id, r.probe_id): r.score("paper") for r in second}
    scored = [
        (r.conversation_id, r.probe_id, old, new, r.ability)
        for r in first
        if (new := r.score("paper")) is not None and (old := before.get((r.conversation_id, r.probe_id))) is not None
    ]
    changed = tuple(row[:4] for row in scored if (row[2] >= MEASURING.passed) is not (row[3] >= MEASURING.passed))
    differences: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for conversation, _, old, new, ability in scored:
        differences[ability][conversation].append(new - old)
    return RunPair(
        comparison,
        won=sum(new > old for *_, old, new in changed),
        lost=sum(new < old for *_, old, new in changed),
        tied=len(scored) - len(changed),
        by_ability={a: fmean(map(fmean, of.values())) for a, of in sorted(differences.items())},
        changed=changed,
    )


def unpaired_line(before: Evaluated, now: Evaluated, pairs: Sequence[RunPair]) -> str:
    """Return the sentence that names the systems that no pair is of; empty if there are none."""
    paired = {pair.comparison.system.removesuffix(" now") for pair in pairs}
    alone = {s: of.label for of in (before, now) for s in of.run.systems if kind_of(s) == "system" and s not in paired}
    both = set(before.run.systems) & set(now.run.systems)
    named = [s if s in both else f"{s} (only in {of})" for s, of in alone.items()]
    return f"Not paired: {', '.join(named)}." if named else ""


def render_pairs(pairs: Sequence[RunPair], before: Evaluated, now: Evaluated) -> str:
    """Return the differences of two runs as text; ends with a line break."""
    return "\n".join(filter(None, _pair_lines(pairs, before, now))) + "\n"


def _pair_lines(pairs: Sequence[RunPair], before: Evaluated, now: Evaluated) -> Iterator[str]:
    yield f"{now.label} minus {before.label}, on the probes that have a score in both"
    passed = MEASURING.passed
    yield f"(95 % interval over conversations; p by Holm; won: from a score below {passed} to one of {passed} or more)"
    for pair in pairs:
        c = pair.comparison
        name = c.system.removesuffix(" now")
        spread = f"{c.interval.low:+.3f} to {c.interval.high:+.3f}" if c.interval else "no interval"
        p = f"p {c.p_value:.3f}" if c.p_value is not None else "no p"
        yield f"{name}: {c.difference:+.3f} ({spread}; {p}); won {pair.won}, lost {pair.lost}, tied {pair.tied}"
        moved = [f"{a.replace('_', ' ')} {d:+.2f}" for a, d in pair.by_ability.items() if abs(d) >= _SEEN]
        yield f"    by ability: {', '.join(moved) or 'no difference'}"
        for conversation_id, probe_id, old, new in pair.changed[:_NAMED]:
            yield f"    {'won ' if new > old else 'lost'} {conversation_id}/{probe_id}: {old:.2f} to {new:.2f}"
        if len(pair.changed) > _NAMED:
            yield f"    and {counted(len(pair.changed) - _NAMED, 'more probe')} that changed sides"
    yield unpaired_line(before, now, pairs)
    yield few_conversations(min(pair.comparison.conversations for pair in pairs))


def conversations_needed(one: Evaluated, first: str, second: str, difference: float) -> tuple[int, float]:
    """Return how many conversations show a difference of two systems, and the spread of theirs by conversation.

    Paired, two-sided at 5 %, with a chance of 80 % to see it: n = ((z_.975 + z_.8) s / d)^2, s the standard deviation
    of the conversations' differences. UserError where the run has fewer than two conversations with both.
    """
    means: dict[str, dict[str, list[float]]] = {first: {}, second: {}}
    for r in one.results:
        if r.system in means and (score := r.score("paper")) is not None:
            means[r.system].setdefault(r.conversation_id, []).append(score)
    both = means[first].keys() & means[second].keys()
    if len(both) < 2:
        known = ", ".join(one.run.systems)
        raise UserError(
            f"power: {first!r} and {second!r} have scores in {counted(len(both), 'conversation')} of this run, and two "
            f"are needed; its systems are {known}"
        )
    spread = stdev(fmean(means[first][c]) - fmean(means[second][c]) for c in both)
    normal = NormalDist()
    z = normal.inv_cdf(1 - MEASURING.alpha / 2) + normal.inv_cdf(MEASURING.power)
    return max(2, math.ceil((z * spread / difference) ** 2)), spread
