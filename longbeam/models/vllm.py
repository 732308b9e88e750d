"""A ChatModel over a vLLM engine in this process: prefix caching, structured output, tensor and pipeline parallel.

One engine per process, shared by all roles that name it: each engine takes its share of the GPU's memory for itself.
vLLM is an optional extra and is imported with the first call, because that takes twenty seconds and starts the
engine's own process. For several models, or machines, `vllm serve` behind `openai:NAME` is the way (docs/vllm.md).
"""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from longbeam.errors import ProviderError, RunStopped, SpecError
from longbeam.models.base import ModelCall
from longbeam.models.loops import LOOP, find_loop
from longbeam.models.structured import strict_schema
from longbeam.schemas import Endpoint, ModelReply, Structured

END_OF_THOUGHT = "</think>"
INSTALL = (
    "install it on a Linux machine with a GPU (pip install 'longbeam[vllm]'), or serve the model elsewhere with"
    " `vllm serve` and name it openai:NAME (docs/vllm.md)"
)


class Engine(Protocol):
    """The part of `vllm.v1.engine.async_llm.AsyncLLM` that is used."""

    def generate(self, prompt: Any, sampling_params: Any, request_id: str) -> AsyncIterator[Any]:
        """Yield `RequestOutput`s; with `FINAL_ONLY` there is one."""

    def get_tokenizer(self) -> Any:
        """The model's tokenizer, with its chat template."""

    def shutdown(self) -> None:
        """End the engine's processes."""


@dataclass(frozen=True)
class Loaded:
    """An engine and how its requests are written."""

    engine: Engine
    sampling: Callable[..., Any]
    """Makes `SamplingParams` of the settings that a call sets, `json_schema` and `json_object`."""


def load_engine(model: str, endpoint: Endpoint, **more: Any) -> Loaded:
    """Start vLLM's engine; takes half a minute and more. `more`: further engine arguments, for benchmarks.

    Raises what vLLM raises: no GPU, no such model, no memory.
    """
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    from vllm.config import StructuredOutputsConfig
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.sampling_params import RequestOutputKind, SamplingParams, StructuredOutputsParams
    from vllm.v1.engine.async_llm import AsyncLLM

    settings = {
        "tensor_parallel_size": endpoint.tensor_parallel,
        "pipeline_parallel_size": endpoint.pipeline_parallel,
        "max_model_len": endpoint.context,
        "gpu_memory_utilization": endpoint.gpu_memory_utilization,
        "enable_prefix_caching": True,
        # Our schemas bound the lengths of texts, which takes xgrammar seconds a call (benchmarks/bench_grammars.py).
        "structured_outputs_config": StructuredOutputsConfig(backend="guidance"),
        "disable_log_stats": True,
    }
    engine = AsyncLLM.from_engine_args(AsyncEngineArgs(model=model, **{**settings, **more}))
    # What the model's makers recommend, as `vllm serve` does.
    defaults = engine.model_config.get_diff_sampling_param()

    def sampling(*, json_schema: Mapping[str, Any] | None, json_object: bool, **settings: Any) -> Any:
        # No seed: with one for each request vLLM samples request by request, and its CPU worker dies of it.
        given = {**defaults, "max_tokens": None, **settings}
        if json_schema is not None or json_object:
            form = {"json": dict(json_schema)} if json_schema is not None else {"json_object": True}
            given["structured_outputs"] = StructuredOutputsParams(**form)
        return SamplingParams(**given, output_kind=RequestOutputKind.FINAL_ONLY)

    return Loaded(engine, sampling)


def refuse_without_vllm(name: str, role: str) -> None:
    """Raise SpecError when vLLM is not installed; it is not imported for that."""
    if importlib.util.find_spec("vllm") is None:
        raise SpecError(f"models.{role} = {name!r}: vLLM is not installed; {INSTALL}")


