from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all tests of this room: making its database takes 8 s."""
    return tmp_path_factory.mktemp("prefect")
