"""Redaction: recall and precision by kind and script on texts planted blind, and processor seconds for 1 MB.

    python benchmarks/bench_redaction.py [MESSAGES [SEED]]

The messages are those of tests/text/planted.py. A planted text is met if no letter or digit of it is left; a found one
is right if it touches a planted one. Names are not measured.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from longbeam.text import KINDS, Redaction
from tests.text.planted import CARRIERS, planted_messages, redaction_score

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
    "telephone numbers": "".join(f"0170/{n:07};" for n in range(MEGABYTE // 13)),
}


def main() -> None:
    """Print the tables."""
    count, seed = (int(given) for given in (sys.argv[1:] + ["3000", "20261128"][len(sys.argv) - 1 :])[:2])
    score = redaction_score(planted_messages(seed, count))
    kinds = KINDS[:-1]
    print(f"Recall, {count} messages, seed {seed}\n\n| script | {' | '.join(kinds)} |\n|---|{'---|' * len(kinds)}")
    for script in (*CARRIERS, "all"):
        print(f"| {script} | {' | '.join(f'{score.recall(kind, script):.3f}' for kind in kinds)} |")
    print(f"| planted | {' | '.join(str(score.there[kind, 'all']) for kind in kinds)} |")
    print(f"| precision | {' | '.join(f'{score.precision(kind):.3f}' for kind in kinds)} |")
    print("\n| 1 MB of | s |\n|---|---|")
    for name, text in WITHOUT_SPACES.items():
        began = time.process_time()
        Redaction().redacted(text)
        print(f"| {name} | {time.process_time() - began:.2f} |")


if __name__ == "__main__":
    main()
