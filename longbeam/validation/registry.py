"""All checks, in the order in which findings of one severity are listed. A new check is one line here.

Checks of an installed ability come from its record (`Ability.evidence_rules`).
"""

from __future__ import annotations

from longbeam.abilities.registry import abilities, resolve
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
    stale_gold,
    timeline,
    token_counts,
    voicing,
)
from longbeam.validation.base import Check

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
    arithmetic.CHECK,
    leave_one_out.CHECK,
    stale_gold.CHECK,
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
    """Return the checks of this package, then the evidence rules of installed abilities."""
    found = {check.name: check for check in CHECKS}
    for ability in abilities():
        if ability.evidence_rules:
            check: Check = resolve(ability.evidence_rules)
            found.setdefault(check.name, check)
    return tuple(found.values())
