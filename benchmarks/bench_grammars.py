"""What a reply's schema costs vLLM's two grammar libraries: to compile, and for the mask of each token.

The schemas and replies are those of a run of the offline writer. Needs the packages that `longbeam[vllm]` brings, and
no GPU. The tokenizer matters: name a model's own folder.

    python -m benchmarks.bench_grammars --tokenizer FOLDER [--length 16K] [--domain cooking] [--replies 2]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longbeam.models import ModelCall, strict_schema
from longbeam.offline import OfflineWriter
from longbeam.pipeline import load_spec
from longbeam.pipeline.run import run_inline
from longbeam.schemas import ModelReply
from longbeam.store import create_benchmark
from longbeam.wiring import services

LENGTHS = frozenset({"minLength", "maxLength"})

Step = Callable[[int], bool]
"""Fills the mask for the next token, then takes that token; False when the grammar refuses it."""
Compile = Callable[[str], Step]


@dataclass
class Recorded:
    """The offline writer, which keeps its first replies to each prompt with their schemas."""

    most: int
    writer: OfflineWriter = field(default_factory=OfflineWriter)
    replies: dict[str, list[tuple[dict[str, Any], str]]] = field(default_factory=lambda: defaultdict(list))

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer, and keep it."""
        reply = await self.writer.complete(call)
        kept, form = self.replies[call.prompt.prompt_id], call.prompt.output
        if form is not None and len(kept) < self.most:
            whole = form.model_validate_json(reply.text).model_dump(mode="json")  # with every property
            schema = strict_schema(call.prompt.schema(call.inputs), is_whole=True)
            kept.append((schema, json.dumps(in_form(whole, schema, schema.get("$defs", {})), separators=(",", ":"))))
        return reply


def in_form(value: Any, schema: Mapping[str, Any], forms: Mapping[str, Any]) -> Any:  # Any: JSON
    """Return a reply with the properties of its schema alone, in their order, as a grammar takes it."""
    if "$ref" in schema:
        return in_form(value, forms[schema["$ref"].rpartition("/")[2]], forms)
    if "anyOf" in schema:
        every = [in_form(value, option, forms) for option in schema["anyOf"]]
        fitting = [made for made, option in zip(every, schema["anyOf"], strict=True) if fits(made, option, forms)]
        return max(fitting, key=lambda made: len(json.dumps(made)), default=value)  # the one that leaves out least
    if isinstance(value, dict):
        return {name: in_form(value[name], part, forms) for name, part in schema["properties"].items()}
    if isinstance(value, list):
        own = schema.get("prefixItems", ())
        parts = [*own, *[schema.get("items", {})] * (len(value) - len(own))]
        return [in_form(item, part, forms) for item, part in zip(value, parts, strict=False)]
    return value


def fits(value: Any, schema: Mapping[str, Any], forms: Mapping[str, Any]) -> bool:  # Any: JSON
    """Return whether a value fits a part of a schema."""
    import jsonschema

    return bool(jsonschema.Draft202012Validator({**schema, "$defs": forms}).is_valid(value))


@dataclass
class Cost:
    """Seconds, and tokens they were for."""

    compile_s: float = 0.0
    mask_s: float = 0.0
    tokens: int = 0
    replies: int = 0
    refused: int = 0

    def add(self, compiled: Compile, schema: Mapping[str, Any], tokens: list[int]) -> None:
        """Compile a schema and go through a reply."""
        begun = time.perf_counter()
        step = compiled(json.dumps(schema))
        self.compile_s += time.perf_counter() - begun
        self.replies += 1
        begun = time.perf_counter()
        for token in tokens:
            self.tokens += 1
            if not step(token):
                self.refused += 1
                break
        self.mask_s += time.perf_counter() - begun

    def cells(self) -> str:
        """Milliseconds to compile, of a token's mask, and replies refused."""
        mask = 1000 * self.mask_s / max(1, self.tokens)
        return f"{1000 * self.compile_s / max(1, self.replies):,.0f} | {mask:.2f} | {self.refused}"


def xgrammar_of(tokenizer: Any) -> Compile:  # Any: transformers has no types
    """xgrammar, as vLLM's `auto` takes it."""
    import xgrammar

    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=len(tokenizer))
    compiler = xgrammar.GrammarCompiler(info, cache_enabled=False)
    mask = xgrammar.allocate_token_bitmask(1, len(tokenizer))

    def compiled(schema: str) -> Step:
        matcher = xgrammar.GrammarMatcher(compiler.compile_json_schema(schema))

        def step(token: int) -> bool:
            matcher.fill_next_token_bitmask(mask)
            return bool(matcher.accept_token(token))

        return step

    return compiled


def llguidance_of(tokenizer: Any) -> Compile:
    """llguidance, vLLM's `guidance`."""
    import llguidance.hf
    import llguidance.torch

    known = llguidance.hf.from_tokenizer(tokenizer)
    mask = llguidance.torch.allocate_token_bitmask(1, known.vocab_size)

    def compiled(schema: str) -> Step:
        matcher = llguidance.LLMatcher(known, llguidance.LLMatcher.grammar_from_json_schema(schema))
        if matcher.is_error():
            raise SystemExit(f"bench_grammars: llguidance refuses a schema: {matcher.get_error()}")

        def step(token: int) -> bool:
            llguidance.torch.fill_next_token_bitmask(matcher, mask)
            return bool(matcher.consume_token(token))

        return step

    return compiled


def without_lengths(node: Any) -> Any:  # Any: JSON
    """Return the schema without bounds on the lengths of its texts."""
    if isinstance(node, dict):
        return {key: without_lengths(value) for key, value in node.items() if key not in LENGTHS}
    return [without_lengths(item) for item in node] if isinstance(node, list) else node


def rows(recorded: Recorded, tokenizer: Any) -> Iterator[str]:
    """Yield a row of Markdown per prompt."""
    xgrammar, llguidance = xgrammar_of(tokenizer), llguidance_of(tokenizer)
    for prompt_id, kept in sorted(recorded.replies.items()):
        costs = [Cost(), Cost(), Cost()]
        for schema, text in kept:
            tokens = tokenizer.encode(text, add_special_tokens=False)
            costs[0].add(xgrammar, schema, tokens)
            costs[1].add(xgrammar, without_lengths(schema), tokens)
            costs[2].add(llguidance, schema, tokens)
        if kept:
            yield f"| {prompt_id} | {' | '.join(cost.cells() for cost in costs)} |"


def main() -> None:
    """Run the offline writer, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", required=True, help="a folder as transformers saves it")
    parser.add_argument("--length", default="16K")
    parser.add_argument("--domain", default="cooking")
    parser.add_argument("--replies", type=int, default=2, help="of each prompt")
    arguments = parser.parse_args()
    from transformers import AutoTokenizer

    recorded = Recorded(arguments.replies)
    spec = load_spec(None, {"name": "bench", "length": arguments.length, "domains": [arguments.domain]})
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run_inline(create_benchmark(spec, Path(folder)), services().models(recorded)))
    print("compile: ms a schema; mask: ms a token; refused: replies that the grammar does not take\n")
    parts = "compile | mask | refused"
    print(f"| prompt | xgrammar: {parts} | without lengths: {parts} | llguidance: {parts} |\n{'| --- ' * 10}|")
    for row in rows(recorded, AutoTokenizer.from_pretrained(arguments.tokenizer)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
