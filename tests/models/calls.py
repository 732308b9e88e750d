"""A model call for tests of the layers below the generators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from longbeam.models import ModelCall, Sampling
from longbeam.prompts.calls import QuestionDetectorInputs
from longbeam.schemas import BenchmarkSpec, ChatMessage, PromptInputs, Retry, Role, Tool


@dataclass(frozen=True)
class SimplePrompt:
    """One system message and what the inputs say."""

    prompt_id: str = "question_detector"
    version: int = 1
    role: Role = Role.DETECTOR
    output: type[BaseModel] | None = None
    tool: Tool | None = None

    def schema(self, inputs: PromptInputs | None = None) -> dict[str, Any] | None:
        return None if self.output is None else self.output.model_json_schema()

    def render(self, inputs: PromptInputs, retry: Retry | None = None) -> tuple[ChatMessage, ...]:
        assert isinstance(inputs, QuestionDetectorInputs)
        return ChatMessage(role="system", content="Does it ask?"), ChatMessage(role="user", content=inputs.reply)


def call(
    model: str = "openai:m",
    *,
    said: str = "Which hotel?",
    output: type[BaseModel] | None = None,
    tool: Tool | None = None,
    prompt_id: str = "question_detector",
    sampling: Sampling | None = None,
    unit_key: str = "c000/dialogue/p0.s0/t0",
) -> ModelCall:
    return ModelCall(
        prompt=SimplePrompt(prompt_id=prompt_id, output=output, tool=tool),
        inputs=QuestionDetectorInputs(reply=said),
        role=Role.DETECTOR,
        model=model,
        benchmark_seed=1,
        unit_key=unit_key,
        sampling=sampling or Sampling(),
    )


def spec_of(*, concurrency: int = 64, timeout_s: float = 600, **endpoint_limits: Any) -> BenchmarkSpec:
    """A spec whose one model is `openai:m`."""
    return BenchmarkSpec.model_validate(
        {
            "name": "a",
            "models": {"default": "openai:m"},
            "endpoints": {"openai:m": {"base_url": "http://127.0.0.1:1/v1", "limits": endpoint_limits}},
            "limits": {"concurrency": concurrency, "timeout_s": timeout_s},
        }
    )
