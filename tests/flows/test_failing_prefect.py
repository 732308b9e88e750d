"""Requests to Prefect's server that fail while the server lives, as on a busy machine: no work and no run is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from prefect.client.base import PrefectHttpxAsyncClient
from prefect.exceptions import PrefectHTTPStatusError

from longbeam.store import SealedConversation
from tests.flows.pages import Pages
from tests.flows.test_runs import benchmark_of, run
from tests.pipeline.conftest import CountingModel

# Prefect leaves its client's sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(900),
]

Answer = Callable[[httpx.Request], httpx.Response]


def late(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("", request=request)


def locked(request: httpx.Request) -> httpx.Response:
    response = httpx.Response(500, json={"exception_message": "database is locked"}, request=request)
    raise PrefectHTTPStatusError("500", request=request, response=response)


def garbled(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"a": 1}, request=request)


def fail(monkeypatch: pytest.MonkeyPatch, path: str, nth: int, answer: Answer) -> list[str]:
    """Have the nth request that fits, and all later ones where it is negative, answered by `answer`; return those."""
    send, fitting, failed = PrefectHttpxAsyncClient.send, list[str](), list[str]()

    async def sent(client: Any, request: httpx.Request, *given: Any, **named: Any) -> httpx.Response:
        asked = f"{request.method} {request.url.path}"
        if re.search(path, asked):
            fitting.append(asked)
            if len(fitting) == nth or len(fitting) >= -nth > 0:
                failed.append(asked)
                return answer(request)
        return await send(client, request, *given, **named)

    monkeypatch.setattr(PrefectHttpxAsyncClient, "send", sent)
    return failed


async def runs_all_the_same(out: Path, name: str) -> None:
    model = CountingModel()
    benchmark = benchmark_of(out, name, conversations=2)
    summary = await run(benchmark, model)
    assert (summary.finished, summary.failures, summary.stopped) == (2, (), "")
    assert len(model.keys) == len(set(model.keys)), "a call was made twice"
    for conversation_id in benchmark.conversation_ids:
        SealedConversation(benchmark.sealed_path(conversation_id)).close()


@pytest.mark.parametrize("nth", [1, pytest.param(4, marks=pytest.mark.slow)])
async def test_a_task_whose_engine_fails_leaves_its_stages_to_be_made_without_it(
    pages: Pages, out: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    failed = fail(monkeypatch, "increment-with-lease", nth, late)
    await runs_all_the_same(out, f"late{nth}")
    assert failed


EVERYWHERE = [
    "increment-with-lease",
    "GET /api/flow_runs/",
    "POST /api/flow_runs/[^/]*/set_state",
    "POST /api/flow_runs/$",
    "POST /api/flow_runs/filter",
    "PATCH /api/flow_runs",
    "POST /api/flows/",
    "GET /api/flows/",
    "/api/task_runs/",
    "/api/artifacts/",
    "/api/csrf-token",
    "/api/",
]
"""All requests that a run makes."""


@pytest.mark.slow
@pytest.mark.parametrize(("nth", "answer"), [(1, late), (2, locked), (-3, garbled)])
@pytest.mark.parametrize("path", EVERYWHERE)
async def test_a_request_that_fails_costs_pages_and_no_work(
    pages: Pages, out: Path, monkeypatch: pytest.MonkeyPatch, path: str, nth: int, answer: Answer
) -> None:
    fail(monkeypatch, path, nth, answer)
    await runs_all_the_same(out, "failing")
