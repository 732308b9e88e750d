"""Our client against endpoints as they are: without schemas, thinking aloud, streaming only or not at all, stalling."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from longbeam.errors import ProviderError
from longbeam.models import LimitedModel, ModelCall, OpenAIModel, Sampling, object_in, outcome_of, spoken
from longbeam.offline import OfflineWriter
from longbeam.offline.loopback import LoopbackServer, ServerSettings, listening
from longbeam.prompts import default_registry
from longbeam.schemas import BenchmarkSpec, Limits
from longbeam.text import ENGLISH
from tests.offline.loopback.asking import sample_call

NAME = "openai:offline"
PROMPTS = ("outline", "question_detector", "assistant_reply", "narratives")


def asked(prompt_id: str, **sampling: Any) -> ModelCall:
    return replace(sample_call(prompt_id), model=NAME, sampling=Sampling(**sampling))


@asynccontextmanager
async def client_of(
    limits: dict[str, float] | None = None, **settings: Any
) -> AsyncIterator[tuple[LoopbackServer, LimitedModel, list[str]]]:
    notices: list[str] = []
    server = LoopbackServer(default_registry(), ServerSettings(**settings))
    async with listening(server) as base_url:
        spec = BenchmarkSpec(
            name="a",
            models={"default": NAME},
            endpoints={NAME: {"base_url": base_url}},  # type: ignore[dict-item]
            limits=Limits(**(limits or {})),  # type: ignore[arg-type]
        )
        client = OpenAIModel(NAME, spec.endpoint_for(NAME), key="", notice=notices.append, limits=spec.limits)
        try:
            yield server, LimitedModel(client, spec), notices
        finally:
            await client.aclose()


@pytest.mark.parametrize(
    ("settings", "noticed"),
    [
        ({}, []),
        ({"streaming": "no"}, ["stream"]),
        ({"streaming": "only"}, []),
        ({"streaming": "ignored"}, []),
        ({"counts_streams": False}, ["stream_options"]),
        ({"piece_characters": 1, "piece_ms": 0.01}, []),
        ({"structured": "none"}, ["json_object", "prompt"]),
        ({"thinks": "tag", "structured": "none"}, ["json_object", "prompt"]),
        ({"thinks": "field"}, []),
        ({"thinks": "field", "streaming": "no"}, ["stream"]),
        ({"thinks": "text", "structured": "none"}, ["json_object", "prompt"]),
    ],
)
async def test_every_kind_of_endpoint_gives_the_same_replies(settings: dict[str, Any], noticed: list[str]) -> None:
    calls = [asked(p) for p in PROMPTS if p != "assistant_reply" or settings.get("thinks") != "text"]
    async with client_of(**settings) as (_, model, notices):
        for call in calls:
            reply = await model.complete(call)
            said, expected = spoken(reply), (await OfflineWriter().complete(call)).text
            assert (object_in(said) if call.prompt.output is not None else said) == expected
            assert reply.finish_reason == "stop"
            assert reply.prompt_tokens > 0
            assert reply.output_tokens > 0
            assert (reply.reasoning_tokens > 0) == (settings.get("thinks") in {"tag", "field"})
    assert len(notices) == len(noticed)
    assert all(name in notice for name, notice in zip(noticed, notices, strict=True))


async def test_a_stream_that_stalls_is_asked_for_again() -> None:
    calls = [replace(asked("assistant_reply"), unit_key=f"c000/dialogue/u{i}") for i in range(20)]
    async with client_of({"idle_timeout_s": 0.3}, stalling=0.1) as (server, model, _):
        replies = [await model.complete(call) for call in calls]
        assert server.counts.received > len(calls)
    assert [reply.text for reply in replies] == [(await OfflineWriter().complete(call)).text for call in calls]


@pytest.mark.parametrize("streaming", ["yes", "no"])
async def test_a_loop_is_an_outcome_streamed_or_not(streaming: str) -> None:
    async with client_of(looping=1, streaming=streaming, piece_ms=0.1) as (_, model, _):
        reply = await model.complete(asked("assistant_reply", max_tokens=6_000))
    outcome = outcome_of(reply, ENGLISH, is_prose=True)
    assert outcome is not None
    assert outcome.kind == "loop"
    if streaming == "yes":
        assert reply.output_tokens < 3_000  # cut long before the 6,000 tokens of its limit


async def test_an_endless_reply_is_a_loop_or_too_large() -> None:
    async with client_of(endless=1) as (_, model, _):
        assert (await model.complete(asked("outline"))).finish_reason == "loop"
    async with client_of({"max_reply_mb": 0.5}, endless=1, streaming="no") as (_, model, _):
        with pytest.raises(ProviderError, match=r"was hung up on; limits\.max_reply_mb allows more") as caught:
            await model._inner.complete(asked("outline"))
    assert caught.value.kind == "too_large"
