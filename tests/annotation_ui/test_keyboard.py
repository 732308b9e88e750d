from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from longbeam.annotation_ui import KEYS

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "longbeam" / "annotation_ui" / "static" / "item"
ITEM = "".join(f.read_text(encoding="utf-8") for f in sorted(SCRIPTS.glob("*.js")))


def test_no_two_acts_share_a_key_and_none_is_bare_enter_or_backspace() -> None:
    assert Counter(k.key for k in KEYS).most_common(1)[0][1] == 1
    assert not {"Enter", "Backspace", " "} & {k.key for k in KEYS}


def test_every_key_has_a_handler_and_every_hint_a_key() -> None:
    actions = {k.action for k in KEYS}
    assert set(re.findall(r'\bon\("([a-z-]+)"', ITEM)) == actions
    assert set(re.findall(r'(?:KeyButton}[^>]*? action=|keyOf\()"([a-z-]+)"', ITEM)) <= actions


def test_the_docs_have_the_table() -> None:
    rows = [f"| `{k.key}` | {k.hint} | {k.group} |" for k in KEYS]
    assert "\n".join(["| key | does | |", "|---|---|---|", *rows, ""]) in (ROOT / "docs" / "review.md").read_text(
        encoding="utf-8"
    )
