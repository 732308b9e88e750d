"""The review log on disk: events are kept, leases end."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from longbeam.store.reviews import ReviewStore, in_order
from tests.review.events import event


def test_the_store_refuses_changes_and_keeps_the_order_of_acts(tmp_path: Path) -> None:
    with ReviewStore(tmp_path / "reviews.sqlite") as store:
        first, second = store.append([event("flagged", at=10), event("flagged", at=5)])
        assert second.created_at == first.created_at + dt.timedelta(microseconds=1)
        for statement in ("UPDATE events SET json = ''", "DELETE FROM events"):
            with pytest.raises(Exception, match="never"):
                store._db.execute(statement)


def test_merged_logs_give_one_order_whichever_came_first(tmp_path: Path) -> None:
    mine, theirs = [event("flagged", at=1), event("flagged", at=4)], [event("flagged", at=2), event("flagged", at=4)]
    found = []
    for name, logs in (("a", (mine, theirs)), ("b", (theirs, mine))):
        with ReviewStore(tmp_path / f"{name}.sqlite") as store:
            for log in logs:
                store.merge(log)
            found.append(in_order(e for _, e in store.events()))
    assert found[0] == found[1]


def test_a_lease_is_renewed_before_capacity_is_looked_at(tmp_path: Path) -> None:
    with ReviewStore(tmp_path / "reviews.sqlite") as store:
        assert store.take_lease("i", "ana", 1, now=0, expires_at=10)
        assert not store.take_lease("i", "bo", 1, now=5, expires_at=15)
        assert store.take_lease("i", "ana", 1, now=5, expires_at=15)
        assert store.take_lease("i", "bo", 2, now=6, expires_at=16)
        # ana holds one of two places when capacity shrinks: she keeps hers
        assert store.take_lease("i", "ana", 1, now=7, expires_at=17)
        assert not store.take_lease("i", "cleo", 2, now=8, expires_at=18)
        assert store.take_lease("i", "cleo", 2, now=16.5, expires_at=20)
