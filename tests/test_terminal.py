from __future__ import annotations

import pytest

from longbeam.terminal import duration


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text
