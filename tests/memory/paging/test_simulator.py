from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.errors import UserError
from longbeam.memory.paging import (
    ONLINE,
    Capacity,
    Foresight,
    History,
    Need,
    Page,
    PagedContext,
    PagingConfig,
    TimedQuestion,
    Turn,
    Workload,
    boundary_of,
    break_down_accuracy,
    plan_residency,
    run_study,
    simulate,
    victim_of,
)


def workload(needs: list[tuple[int, int]], turns: int = 12) -> Workload:
    """A workload of so many turns of ten tokens; each need is (after, turn)."""
    said = tuple(Turn(f"t{i}", "user", f"word{i}", 10, True) for i in range(turns))
    asked = sorted(
        (TimedQuestion(f"word{t}", after, frozenset({f"t{t}"}), "k") for after, t in needs), key=lambda a: a.after
    )
    return Workload("x", said, tuple(asked))


def hits(workload: Workload, policy: str, **capacity: int | None) -> int:
    config = PagingConfig(boundary="fixed_2", eviction=policy, selector="oracle", **{"tokens": None, **capacity})
    return sum(o.resident for o in simulate(workload, config, len))


_needs = st.lists(st.tuples(st.integers(1, 24), st.integers(0, 23)).filter(lambda n: n[1] < n[0]), max_size=8)


@settings(max_examples=40)
@given(_needs, st.integers(1, 4))
def test_no_policy_beats_the_clairvoyant_one_in_pages(needs: list[tuple[int, int]], pages: int) -> None:
    asked = workload(needs, turns=24)
    best = hits(asked, "belady", pages=pages)
    assert all(best >= hits(asked, policy, pages=pages) for policy in (*ONLINE, "furthest"))


@settings(max_examples=25)
@given(_needs, st.integers(20, 90))
def test_no_policy_beats_the_clairvoyant_one_in_tokens(needs: list[tuple[int, int]], tokens: int) -> None:
    asked = workload(needs, turns=24)
    best = hits(asked, "belady", tokens=tokens)
    assert all(best >= hits(asked, policy, tokens=tokens) for policy in (*ONLINE, "furthest"))


def test_the_furthest_need_is_no_optimum_where_pages_do_not_come_back() -> None:
    # Room for two pages: with the third, one of the first two goes. The first is needed once and first, the second
    # thrice and later.
    asked = workload([(5, 0), (6, 2), (6, 3), (6, 2)], turns=6)
    assert (hits(asked, "furthest", pages=2), hits(asked, "belady", pages=2)) == (1, 3)


def test_a_plan_keeps_what_earns_most_within_its_capacity() -> None:
    # Three pages begin at 1, 3 and 5; two fit, and the newest is one of them. Needs: page 1 at 6, page 2 at 6 and at 8.
    until = plan_residency([1, 3, 5], [Need(6, (1,)), Need(6, (2,)), Need(8, (2,))], 2)
    assert (until[1], until[2]) == (3, 9)


@pytest.mark.parametrize(("policy", "gone"), [("fifo", 1), ("lru", 2), ("lfu", 2), ("furthest", 3)])
def test_policies_on_a_known_history(policy: str, gone: int) -> None:
    history = History({1: [1, 2], 3: [3, 4, 5]})
    future = [Need(8, (1,)), Need(9, (2,))]
    assert victim_of(policy, [1, 2, 3], history, Foresight(future)) == gone


def test_a_policy_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match="fifo, lru, lfu, belady"):
        victim_of("mru", [1], History())


@given(st.integers(15, 200), st.integers(0, 60))
def test_the_context_never_outgrows_its_capacity(tokens: int, turns: int) -> None:
    paged = PagedContext(boundary_of("fixed_2"), Capacity(tokens=tokens), "fifo", lambda page: 3)
    for number in range(turns):
        paged.add(Turn(str(number), "user", "x", 7, True))
        if paged.resident:  # the open page is not evicted, so it may outgrow the capacity alone
            assert paged.tokens <= tokens
        assert sorted([*paged.resident, *paged.evicted]) == sorted(paged.pages)


def test_accuracy_is_what_it_is_made_of() -> None:
    asked = workload([(12, 0), (12, 2), (12, 10), (6, 4), (9, 1)])
    for selector in ("lexical", "random", "oracle"):
        config = PagingConfig(boundary="fixed_2", pages=2, bookmarks="tfidf", selector=selector, tokens=None)
        s = break_down_accuracy(simulate(asked, config, len))
        assert s.accuracy == pytest.approx(s.residency + (1 - s.residency) * s.trigger * s.precision)
        assert s.questions == 5
    assert s.accuracy == 1  # the oracle


def test_a_bookmark_without_words_triggers_nothing() -> None:
    config = PagingConfig(boundary="fixed_2", pages=2, form="id", tokens=None)
    found = break_down_accuracy(simulate(workload([(12, 0)]), config, len))
    assert (found.trigger, found.accuracy) == (0, 0)


def test_the_newest_page_is_always_there() -> None:
    paged = PagedContext(boundary_of("fixed_2"), Capacity(pages=1), "lru")
    for number in range(5):
        paged.add(Turn(str(number), "user", "x", 1, True))
    assert paged.is_resident(3)
    assert paged.evicted == [1, 2]
    assert paged.open_page == Page(3, (Turn("4", "user", "x", 1, True),))


def test_a_study_has_sessions_as_pages_where_there_are_some() -> None:
    def workload(sessions: int) -> Workload:
        turns = tuple(Turn(f"t{i}", "user", f"word{i} said", 10, i % 2 == 0, i % sessions) for i in range(6))
        return Workload("c0", turns, (TimedQuestion("word1?", 6, frozenset({"t1"})),))

    for sessions, expected in ((1, False), (2, True)):
        study = run_study("b", [workload(sessions)], len, Capacity(tokens=40))
        assert ("session" in {row.config.boundary for row in study.ablation}) is expected


def test_lru_goes_by_the_last_use_and_lfu_by_the_number_of_uses() -> None:
    history = History(created={1: 2, 2: 20})
    history.refer([1], 5)
    # Page 1 was used once, long ago; page 2 is new, and its first use is that it was written.
    assert victim_of("lru", [1, 2], history) == 1
    assert victim_of("lfu", [1, 2], history) == 2
