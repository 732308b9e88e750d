"""A benchmark of conversations of several lengths, as BEAM's is of four."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from longbeam.cli import OK, run
from longbeam.errors import SpecError
from longbeam.formats import export_huggingface
from longbeam.pipeline import load_spec
from longbeam.pipeline.cost import rehearse
from longbeam.pipeline.run import finished_conversations, open_meter, run_inline
from longbeam.prompts import default_registry
from longbeam.schemas import BenchmarkSpec
from longbeam.store import SealedConversation, create_benchmark
from longbeam.wiring import services

BEAM = '[composition]\n"100K" = 20\n"500K" = 35\n"1M" = 35\n"10M" = 10\n'


def spec_of(tmp_path: Path, text: str, **options: object) -> BenchmarkSpec:
    (tmp_path / "spec.toml").write_text(f'name = "all"\n{text}', encoding="utf-8")
    return load_spec(tmp_path / "spec.toml", options)


def test_a_composition_says_how_many_and_how_long(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, BEAM)
    assert spec.conversations == 100
    assert spec.length == 1_545_000  # (20 * 100K + 35 * 500K + 35 * 1M + 10 * 10M) / 100
    of = [spec.of_conversation(i).length for i in range(100)]
    assert of == [100_000] * 20 + [500_000] * 35 + [1_000_000] * 35 + [10_000_000] * 10
    assert BenchmarkSpec.model_validate_json(spec.model_dump_json()) == spec


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ('conversations = 4\n[composition]\n"16K" = 2', {}, "spec.toml: conversations = 4 contradicts the table"),
        ('[composition]\n"16K" = 2', {"length": "32K"}, "--length: length = '32K' contradicts the table"),
        ('[composition]\n"16K" = 0', {}, "composition: '16K' = 0: write the number of conversations"),
        ('[composition]\n"16K" = "two"', {}, "composition: '16K' = 'two': write the number of conversations"),
        ("[composition]\nlong = 2", {}, "length 'long' is not a number of tokens; write 128K"),
        ('[composition]\n"1K" = 2', {}, "length 1000: at least 16000 tokens"),
        ("composition = 4", {}, "composition = 4: input should be a valid dictionary"),
    ],
)
def test_a_composition_that_cannot_be_is_refused(
    tmp_path: Path, text: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError) as refused:
        spec_of(tmp_path, text, **options)
    assert message in str(refused.value)


def test_conversations_of_a_composition_are_as_long_as_it_says_and_exported_by_size(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, '[composition]\n"16K" = 1\n"30K" = 1\n')
    benchmark, given = create_benchmark(spec, tmp_path), services()
    asyncio.run(run_inline(benchmark, given.models(open_meter(benchmark, given))))

    sealed = [SealedConversation(benchmark.sealed_path(i)) for i in benchmark.conversation_ids]
    assert [one.head.target_tokens for one in sealed] == [16_000, 30_000]
    tokens = [sum(m.tokens for m in one.messages()) for one in sealed]
    assert all(abs(is_ - asked) < 0.1 * asked for is_, asked in zip(tokens, (16_000, 30_000), strict=True))
    assert finished_conversations(benchmark, default_registry()) == set(benchmark.conversation_ids)
    export_huggingface(sealed, spec, tmp_path / "tables")
    files = [path.name.partition("-")[0] for path in sorted((tmp_path / "tables" / "data").iterdir())]
    assert files == ["16K", "32K"]
    for one in sealed:
        one.close()
    assert run(["evaluate", "all", "--system", "rag", "--out", str(tmp_path)]) == OK
    assert run(["report", "all", "--markdown", str(tmp_path / "report.md"), "--out", str(tmp_path)]) == OK
    table = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| all | 16,000 tokens |" in table
    assert "| all | 30,000 tokens |" in table
    with pytest.raises(SpecError, match="composition cannot change from"):
        create_benchmark(spec_of(tmp_path, '[composition]\n"16K" = 2\n"30K" = 2\n'), tmp_path)


async def test_an_estimate_adds_the_lengths_up() -> None:
    apart = [
        await rehearse(BenchmarkSpec(name="x", seed=1, length=length, conversations=count), services())
        for length, count in ((16_000, 1), (24_000, 1))
    ]
    both = await rehearse(BenchmarkSpec(name="x", seed=1, composition={16_000: 1, 24_000: 1}), services())
    assert (both.conversations, both.rehearsed) == (2, 2)
    assert sum(u.calls for u in both.usage) == sum(u.calls for one in apart for u in one.usage)
