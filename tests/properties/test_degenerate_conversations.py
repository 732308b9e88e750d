"""All checks run on conversations with empty, one-character and sentence-less messages."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given, strategies as st

from longbeam.schemas import ABILITIES
from longbeam.validation import check_benchmark, check_conversation
from tests.builders import MemoryReader, good_conversation
from tests.validation.told import asks, imported

TEXTS = st.sampled_from(
    ["", " ", "\n\n", ".", "?", "!", "...", "-", "a", "I", "7", "$", "\U0001f600", "？", "。", "¿", "\u200b", "\0",
     "```", "`", "https://x.org", "|||", "Why?", "1.", "(", "\t", "€€€", "a" * 300, "1" * 400, "%s", "\u202e"]
) | st.text(max_size=3)  # fmt: skip


@st.composite
def conversations(draw: st.DrawFn) -> MemoryReader:
    probes = [
        asks(
            draw(st.sampled_from(ABILITIES)),
            draw(TEXTS),
            draw(TEXTS),
            dict.fromkeys(draw(st.sets(st.integers(0, 3), max_size=2)), ""),
            draw(TEXTS),
            number=n,
        )
        for n in range(draw(st.integers(0, 3)))
    ]
    if draw(st.booleans()):
        return imported(draw(st.lists(TEXTS, max_size=6)), *probes)
    good = good_conversation()
    said = tuple(m.model_copy(update={"content": draw(TEXTS)}) if draw(st.booleans()) else m for m in good.said)
    return replace(good, said=said)


@example(imported([], asks("abstention", "", "", {}, "")))
@given(conversations())
def test_all_checks_run_on_degenerate_conversations(reader: MemoryReader) -> None:
    check_conversation(reader)
    check_benchmark([reader])
