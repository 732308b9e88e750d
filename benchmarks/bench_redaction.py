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
PIECES = {
    "letters": "a", "digits": "1", "at signs": "a@", "dots": "1.", "base64": "QWxhZGRpbjpvcGVuIHNlc2FtZQ",
    "`sk-`": "sk-", "`DE89`": "DE89", "`eyJa.`": "eyJa.", "names": "Anna", "brackets": "(1)", "`密码`": "密码",
    "`password:`": "password:", "heads of keys": "-----BEGIN PRIVATE KEY-----", "one digit and a space": "0 ",
    "four digits and a space": "4111 ", "addresses of one firm": "a{}@longestdomainname.com ",
    "passwords": "password: aaaaaaaaaaaa!{} ", "one IP address": "1.1.1.1,", "telephone numbers": "0170/{:07};",
    "links with a password": "://a:",
}  # fmt: skip
"""Texts of which many, one after another with its number, make a megabyte of UTF-8."""


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
    print("\n| 1 MB of | s | found |\n|---|---|---|")
    for name, piece in PIECES.items():
        text = "".join(piece.format(number) for number in range(MEGABYTE // len(piece.format(0).encode())))
        redaction, began = Redaction(), time.process_time()
        redaction.redacted(text)
        seconds = time.process_time() - began
        print(f"| {name} | {seconds:.2f} | {sum(found.count for found in redaction.found()):,} |")


if __name__ == "__main__":
    main()
