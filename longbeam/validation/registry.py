"""All checks, in the order in which findings of one severity are listed. A new check is one line here.

Checks of an installed ability come from its record (`Ability.evidence_rules`), others of installed packages from the
entry points of `longbeam.checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from longbeam.abilities import abilities, resolve
from longbeam.errors import SpecError
from longbeam.plugins import load, offered, unfit
from longbeam.validation import (
    ability_fit,
    abstention,
    advice,
    arithmetic,
    computation,
    contradiction,
    duplicates,
    evidence,
    evidence_parts,
    gold_values,
    later_values,
    leaks,
    leave_one_out,
    ledger,
    messages,
    nuggets,
    probe_set,
    question_wording,
    timeline,
    uniqueness,
)
from longbeam.validation.base import Check, Problem, Problems

ENTRY_POINTS = "longbeam.checks"
"""Group under which a package offers a `Check`: `name = "package.module:CHECK"`."""

CHECKS: tuple[Check, ...] = (
    ledger.IMPORTS,
    messages.MESSAGE_IDS,
    messages.ROLES,
    timeline.CHECK,
    messages.LENGTH,
    messages.SUBJECT,
    messages.TOKEN_COUNTS,
    ledger.LEDGER,
    ledger.VOICING,
    advice.ADVICE,
    leaks.LEAKS,
    leaks.DEGENERATE,
    duplicates.CHECK,
    messages.PERSONA,
    probe_set.CHECK,
    nuggets.RUBRIC,
    nuggets.NUGGETS,
    evidence.CHECK,
    evidence_parts.CHECK,
    ability_fit.CHECK,
    gold_values.CHECK,
    computation.CHECK,
    advice.SIDE_STORIES,
    advice.USES,
    arithmetic.CHECK,
    leave_one_out.CHECK,
    later_values.STALE_GOLD,
    later_values.CHECK,
    contradiction.KNOWLEDGE_UPDATE,
    contradiction.CONTRADICTION,
    abstention.CHECK,
    question_wording.QUESTION_LEAKS,
    question_wording.QUESTION_WORDING,
    uniqueness.PERSONA_UNIQUENESS,
    uniqueness.PROBE_UNIQUENESS,
)
"""Checks of this package."""


def all_checks() -> tuple[Check, ...]:
    """Return the checks of this package, then the evidence rules of installed abilities, then plug-ins.

    SpecError for a plug-in that is no check of its name, or whose name is taken.
    """
    found = {check.name: check for check in CHECKS}
    for ability in abilities():
        if ability.evidence_rules:
            check = resolve(ability.evidence_rules)
            if not isinstance(check, Check):
                raise SpecError(f"abilities: {ability.evidence_rules} is no Check")
            found.setdefault(check.name, _guarded(check))
    for name in offered(ENTRY_POINTS, found):
        plug_in = load(ENTRY_POINTS, name)
        if not isinstance(plug_in, Check) or plug_in.name != name:
            raise unfit(ENTRY_POINTS, name, f"Check of the name {name!r}")
        found[name] = _guarded(plug_in)
    return tuple(found.values())


def _guarded(check: Check) -> Check:
    """Return another package's check; it raises SpecError where its function yields anything but its own problems."""

    def guarded(function: Callable[..., Problems] | None) -> Callable[..., Problems] | None:
        def problems(*given: object) -> Problems:
            assert function is not None
            found: object = function(*given)
            for problem in found if isinstance(found, Iterable) else (found,):
                if not isinstance(problem, Problem) or problem.kind not in check.severities:
                    kinds = ", ".join(check.severities)
                    raise SpecError(f"checks: {check.name!r} yields {problem!r:.80}; it must yield Problems of {kinds}")
                yield problem

        return problems if function is not None else None

    return replace(
        check,
        on_conversation=guarded(check.on_conversation),
        on_probe=guarded(check.on_probe),
        on_benchmark=guarded(check.on_benchmark),
    )
