"""Values that nobody means, as JSON, TOML and arguments can hold them."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

WORDS = (
    "", " ", "\0", "\x1b[2J", "\ud800", "../..", "/", "~nobody/x", "x" * 300, "9" * 400, "9" * 5_000, "1e400K", "nan",
    "-1", "16K", "1M", "openai:", "openai:x", "gguf:", "gguf:\0", "vllm:x", "offline", "a=b", "{", "[[", "%s", "$HOME",
    "--", "-", "ß", "日本", "\u202e", "2024-02-30", "D1:1", "answer_1", "1:56 pm on 8 May, 2023",
    "2023/05/20 (Sat) 02:21",
)  # fmt: skip
TEXTS = st.sampled_from(WORDS) | st.text(max_size=20)
NUMBERS = (
    st.sampled_from([0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, float("inf"), float("nan"), -0.0])
    | st.integers()
    | st.floats()
)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)


def places(tree: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of everything in a JSON tree."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [here, *(path for key, value in inner for path in places(value, (*here, key)))]


@st.composite
def spoilt(draw: st.DrawFn, tree: Any) -> Any:
    """The tree with one to three of its parts replaced, left out or doubled."""
    tree = copy.deepcopy(tree)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([p for p in places(tree) if p] or [()]))
        if not path:
            return draw(VALUES)
        holder = tree
        for key in path[:-1]:
            holder = holder[key]
        act = draw(st.sampled_from(["replace", "replace", "remove", "double"]))
        if act == "replace":
            holder[path[-1]] = draw(VALUES)
        elif act == "remove":
            del holder[path[-1]]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[path[-1]]))
    return tree
