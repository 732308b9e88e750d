from __future__ import annotations

import pytest
from pydantic import ValidationError

from longbeam.models.kinds import answers_by_rule
from longbeam.schemas.spec import BenchmarkSpec, Endpoint, Role, RoleSampling


def spec(**fields: object) -> BenchmarkSpec:
    return BenchmarkSpec.model_validate({"name": "a", **fields})


def test_a_role_takes_what_it_leaves_out_from_the_default() -> None:
    of = spec(sampling={"default": {"temperature": 0.7, "max_tokens": 500}, "assistant": {"temperature": 0.0}})

    assert of.sampling_for(Role.ASSISTANT) == RoleSampling(temperature=0.0, max_tokens=500)
    assert of.sampling_for(Role.USER) == RoleSampling(temperature=0.7, max_tokens=500)
    assert spec().sampling_for(Role.USER) == RoleSampling()


def test_a_model_is_the_same_wherever_it_is_served() -> None:
    def at(port: int) -> BenchmarkSpec:
        endpoint = {"base_url": f"http://127.0.0.1:{port}/v1", "model": "Qwen/Qwen3-8B"}
        return spec(models={"default": "openai:small"}, endpoints={"openai:small": endpoint})

    assert at(1000).identity_of("openai:small") == at(2000).identity_of("openai:small") == "openai:Qwen/Qwen3-8B"
    assert spec().identity_of("openai:gpt-4.1-mini") == "openai:gpt-4.1-mini"


def test_an_endpoint_that_is_not_in_the_spec_has_the_defaults() -> None:
    assert spec().endpoint_for("openai:gpt-4.1-mini") == Endpoint()


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000/v1", "https://example.org/v1/", "http://[::1]:80"])
def test_addresses_are_kept_without_a_last_slash(address: str) -> None:
    assert Endpoint(base_url=address).base_url == address.rstrip("/")


@pytest.mark.parametrize("address", ["127.0.0.1:8000", "ftp://a/v1", "http://", "http://a:x/v1", "http://a b/v1", ""])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match="is not an address"):
        Endpoint(base_url=address)


@pytest.mark.parametrize("address", ["http://me:secret@a/v1", "http://a/v1?key=secret"])
def test_an_address_with_a_secret_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match="no user, password or query"):
        Endpoint(base_url=address)


def test_a_model_in_place_of_others_is_told_all_and_they_stay_what_they_are() -> None:
    endpoint = {"model": "Qwen/Qwen3-8B", "price": {"input": 1.0}}
    spec = BenchmarkSpec.model_validate(
        {"name": "a", "models": {"default": "openai:m", "judge": "offline"}, "endpoints": {"openai:m": endpoint}}
    )
    told = spec.for_any_model()
    assert [answers_by_rule(spec, name) for name in ("openai:m", "offline")] == [False, True]
    assert [answers_by_rule(told, name) for name in ("openai:m", "offline")] == [True, True]
    assert told.identity_of("openai:m") == spec.identity_of("openai:m")
    assert told.endpoint_for("openai:m").price == spec.endpoint_for("openai:m").price


def test_an_endpoint_keeps_the_key_that_earlier_versions_wrote() -> None:
    assert Endpoint.model_validate({"offline_writer": True}) == Endpoint(sends_extras=True)
    assert Endpoint.model_validate({"offline_writer": True, "sends_extras": True}) == Endpoint(sends_extras=True)
    assert "offline_writer" not in Endpoint(sends_extras=True).model_dump()


def test_an_endpoint_with_contradicting_former_and_present_keys_is_refused() -> None:
    with pytest.raises(ValidationError, match="former name of sends_extras"):
        Endpoint.model_validate({"offline_writer": True, "sends_extras": False})
