"""Redaction: recall and precision by kind and script on texts drawn with Faker, and processor seconds
for 1 MB without spaces.

    python benchmarks/bench_redaction.py [ITEMS]
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from longbeam.text import Redaction
from tests.text.planted import planted

MEGABYTE = 10**6
WITHOUT_SPACES = {
    "letters": "a" * MEGABYTE,
    "digits": "1" * MEGABYTE,
    "at signs": "a@" * (MEGABYTE // 2),
    "dots": "1." * (MEGABYTE // 2),
    "base64": "QWxhZGRpbjpvcGVuIHNlc2FtZQ" * (MEGABYTE // 26),
    "hyphens": "sk-" * (MEGABYTE // 3),
    "capitals": "DE89" * (MEGABYTE // 4),
    "names": "Anna" * (MEGABYTE // 4),
}


def measured(
    items: int, seed: int
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]], Counter[str], Counter[str]]:
    """Return planted and found texts by kind and script, and all found and rightly found ones by kind."""
    source = planted(seed, items)
    there, hit, found, right = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[str](), Counter[str]()
    spans = [span for span in Redaction().spans(source.text) if span.kind != "name"]
    texts = [(span.kind, source.text[span.start : span.end]) for span in spans]
    values = {value.replace("\u00a0", " ") for _, _, value in source.items}
    for kind, script, value in source.items:
        there[kind, script] += 1
        hit[kind, script] += any(
            value.strip("!") in text or (len(text) > 5 and text in value and len(text) >= 0.8 * len(value))
            for _, text in texts
        )
    for kind, text in texts:
        found[kind] += 1
        right[kind] += any(
            text.strip(".") in value or value in text for value in (*values, *(v for _, _, v in source.items))
        )
    return there, hit, found, right


def main() -> None:
    """Print the table."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    there, hit, found, right = measured(items, 20260101)
    print("| kind | script | planted | recall |\n|---|---|---|---|")
    for kind, script in sorted(there):
        print(f"| {kind} | {script} | {there[kind, script]} | {hit[kind, script] / there[kind, script]:.3f} |")
    print("\n| kind | found | precision |\n|---|---|---|")
    for kind in sorted(found):
        print(f"| {kind} | {found[kind]} | {right[kind] / found[kind]:.3f} |")
    print("\n| 1 MB of | s |\n|---|---|")
    for name, text in WITHOUT_SPACES.items():
        began = time.process_time()
        Redaction().redacted(text)
        print(f"| {name} | {time.process_time() - began:.2f} |")


if __name__ == "__main__":
    main()
