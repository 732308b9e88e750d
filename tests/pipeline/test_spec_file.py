from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import SpecError
from longbeam.pipeline import OPTIONS, check_spec, load_spec, with_overrides
from longbeam.schemas import BenchmarkSpec, Domain, Strategy


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "spec.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_becomes_a_spec(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "a"\nlength = "64K"\ndomains = ["coding", "trip"]\n[limits]\nconcurrency = 3\n')
    spec = load_spec(path)

    assert (spec.name, spec.length, spec.limits.concurrency) == ("a", 64_000, 3)
    assert spec.domains == (Domain.CODING, Domain.TRIP)


def test_options_win_over_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "a"\nlength = "64K"\n[models]\ndefault = "offline"\nplanner = "openai:x"\n')
    spec = load_spec(path, {"name": "b", "models": {"default": "openai:y"}, "limits": {"concurrency": 2}})

    assert (spec.name, spec.length, spec.limits.concurrency) == ("b", 64_000, 2)
    assert spec.models == {"default": "openai:y", "planner": "openai:x"}


def test_no_file_means_the_defaults() -> None:
    assert load_spec(None, {"name": "demo"}) == BenchmarkSpec(name="demo")


def test_a_seeds_file_lies_beside_its_spec(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "a"\nseeds_file = "seeds/mine.json"\n')
    assert load_spec(path).seeds_file == str(tmp_path / "seeds" / "mine.json")


def test_a_seeds_option_is_taken_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_spec(None, {"name": "a", "seeds_file": "mine.json"}).seeds_file == str(tmp_path / "mine.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", r"spec.toml: not valid TOML: Invalid value \(at (line 1|end of document)"),
        ("", r'spec.toml: name is missing; add `name = "..."` or give --name'),
        ('name = "a"\nlenght = "64K"', r"spec.toml: unknown key 'lenght'; known keys are name, seed, length, "),
        (
            'name = "a"\n[probes]\nhardest = true',
            "spec.toml: unknown key 'probes.hardest'; known keys are assistant_share, ",
        ),
        (
            'name = "a"\n[limits]\nspeed = 1',
            "spec.toml: unknown key 'limits.speed'; known keys are concurrency, timeout_s, idle_timeout_s, "
            "max_reply_mb, max_cost_usd. Correct",
        ),
        (
            'name = "a"\n[endpoints."openai:x"]\nkey = "sk"',
            r"""unknown key 'endpoints."openai:x".key'; known keys are base_url, model, key_env, """,
        ),
        (
            'name = "a"\n[endpoints."openai:x".limits]\nrpm = 1',
            r"""unknown key 'endpoints."openai:x".limits.rpm'; known keys are concurrency, requests_per_minute, """,
        ),
        (
            'name = "a"\n[endpoints."openai:x"]\nbase_url = "localhost"',
            r"""spec.toml: endpoints."openai:x".base_url is not an address; write it as in http""",
        ),
        (
            'name = "a"\n[endpoints.offline]\nmodel = "x"',
            r"""endpoints: 'offline' is no model with an endpoint; write openai:NAME, vllm:NAME or gguf:PATH""",
        ),
        (
            'name = "a"\n[endpoints."gguf:m.gguf"]\nbase_url = "http://127.0.0.1:8000/v1"',
            r"""endpoints: 'gguf:m.gguf' has a base_url, but longbeam serves gguf: models itself; name a server""",
        ),
        ('name = "a"\n[sampling]\ntop_p = 0.9', r"top_p = 0.9 belongs to no role; write it under "),
        ('name = "a"\n[sampling.poet]\nmax_tokens = 9', r"spec.toml: sampling: unknown role 'poet'; roles are "),
        ('name = "a"\nlength = "long"', r"spec.toml: length 'long' is not a number of tokens"),
        ('name = "a"\nlength = 500', r"spec.toml: length 500: at least 16000 tokens"),
        ('name = "a/b"', r"spec.toml: name 'a/b': 1 to 64 letters, digits"),
        ('name = "a"\nconversations = 0', r"conversations = 0: input should be greater than or equal to 1"),
        ('name = "a"\nconversations = "many"', r"conversations = 'many': input should be a valid integer"),
        (
            'name = "a"\nabilities = ["abstention", "guessing"]',
            r"abilities: 'guessing' is unknown; there are abstention, ",
        ),
        ('name = "a"\ndomains = ["coding", "gardening"]', r"domains\[1\] = 'gardening': no such domain; domains are "),
        ('name = "a"\n[models]\nplaner = "offline"', r"models: unknown role 'planer'; roles are "),
        (
            'name = "a"\nseed = -1\nconversations = 0\n[limits]\nspeed = 1',
            "spec.toml: seed = -1: input should be greater than or equal to 0; also conversations = 0: input should be "
            "greater than or equal to 1; also unknown key 'limits.speed'; known keys are .*Correct or remove it$",
        ),
        (
            'name = "a"\n[sampling]\n' + "".join(f"k{i} = {{ x = 1 }}\n" for i in range(8)),
            r"also unknown key 'sampling.k5.x'; .* \(and 2 more to mend\)$",
        ),
        ('name = "a"\ndomains = "coding"', r"""spec.toml: domains = 'coding': write a list, \["coding"\]$"""),
        ('name = "a"\nabilities = 3', r"""spec.toml: abilities = 3: write a list, \["...", "..."\]$"""),
        ('name = "a"\nlength = 16000.5', r"spec.toml: length 16000.5 is not a whole number of tokens; write 128K"),
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        load_spec(write(tmp_path, text))
    assert "\n" not in str(caught.value)


ADDRESS = 'base_url = "http://127.0.0.1:9/v1"'


@pytest.mark.parametrize(
    ("models", "endpoints", "message"),
    [
        (
            'default = "openai:foo"',
            ["openai:bar"],
            r"""spec.toml: \[endpoints."openai:bar"\]: no role uses this address, and 'openai:foo' .*"""
            r"""\(models in use: openai:foo\)\. Did you mean "openai:bar"\? To ask OpenAI, """
            r"""add an empty table \[endpoints."openai:foo"\]""",
        ),
        (
            'default = "openai:own"\nwriter = "openai:qwen-8b"',
            ["openai:embedder", "openai:qwen8b"],
            r"""'openai:qwen-8b' without .*in use: openai:own, openai:qwen-8b\)\. Did you mean "openai:qwen8b"\?""",
        ),
        ('default = "openai:foo"', ["openai:ab", "openai:xyzuvw"], r"in use: openai:foo\)\. To ask OpenAI, add"),
    ],
)
def test_an_unused_address_beside_a_model_that_goes_to_openai_is_refused(
    tmp_path: Path, models: str, endpoints: list[str], message: str
) -> None:
    tables = "".join(f'[endpoints."{name}"]\n{ADDRESS}\n' for name in endpoints)
    with pytest.raises(SpecError, match=message) as caught:
        load_spec(write(tmp_path, f'name = "a"\n[models]\n{models}\n{tables}'))
    assert "\n" not in str(caught.value)


def test_a_strategy_that_has_no_effect_is_a_warning() -> None:
    spec = BenchmarkSpec.model_validate({"name": "a", "length": "16K", "strategy": "hierarchical"})
    assert check_spec(spec) == [
        'strategy = "hierarchical" has no effect at 16,000 tokens: a conversation has several plans only beyond 1M'
    ]
    assert check_spec(spec.model_copy(update={"strategy": Strategy.SEQUENTIAL})) == []
    assert check_spec(spec.model_copy(update={"length": 2_000_000})) == []


def test_a_stored_spec_with_an_unused_address_is_refused_before_a_run() -> None:
    fields = {"models": {"default": "openai:foo"}, "endpoints": {"openai:fob": {"base_url": "http://127.0.0.1:9/v1"}}}
    with pytest.raises(SpecError, match=r'Did you mean "openai:fob"\?'):
        check_spec(BenchmarkSpec.model_validate({"name": "a", **fields}))


@pytest.mark.parametrize(
    "text",
    [
        f'[endpoints."openai:reader"]\n{ADDRESS}',  # offline roles; a later --reader
        f'[models]\ndefault = "openai:x"\n[endpoints."openai:x"]\n{ADDRESS}\n[endpoints."openai:reader"]\n{ADDRESS}',
        f'[models]\ndefault = "openai:x"\n[endpoints."openai:x"]\n[endpoints."openai:embedder"]\n{ADDRESS}',
        '[models]\ndefault = "openai:x"\n[endpoints."openai:reader"]\nprice = { input = 1 }',
    ],
)
def test_an_address_for_a_later_command_is_taken(tmp_path: Path, text: str) -> None:
    assert load_spec(write(tmp_path, f'name = "a"\n{text}')).endpoints


def test_a_key_where_its_variable_belongs_is_not_repeated(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "a"\n[endpoints."openai:x"]\nkey_env = "sk-canary-1"')
    with pytest.raises(SpecError, match="key_env is the name of an environment variable") as caught:
        load_spec(path)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"length": "12 miles"}, r"--length: length '12 miles' is not a number"),
        ({"length": 65_000_000}, r"--length: length 65000000: at most 64000000"),
        ({"name": "../up"}, r"--name: name '../up'"),
        ({"domains": ["gardening"]}, r"--domain: domains\[0\] = 'gardening'"),
        ({"limits": {"concurrency": 0}}, r"--concurrency: limits.concurrency = 0"),
        ({"seed": "x", "checks": {"gap_share": 2}}, r"--seed: seed = 'x': .*; also the spec: checks.gap_share = 2: "),
    ],
)
def test_a_wrong_option_is_named(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load_spec(None, {"name": "a"} | overrides)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"nowhere.toml: no such spec file"):
        load_spec(tmp_path / "nowhere.toml")


