"""A benchmark of one hand-written conversation under review, and clients that speak to the app in this process."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from longbeam.annotation_ui import Access, Reach, create_app, open_access
from longbeam.cli.reviewing import lexical_judge
from longbeam.review import Archive, ReviewLog, Workspace
from longbeam.schemas import BenchmarkSpec
from longbeam.store import Benchmark, ReviewStore, create_benchmark, seal_conversation
from tests.tiny import tiny_conversation

HOST = "http://127.0.0.1:8000"


@dataclass
class Reviewer:
    """A browser without pages: keeps its cookie and its token."""

    client: httpx.AsyncClient
    csrf: str = ""

    async def enter(self, name: str, role: str = "annotator") -> Reviewer:
        answer = await self.client.post("/api/session", json={"reviewer_id": name, "role": role})
        assert answer.status_code == 200, answer.text
        self.csrf = answer.json()["csrf"]
        return self

    async def get(self, path: str, status: int = 200) -> Any:
        answer = await self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        answer = await self.client.post(path, json=body or {}, headers={"X-CSRF-Token": self.csrf})
        assert answer.status_code == status, answer.text
        return answer.json()

    async def item(self, item_id: str) -> Any:
        return await self.get(f"/items/{item_id}.json")

    async def act(self, item_id: str, kind: str, target: str = "item", after: Any = None, **more: Any) -> Any:
        """Act on the item as it is now; returns it afterwards."""
        status = more.pop("status", 200)
        version = more.pop("item_version", None) or (await self.item(item_id))["item_version"]
        body = {"kind": kind, "target": target, "after": after, "item_version": version, **more}
        answer = await self.post(f"/api/items/{item_id}/acts", body, status=status)
        return answer["item"] if status == 200 else answer

    async def judge(self, item_id: str, verdict: str, **more: Any) -> Any:
        reason = {"reason_code": "wrong_gold"} if verdict == "reject" else {}
        return await self.act(item_id, "judged", after={"verdict": verdict}, **{**reason, **more})


Enter = Callable[..., Any]


@pytest.fixture(scope="session")
def sealed_tiny(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """The benchmark; to be copied before it is reviewed."""
    out = tmp_path_factory.mktemp("tiny")
    made = create_benchmark(BenchmarkSpec(name="tiny", conversations=1, length=16_000), out)
    tiny = tiny_conversation()
    seal_conversation(made.sealed_path("c000"), tiny.head, tiny.said, tiny.asked)
    return made


@pytest.fixture
def benchmark(sealed_tiny: Benchmark, tmp_path: Path) -> Benchmark:
    shutil.copytree(sealed_tiny.root, tmp_path / "output" / "tiny")
    return Benchmark(sealed_tiny.spec, tmp_path / "output" / "tiny")


@pytest.fixture
def store(benchmark: Benchmark) -> Iterator[ReviewStore]:
    with ReviewStore(benchmark.reviews_path) as store:
        yield store


@pytest.fixture
def workspace(benchmark: Benchmark, store: ReviewStore) -> Workspace:
    return Workspace(Archive(benchmark), ReviewLog(store), lexical_judge())


@pytest.fixture
def access(store: ReviewStore) -> Access:
    return open_access(store, "tiny", Reach())


@pytest.fixture
async def enter(workspace: Workspace, access: Access) -> AsyncIterator[Enter]:
    """Opens a browser; with a name it signs in."""
    async with AsyncExitStack() as stack:

        async def entered(name: str = "", role: str = "annotator") -> Reviewer:
            transport = httpx.ASGITransport(app=create_app(workspace, access), raise_app_exceptions=True)
            client = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url=HOST))
            reviewer = Reviewer(client)
            return await reviewer.enter(name, role) if name else reviewer

        yield entered
