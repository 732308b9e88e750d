"""Tokens a second, calls in flight and prefix-cache hits of the in-process vLLM engine under the calls of a real run.

The model has dummy weights and a shape of one's choice, made on the spot; nothing is downloaded. A whole run is made:
every call goes to the engine as a language model would get it, generates as many tokens as the offline writer's reply
has, and the run goes on with the offline writer's text, so that the requests are those of a real dialogue. The small
tokenizer trained here needs more tokens for a text than a real one.

Run on a machine with a GPU, after `pip install 'longbeam[vllm]'`:

    python -m benchmarks.bench_vllm --shape 8b --length 128K --concurrency 64
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from longbeam.errors import RunStopped
from longbeam.models import Loaded, ModelCall, Sampling, VllmModel, load_engine
from longbeam.offline import OfflineWriter
from longbeam.pipeline import load_spec
from longbeam.pipeline.run import run_inline
from longbeam.schemas import Endpoint, ModelReply
from longbeam.store import create_benchmark
from longbeam.wiring import services

# Hidden size, layers, heads, heads of keys and values, feed-forward size, vocabulary: Llama's architecture.
SHAPES = {
    "tiny": (64, 2, 2, 1, 128, 4_096),
    "1b": (2_048, 16, 32, 8, 8_192, 128_256),
    "8b": (4_096, 32, 32, 8, 14_336, 128_256),
    "70b": (8_192, 80, 64, 8, 28_672, 128_256),
}
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def main() -> None:
    """Make the model, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    parser.add_argument("--length", default="16K")
    parser.add_argument("--domain", default="trip_planning")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--tensor-parallel", type=int, default=1)
    parser.add_argument("--max-model-len", type=int, default=40_960)
    parser.add_argument("--calls", type=int, default=None, help="stop after so many; the whole run without it")
    parser.add_argument("--eager", action="store_true", help="no CUDA graphs; needed on a CPU")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_model_files(Path(folder) / "model", arguments.shape, arguments.max_model_len)
        asyncio.run(measure(Path(folder), arguments))


def make_model_files(folder: Path, shape: str, max_model_len: int) -> None:
    """Write a configuration and a tokenizer; there are no weights."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=4_096, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=special[2], pad_token=special[0])
    fast.chat_template = TEMPLATE
    hidden, layers, heads, kv_heads, inner, vocabulary = SHAPES[shape]
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=max_model_len,
        bos_token_id=0,
        eos_token_id=2,
        pad_token_id=0,
        architectures=["LlamaForCausalLM"],
        dtype="bfloat16",
    )
    folder.mkdir(parents=True)
    config.save_pretrained(folder)
    fast.save_pretrained(folder)


def _texts() -> Iterator[str]:
    """English and code to train a tokenizer on: the offline writer's packs."""
    packs = sorted((Path(__file__).parent.parent / "longbeam" / "offline" / "packs").rglob("*.yaml"))
    if not packs:
        raise SystemExit("bench_vllm: the offline writer's packs are not where they were; nothing to train on")
    for path in packs:
        yield path.read_text(encoding="utf-8")


@dataclass
class Measured:
    """Asks the engine, answers as the offline writer does, and counts."""

    engine: VllmModel
    most_calls: int | None = None
    writer: OfflineWriter = field(default_factory=OfflineWriter)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("calls", "prompt", "cached", "output"), 0))
    in_flight: int = 0
    most: int = 0
    busy_s: float = 0.0

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the offline writer's reply once the engine has generated as many tokens."""
        if self.most_calls is not None and self.counts["calls"] >= self.most_calls:
            raise RunStopped("enough calls were measured")
        reply = await self.writer.complete(call)
        wanted = max(1, len(reply.text) // 4)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        begun = time.monotonic()
        try:
            made = await self.engine.complete(replace(call, sampling=Sampling(max_tokens=wanted)))
        finally:
            self.in_flight -= 1
            self.busy_s += time.monotonic() - begun
        for name, value in (
            ("calls", 1),
            ("prompt", made.prompt_tokens),
            ("cached", made.cached_tokens),
            ("output", made.output_tokens),
        ):
            self.counts[name] += value
        return reply


async def measure(folder: Path, arguments: argparse.Namespace) -> None:
    """Make one conversation and print a line of JSON."""
    endpoint = Endpoint(
        model=str(folder / "model"), tensor_parallel=arguments.tensor_parallel, context=arguments.max_model_len
    )

    def load(model: str, settings: Endpoint) -> Loaded:
        loaded = load_engine(
            model, settings, load_format="dummy", enforce_eager=arguments.eager, max_num_seqs=arguments.concurrency
        )

        def sampling(**options: Any) -> Any:
            params = loaded.sampling(**options)
            params.ignore_eos = True  # random weights end where they like
            return params

        return Loaded(loaded.engine, sampling)

    fields = {"name": "bench", "length": arguments.length, "domains": [arguments.domain]}
    spec = load_spec(None, {**fields, "limits": {"concurrency": arguments.concurrency}})
    engine = VllmModel("vllm:bench", endpoint, load=load)
    begun = time.monotonic()
    engine._started()  # so that its start is not part of the run's time
    started = time.monotonic()
    measured = Measured(engine, arguments.calls)
    try:
        await run_inline(create_benchmark(spec, folder / "out"), services().models(measured))
        wall = time.monotonic() - started
    finally:
        await engine.aclose()
    counts = measured.counts
    print(
        json.dumps(
            {
                "shape": arguments.shape,
                "length": spec.length,
                **counts,
                "engine_start_s": round(started - begun, 1),
                "wall_s": round(wall, 1),
                "output_tokens_per_s": round(counts["output"] / wall),
                "prompt_tokens_per_s": round(counts["prompt"] / wall),
                "cache_hit": round(counts["cached"] / counts["prompt"], 3),
                "mean_in_flight": round(measured.busy_s / wall, 1),
                "most_in_flight": measured.most,
            }
        )
    )


if __name__ == "__main__":
    main()
