from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from longbeam.flows import HOME


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all tests of this room, in an output folder: making its database takes 8 s."""
    return tmp_path_factory.mktemp("output") / HOME


@pytest.fixture(autouse=True)
def collected_here() -> Iterator[None]:
    """Prefect leaves its client's sockets to the garbage collector: collect them where that is known of."""
    yield
    gc.collect()
