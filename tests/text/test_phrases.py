from __future__ import annotations

import pytest

from longbeam.text import listed


@pytest.mark.parametrize(("names", "said"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_names_are_listed_with_and_before_the_last(names: list[str], said: str) -> None:
    assert listed(names) == said
