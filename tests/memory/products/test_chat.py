"""Products that ask a model, with the real packages and recorded replies: the extractor behind an endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from longbeam.errors import SpecError
from longbeam.memory import MemorySystem, exchanges_of, find_system, settings_of
from longbeam.memory.products import ModelServer
from longbeam.models import ModelCall
from tests.generators.scripted import ScriptedModel, asker_for
from tests.memory.products.test_adapters import embedding_tools, require
from tests.memory.test_systems import asked, messages, tools

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the products
WRITER = "openai:small"


def script_of(reply: Callable[[ModelCall], str]) -> ScriptedModel:
    return ScriptedModel({"product_request": reply})


async def told(name: str, folder: Path, model: ScriptedModel, **values: object) -> MemorySystem:
    require(name)
    found = find_system(name)
    given = replace(embedding_tools(folder), asker=asker_for(model, writer=WRITER))
    system = found.make(settings_of(name, found, values), given)
    for exchange in list(exchanges_of(messages()))[:2]:
        await system.add(exchange)
    await system.finish()
    return system


async def test_a_request_is_a_call_of_the_extractor_with_the_products_own_schema() -> None:
    model = script_of(lambda call: '{"name": "Gunnar"}')
    server = ModelServer("graphiti", replace(tools(), asker=asker_for(model, writer=WRITER)))
    address = await server.open()
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    body = {
        "messages": [{"role": "user", "content": "Who?"}],
        "max_tokens": 50,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    }
    async with httpx2.AsyncClient(trust_env=False) as client:
        url = f"{address.base_url}/chat/completions"
        refused = await client.post(url, json=body)
        answer = await client.post(url, json=body, headers={"Authorization": f"Bearer {address.key}"})
        tool = {**body, "tools": [{"type": "function"}]}
        no_tools = await client.post(url, json=tool, headers={"Authorization": f"Bearer {address.key}"})
    await server.close()
    assert refused.status_code == 401
    assert answer.json()["choices"][0]["message"]["content"] == '{"name": "Gunnar"}'
    assert no_tools.json()["error"]["message"] == "unreadable request: tool calls and streams are not passed on"
    (call,) = model.calls
    assert (call.model, call.prompt.schema(), call.sampling.max_tokens) == (WRITER, schema, 50)
    assert [m.content for m in call.messages()] == ["Who?"]
    assert (server.calls, server.failed) == (1, 0)


async def test_a_product_that_asks_a_model_needs_one() -> None:
    server = ModelServer("mem0", tools())
    with pytest.raises(SpecError, match="'mem0' asks a language model; name one with `--extractor`"):
        await server.open()


@pytest.mark.timeout(120)
async def test_mem0_keeps_the_facts_that_the_model_extracts(tmp_path: Path) -> None:
    def reply(call: ModelCall) -> str:
        text = "The kiln costs 4,200 euros" if "kiln costs" in call.messages()[-1].content else "Gunnar wants the lease"
        return json.dumps({"memory": [{"id": "0", "text": text, "attributed_to": "user"}]})

    system = await told("mem0", tmp_path, script_of(reply), infer=True, k=2)
    found = await system.retrieve(asked("What does the kiln cost in euros?"), k=2)
    assert found[0].text == "The kiln costs 4,200 euros"
    assert found[0].message_keys == ("p0.s0.t0.n0", "p0.s0.t0.n1")
    assert system.usage().model_calls >= 2
    await system.close()  # type: ignore[attr-defined]


@pytest.mark.timeout(120)
async def test_mem0s_model_is_told_the_day_of_the_messages(tmp_path: Path) -> None:
    model = script_of(lambda call: '{"memory": []}')
    system = await told("mem0", tmp_path, model, infer=True)
    await system.close()  # type: ignore[attr-defined]
    # mem0 itself gives today as the day of observation, by which a model dates "last night".
    for call, day in zip(model.calls, ("2023-03-06", "2023-03-07"), strict=True):
        assert f"The new messages were sent on {day}, which is their Observation Date." in call.messages()[-1].content


@pytest.mark.timeout(120)
async def test_mem0_forgets_the_messages_that_its_prompt_repeats(tmp_path: Path) -> None:
    model = script_of(lambda call: '{"memory": []}')
    system = await told("mem0", tmp_path, model, infer=True)
    await system._tried("delete")  # type: ignore[attr-defined]
    await system._do([system._steps[-1]])  # type: ignore[attr-defined]
    await system.close()  # type: ignore[attr-defined]
    first, *_, again = [call.messages()[-1].content.partition("## Recently")[0] for call in model.calls]
    assert again == first  # nothing stands under "Last k Messages"


@pytest.mark.timeout(120)
async def test_graphiti_keeps_facts_with_their_episodes(tmp_path: Path) -> None:
    forms: dict[str, Any] = {
        "extracted_entities": [{"name": "Gunnar", "entity_type_id": 0}, {"name": "lease", "entity_type_id": 0}],
        "edges": [
            {
                "source_entity_name": "Gunnar",
                "target_entity_name": "lease",
                "relation_type": "WANTS_TO_SEE",
                "fact": "Gunnar wants to see the lease",
                "valid_at": None,
                "invalid_at": None,
                "source_entity_id": 0,
                "target_entity_id": 1,
                "episode_indices": [0],
            }
        ],
    }

    def reply(call: ModelCall) -> str:
        form = call.prompt.schema() or {}
        return json.dumps({name: forms.get(name, []) for name in form.get("properties", {})})

    system = await told("graphiti", tmp_path, script_of(reply), extract=True, k=2)
    found = await system.retrieve(asked("What does Gunnar want to see?"), k=2)
    assert found[0].text == "Gunnar wants to see the lease"
    assert "p0.s0.t1.n0" in {key for passage in found for key in passage.message_keys}
    await system.close()  # type: ignore[attr-defined]
