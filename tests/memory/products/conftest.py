from __future__ import annotations

import pytest

from longbeam.memory.products import QUIET


@pytest.fixture(autouse=True)
def quiet(same_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what adapters set for the whole process before they import a product, for one test."""
    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
