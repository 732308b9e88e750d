"""From a spec to clients: what is wrong is said before anything is asked."""

from __future__ import annotations

from typing import Any

import pytest

from longbeam.errors import SpecError
from longbeam.models import close_model, make_model
from longbeam.schemas import BenchmarkSpec
from longbeam.wiring import services
from tests.models.calls import call


def spec(models: dict[str, str], **fields: Any) -> BenchmarkSpec:
    return BenchmarkSpec.model_validate({"name": "a", "models": models, **fields})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"models": {"default": "openai:gpt"}},
            "openai:gpt: its key is read from OPENAI_API_KEY, which is not set; export it, or set key_env; a server of "
            "your own needs its base_url in a spec file",
        ),
        (
            {"models": {"default": "openai:x"}, "endpoints": {"openai:x": {"key_env": "MY_KEY"}}},
            "openai:x: its key is read from MY_KEY, which is not set",
        ),
        ({"models": {"default": "offline", "planner": "gpt"}}, "models.planner = 'gpt': no such model"),
        ({"models": {"default": "openai:"}}, "models.default = 'openai:': no such model"),
        (
            {"models": {"default": "gpt"}},
            "models.default = 'gpt': no such model; write offline, openai:NAME",
        ),
        (
            {"models": {"default": "offline", "judge": "gpt"}},
            "models.judge = 'gpt': no such model; write offline, similarity, openai:NAME",
        ),
        ({"models": {"default": "similarity"}}, "models.default = 'similarity': this model serves only as judge"),
        ({"models": {"default": "offline"}, "language": "French"}, "language = 'French': the offline writer writes"),
    ],
)
def test_what_cannot_be_run_is_one_line(fields: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "MY_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SpecError) as caught:
        make_model(spec(**fields), services().kinds)
    assert str(caught.value).startswith(message)


def test_a_key_that_no_header_can_hold_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary\nkey")
    with pytest.raises(SpecError, match="what stands in OPENAI_API_KEY cannot be a key") as caught:
        make_model(spec({"default": "openai:x"}), services().kinds)
    assert "canary" not in str(caught.value)


async def test_an_endpoint_of_ones_own_needs_no_key_and_another_language_is_fine() -> None:
    endpoints = {"openai:x": {"base_url": "http://127.0.0.1:9/v1"}}
    french = spec({"default": "openai:x"}, endpoints=endpoints, language="French")
    await close_model(make_model(french, services().kinds))


async def test_calls_go_to_the_model_they_name() -> None:
    endpoints = {"openai:x": {"base_url": "http://127.0.0.1:9/v1"}}
    model = make_model(spec({"default": "offline", "planner": "openai:x"}, endpoints=endpoints), services().kinds)
    with pytest.raises(KeyError, match="openai:other"):
        await model.complete(call("openai:other"))
