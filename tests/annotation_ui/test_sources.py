from __future__ import annotations

import re

from longbeam.annotation_ui import KEYS, STATIC, TEMPLATES
from longbeam.review import VIEWS, act_name
from longbeam.schemas import EventKind

LONGEST = 160


def test_scripts_styles_and_templates_have_lines_that_a_person_can_read() -> None:
    files = [p for root in (TEMPLATES, STATIC) for p in root.rglob("*") if p.suffix in (".html", ".js", ".css", ".ts")]
    own = [p for p in files if "vendor" not in p.parts]
    assert len(own) > 30
    lines = [(p.name, n, len(line)) for p in own for n, line in enumerate(p.read_text(encoding="utf-8").split("\n"), 1)]
    assert [found for found in lines if found[2] > LONGEST] == []


FORMER = re.compile(
    r"\b(takes?|taken|took) back|\b(send|sent) back|undecided|reviewers differ|gold item|measures? reviewers"
    r"|write a probe|judge gold, empty|\blook at it: why",
    re.IGNORECASE,
)
"""Second names of things that have one: undo, return, pending, conflict, test item, item, try the rubric, flag."""


def test_a_thing_has_one_name_on_the_pages() -> None:
    files = [p for root in (TEMPLATES, STATIC) for p in root.rglob("*") if p.suffix in (".html", ".js")]
    texts = {p.name: p.read_text(encoding="utf-8") for p in files if "vendor" not in p.parts}
    texts |= {"keys": " ".join(key.hint for key in KEYS), "views": " ".join(VIEWS.values())}
    texts["log"] = " ".join(act_name(kind, "item") for kind in EventKind)
    assert {name: found[0] for name, text in texts.items() if (found := FORMER.search(text))} == {}
