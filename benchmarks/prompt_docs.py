"""Build the pages of all prompts from a run with the stand-in model.

Usage: `python -m benchmarks.prompt_docs PAGES TABLE`.

`make docs-prompts` calls it with `output/prompts` and `docs/prompts/README.md`. It takes a minute or two.
"""

from __future__ import annotations

import sys
from pathlib import Path

from longbeam.pipeline import capture
from longbeam.prompts import pages_of, table_of
from longbeam.wiring import services


def write(pages: Path, table: Path) -> None:
    """Write the pages into the folder `pages`, and the table of prompts into the file `table`."""
    captured = capture(services().models(services().stand_in()))
    pages.mkdir(parents=True, exist_ok=True)
    for name, text in pages_of(captured).items():
        (pages / name).write_text(text, encoding="utf-8")
    table.write_text(table_of(captured), encoding="utf-8")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:3]))
