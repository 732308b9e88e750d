"""Gold that time has overtaken: it says a value that a later bullet changed, and not the one it became.

Only facts that the ledger knows can be checked. Where the question itself asks for what was before, the old
value is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.abilities.record import Trait
from longbeam.schemas.plans import Assertion, Stance, Value
from longbeam.schemas.probes import Probe
from longbeam.text.matching import says
from longbeam.validation.base import ERROR, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex

_ASKS_FOR_THE_PAST = re.compile(
    r"\b(?:original(?:ly)?|initial(?:ly)?|first|at first|before|previous(?:ly)?|earlier|formerly|old|used to|"
    r"at the start|beginning|started (?:out|with)|change[ds]?|difference|increase[ds]?|decrease[ds]?|history)\b",
    re.IGNORECASE,
)


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield facts of the probe whose gold is superseded or contradicted."""
    if has_trait(probe, Trait.ABSTAINS, Trait.RESOLVES_CONTRADICTION):
        return
    told = "\n".join((probe.gold_answer, *(n.text for n in probe.rubric), *probe.details.computed_from))
    cited = {*probe.bullet_ids, *(b for m in index.cited(probe) for b in m.bullet_ids)}
    for fact_id in dict.fromkeys(probe.fact_ids):
        changes = index.values_over_time(fact_id)
        yield from _superseded(index, probe, changes, told, cited)
        yield from _contradicted(index, probe, fact_id)


def _superseded(
    index: ConversationIndex, probe: Probe, changes: tuple[Assertion, ...], told: str, cited: set[str]
) -> Iterator[Problem]:
    current = changes[-1].value if changes else None
    if current is None or says(told, current) or _ASKS_FOR_THE_PAST.search(probe.question):
        return
    for change in changes[:-1]:
        value = change.value
        if value is None or change.bullet_id not in cited or _is_same(value, current) or not says(told, value):
            continue
        kind = "superseded_in_story" if has_trait(probe, Trait.RETELLS_HISTORY) else "superseded"
        fact = index.facts.get(change.fact_id)
        name = f"{fact.attribute} of {fact.subject}" if fact else change.fact_id
        text = (
            f"the gold says {shorten(value.text)!r} for the {name}; "
            f"{changes[-1].bullet_id} makes it {shorten(current.text)!r}"
        )
        keys = tuple(m.message_key for m in index.voicing(changes[-1].bullet_id))
        yield Problem(kind, probe.probe_id, text, keys)


def _is_same(one: Value, other: Value) -> bool:
    return one.means_same_as(other) or one.text.casefold() == other.text.casefold()


def _contradicted(index: ConversationIndex, probe: Probe, fact_id: str) -> Iterator[Problem]:
    denial = next((a for a in index.by_fact.of(fact_id) if a.stance is Stance.DENIES), None)
    if denial is not None and not has_trait(probe, Trait.RETELLS_HISTORY):
        text = f"{denial.bullet_id} denies {fact_id}, which the gold rests on: there is no one answer"
        keys = tuple(m.message_key for m in index.voicing(denial.bullet_id))
        yield Problem("contradicted", probe.probe_id, text, keys)


CHECK = Check(
    name="stale_gold",
    doc="No gold says a value that a later bullet changes, or rests on a fact that another bullet denies.",
    severities={"superseded": ERROR, "superseded_in_story": WARNING, "contradicted": WARNING},
    on_probe=find_problems,
)
