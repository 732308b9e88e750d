"""The fold, orders and leases alone: no server."""

from __future__ import annotations

import datetime as dt
import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longbeam.review.anchors import Anchor, Attachment, anchor_at, content_hash, find_anchor, find_quote
from longbeam.review.fold import fold_opinion, in_force, probe_version
from longbeam.review.log import next_redo, next_undo
from longbeam.review.state import ItemState, ItemStatus
from longbeam.review.workspace import Entry, entries_of
from longbeam.schemas.review import EventKind, ReviewEvent
from longbeam.store.reviews import ReviewStore, in_order
from tests.tiny import tiny_conversation

PROBE = tiny_conversation().asked[1]
START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_ids = itertools.count()


def event(kind: str, target: str = "item", after: Any = None, who: str = "ana", at: int | None = None) -> ReviewEvent:
    number = next(_ids)
    return ReviewEvent(
        event_id=f"e{number}",
        item_id="c000/information_extraction.0",
        probe_version=probe_version(PROBE),
        reviewer_id=who,
        kind=EventKind(kind),
        target=target,
        after=after,
        created_at=START + dt.timedelta(seconds=number if at is None else at),
    )


def accept(who: str = "ana") -> ReviewEvent:
    return event("judged", after={"verdict": "accept"}, who=who)


def test_an_edit_lets_the_verdict_lapse_until_it_is_given_again() -> None:
    events = [accept(), event("edited", "question", "Which?")]
    opinion = fold_opinion(PROBE, "ana", events)
    assert (opinion.verdict, opinion.is_lapsed, opinion.is_saved) == (None, True, False)
    assert ItemState(PROBE, events).is_unsettled
    again = fold_opinion(PROBE, "ana", [*events, accept()])
    assert (again.is_saved, again.is_lapsed) == (True, False)


def test_the_version_follows_content_verdict_and_labels_and_comes_back_with_an_undo() -> None:
    edit = event("edited", "question", "Which?")
    label = event("judged", "nugget/information_extraction.0.n0", {"label": "yes"})
    versions = [
        fold_opinion(PROBE, "ana", made).version for made in ([], [edit], [edit, label], [edit, label, accept()])
    ]
    assert len(set(versions)) == 4
    undone = [edit, event("undone", edit.event_id)]
    assert fold_opinion(PROBE, "ana", undone).version == versions[0]


def test_a_comment_or_a_draft_does_not_make_a_save_stale() -> None:
    made = [event("commented"), event("drafted", "question", "Wh"), event("searched", after={"query": "x"})]
    assert fold_opinion(PROBE, "ana", made).version == fold_opinion(PROBE, "ana", []).version


def test_judgements_of_another_sealed_version_do_not_count() -> None:
    old = accept().model_copy(update={"probe_version": "0" * 16})
    state = ItemState(PROBE, [old])
    assert (state.status, state.former) == (ItemStatus.PENDING, 1)


def test_two_that_accept_different_texts_are_in_conflict() -> None:
    made = [accept("ana"), event("edited", "question", "Which?", "bo"), accept("bo")]
    assert ItemState(PROBE, made, overlap=2).status is ItemStatus.CONFLICT
    same = [event("edited", "question", "Which?", "ana"), accept("ana"), *made[1:]]
    assert ItemState(PROBE, same, overlap=2).status is ItemStatus.EDITED


def test_undo_takes_back_what_is_not_the_last_act() -> None:
    first, second = event("edited", "question", "One?"), event("edited", "gold_answer", "Two")
    opinion = fold_opinion(PROBE, "ana", [first, second, event("undone", first.event_id)])
    assert (opinion.probe.question, opinion.probe.gold_answer) == (PROBE.question, "Two")


@given(st.lists(st.sampled_from("aur"), max_size=40))
def test_undo_and_redo_act_like_two_stacks(keys: list[str]) -> None:
    log: list[ReviewEvent] = []
    done: list[str] = []
    undone: list[str] = []
    for key in keys:
        if key == "a":
            log.append(event("edited", "question", "?"))
            done.append(log[-1].event_id)
            undone.clear()
            continue
        found = next_undo(log, "ana") if key == "u" else next_redo(log, "ana")
        if found is not None:
            log.append(event("undone", found.event_id))
        if key == "u" and done:
            undone.append(done.pop())
        elif key == "r" and undone:
            done.append(undone.pop())
        assert [e.event_id for e in in_force(log)] == done


def test_removing_a_nugget_takes_it_out_of_the_evidence_and_the_last_one_stays() -> None:
    first, second = (n.nugget_id for n in PROBE.rubric)
    made = [event("edited", f"nugget/{first}", None), event("edited", f"nugget/{second}", None)]
    probe = fold_opinion(PROBE, "ana", made).probe
    assert [n.nugget_id for n in probe.rubric] == [second]
    assert [e.nugget_ids for e in probe.evidence] == [(), (second,)]


def test_the_next_candidate_takes_the_room_of_a_rejected_one_and_chosen_ones_go_first() -> None:
    pool = [PROBE.model_copy(update={"probe_id": f"p{i}", "rank": i, "is_selected": i < 2}) for i in range(5)]
    rejected = {"p0"}

    def status(probe_id: str) -> ItemStatus:
        return ItemStatus.REJECTED if probe_id in rejected else ItemStatus.PENDING

    assert entries_of(pool, status, (), ()) == {"p0": Entry.SEALED, "p1": Entry.SEALED, "p2": Entry.MOVED_UP}
    assert list(entries_of(pool, status, {"p4"}, ())) == ["p0", "p1", "p4"]
    rejected |= {"p2"}
    assert list(entries_of(pool, status, (), ())) == ["p0", "p1", "p2", "p3"]


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


@pytest.mark.parametrize(
    ("content", "quote", "found"),
    [
        ("The **deck oven** costs\n$7,400 now.", "deck oven costs $7,400", "deck oven** costs\n$7,400"),
        ("| Oven | $7,400 |", "Oven $7,400", "Oven | $7,400"),
        ("Äpfel und STRASSE", "äpfel und strasse", "Äpfel und STRASSE"),
        ("nothing here", "something", None),
        ("anything", "  ", None),
    ],
)
def test_a_selection_is_found_without_markdown_and_white_space(content: str, quote: str, found: str | None) -> None:
    place = find_quote(content, quote)
    assert (content[place[0] : place[1]] if place else None) == found


def test_of_several_places_the_one_with_the_same_surroundings_is_taken() -> None:
    content = "first: 12 days. second: 12 days!"
    assert find_quote(content, "12 days", prefix="second: ") == (24, 31)


def test_anchors_move_with_their_message_and_break_when_it_is_gone() -> None:
    content = "On Monday we sold 140 loaves at the opening."
    anchor = anchor_at("k1", content, 13, 28)
    assert (anchor.quote, anchor.prefix, anchor.content_hash) == (
        "sold 140 loaves",
        "On Monday we ",
        content_hash(content),
    )
    assert find_anchor(anchor, content, ()).attachment is Attachment.ATTACHED
    alike = "They never sold 140 loaves at the opening."
    moved = find_anchor(anchor, None, [("k5", alike), ("k7", content)])
    assert (moved.attachment, moved.message_key) == (Attachment.MOVED, "k7")
    assert find_anchor(anchor, "rewritten", [("k5", alike)]).message_key == "k5"
    assert find_anchor(anchor, None, [("k9", "sold 140 loaves")]).attachment is Attachment.BROKEN
    assert find_anchor(Anchor(message_key="k1", quote="gone"), content, ()).attachment is Attachment.BROKEN
