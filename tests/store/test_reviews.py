"""The review log on disk: events are kept, leases end."""

from __future__ import annotations

import datetime as dt
import resource
from pathlib import Path

import pytest

from longbeam.errors import StoreError
from longbeam.store import ReviewStore, StoredLease, has_reviews, in_order, stored_events
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
        assert store.take_lease(StoredLease("i", "ana", 10), 1, now=0)
        assert not store.take_lease(StoredLease("i", "bo", 15), 1, now=5)
        assert store.take_lease(StoredLease("i", "ana", 15), 1, now=5)
        assert store.take_lease(StoredLease("i", "bo", 16), 2, now=6)
        # ana holds one of two places when capacity shrinks: she keeps hers
        assert store.take_lease(StoredLease("i", "ana", 17), 1, now=7)
        assert not store.take_lease(StoredLease("i", "cleo", 18), 2, now=8)
        assert store.take_lease(StoredLease("i", "cleo", 20), 2, now=16.5)


def test_a_log_that_could_not_be_made_leaves_no_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "reviews.sqlite"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # a full disk
    try:
        with pytest.raises(StoreError, match=r"reviews\.sqlite") as refused:
            ReviewStore(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert "resume" not in str(refused.value)
    assert not path.exists()


def test_an_empty_file_is_no_review(tmp_path: Path) -> None:
    path = tmp_path / "reviews.sqlite"
    path.touch()

    assert not has_reviews(path)
    assert stored_events(path) == []
