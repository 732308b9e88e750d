"""Asks a loopback server as the openai package does, without our own client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai

from longbeam.models import ModelCall
from longbeam.offline.loopback import LoopbackServer, ServerSettings, listening
from longbeam.prompts import default_registry
from longbeam.schemas import Role
from tests.prompts.samples import SAMPLES, extras_of


def sample_call(prompt_id: str, *, place: str = "place", generation: int = 0) -> ModelCall:
    """A call with a prompt's sample inputs."""
    return ModelCall(
        prompt=default_registry()[prompt_id],
        inputs=SAMPLES[prompt_id],
        role=Role.WRITER,
        model="offline",
        benchmark_seed=1,
        unit_key=f"c000/stage/unit/{place}",
        generation=generation,
        extras=extras_of(prompt_id, SAMPLES[prompt_id]),
    )


def typed_inputs(call: ModelCall) -> dict[str, Any]:
    """The extra member of the request."""
    assert call.extras is not None
    return {
        "prompt_id": call.prompt.prompt_id,
        "prompt_version": call.prompt.version,
        "extras": json.loads(call.extras.json),
        "role": call.role.value,
        "benchmark_seed": call.benchmark_seed,
        "unit_key": call.unit_key,
        "generation": call.generation,
    }


@asynccontextmanager
async def loopback(**settings: Any) -> AsyncIterator[tuple[LoopbackServer, openai.AsyncOpenAI]]:
    """A server in this process and a client that never retries."""
    server = LoopbackServer(default_registry(), ServerSettings(**settings))
    async with (
        listening(server) as base_url,
        openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0, timeout=5) as client,
    ):
        yield server, client


async def ask(client: openai.AsyncOpenAI, call: ModelCall, *, structured: bool = True) -> Any:
    """The completion of a call."""
    more: dict[str, Any] = {}
    if structured and call.prompt.output is not None:
        more["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": {}}}
    messages: Any = [m.model_dump() for m in call.messages()]
    return await client.chat.completions.create(
        model="offline", messages=messages, extra_body={"longbeam": typed_inputs(call)}, **more
    )


async def text_from(client: openai.AsyncOpenAI, call: ModelCall, **options: Any) -> str:
    """The text of a call's completion."""
    return str((await ask(client, call, **options)).choices[0].message.content)
