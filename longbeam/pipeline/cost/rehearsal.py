"""A rehearsal of a spec: the same pipeline with a stand-in model, in a scratch folder, its tokens counted.

Messages are rendered as the spec's own models would get them and counted with the spec's tokenizer; what a prefix
cache of one server per model would hold is counted as vLLM does it. Large specs are rehearsed in part and scaled.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from longbeam.generators import measured_fitness, plan_lengths, unsaid_claims
from longbeam.keys import UnitKey
from longbeam.models import (
    Asker,
    ChatModel,
    CostMeter,
    ModelCall,
    Models,
    PrefixCache,
    PromptEncoder,
    Tokenizer,
    check_models,
    has_model_checks,
    load_tokenizer,
    tokens_in,
)
from longbeam.pipeline.chat_probing import probe_chats
from longbeam.pipeline.cost.estimate import PromptSize, Rehearsal
from longbeam.pipeline.run.driver import run_inline
from longbeam.pipeline.run.units import DIALOGUE
from longbeam.pipeline.services import Services
from longbeam.pipeline.tuning import RUNNING
from longbeam.prompts import default_registry
from longbeam.prompts.calls import MOST_STATEMENTS, ExtractFactsInputs
from longbeam.schemas import COUNTS, BenchmarkSpec, Limits, MessageRole, ModelReply, TurnWriting, Usage, summed
from longbeam.store import Benchmark, SealedConversation, create_benchmark


async def rehearse(spec: BenchmarkSpec, services: Services) -> Rehearsal:
    """Make the first conversations of each length of a spec with the stand-in model and return their usage.

    Raises SpecError for a name in `models` that is no model.
    """
    check_models(spec, services.kinds)
    counting = CountingModel(services.stand_in(), load_tokenizer(spec.tokenizer))
    rehearsed, usage = 0, list[Usage]()
    for length, conversations in (spec.composition or {spec.length: spec.conversations}).items():
        count = max(1, min(conversations, RUNNING.rehearsed_conversations, RUNNING.rehearsed_tokens // length))
        # Plans are alike in what they use: of a conversation of many, one is rehearsed.
        lengths = plan_lengths(length)
        rows = await _rehearsed(spec, services, counting, {"conversations": count, "length": lengths[0]})
        usage += (_scaled(row, len(lengths) * conversations / count) for row in rows)
        rehearsed += count
    return Rehearsal(
        length=spec.length,
        conversations=spec.conversations,
        rehearsed=rehearsed,
        tokenizer=spec.tokenizer,
        usage=tuple(summed(usage)),
        sizes=counting.prompt_sizes(),
    )


async def _rehearsed(
    spec: BenchmarkSpec, services: Services, counting: CountingModel, part: dict[str, int]
) -> list[Usage]:
    """Make the conversations that `part` of a spec asks for in a folder of their own and return their usage."""
    changes = {
        **part,
        "composition": {},
        # Nothing waits for anything here, so a limit would only cost time; a cap would end the rehearsal.
        "limits": Limits(concurrency=256),
        # The stand-in answers by rule; what is asked of the spec's own models is asked of the stand-in.
        "checks": spec.checks.model_copy(update={"model": has_model_checks(spec)}),
    }
    smaller = spec.model_copy(update=changes)
    with tempfile.TemporaryDirectory(prefix="longbeam-rehearsal-") as folder:
        benchmark = create_benchmark(smaller, Path(folder))
        meter = CostMeter(counting, smaller)
        benchmark, models = replace(benchmark, spec=smaller.for_any_model()), services.models(meter)
        await run_inline(benchmark, models)
        for conversation_id in benchmark.conversation_ids:
            await _rehearse_judging(benchmark, models, conversation_id)
    return meter.usage()


async def rehearse_probing(benchmark: Benchmark, services: Services) -> Rehearsal:
    """Probe a copy of the first chats of a benchmark with the stand-in model and return the usage, scaled to all.

    Raises SpecError for a name in `models` that is no model.
    """
    spec = benchmark.spec
    check_models(spec, services.kinds)
    lengths = {i: _tokens_of(benchmark, i) for i in benchmark.sealed_ids}
    rehearsed = list(_first(lengths))
    changes = {
        "limits": Limits(concurrency=256),
        "checks": spec.checks.model_copy(update={"model": has_model_checks(spec)}),
    }
    smaller = spec.model_copy(update=changes)
    with tempfile.TemporaryDirectory(prefix="longbeam-rehearsal-") as folder:
        copy = replace(benchmark, root=Path(folder), spec=smaller.for_any_model())
        for name in ("work", "conversations"):
            (copy.root / name).mkdir()
        for conversation_id in rehearsed:
            shutil.copyfile(benchmark.sealed_path(conversation_id), copy.sealed_path(conversation_id))
        counting = CountingModel(services.stand_in(), load_tokenizer(spec.tokenizer))
        meter = CostMeter(counting, smaller)
        await probe_chats(copy, services.models(meter))
    factor = sum(lengths.values()) / max(1, sum(lengths[i] for i in rehearsed))
    return Rehearsal(
        length=sum(lengths.values()) // max(1, len(lengths)),
        conversations=len(lengths),
        rehearsed=len(rehearsed),
        tokenizer=spec.tokenizer,
        usage=tuple(_scaled(row, factor) for row in meter.usage()),
        sizes=counting.prompt_sizes(),
        is_of_chats=True,
    )


def _tokens_of(benchmark: Benchmark, conversation_id: str) -> int:
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        return sum(message.tokens for message in sealed.messages())


def _first(lengths: dict[str, int]) -> Iterator[str]:
    """Yield the conversations that are rehearsed: at least one, and further ones while they are few and short."""
    tokens = 0
    for number, (conversation_id, length) in enumerate(lengths.items()):
        tokens += length
        if number and (number == RUNNING.rehearsed_conversations or tokens > RUNNING.rehearsed_tokens):
            return
        yield conversation_id


def _scaled(row: Usage, factor: float) -> Usage:
    return Usage.of(row.key, {name: round(getattr(row, name) * factor) for name in COUNTS})


async def _rehearse_judging(benchmark: Benchmark, models: Models, conversation_id: str) -> None:
    """Ask the checker of a rehearsed conversation what a good writer's wordings would have it asked.

    The stand-in repeats the plan's words, so no rule is in doubt about them. A language model words a bullet itself;
    its checker is then asked about that message, and about its own calibration.
    """
    spec = benchmark.spec
    if not has_model_checks(spec):
        return
    asker = Asker(models, default_registry(), spec, UnitKey(conversation_id, "user_turns", "judged"))
    worded = replace(asker, unit_key=UnitKey(conversation_id, DIALOGUE, "judged"))
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        told = {b.bullet_id: b.text for p in sealed.head.plans for s in p.sub_plans for b in s.bullets}
        voicing = [m for m in sealed.messages() if m.role is MessageRole.USER and m.bullet_ids]
    for message in voicing[:: RUNNING.judged_every]:
        claims = (told[message.bullet_ids[0]],)
        await unsaid_claims(asker, message.message_key, message.content, claims)
        if spec.turns is TurnWriting.IN_DIALOGUE:  # as its batch has it, and as it is worded when it is due
            await unsaid_claims(worded, message.message_key, message.content, claims)
    if spec.checks.least_accuracy:
        await measured_fitness(asker)
        await measured_fitness(asker, marks=True)


@dataclass
class CountingModel:
    """The stand-in model with the token counts of a server that has a prefix cache for each model."""

    stand_in: ChatModel
    tokenizer: Tokenizer
    caches: dict[str, PrefixCache] = field(default_factory=lambda: defaultdict(PrefixCache))
    sizes: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.encode = PromptEncoder(self.tokenizer.encode)

    def prompt_sizes(self) -> tuple[PromptSize, ...]:
        """Return the sizes of the calls so far, by model and prompt."""
        return tuple(
            PromptSize(model=model, prompt_id=prompt_id, sizes=tuple(sorted(sizes)))
            for (model, prompt_id), sizes in sorted(self.sizes.items())
        )

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer, with tokens."""
        prompt = self.encode(call.messages())
        reply = await self.stand_in.complete(call)
        output = self.tokenizer.count(reply.text)
        if isinstance(call.inputs, ExtractFactsInputs) and call.inputs.reads_lists:
            output = max(output, RUNNING.statement_tokens * min(MOST_STATEMENTS, len(call.inputs.messages)))
        self.sizes[call.model, call.prompt.prompt_id].append(tokens_in(prompt) + output)
        return reply.model_copy(
            update={
                "prompt_tokens": tokens_in(prompt),
                "cached_tokens": self.caches[call.model].serve(prompt),
                "output_tokens": output,
            }
        )
