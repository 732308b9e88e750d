"""The plain form of every coroutine: `run(work)`, also where an event loop runs already, as in a notebook."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from longbeam.stopping import run_stoppable

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns, when it has ended: `run(load("demo"))`.

    Where an event loop runs already, the coroutine gets a loop and a thread of its own. Ctrl-C, and a notebook's stop
    button, cancel it and raise KeyboardInterrupt when it has ended cleanly.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        is_main = threading.current_thread() is threading.main_thread()
        return run_stoppable(work) if is_main else asyncio.run(work)
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def noted() -> T:
        begun.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(asyncio.run, noted())
        try:
            return future.result()
        except KeyboardInterrupt:
            for loop, task in begun:
                if task is not None:
                    loop.call_soon_threadsafe(task.cancel)
            raise
