"""A benchmark of one short conversation, made once for the tests that only read it."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from pathlib import Path

import pytest

from longbeam.models import ChatModel, ModelCall
from longbeam.offline import OfflineWriter
from longbeam.pipeline.run import run_inline
from longbeam.schemas import BenchmarkSpec, ModelReply
from longbeam.store import Benchmark, create_benchmark
from tests.wired import offline


class CountingModel:
    """The offline writer, with its calls counted by stage and prompt.

    `spoil` replaces chosen replies; `refuse` raises `error` in place of them.
    """

    def __init__(self, spoil: str = "", refuse: str = "", error: Exception | None = None) -> None:
        self._inner: ChatModel = OfflineWriter()
        self._spoil = spoil
        self._refuse = refuse
        self._error = error
        self.calls: Counter[tuple[str, str]] = Counter()
        self.keys: list[str] = []
        self.unit_keys: list[str] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer, or answer nonsense where the unit key holds `spoil`."""
        _, stage, *_ = call.unit_key.split("/")
        self.calls[stage, call.prompt.prompt_id] += 1
        self.keys.append(call.key)
        self.unit_keys.append(call.unit_key)
        if self._error is not None and self._refuse in call.unit_key:
            raise self._error
        if self._spoil and self._spoil in call.unit_key:
            return ModelReply(text="{}", model="spoiled")
        return await self._inner.complete(call)


class HeldModel(CountingModel):
    """Answers `free` calls at once, and the calls whose unit key holds `held` when `gate` is set."""

    def __init__(self, free: int, held: str = "/") -> None:
        super().__init__()
        self._free, self._held = free, held
        self.is_holding, self.gate = asyncio.Event(), asyncio.Event()
        self.held: list[str] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer, or hold the answer back."""
        reply = await super().complete(call)
        if len(self.keys) > self._free and self._held in call.unit_key:
            self.held.append(call.key)
            self.is_holding.set()
            await self.gate.wait()
        return reply


@pytest.fixture(scope="session")
def spec() -> BenchmarkSpec:
    """One short conversation."""
    return BenchmarkSpec.model_validate({"name": "short", "seed": 6, "length": "16K", "domains": ["coding"]})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where benchmarks land."""
    return tmp_path / "output"


def copied(made: Benchmark, out: Path) -> Benchmark:
    """Return a copy of a benchmark in another folder, for a test that writes to it."""
    shutil.copytree(made.root, out / made.spec.name)
    return Benchmark(made.spec, out / made.spec.name)


@pytest.fixture(scope="session")
def made_short(spec: BenchmarkSpec, tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """The benchmark of `spec`; to be copied before anything is written to it."""
    made = create_benchmark(spec, tmp_path_factory.mktemp("short"))
    asyncio.run(run_inline(made, offline()))
    return made


@pytest.fixture
def short(made_short: Benchmark, out: Path) -> Benchmark:
    """A copy of the benchmark of `spec`, made by the offline writer."""
    return copied(made_short, out)
