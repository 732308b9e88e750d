"""The gates together, on text that a language model wrote."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.planted_faults import EACH, KINDS, planted, recorded_gates, untouched

GATES = recorded_gates()
FAULTS = tuple(planted(GATES))


def test_two_hundred_faults_are_planted() -> None:
    assert Counter(o.kind for o in FAULTS) == dict.fromkeys(KINDS, EACH)


@pytest.mark.parametrize(("kind", "least"), [("value", 1.0), ("polarity", 0.95), ("thing", 0.95), ("added", 0.95)])
def test_of_each_kind_at_least_95_per_cent_are_refused_or_judged(kind: str, least: float) -> None:
    own = [o for o in FAULTS if o.kind == kind]
    assert sum(o.name != "missed" for o in own) >= least * len(own)


def test_values_are_refused_without_a_judge() -> None:
    own = [o for o in FAULTS if o.kind in ("value", "added")]
    assert sum(o.name == "refused" for o in own) >= 0.95 * len(own)


def test_of_the_good_messages_none_is_refused_and_those_worded_anew_are_judged() -> None:
    good = untouched(GATES)
    assert [o.place for o in good if o.name == "refused"] == []
    # Rules pass a bullet's own words alone (docs/closed-world.md): 30 of the 142 messages word a bullet anew.
    assert sum(o.name == "judged" for o in good) <= 30
