from __future__ import annotations

import asyncio
import socket

import httpx
import pytest

from longbeam.serving import LOOPBACK, Receive, Scope, Send, open_listener, serving


async def say_ok(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer in two packets, as most apps do."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def test_answers_are_not_held_back_until_the_headers_are_acknowledged() -> None:
    async with serving(say_ok, open_listener(LOOPBACK, 0)) as url, httpx.AsyncClient(base_url=url) as client:
        await client.get("/")
        started = asyncio.get_running_loop().time()
        for _ in range(10):
            assert (await client.get("/")).text == "ok"
    # With Nagle's algorithm each takes the 40 ms after which Linux acknowledges the headers.
    assert asyncio.get_running_loop().time() - started < 0.3


async def test_requests_that_are_not_answered_end_with_the_server() -> None:
    async def hang(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    async with httpx.AsyncClient() as client:
        async with serving(hang, open_listener(LOOPBACK, 0), log_level="critical") as url:
            asking = asyncio.create_task(client.get(url))
            await asyncio.sleep(0.1)
        assert (await asyncio.wait_for(asking, 1)).status_code == 500


async def test_the_server_ends_after_its_requests() -> None:
    ended = []

    async def record(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)
            ended.append(scope["path"])

    async with httpx.AsyncClient() as client:
        async with serving(record, open_listener(LOOPBACK, 0), log_level="critical") as url:
            asking = asyncio.create_task(client.get(f"{url}/reply"))
            await asyncio.sleep(0.1)
        assert ended == ["/reply"]
        await asyncio.wait_for(asking, 1)


def test_port_that_is_taken_is_an_os_error() -> None:
    with open_listener(LOOPBACK, 0) as first, pytest.raises(OSError, match="in use"):
        open_listener(LOOPBACK, first.getsockname()[1])


def test_listener_names_its_protocol() -> None:
    with open_listener(LOOPBACK, 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # or asyncio leaves Nagle's algorithm on
