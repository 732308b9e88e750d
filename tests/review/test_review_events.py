"""Events of another log are judged by kind: one that cannot be folded is named, left out, and stops nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.review import ItemState, ReviewLog, import_log, take_back_import
from longbeam.schemas import EventKind, ReviewEvent, fault_of
from longbeam.store import ReviewStore, stored_events
from tests.tiny import tiny_conversation

ITEM = "c000/information_extraction.0"
BASE = next(p for p in tiny_conversation().asked if p.probe_id == "information_extraction.0")


def event(kind: str, **more: Any) -> ReviewEvent:
    given = {"event_id": "e1", "item_id": ITEM, "reviewer_id": "eve", "created_at": datetime(2026, 11, 21, tzinfo=UTC)}
    return ReviewEvent.model_validate({**given, "kind": kind, **more})


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        ("judged", {"after": {"verdict": "acccept"}}, "verdict 'acccept'; there are accept, reject, skip"),
        ("judged", {"target": "nugget/n0", "after": {"label": "maybe"}}, "label 'maybe'"),
        ("judged", {"target": "gold_answer", "after": {"verdict": "accept"}}, "target 'gold_answer'"),
        ("edited", {"target": "question", "after": 5}, "after 5 is no text"),
        ("edited", {"target": "difficulty", "after": "cruel"}, "difficulty 'cruel'"),
        ("edited", {"target": "rank", "after": "1"}, "target 'rank'"),
        ("edited", {"target": "details/items", "after": ["a", 3]}, "after 3 is no text"),
        ("evidence_added", {"target": "evidence/x", "after": {"quote": "no key"}}, "message_key: Field required"),
        ("adjudicated", {"after": {"verdict": "accept", "probe": {}}}, "Field required"),
        ("checked", {"target": "checks", "after": {"findings": [{}]}}, "Field required"),
        ("rated", {"item_id": "c000", "target": "realism", "after": 9}, "after 9 is no rating"),
        ("rated", {"target": "realism", "after": 3}, "is no conversation"),
        ("configured", {"item_id": "", "target": "overlap", "after": 100}, "less than or equal to 9"),
        ("configured", {"item_id": "", "target": "colour", "after": 1}, "target 'colour'"),
        ("gold_set", {"after": "perhaps"}, "verdict 'perhaps'"),
        ("flagged", {"item_id": "nowhere"}, "nowhere"),
        ("flagged", {"created_at": datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)}, "no time of a review"),
        ("flagged", {"created_at": datetime(1, 1, 1, tzinfo=UTC)}, "no time of a review"),
        ("flagged", {"created_at": datetime(2026, 11, 21)}, "no time zone"),
    ],
)
def test_an_event_that_cannot_be_folded_says_why(kind: str, more: dict[str, Any], said: str) -> None:
    assert said in fault_of(event(kind, **more))


def write(path: Path, *events: ReviewEvent) -> Path:
    path.write_text("".join(e.model_dump_json() + "\n" for e in events), encoding="utf-8")
    return path


def test_an_import_leaves_out_what_it_cannot_fold_and_is_taken_back(tmp_path: Path) -> None:
    good = event("judged", after={"verdict": "accept"}, event_id="good")
    bad = event("judged", after={"verdict": "acccept"}, event_id="bad")
    reviews = tmp_path / "reviews.sqlite"
    report = import_log(reviews, write(tmp_path / "log.jsonl", good, bad))
    assert (report.new, report.known, report.number) == (1, 0, 1)
    assert [line.split(": ", 1)[0] for line in report.skipped] == [f"{tmp_path / 'log.jsonl'}:2"]
    assert take_back_import(reviews, 1) == 1
    with ReviewStore(reviews) as store:
        log = ReviewLog(store)
        log.refresh()
        state = ItemState(BASE, log.of_item(ITEM))
    assert state.counted == []
    assert [e.kind for e in stored_events(reviews)] == [EventKind.JUDGED, EventKind.UNDONE]  # nothing is deleted


def test_a_bad_event_of_an_older_log_is_skipped_and_later_acts_have_their_own_time(tmp_path: Path) -> None:
    late = event("flagged", event_id="late", created_at=datetime(9999, 12, 31, tzinfo=UTC))
    bad = event("edited", target="question", after=5, event_id="bad")
    with ReviewStore(tmp_path / "reviews.sqlite") as store:
        store.merge([late, bad])
        log = ReviewLog(store)
        (mine,) = log.append(event("flagged", event_id="mine", created_at=datetime.now(UTC)))
        assert abs(mine.created_at - datetime.now(UTC)) < timedelta(minutes=1)
        assert set(log.skipped) == {1, 2}
        assert [e.event_id for e in log.events()] == ["mine"]
        assert sum("counts for nothing" in fault for fault in store.faults()) == 2  # `verify` names them


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.text(max_size=8) | st.sampled_from(["accept", "yes", "no"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["verdict", "label", "probe", "findings", "at", "query", "quote"]), inner)
    ),
    max_leaves=6,
)
targets = st.sampled_from(
    ["item", "question", "gold_answer", "difficulty", "details/items", "nugget/information_extraction.0.n0", "nugget/x",
     "evidence/x", "message/p0.s0.t0.u", "checks", "realism", "overlap", ""]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(list(EventKind)), targets, anything), max_size=8))
def test_whatever_an_event_holds_the_fold_goes_on(given: list[tuple[EventKind, str, Any]]) -> None:
    version = ItemState(BASE, ()).version
    events = [
        event(kind.value, target=target, after=json.loads(json.dumps(after)), event_id=f"e{i}", probe_version=version)
        for i, (kind, target, after) in enumerate(given)
        if kind not in (EventKind.RATED, EventKind.GUIDED, EventKind.CONFIGURED)
    ]
    state = ItemState(BASE, [e for e in events if not fault_of(e)])
    assert state.status
    assert state.probe.rubric
