"""The examples of docs/memory-systems.md, run as they stand there."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from longbeam.evaluation import always_there
from longbeam.memory import MemorySystem, RagSettings, SearchToolSettings, exchanges_of, find_system, settings_of
from longbeam.serving import LOOPBACK, open_listener, serving
from tests.memory.test_systems import asked, messages, tools

PAGE = (Path(__file__).parents[2] / "docs" / "memory-systems.md").read_text(encoding="utf-8")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that imports an example by its file's name."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(name: str, most_lines: int) -> Any:
        (code,) = re.findall(rf"```python\n(# {name}\.py.*?)```", PAGE, re.DOTALL)
        assert len([line for line in code.splitlines() if line.strip()]) <= most_lines
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        importlib.invalidate_caches()
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return load


def test_the_page_names_everything_that_is_always_in_the_table() -> None:
    (sentence,) = re.findall(r"The floors and ceilings.*?always in\s+the\s+table", PAGE, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", sentence)) == {arm.name for arm in always_there()}


def test_the_page_has_the_settings_of_rag_and_search_tool() -> None:
    (section,) = re.findall(r"## RAG and the search tool\n(.*?)\n## ", PAGE, re.DOTALL)
    named = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert named == {*RagSettings.model_fields, *SearchToolSettings.model_fields}


async def told(name: str) -> MemorySystem:
    found = find_system(name)
    system = found.make(settings_of(name, found, {}), tools())
    for exchange in exchanges_of(messages()):
        await system.add(exchange)
    await system.finish()
    return system


@pytest.mark.parametrize(("module", "name", "lines"), [("notes", "notes:Notes", 20), ("people", "people:PEOPLE", 25)])
async def test_a_system_of_ones_own(example: Any, module: str, name: str, lines: int) -> None:
    example(module, lines)
    context = await (await told(name)).context(asked("What does Gunnar want to see?"), budget=100)
    assert "Gunnar wants to see the lease." in context.text
    assert "p0.s0.t1.n0" in context.message_keys


async def test_a_server_of_ones_own(example: Any) -> None:
    async with serving(example("server", 25).app, open_listener(LOOPBACK, 0)) as url:
        context = await (await told(url)).context(asked("What does Gunnar want to see?"), budget=100)
    assert "[March 7, 2023] Gunnar wants to see the lease." in context.text
    assert "p0.s0.t1.n0" in context.message_keys