def test_a_folder_is_no_spec(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        load_spec(tmp_path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(SpecError, match=r"not UTF-8 text \(byte 8\)"):
        load_spec(tmp_path / "spec.toml")


def test_options_name_fields() -> None:
    assert set(OPTIONS) <= set(BenchmarkSpec.model_fields)


def test_model_file_is_found_beside_the_spec_and_its_name_has_no_path(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text('name = "a"\nmodels = { default = "gguf:m/x.gguf" }\n[endpoints."gguf:m/x.gguf"]\nslots = 4\n')
    spec = load_spec(path)
    assert spec.models == {"default": "gguf:x.gguf"}
    assert (spec.endpoint_for("gguf:x.gguf").slots, spec.path_of("gguf:x.gguf")) == (4, tmp_path / "m" / "x.gguf")
    elsewhere = load_spec(path, {"models": {"default": f"gguf:{tmp_path}/n/x.gguf"}})
    assert (elsewhere.models, elsewhere.path_of("gguf:x.gguf")) == (spec.models, tmp_path / "n" / "x.gguf")
    assert elsewhere.endpoint_for("gguf:x.gguf").slots == 4
    assert with_overrides(elsewhere, {"limits": {"concurrency": 1}}).endpoints == elsewhere.endpoints


def test_two_model_files_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text('name = "a"\nmodels = { default = "gguf:m/x.gguf", judge = "gguf:n/x.gguf" }\n')
    with pytest.raises(SpecError, match="two models with one file name; rename one of the files"):
        load_spec(path)
