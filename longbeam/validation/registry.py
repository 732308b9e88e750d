"""All checks, in the order in which findings of one severity are listed. A new check is one line here.

Checks of an installed ability come from its record (`Ability.evidence_rules`), others of installed packages from the
entry points of `longbeam.checks`.
"""

from __future__ import annotations

from longbeam.abilities import abilities, resolve
from longbeam.plugins import load, offered, unfit
from longbeam.validation import (
    abstention,
    advice,
    arithmetic,
    computation,
    contradiction,
    degenerate,
    duplicates,
    evidence,
    evidence_parts,
    gold_values,
    imports,
    knowledge_update,
    later_values,
    leaks,
    leave_one_out,
    ledger,
    length,
    message_ids,
    nuggets,
    persona,
    persona_uniqueness,
    probe_set,
    probe_uniqueness,
    question_leaks,
    question_wording,
    roles,
    rubric,
    side_stories,
    timeline,
    token_counts,
    uses,
    voicing,
)
from longbeam.validation.base import Check

ENTRY_POINTS = "longbeam.checks"
"""Group under which a package offers a `Check`: `name = "package.module:CHECK"`."""

CHECKS: tuple[Check, ...] = (
    imports.CHECK,
    message_ids.CHECK,
    roles.CHECK,
    timeline.CHECK,
    length.CHECK,
    token_counts.CHECK,
    ledger.CHECK,
    voicing.CHECK,
    advice.CHECK,
    leaks.CHECK,
    degenerate.CHECK,
    duplicates.CHECK,
    persona.CHECK,
    probe_set.CHECK,
    rubric.CHECK,
    nuggets.CHECK,
    evidence.CHECK,
    evidence_parts.CHECK,
    gold_values.CHECK,
    computation.CHECK,
    side_stories.CHECK,
    uses.CHECK,
    arithmetic.CHECK,
    leave_one_out.CHECK,
    later_values.STALE_GOLD,
    later_values.CHECK,
    knowledge_update.CHECK,
    contradiction.CHECK,
    abstention.CHECK,
    question_leaks.CHECK,
    question_wording.CHECK,
    persona_uniqueness.CHECK,
    probe_uniqueness.CHECK,
)
"""Checks of this package."""


def all_checks() -> tuple[Check, ...]:
    """Return the checks of this package, then the evidence rules of installed abilities, then plug-ins.

    SpecError for a plug-in that is no check of its name, or whose name is taken.
    """
    found = {check.name: check for check in CHECKS}
    for ability in abilities():
        if ability.evidence_rules:
            check: Check = resolve(ability.evidence_rules)
            found.setdefault(check.name, check)
    for name in offered(ENTRY_POINTS, found):
        plug_in = load(ENTRY_POINTS, name)
        if not isinstance(plug_in, Check) or plug_in.name != name:
            raise unfit(ENTRY_POINTS, name, f"Check of the name {name!r}")
        found[name] = plug_in
    return tuple(found.values())
