"""The adapters with the real packages; each test is skipped where its package is not installed."""

from __future__ import annotations

import datetime as dt
import inspect
import re
import tomllib
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from longbeam.errors import SpecError
from longbeam.memory import PRODUCTS, MemorySystem, Tools, exchanges_of, find_system, settings_of
from longbeam.models.embedders import HashedEmbedder
from tests.memory.test_systems import asked, messages, tools

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the products


def is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def require(name: str) -> None:
    """Skip where a package of the system is missing."""
    if missing := [package for package in PRODUCTS[name].packages if not is_installed(package)]:
        pytest.skip(f"{', '.join(missing)} not installed: pip install 'longbeam[{name}]'")


def embedding_tools(folder: Path | None) -> Tools:
    return replace(tools(), embedder=HashedEmbedder(), folder=folder)


async def told(name: str, folder: Path | None, **values: object) -> MemorySystem:
    require(name)
    found = find_system(name)
    system = found.make(settings_of(name, found, values), embedding_tools(folder))
    for exchange in exchanges_of(messages()):
        await system.add(exchange)
    await system.finish()
    return system


WITHOUT_A_MODEL = ("chroma", "graphiti", "lancedb", "langmem", "mem0")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", WITHOUT_A_MODEL)
async def test_a_product_finds_the_message_with_its_day(name: str, tmp_path: Path) -> None:
    system = await told(name, tmp_path, k=1)
    context = await system.context(asked("What does the kiln cost, in euros?"), budget=100)
    assert "The kiln costs 4,200 euros." in context.text
    assert context.text.startswith("[March 6, 2023] ")
    assert context.message_keys == ("p0.s0.t0.n0",)
    assert system.usage().index_bytes > 0
    await system.close()  # type: ignore[attr-defined]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", WITHOUT_A_MODEL)
async def test_adding_again_after_a_failure_stores_nothing_twice(name: str, tmp_path: Path) -> None:
    system = await told(name, tmp_path, k=20)
    product = system._product  # type: ignore[attr-defined]
    failures = [ConnectionResetError("gone")]
    whole = product.add

    def add(*given: object) -> None:
        whole(*given)
        if failures:
            raise failures.pop()

    async def add_async(*given: object) -> None:
        await whole(*given)
        if failures:
            raise failures.pop()

    product.add = add_async if inspect.iscoroutinefunction(whole) else add
    system._waits_s = [0.0, 0.0]  # type: ignore[attr-defined]
    extra = messages((("The studio opens at noon.", "Good."),))
    (more,) = exchanges_of(
        m.model_copy(update={"message_key": f"p0.s1.t0.n{n}", "sent_at": m.sent_at + dt.timedelta(days=9)})
        for n, m in enumerate(extra)
    )
    await system.add(more)
    await system.finish()
    found = await system.retrieve(asked("The studio opens at noon. The kiln costs 4,200 euros."), k=20)
    assert sorted(p.message_keys for p in found) == sorted({p.message_keys for p in found})
    assert ("p0.s1.t0.n0",) in {p.message_keys for p in found}
    await system.close()  # type: ignore[attr-defined]


async def test_a_product_without_vectors_names_the_option() -> None:
    require("chroma")
    found = find_system("chroma")
    system = found.make(settings_of("chroma", found, {}), tools())
    with pytest.raises(SpecError, match="system 'chroma' needs vectors; name an embedding model with `--embedder`"):
        await system.add(next(exchanges_of(messages())))
    await system.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [*PRODUCTS])
def test_a_product_is_named_with_its_packages_or_refused_with_its_extra(name: str) -> None:
    if all(is_installed(package) for package in PRODUCTS[name].packages):
        found = find_system(name).version.split(", ")
        assert [one.rpartition(" ")[0] for one in found] == [*PRODUCTS[name].packages]
    else:
        line = rf"^system '{name}' needs [\w-]+: pip install 'longbeam\[{name}\]' \(docs/products.md\)$"
        with pytest.raises(SpecError, match=line):
            find_system(name)


def test_every_product_has_its_extra() -> None:
    extras = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for name, found in PRODUCTS.items():
        declared = {re.split(r"[^\w-]", line)[0] for line in extras[name]}
        assert declared & set(found.packages), name
    for name in ("graphiti", "mem0"):  # they ask the extractor at an endpoint, which uvicorn serves
        assert any(line.startswith("uvicorn") for line in extras[name]), name
