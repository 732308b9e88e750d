"""The fold of events, undo and redo, and the choice of probes: no server."""

from __future__ import annotations

from hypothesis import given, strategies as st

from longbeam.review import (
    Entry,
    ItemState,
    ItemStatus,
    entries_of,
    fold_opinion,
    in_force,
    next_redo,
    next_undo,
    probe_version,
)
from longbeam.schemas import MeasuredDifficulty, ReviewEvent
from tests.review.events import PROBE, accept, event


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
    assert state.status is ItemStatus.PENDING


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


def test_the_version_of_a_probe_is_that_of_earlier_releases() -> None:
    # Taken from commit 33bbcf1. An opinion holds for one version: if this changes, an upgrade drops every review.
    assert probe_version(PROBE) == "acae4fb6667edfc3"


def test_measuring_a_probe_leaves_its_version_as_it_is() -> None:
    measured = PROBE.details.model_copy(update={"difficulty": MeasuredDifficulty(bm25=0.5)})
    assert probe_version(PROBE.model_copy(update={"details": measured})) == probe_version(PROBE)
