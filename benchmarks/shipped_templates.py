"""Write the weights that the floor `templates` uses where a benchmark has fewer than four conversations.

    python -m benchmarks.shipped_templates OUT NAME "what it is"

The benchmark should be one that nobody evaluates: the floor must not have seen what it is tried on.
"""

from __future__ import annotations

import sys
from pathlib import Path

from longbeam.memory import SHIPPED, count_templates, learn_templates
from longbeam.store import SealedConversation, open_benchmark

MOST = 2_000
"""N-grams that are kept: 50 KB, with which the floor finds as much as with all."""


def main(out: str, name: str, said: str) -> None:
    """Learn on a benchmark and write the weights."""
    benchmark = open_benchmark(Path(out), name)
    counts = []
    for conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            probes = [p for p in sealed.probes() if p.is_selected]
            counts.append(count_templates(list(sealed.messages()), probes))
    learnt = learn_templates(counts, said, most=MOST)
    SHIPPED.write_text(learnt.model_dump_json() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
