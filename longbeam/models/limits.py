"""How many model calls are in flight; rates, back-off and budgets join here with real endpoints."""

from __future__ import annotations

import asyncio

from longbeam.models.base import ChatModel, ModelCall
from longbeam.schemas.calls import ModelReply
from longbeam.schemas.spec import Limits


class LimitedModel:
    """A ChatModel that lets at most `limits.concurrency` calls through at once."""

    def __init__(self, inner: ChatModel, limits: Limits) -> None:
        self._inner = inner
        self._gate = asyncio.Semaphore(limits.concurrency)

    async def complete(self, call: ModelCall) -> ModelReply:
        """Wait for a place, then ask."""
        async with self._gate:
            return await self._inner.complete(call)
