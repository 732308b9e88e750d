"""Whatever stands in another project's file is imported, or refused in one line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, strategies as st

from longbeam.errors import UserError
from longbeam.formats import Importer, ImportOptions, import_beam, import_locomo, import_longmemeval
from tests.formats.sources import locomo_sample, longmemeval_items
from tests.formats.test_beam_tables import row
from tests.properties.hostile import spoilt

SOURCES: list[tuple[Importer, Any]] = [
    (import_locomo, [locomo_sample()]),
    (import_longmemeval, longmemeval_items()),
    (import_beam, [row()]),
]


@st.composite
def files(draw: st.DrawFn) -> tuple[Importer, str]:
    importer, tree = draw(st.sampled_from(SOURCES))
    return importer, json.dumps(draw(spoilt(tree)))


@given(files())
def test_a_file_is_imported_or_refused_in_one_line(given_file: tuple[Importer, str]) -> None:
    importer, text = given_file
    said = ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "source.json"
        path.write_text(text, encoding="utf-8")
        try:
            for conversation in importer(path, ImportOptions()):
                for _ in conversation.messages():
                    pass
        except UserError as exc:
            said = str(exc)
    assert "\n" not in said
    assert len(said) < 1_000
