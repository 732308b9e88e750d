from __future__ import annotations

import json

import pytest

from longbeam.memory.cmv import BUCKETS, TrimmableBytes, analyze, break_even, outlook, trimmed_tokens, types_of
from tests.memory.cmv.lines import call, line, result


@pytest.mark.parametrize(
    ("reduction", "turns"),
    [
        (0.05, 92),
        (0.10, 44),
        (0.12, 36),
        (0.20, 20),
        (0.30, 12),
        (0.34, 10),
        (0.39, 8),
        (0.50, 5),
        (0.67, 3),
        (0.86, 1),
    ],
)
def test_break_even_at_nine_tenths_cached(reduction: float, turns: int) -> None:
    # memory-systems.md 3.5, c(.9) = .215: N = ceil(1.035 (1 - r) / (.215 r)).
    assert break_even(reduction) == turns


@pytest.mark.parametrize(("hit_rate", "turns"), [(0.6, 5), (0.7, 8), (0.9, 20), (0.95, 28)])
def test_break_even_of_a_fifth_by_hit_rate(hit_rate: float, turns: int) -> None:
    assert break_even(0.2, hit_rate) == turns


def test_break_even_is_never_where_nothing_was_cut_and_is_not_censored() -> None:
    assert break_even(0) is None
    assert break_even(0.001) == 4810  # 1.035 * .999 / (.215 * .001) = 4809.2


def test_outlook_in_money() -> None:
    # 100,000 to 80,000 tokens, sonnet-4 at 3 USD a million: a steady turn costs .215 * 100,000 = 21,500 units,
    # the first one after the trim 1.25 * 80,000 = 100,000, and each later one saves .215 * 20,000 = 4,300.
    found = outlook(100_000, 80_000)
    assert found.penalty_usd == pytest.approx(78_500 * 3e-6)
    assert found.saved_usd_per_turn == pytest.approx(4_300 * 3e-6)
    assert found.break_even_turns == 20
    assert found.saved_usd[20] == pytest.approx((19 * 4_300 - 78_500) * 3e-6)
    assert found.saved_usd[20] > 0 > 18 * 4_300 - 78_500


def test_the_overhead_is_not_trimmed() -> None:
    assert trimmed_tokens(100_000, 0.5) == 60_000
    assert trimmed_tokens(15_000, 0.5) == 15_000


def test_expected_reduction_is_capped() -> None:
    found = TrimmableBytes(tool_results=1_000, results_count=2, signatures=100, file_history=50, tool_calls=200)
    # 50 + 100 + 700 - 70 + 60 = 840
    assert found.expected_reduction(2_000) == pytest.approx(0.42)
    assert found.expected_reduction(800) == 0.95
    assert found.expected_reduction(0) == 0


def test_an_empty_session_is_the_overhead() -> None:
    found = analyze([])
    assert (found.tokens, found.context_percent, found.active_bytes) == (20_000, 10, 0)


def test_tokens_are_a_quarter_of_the_characters_where_the_api_said_nothing() -> None:
    assert analyze([line("user", "x" * 400)]).tokens == 20_100


def test_tokens_follow_the_api_and_what_came_since() -> None:
    usage = {"input_tokens": 90_000, "cache_creation_input_tokens": 6_000, "cache_read_input_tokens": 4_000}
    said = json.dumps({"type": "assistant", "message": {"role": "assistant", "content": "x" * 800, "usage": usage}})
    found = analyze([line("user", "x" * 400), said])
    assert (found.tokens, found.context_percent, found.has_api_tokens) == (100_000, 50, True)
    assert analyze([said, line("user", "y" * 400)]).tokens == 100_100


def test_buckets_hold_all_active_bytes() -> None:
    lines = [
        line("user", "question"),
        call("Bash", {"command": "ls"}),
        result("r" * 300),
        line("assistant", [{"type": "thinking", "thinking": "t", "signature": "s" * 90}]),
        line("assistant", [{"type": "thinking", "thinking": "t"}]),
        line("file-history-snapshot"),
        line("queue-operation"),
        "broken",
    ]
    found = analyze(lines)
    assert set(found.breakdown) == set(BUCKETS)
    assert sum(b.bytes for b in found.breakdown.values()) == found.active_bytes == sum(len(t) + 1 for t in lines)
    counts = {name: bucket.count for name, bucket in found.breakdown.items()}
    assert (counts["tool_results"], counts["tool_calls"], counts["thinking_signatures"]) == (1, 1, 1)
    assert (counts["file_history"], counts["other"]) == (1, 2)
    assert 95 <= sum(b.percent for b in found.breakdown.values()) <= 105


def test_copies_of_tool_results_are_no_conversation() -> None:
    copied = result("r", toolUseResult={"stdout": "x" * 1_000})
    found = analyze([line("user", "question"), copied])
    assert found.breakdown["tool_copies"].bytes == len('{"toolUseResult":{"stdout":""}}') + 1_000
    assert found.breakdown["conversation"].bytes < 200
    assert found.expected_reduction > 0.4


def test_counts_begin_anew_at_each_compaction_and_the_apis_tokens_stay() -> None:
    usage = {"input_tokens": 150_000}
    said = json.dumps({"type": "assistant", "message": {"role": "assistant", "content": "a", "usage": usage}})
    found = analyze([line("user", "a"), said, line("system", subtype="compact_boundary"), line("user", "b")])
    assert (found.user_messages, found.assistant_messages, found.compactions) == (1, 0, 1)
    assert found.tokens == 150_000
    assert found.active_bytes < found.total_bytes


def test_sessions_are_typed_by_their_share_of_tool_results() -> None:
    spoken, mixed, heavy = (
        [line("user", "x" * said), call("Bash", {}), result("r" * shown)]
        for said, shown in ((9_000, 100), (5_000, 2_000), (1_000, 400_000))
    )
    found = types_of(analyze(of) for of in (spoken, spoken, mixed, heavy))
    assert [(of.type, of.sessions) for of in found] == [("light", 2), ("mixed", 1), ("heavy", 1), ("all", 4)]
    one = analyze(heavy)
    reduction = 1 - trimmed_tokens(one.tokens, one.expected_reduction) / one.tokens
    assert found[2].reduction == found[2].median_reduction == found[2].most_reduction == found[3].most_reduction
    assert found[2].reduction == pytest.approx(reduction)
    assert found[2].break_even_turns == break_even(reduction)
