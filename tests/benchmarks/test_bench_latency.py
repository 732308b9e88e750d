"""The bound that chains and limits give, and the chain that ends last."""

from __future__ import annotations

import pytest

from benchmarks.bench_latency import bound_of, critical_path


@pytest.mark.parametrize(
    ("spans", "in_flight", "bound"),
    [
        ([(0.0, 1.0)] * 4, 1, 4.0),  # the limit alone
        ([(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)], 8, 3.0),  # the chain alone
        ([(0.0, 1.0), *[(1.0, 2.0)] * 4], 2, 3.0),  # one call that nothing runs beside, then four by twos
        ([*[(0.0, 1.0)] * 4, (1.0, 2.0)], 2, 2.5),  # behind the four: the fifth may run beside them
    ],
)
def test_bound_of_chains_and_limit(spans: list[tuple[float, float]], in_flight: int, bound: float) -> None:
    assert bound_of(spans, in_flight) == pytest.approx(bound)


def test_critical_path_goes_back_from_the_last_end() -> None:
    #        0: 0-1, 1: 0-2; 2 waits for 1, 3 for 0; 4 waits for 2 and ends last
    spans = [(0.0, 1.0), (0.0, 2.0), (2.0, 3.0), (1.0, 4.5), (3.0, 5.0)]
    assert critical_path(spans) == [1, 2, 4]
