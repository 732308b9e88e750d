"""A GGUF file on llama.cpp's own server, with a model of random weights; and what is said of files that are none."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import longbeam
from longbeam.errors import ProviderError, RunStopped, SpecError
from longbeam.models import GgufModel, ModelCall, Sampling, gguf, identity_of, make_model, no_version
from longbeam.prompts import default_registry
from longbeam.prompts.calls import QuestionDetectorInputs
from longbeam.schemas import BenchmarkSpec, Endpoint, Role
from longbeam.store import is_alive
from tests.e2e.tiny_model import write_tiny_model

SETTINGS: dict[str, Any] = {"threads": 1, "slots": 1, "context": 4_096}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "tiny.gguf"
    write_tiny_model(path, Path(longbeam.__file__).parent / "prompts")
    return path


def _spec(path: Path, **settings: Any) -> BenchmarkSpec:
    name = f"gguf:{path}"
    return BenchmarkSpec(name="x", models={"default": name}, endpoints={name: Endpoint(**{**SETTINGS, **settings})})


def _model(path: Path, notices: list[str], **settings: Any) -> GgufModel:
    endpoint = Endpoint(**{**SETTINGS, **settings})
    return GgufModel("gguf:tiny.gguf", path, endpoint, logs=path.parent / "logs", notice=notices.append)


def _call(reply: str = "Which day?") -> ModelCall:
    return ModelCall(
        prompt=default_registry()["question_detector"],
        inputs=QuestionDetectorInputs(reply=reply),
        role=Role.DETECTOR,
        model="gguf:tiny.gguf",
        benchmark_seed=0,
        unit_key="c000/dialogue/p0.s0/t0",
        sampling=Sampling(temperature=1.0, max_tokens=300),
    )


def _server_pid(model: GgufModel) -> int:
    assert model._running is not None
    return model._running.process.pid


async def test_reply_fits_its_schema_and_the_server_ends_with_the_model(tiny: Path) -> None:
    model = _model(tiny, [])
    try:
        reply, *_ = [await model.complete(_call()) for _ in range(3)]
        server = _server_pid(model)
    finally:
        await model.aclose()
    assert reply.text.startswith("{")
    assert (reply.model, reply.prompt_tokens > 50, reply.output_tokens > 0) == ("tiny.gguf", True, True)
    assert not is_alive(server)
    assert "listening on http://127.0.0.1" in (tiny.parent / "logs" / "llama-tiny.log").read_text()


async def test_prompt_beyond_the_context_is_refused_with_its_remedy(tiny: Path) -> None:
    model = _model(tiny, [], context=512)
    try:
        with pytest.raises(ProviderError, match=r"does not fit into the context of 512 tokens; raise context in \[en"):
            await model.complete(_call("word " * 3_000))
        assert await model.complete(_call())
    finally:
        await model.aclose()


async def test_server_that_dies_is_started_again_and_three_deaths_stop_the_run(tiny: Path) -> None:
    notices: list[str] = []
    model = _model(tiny, notices)

    async def killed() -> None:
        await model._served()
        asking = asyncio.create_task(model.complete(_call("word " * 600)))
        await asyncio.sleep(0)
        os.kill(_server_pid(model), signal.SIGKILL)
        await asking

    try:
        for _ in range(2):
            with pytest.raises(ProviderError, match=r"llama.cpp's server has died \(SIGKILL\); its log is ") as caught:
                await killed()
            assert caught.value.is_retryable
        assert len(notices) == 2
        assert "has died (SIGKILL) and is started again; its log is" in notices[0]
        with pytest.raises(RunStopped, match=r"has died 3 times without a reply \(SIGKILL\)"):
            await killed()
        with pytest.raises(RunStopped, match="has died 3 times"):
            await model.complete(_call())
    finally:
        await model.aclose()


def test_damaged_weights_stop_the_run_with_one_line(tiny: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(tiny.read_bytes()[:-50_000])
    with pytest.raises(
        RunStopped, match=r"^gguf:tiny.gguf: llama.cpp cannot serve the model: error loading model: tensor [^\n]+$"
    ):
        asyncio.run(_model(damaged, []).complete(_call()))


STARTER = """
import asyncio, sys
from pathlib import Path
from longbeam.models.gguf import GgufModel
from longbeam.schemas import Endpoint

async def main():
    model = GgufModel("gguf:t", Path(sys.argv[1]), Endpoint(threads=1, context=512), logs=None, notice=print)
    print((await model._served()).process.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_server_does_not_outlive_a_killed_longbeam(tiny: Path) -> None:
    command = [sys.executable, "-c", STARTER, str(tiny)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        server = int(process.stdout.readline())
        assert is_alive(server)
        process.kill()
    deadline = time.monotonic() + 20
    while is_alive(server) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(server)


def test_files_that_are_no_models_are_mistakes_in_the_spec(tiny: Path, tmp_path: Path) -> None:
    other, short, part = tmp_path / "other.gguf", tmp_path / "short.gguf", tmp_path / "m-00001-of-00002.gguf"
    other.write_bytes(b"PK\x03\x04 a wheel")
    short.write_bytes(tiny.read_bytes()[:40])
    part.write_bytes(tiny.read_bytes())
    for path, settings, reason in (
        (tmp_path / "none.gguf", {}, r"^models.default = 'gguf:.*none.gguf': .*none.gguf: no such file; name the GGUF"),
        (other, {}, "not a GGUF file; it begins with other bytes"),
        (short, {}, "its GGUF header is cut off or damaged; fetch the file again"),
        (part, {}, "m-00002-of-00002.gguf: no such file"),
        (tiny, {"context": 200_000}, "context = 200000: the model was trained with 131072 tokens"),
    ):
        with pytest.raises(SpecError, match=reason):
            make_model(_spec(path, **settings), {})


def test_missing_xllamacpp_is_a_mistake_in_the_spec(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SpecError, match=r"is not installed; pip install 'longbeam\[llama\]' \(docs/local-models.md\)"):
        make_model(_spec(tiny), {})


def test_identity_is_that_of_the_weights_wherever_they_lie(tiny: Path, tmp_path: Path) -> None:
    moved, changed = tmp_path / "moved.gguf", tmp_path / "changed.gguf"
    moved.write_bytes(tiny.read_bytes())
    changed.write_bytes(tiny.read_bytes()[:-1] + b"\x01")
    identities = [identity_of(_spec(path), f"gguf:{path}", no_version) for path in (tiny, moved, changed)]
    assert identities[0] == identities[1] != identities[2]


def test_rehearsal_needs_no_weights(tmp_path: Path) -> None:
    spec = _spec(tmp_path / "elsewhere.gguf").for_any_model()
    assert identity_of(spec, spec.models["default"], no_version) == "gguf"


def test_calls_in_flight_are_at_most_the_slots(tiny: Path) -> None:
    assert _spec(tiny, slots=3).concurrency_of(f"gguf:{tiny}") == 3
    assert _spec(tiny, slots=3, limits={"concurrency": 2}).concurrency_of(f"gguf:{tiny}") == 2
