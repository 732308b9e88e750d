from __future__ import annotations

import pytest
from pydantic import ValidationError

from longbeam.models import answers_by_rule, has_model_checks
from longbeam.schemas import BenchmarkSpec, Endpoint, Limits, Price, Role, RoleSampling


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


@pytest.mark.parametrize("value", ["inf", "nan", "-inf"])
def test_a_price_that_is_no_number_is_refused(value: str) -> None:
    for name in ("input", "cached", "output"):
        with pytest.raises(ValidationError, match="finite number"):
            Price.model_validate({name: float(value)})
    with pytest.raises(ValidationError, match=r"finite number|less than"):
        Limits.model_validate({"max_cost_usd": float(value)})


@pytest.mark.parametrize("address", ["http://a/v1\x1b[2J", "http://a/v1\x00", "http://a/\x7f", "http://a /v1"])
def test_an_address_with_control_characters_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match="is not an address"):
        Endpoint(base_url=address)


@pytest.mark.parametrize(
    "address", ["http://me:secret@a/v1", "http://a/v1?key=secret", "http://h/v1;key=secret", "http://h/token=secret/v1"]
)
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


def test_the_checker_is_the_default_model_and_a_second_one_only_if_named() -> None:
    default = spec(models={"default": "openai:m"})
    assert [default.model_for(role) for role in (Role.CHECKER, Role.SECOND_CHECKER)] == ["openai:m", ""]
    two = spec(models={"default": "openai:m", "checker": "openai:a", "second_checker": "openai:b"})
    assert [two.model_for(role) for role in (Role.CHECKER, Role.SECOND_CHECKER)] == ["openai:a", "openai:b"]
    assert default.models_in_use == {"openai:m"}


def test_a_spec_that_named_every_role_before_there_was_a_checker_still_loads() -> None:
    before = {role: "openai:m" for role in Role if role not in (Role.CHECKER, Role.SECOND_CHECKER)}
    assert spec(models={**before, "judge": "openai:j"}).model_for(Role.CHECKER) == "openai:j"


def test_model_checks_are_on_where_language_models_write_unless_the_spec_says() -> None:
    endpoint = {"openai:m": {"sends_extras": True}}
    assert not has_model_checks(spec())
    assert has_model_checks(spec(models={"default": "openai:m"}))
    assert has_model_checks(spec(models={"default": "offline", "writer": "openai:m"}))
    assert not has_model_checks(spec(models={"default": "openai:m"}, endpoints=endpoint))
    assert not has_model_checks(spec(models={"default": "openai:m"}, checks={"model": False}))
    assert has_model_checks(spec(checks={"model": True}))


def test_a_benchmark_without_a_seed_has_one_of_its_own() -> None:
    one, other = BenchmarkSpec(name="one"), BenchmarkSpec(name="other")
    assert one.seed == BenchmarkSpec(name="one").seed != other.seed
    assert BenchmarkSpec.model_validate_json(one.model_dump_json()) == one
    assert BenchmarkSpec(name="one", seed=0).seed == 0