class VllmModel:
    """Answers the calls of one model name. For one event loop; the engine starts with the first call."""

    def __init__(self, name: str, endpoint: Endpoint, *, load: Callable[[str, Endpoint], Loaded] = load_engine) -> None:
        """`name` as the spec has it; `load` starts the engine."""
        self._name = name
        self._endpoint = endpoint
        self._model = endpoint.model or name.partition(":")[2]
        self._load = load
        self._loaded: Loaded | None = None
        self._stopped = ""
        self._requests = itertools.count()

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply. Raises ProviderError for the call's own failure, RunStopped where there is no engine."""
        loaded = self._started()
        tokenizer = loaded.engine.get_tokenizer()
        prompt = tokenizer.apply_chat_template(
            [{"role": m.role, "content": m.content} for m in call.messages()],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=False,
            enable_thinking=self._endpoint.reasoning,  # templates that know no thinking take no notice
        )
        last = await self._generate(loaded, call, list(prompt))
        said = last.outputs[0]
        thought, text = _parted(said.text) if self._endpoint.reasoning else ("", said.text)
        is_loop = said.finish_reason == "length" and find_loop(said.text) is not None
        return ModelReply(
            text=text,
            finish_reason=LOOP if is_loop else str(said.finish_reason or "stop"),
            model=self._model,
            prompt_tokens=len(prompt),
            cached_tokens=last.num_cached_tokens or 0,
            output_tokens=len(said.token_ids),
            reasoning_tokens=len(tokenizer.encode(thought, add_special_tokens=False)) if thought else 0,
        )

    async def aclose(self) -> None:
        """End the engine's processes."""
        if self._loaded is not None:
            self._loaded.engine.shutdown()
            self._loaded = None

    def _started(self) -> Loaded:
        if self._stopped:
            raise RunStopped(self._stopped)
        if self._loaded is None:
            # On this thread, though it holds up the loop: vLLM sets signal handlers, and nothing else can go on.
            try:
                self._loaded = self._load(self._model, self._endpoint)
            except Exception as exc:  # vLLM raises all kinds here: no GPU, no memory, no such model
                raise self._stop(f"{self._name}: vLLM cannot start its engine: {_line(exc)}; {INSTALL}", exc) from exc
        return self._loaded

    async def _generate(self, loaded: Loaded, call: ModelCall, prompt: Sequence[int]) -> Any:  # Any: RequestOutput
        schema = call.prompt.schema(call.inputs) if call.prompt.output is not None else None
        wants_schema = self._endpoint.structured in {Structured.AUTO, Structured.JSON_SCHEMA}
        found = None
        try:
            params = loaded.sampling(
                **call.sampling.model_dump(exclude_none=True),
                json_schema=strict_schema(schema, is_whole=True) if schema is not None and wants_schema else None,
                json_object=schema is not None and self._endpoint.structured is Structured.JSON_OBJECT,
            )
            outputs = loaded.engine.generate(
                {"prompt_token_ids": list(prompt)}, params, f"longbeam-{next(self._requests)}"
            )
            async for output in outputs:
                found = output
        except asyncio.CancelledError:
            raise
        except Exception as exc:  # the seam to vLLM: its errors are told apart by name, not imported
            raise self._translated(exc, len(prompt)) from exc
        if found is None:
            raise ProviderError(f"{self._name}: the engine gave no output", kind="server_error", is_retryable=True)
        return found

    def _translated(self, exc: Exception, prompt_tokens: int) -> ProviderError | RunStopped:
        names = {kind.__name__ for kind in type(exc).__mro__}
        if "EngineDeadError" in names:
            return self._stop(f"{self._name}: the vLLM engine has died; its own log says why", exc)
        if names & {"VLLMClientError", "ValueError"}:
            kind = "context_length" if "longer than the maximum" in str(exc) else "bad_request"
            text = f"{self._name}: vLLM refused a prompt of {prompt_tokens:,} tokens: {_line(exc)}"
            return ProviderError(text, kind=kind, is_retryable=False)
        return ProviderError(f"{self._name}: vLLM failed: {_line(exc)}", kind="server_error", is_retryable=True)

    def _stop(self, message: str, exc: Exception) -> RunStopped:
        self._stopped = message
        return RunStopped(message, failure=ProviderError(_line(exc), kind="engine", is_retryable=False))


def _parted(text: str) -> tuple[str, str]:
    """Split a text into thought and reply; without an end of thought, all of it is the reply."""
    thought, found, said = text.partition(END_OF_THOUGHT)
    return (thought + found, said.lstrip()) if found else ("", text)


def _line(exc: BaseException) -> str:
    return " ".join(str(exc).split())[:300] or type(exc).__name__
