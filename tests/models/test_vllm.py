"""The vLLM engine's client, with an engine of the same signature; and what is said when vLLM is not there."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from longbeam.errors import ProviderError, RunStopped, SpecError
from longbeam.models import Loaded, ModelCall, Sampling, VllmModel, load_engine, make_model, vllm
from longbeam.prompts import default_registry
from longbeam.prompts.calls import QuestionDetectorInputs
from longbeam.schemas import BenchmarkSpec, Endpoint, Role


class Tokenizer:
    """A token per word."""

    def apply_chat_template(self, messages: list[dict[str, str]], **options: Any) -> list[int]:
        assert (options["add_generation_prompt"], options["tokenize"], options["return_dict"]) == (True, True, False)
        text = " ".join(f"<{m['role']}> {m['content']}" for m in messages)
        return list(range(len(text.split()) + 1000 * options["enable_thinking"]))

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return list(range(len(text.split())))


class EngineDeadError(Exception):
    """Known by its name."""


@dataclass
class Engine:
    """As `AsyncLLM`: an async generator of request outputs, of which the last counts."""

    text: str = '{"reason": "r", "asks_user": true}'
    error: Exception | None = None
    asked: list[tuple[Any, Any, str]] = field(default_factory=list)
    is_shut: bool = False

    async def generate(self, prompt: Any, sampling_params: Any, request_id: str) -> AsyncIterator[Any]:
        self.asked.append((prompt, sampling_params, request_id))
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        said = SimpleNamespace(text=self.text, token_ids=tuple(range(7)), finish_reason="stop")
        yield SimpleNamespace(outputs=[said], num_cached_tokens=32)

    def get_tokenizer(self) -> Tokenizer:
        return Tokenizer()

    def shutdown(self) -> None:
        self.is_shut = True


def _model(engine: Engine, **settings: Any) -> VllmModel:
    def load(model: str, endpoint: Endpoint) -> Loaded:
        assert model == "Qwen/Qwen3-8B"
        return Loaded(engine, lambda **options: options)

    return VllmModel("vllm:Qwen/Qwen3-8B", Endpoint(**settings), load=load)


def _call(n: int = 0, **changes: Any) -> ModelCall:
    fields: dict[str, Any] = {
        "prompt": default_registry()["question_detector"],
        "inputs": QuestionDetectorInputs(reply="Which day?"),
        "role": Role.DETECTOR,
        "model": "vllm:Qwen/Qwen3-8B",
        "benchmark_seed": 0,
        "unit_key": f"c000/dialogue/p0.s0/t{n}",
    }
    return ModelCall(**{**fields, **changes})


async def test_reply_has_the_engines_counts_and_the_schema_is_asked_for() -> None:
    engine = Engine()
    call = _call(sampling=Sampling(temperature=0.3, max_tokens=99, min_p=0.1))
    reply = await _model(engine).complete(call)
    prompt, params, _ = engine.asked[0]
    assert (reply.text, reply.cached_tokens, reply.output_tokens) == (engine.text, 32, 7)
    assert reply.prompt_tokens == len(prompt["prompt_token_ids"])
    assert (params["temperature"], params["max_tokens"], params["json_object"]) == (0.3, 99, False)
    assert params["min_p"] == 0.1
    assert "top_p" not in params
    assert set(params["json_schema"]["properties"]) == {"reason", "asks_user"}


async def test_prose_has_no_schema_and_other_forms_are_as_the_spec_says() -> None:
    engine = Engine()
    await _model(engine, structured="json_object").complete(_call())
    await _model(engine, structured="prompt").complete(_call())
    forms = [(params["json_schema"], params["json_object"]) for _, params, _ in engine.asked]
    assert forms == [(None, True), (None, False)]


async def test_thinking_is_counted_and_not_part_of_the_reply() -> None:
    engine = Engine(text="Let me see </think>\n\nyes")
    reply = await _model(engine, reasoning=True).complete(_call())
    assert (reply.text, reply.reasoning_tokens) == ("yes", 4)


async def test_one_engine_serves_all_calls_and_is_shut_down() -> None:
    engine = Engine()
    model = _model(engine)
    await asyncio.gather(*(model.complete(_call(n)) for n in range(20)))
    assert len({request_id for _, _, request_id in engine.asked}) == 20
    await model.aclose()
    assert engine.is_shut


async def test_errors_are_told_apart() -> None:
    too_long = ValueError("The decoder prompt (length 9000) is longer than the maximum model length of 4096.")
    for error, kind, is_retryable in (
        (too_long, "context_length", False),
        (ValueError("bad schema"), "bad_request", False),
        (RuntimeError("a kernel failed"), "server_error", True),
    ):
        with pytest.raises(ProviderError) as caught:
            await _model(Engine(error=error)).complete(_call())
        assert (caught.value.kind, caught.value.is_retryable) == (kind, is_retryable)
    with pytest.raises(RunStopped, match="the vLLM engine has died"):
        await _model(Engine(error=EngineDeadError())).complete(_call())


async def test_engine_that_cannot_start_stops_the_run_with_one_line() -> None:
    starts = []

    def load(model: str, endpoint: Endpoint) -> Loaded:
        starts.append(model)
        raise RuntimeError("Device string\nmust not be empty")

    model = VllmModel("vllm:m", Endpoint(), load=load)
    for _ in range(2):
        with pytest.raises(RunStopped, match="cannot start its engine: Device string must not be empty; install it on"):
            await model.complete(_call())
    assert starts == ["m"]


def test_missing_vllm_and_a_second_engine_are_mistakes_in_the_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SpecError, match=r"models.default = 'vllm:m': vLLM is not installed; .*docs/vllm.md"):
        make_model(BenchmarkSpec(name="x", models={"default": "vllm:m"}), {})
    with pytest.raises(SpecError, match="one vLLM engine per process"):
        make_model(BenchmarkSpec(name="x", models={"default": "vllm:a", "judge": "vllm:b"}), {})


def test_grammars_are_those_that_bear_the_bounds_of_our_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    engine = SimpleNamespace(model_config=SimpleNamespace(get_diff_sampling_param=dict))
    modules = {
        "vllm": {},
        "vllm.config": {"StructuredOutputsConfig": SimpleNamespace},
        "vllm.engine": {},
        "vllm.engine.arg_utils": {"AsyncEngineArgs": lambda **settings: given.update(settings)},
        "vllm.sampling_params": {
            "RequestOutputKind": SimpleNamespace(FINAL_ONLY="final"),
            "SamplingParams": SimpleNamespace,
            "StructuredOutputsParams": SimpleNamespace,
        },
        "vllm.v1": {},
        "vllm.v1.engine": {},
        "vllm.v1.engine.async_llm": {"AsyncLLM": SimpleNamespace(from_engine_args=lambda args: engine)},
    }
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    loaded = load_engine("Qwen/Qwen3-8B", Endpoint(context=4096), max_num_seqs=8)
    assert (given["model"], given["max_model_len"], given["max_num_seqs"]) == ("Qwen/Qwen3-8B", 4096, 8)
    assert given["structured_outputs_config"].backend == "guidance"
    params = loaded.sampling(json_schema={"type": "object"}, json_object=False, temperature=0.3)
    assert (params.temperature, params.structured_outputs.json, params.output_kind) == (
        0.3,
        {"type": "object"},
        "final",
    )
