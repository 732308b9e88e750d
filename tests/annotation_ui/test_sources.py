from __future__ import annotations

from longbeam.annotation_ui import STATIC, TEMPLATES

LONGEST = 160


def test_scripts_styles_and_templates_have_lines_that_a_person_can_read() -> None:
    files = [p for root in (TEMPLATES, STATIC) for p in root.rglob("*") if p.suffix in (".html", ".js", ".css", ".ts")]
    own = [p for p in files if "vendor" not in p.parts]
    assert len(own) > 30
    lines = [(p.name, n, len(line)) for p in own for n, line in enumerate(p.read_text(encoding="utf-8").split("\n"), 1)]
    assert [found for found in lines if found[2] > LONGEST] == []
