"""The composition root: what it gives the pipeline, in this process and by reference in another one."""

from __future__ import annotations

from pathlib import Path

from longbeam.models import ModelCall
from longbeam.offline import OfflineWriter, WriterExtras, rules_digest
from longbeam.pipeline import load_services
from longbeam.schemas import DEFAULT_MODEL, BenchmarkSpec, ModelReply
from longbeam.wiring import generate, services


class Noting(OfflineWriter):
    """The offline writer; notes whose calls it answers, and whether they carry extras."""

    def __init__(self) -> None:
        super().__init__()
        self.answered: set[tuple[str, bool]] = set()

    async def complete(self, call: ModelCall) -> ModelReply:
        self.answered.add((call.model, isinstance(call.extras, WriterExtras)))
        return await super().complete(call)


def test_a_worker_finds_the_services_by_their_reference() -> None:
    assert load_services(services().reference) is services()


def test_only_models_that_answer_by_rule_have_a_version() -> None:
    assert services().version_of(DEFAULT_MODEL) == rules_digest()
    assert services().version_of("openai:small") == services().version_of("vllm:small") == ""


async def test_a_model_in_place_of_a_specs_own_receives_extras_with_every_call(tmp_path: Path) -> None:
    spec = BenchmarkSpec.model_validate({"name": "x", "length": "16K", "models": {"default": "openai:none"}})
    model = Noting()
    summary = await generate(spec, tmp_path, model=model)
    assert (summary.finished, summary.failures) == (1, ())
    assert model.answered == {("openai:none", True)}
