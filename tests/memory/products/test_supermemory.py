"""Supermemory's own client against a loopback server with the product's routes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request

from longbeam.memory import exchanges_of, find_system, settings_of
from longbeam.serving import LOOPBACK, open_listener, serving
from tests.memory.products.test_adapters import embedding_tools, require
from tests.memory.test_systems import asked, messages

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the product


def service() -> tuple[FastAPI, dict[str, dict[str, str]], list[str]]:
    """A server that keeps documents, and needs one request for the status of each before it is done."""
    app = FastAPI()
    spaces: dict[str, dict[str, str]] = {}
    requests: list[str] = []

    @app.post("/ns/{space}/document")
    async def add(space: str, request: Request) -> dict[str, str]:
        body = await request.json()
        requests.append(f"add {body['id']} {body['date'][:10]}")
        spaces.setdefault(space, {})[body["id"]] = body["content"]
        return {"id": body["id"], "status": "queued"}

    @app.get("/ns/{space}/document/{document}")
    def status(space: str, document: str) -> dict[str, Any]:
        requests.append(f"get {document}")
        system = {"status": "done", "dreamingStatus": "done", "createdAt": "2026-01-01T00:00:00Z"}
        return {"id": document, "content": "", "metadata": {}, "system": {**system, "updatedAt": system["createdAt"]}}

    @app.delete("/ns/{space}")
    def delete(space: str) -> dict[str, Any]:
        requests.append("delete")
        spaces.pop(space, None)
        return {"success": True, "namespace": space}

    @app.post("/ns/{space}/search")
    async def search(space: str, request: Request) -> dict[str, Any]:
        words = set((await request.json())["query"].lower().strip("?").split())
        shared = {d: len(words & set(text.lower().split())) for d, text in spaces.get(space, {}).items()}
        times = {"createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"}
        results = [
            {"id": f"m-{d}", "memory": spaces[space][d], "metadata": {"exchange": d}, "similarity": count / 10,
             "isLatest": True, "isInference": False, "system": times}
            for d, count in sorted(shared.items(), key=lambda pair: -pair[1]) if count
        ]  # fmt: skip
        return {"results": results, "total": len(results), "timing": 1}

    return app, spaces, requests


@pytest.mark.timeout(120)
async def test_documents_go_into_a_namespace_and_are_found_with_their_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("supermemory")
    monkeypatch.setenv("SUPERMEMORY_API_KEY", "sm_test")  # read when the package is imported
    app, spaces, requests = service()
    found = find_system("supermemory")
    async with serving(app, open_listener(LOOPBACK, 0)) as url:
        system = found.make(settings_of("supermemory", found, {"base_url": url, "k": 1}), embedding_tools(tmp_path))
        for exchange in exchanges_of(messages()):
            await system.add(exchange)
        await system.finish()
        context = await system.context(asked("What does the kiln cost ?"), budget=100)
        await system.close()  # type: ignore[attr-defined]
    assert [*spaces] == ["longbeam-1-c000"]
    assert requests[:2] == ["delete", "add e0 2023-03-06"]
    assert requests.count("get e3") == 1
    assert "The kiln costs 4,200 euros." in context.text
    assert context.text.startswith("[March 6, 2023] ")
    assert context.message_keys == ("p0.s0.t0.n0", "p0.s0.t0.n1")
