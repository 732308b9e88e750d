"""A ChatModel that answers from a script, for generators tested one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from longbeam.keys import UnitKey
from longbeam.models import Asker, ChatModel, ModelCall
from longbeam.prompts import default_registry
from longbeam.schemas import BenchmarkSpec, ModelReply
from tests.wired import answered_by

Answer = str | ModelReply


class ScriptedModel:
    """Answers with what the script says for the prompt; a list is used up in order, its last entry stays."""

    def __init__(self, script: dict[str, Sequence[Answer] | Callable[[ModelCall], str]]) -> None:
        self._script = {k: v if callable(v) else list(v) for k, v in script.items()}
        self.calls: list[ModelCall] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        answers = self._script[call.prompt.prompt_id]
        if callable(answers):
            return ModelReply(text=answers(call))
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return answer if isinstance(answer, ModelReply) else ModelReply(text=answer)


def asker_for(model: ChatModel, unit_key: str = "c000/stage/unit", *, writer: str = "") -> Asker:
    """An asker over the real prompts; `writer` names a language model, whose replies pass all checks.

    The checker is not calibrated, so that a script holds its verdicts only.
    """
    models = {"checks": {"least_accuracy": 0}, **({"models": {"default": writer}} if writer else {})}
    spec = BenchmarkSpec.model_validate({"name": "test", "seed": 3, **models})
    return Asker(models=answered_by(model), prompts=default_registry(), spec=spec, unit_key=UnitKey.parse(unit_key))


def faults_of(call: ModelCall) -> str:
    """The faults that a call names; empty for a first attempt."""
    return "" if call.retry is None else call.retry.text
