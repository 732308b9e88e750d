"""Gold that is out of date: it says a value that a later bullet changed, and not the new one.

Only facts that the ledger knows are checked. A question about the past is not: there the old value is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.abilities import Trait
from longbeam.schemas import Probe, Stance, Value
from longbeam.text import says
from longbeam.validation.base import ERROR, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.wording import answer_text, asks_for_past

_FIRST = re.compile(r"\bfirst\b", re.IGNORECASE)


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield facts of the probe whose gold is superseded or contradicted."""
    if has_trait(probe, Trait.ABSTAINS, Trait.RESOLVES_CONTRADICTION):
        return
    # Without a ledger, `first` may as well name a thing (`the first sprint`), so `asks_for_past` does not count it.
    wants_old_value = asks_for_past(probe.question) or _FIRST.search(probe.question) is not None
    for fact_id in dict.fromkeys(probe.fact_ids):
        if not wants_old_value:
            yield from _superseded(index, probe, fact_id)
        yield from _contradicted(index, probe, fact_id)


def _superseded(index: ConversationIndex, probe: Probe, fact_id: str) -> Iterator[Problem]:
    changes = index.values_over_time(fact_id)
    answer = "\n".join((answer_text(probe), *probe.details.computed_from))
    current = changes[-1].value if changes else None
    if current is None or says(answer, current):
        return
    fact = index.facts.get(fact_id)
    name = f"{fact.attribute} of {fact.subject}" if fact else fact_id
    last = changes[-1].bullet_id
    # In gold that retells a story an old value may have its place.
    kind = "superseded_in_story" if has_trait(probe, Trait.RETELLS_HISTORY) else "superseded"
    for value in _old_values(index, probe, fact_id):
        if not _is_same(value, current) and says(answer, value):
            text = f"the gold says {shorten(value.text)!r} for the {name}; {last} makes it {shorten(current.text)!r}"
            yield Problem(kind, probe.probe_id, text, tuple(m.message_key for m in index.voicing(last)))


def _old_values(index: ConversationIndex, probe: Probe, fact_id: str) -> Iterator[Value]:
    """Yield the values that a fact had before its current one, as far as the probe cites them."""
    cited = {*probe.bullet_ids, *(b for m in index.cited(probe) for b in m.bullet_ids)}
    for change in index.values_over_time(fact_id)[:-1]:
        if change.value is not None and change.bullet_id in cited:
            yield change.value


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
