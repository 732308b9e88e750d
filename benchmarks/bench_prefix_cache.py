"""How many prompt tokens a block-wise prefix cache would hit: our layout, and BEAM's on the same dialogue.

A whole run with the offline writer is made in a scratch folder; every call is rendered as a language model would get
it. Blocks have 16 tokens, chained as vLLM chains them; `hit` is with a cache that forgets nothing, `bounded` with one
of CACHE_TOKENS. BEAM's requests are those of its released code for the very same messages (`beam_layout.py`): `beam`
as coded, `beam, window of 10` with a window that never holds more than ten to twenty messages.

Run: `python -m benchmarks.bench_prefix_cache [--length 128K,1M] [--domain coding,...] [--by-prompt]`.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from longbeam.pipeline.api import generate

from benchmarks.beam_layout import Request, SubPlanTalk, requests_of
from longbeam.generators import DIALOGUE_PROMPTS
from longbeam.keys import DialogueKey, MessageKey, UnitKey
from longbeam.models import DEFAULT_TOKENIZER, ModelCall, PrefixCache, PromptEncoder, load_tokenizer, tokens_in
from longbeam.offline import OfflineWriter
from longbeam.pipeline import load_spec
from longbeam.prompts.calls import AssistantReplyInputs, UserReplyInputs
from longbeam.schemas import ChatMessage, Message, ModelReply
from longbeam.store import SealedConversation

CACHE_TOKENS = 400_000
"""About 50 GB of keys and values of an 8B model (128 KiB a token), what one GPU of 80 GB has left beside it."""


@dataclass
class Cost:
    """Sums over requests."""

    calls: int = 0
    prompt: int = 0
    hit: int = 0
    bounded: int = 0

    def add(self, prompt: int, hit: int, bounded: int) -> None:
        """Count one request."""
        self.calls += 1
        self.prompt += prompt
        self.hit += hit
        self.bounded += bounded

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.prompt + other.prompt,
            self.hit + other.hit,
            self.bounded + other.bounded,
        )


class Server:
    """Tokens that a server with a prefix cache would have to compute."""

    def __init__(self) -> None:
        self._encode = PromptEncoder(load_tokenizer(DEFAULT_TOKENIZER).encode)
        self._endless, self._bounded = PrefixCache(), PrefixCache(CACHE_TOKENS)

    def serve(self, request: Iterable[ChatMessage], cost: Cost) -> None:
        """Count one request."""
        prompt = self._encode(tuple(request))
        cost.add(tokens_in(prompt), self._endless.serve(prompt), self._bounded.serve(prompt))


@dataclass
class Rehearsal:
    """The offline writer, with every request counted as it arrives and each sub-plan's fixed texts kept."""

    writer: OfflineWriter = field(default_factory=OfflineWriter)
    server: Server = field(default_factory=Server)
    costs: dict[str, Cost] = field(default_factory=lambda: defaultdict(Cost))
    systems: dict[tuple[str, str], str] = field(default_factory=dict)
    """(prompt, sub-plan) to the text that its requests begin with; '' for prompts that have one text for all."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """Count the request, then answer."""
        prompt_id, messages = call.prompt.prompt_id, call.messages()
        self.server.serve(messages, self.costs[prompt_id])
        inputs = call.inputs
        if isinstance(inputs, AssistantReplyInputs | UserReplyInputs):
            if not inputs.summary:
                key = "user" if isinstance(inputs, UserReplyInputs) else "assistant"
                self.systems.setdefault((key, _sub_plan_of(call)), messages[0].content)
        else:
            self.systems.setdefault((prompt_id, ""), messages[0].content)
        return await self.writer.complete(call)


def _sub_plan_of(call: ModelCall) -> str:
    return str(DialogueKey.parse(UnitKey.parse(call.unit_key).unit).sub_plan)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", default="128K", help="comma-separated")
    parser.add_argument("--domain", default="coding,math,trip", help="comma-separated")
    parser.add_argument("--by-prompt", action="store_true", help="our calls by prompt")
    arguments = parser.parse_args()
    print(f"blocks of 16 tokens; bounded: {CACHE_TOKENS:,} tokens; {DEFAULT_TOKENIZER}\n")
    columns = "length, domain, layout, calls, prompt tokens, hit, bounded, prompt / generated, computed / generated"
    print(f"| {columns.replace(', ', ' | ')} |\n{'| --- ' * 9}|")
    for length in arguments.length.split(","):
        for domain in arguments.domain.split(","):
            asyncio.run(compare(length, domain, by_prompt=arguments.by_prompt))


async def compare(length: str, domain: str, *, by_prompt: bool = False) -> None:
    """Make one conversation and print the rows of its layouts."""
    rehearsal = Rehearsal()
    with tempfile.TemporaryDirectory() as out:
        spec = load_spec(None, {"name": "bench", "length": length, "domains": [domain]})
        await generate(spec, Path(out), model=rehearsal)
        with SealedConversation(Path(out) / "bench" / "conversations" / "c000.duckdb") as sealed:
            messages = list(sealed.messages())
    written = sum(m.tokens for m in messages)
    dialogue = sum((rehearsal.costs[p] for p in DIALOGUE_PROMPTS if p in rehearsal.costs), Cost())
    everything = sum(rehearsal.costs.values(), Cost())
    print_row(length, domain, "longbeam, all stages", everything, written)
    print_row(length, domain, "longbeam, dialogue", dialogue, written)
    talks = list(talks_of(messages, rehearsal))
    for name, is_sliding in (("BEAM as coded, dialogue", False), ("BEAM, window of 10, dialogue", True)):
        print_row(length, domain, name, beam_cost(talks, is_sliding=is_sliding), written)
    if by_prompt:
        for prompt_id, cost in sorted(rehearsal.costs.items(), key=lambda item: item[1].hit - item[1].prompt):
            print_row(length, domain, f"- {prompt_id}", cost, written)


def talks_of(messages: Iterable[Message], rehearsal: Rehearsal) -> Iterable[SubPlanTalk]:
    """The dialogue of each sub-plan with the texts that its calls begin with, in the plan's order."""
    by_sub_plan: dict[str, list[Message]] = defaultdict(list)
    for message in messages:
        by_sub_plan[str(MessageKey.parse(message.message_key).sub_plan)].append(message)
    systems = rehearsal.systems
    for key, said in by_sub_plan.items():
        assistant = systems[("assistant", key)]
        yield SubPlanTalk(
            messages=said,
            assistant_system=assistant,
            # A sub-plan in which the user was asked nothing has no such call; it is not needed there.
            user_system=systems.get(("user", key), assistant),
            question_rules=systems[("question_detector", "")],
            follow_up_rules=systems[("question_detector", "")],
            summary_rules=systems.get(("compact_memory", ""), "Summarise."),
        )


def beam_cost(talks: Iterable[SubPlanTalk], *, is_sliding: bool) -> Cost:
    """Return the cost of these dialogues in BEAM's layout, one sub-plan after the other, as in its code."""
    count = _counter()
    server, cost = Server(), Cost()
    for talk in talks:
        request: Request
        for request in requests_of(talk, count, is_sliding=is_sliding):
            server.serve(request, cost)
    return cost


def _counter() -> Callable[[str], int]:
    tokenizer = load_tokenizer(DEFAULT_TOKENIZER)
    known: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in known:
            known[text] = tokenizer.count(text)
        return known[text]

    return count


def print_row(length: str, domain: str, layout: str, cost: Cost, written: int) -> None:
    """Print one row; `written` are the tokens of the conversation."""
    computed = cost.prompt - cost.hit
    print(
        f"| {length} | {domain} | {layout} | {cost.calls:,} | {cost.prompt:,} | {cost.hit / cost.prompt:.1%} |"
        f" {cost.bounded / cost.prompt:.1%} | {cost.prompt / written:.1f} | {computed / written:.2f} |"
    )


if __name__ == "__main__":
    main()
