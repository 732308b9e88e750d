"""One model out of many: each call goes to the client of the name it carries."""

from __future__ import annotations

from collections.abc import Mapping

from longbeam.models.base import ChatModel, ModelCall, close_model
from longbeam.schemas import ModelReply


class Router:
    """A ChatModel that asks the client of `call.model`."""

    def __init__(self, clients: Mapping[str, ChatModel]) -> None:
        """`clients` by the name that the spec gives each model."""
        self._clients = clients

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply of the call's model; KeyError if the spec did not name it."""
        return await self._clients[call.model].complete(call)

    async def aclose(self) -> None:
        """Close the clients that hold connections."""
        for client in self._clients.values():
            await close_model(client)
