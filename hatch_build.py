"""Build hook of the wheel: large texts that only the program reads are compressed, which saves over 2 MB of 15."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPRESSED = ("longbeam/offline/packs/*.yaml", "longbeam/samples/*/reviews.jsonl")
"""Files that are compressed; the wheel's `exclude` names them, too."""


class Compress(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `NAME.gz` for each of the files."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compress the files into a folder of the build; an editable installation reads them where they are."""
        if version == "editable":
            return
        self._scratch = tempfile.TemporaryDirectory(prefix="longbeam-wheel-")  # removed when the build ends
        folder = Path(self._scratch.name)
        for number, path in enumerate(p for pattern in COMPRESSED for p in sorted(Path(self.root).glob(pattern))):
            packed = folder / f"{number}.gz"
            packed.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
            build_data["force_include"][str(packed)] = f"{path.relative_to(self.root)}.gz"
