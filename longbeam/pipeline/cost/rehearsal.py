"""A rehearsal of a spec: the same pipeline with a stand-in model, in a scratch folder, its tokens counted.

Messages are rendered as the spec's own models would get them and counted with the spec's tokenizer; what a prefix
cache of one server per model would hold is counted as vLLM does it. Large specs are rehearsed in part and scaled.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from longbeam.generators import HISTORY_TOKENS, Drafted, history_tokens, plan_lengths
from longbeam.models import (
    ChatModel,
    CostMeter,
    ModelCall,
    PrefixCache,
    PromptEncoder,
    Tokenizer,
    check_models,
    has_model_checks,
    load_tokenizer,
    tokens_in,
)
from longbeam.pipeline.cost.judging import rehearse_judging
from longbeam.pipeline.run.driver import run_inline
from longbeam.pipeline.run.talking import shares_of
from longbeam.pipeline.services import Services
from longbeam.prompts.calls import AssistantReplyInputs
from longbeam.schemas import (
    CLOSING,
    COUNTS,
    BenchmarkSpec,
    Limits,
    ModelReply,
    Record,
    SubPlan,
    TurnWriting,
    Usage,
    UserTurn,
)
from longbeam.store import WorkLog, create_benchmark

MOST_CONVERSATIONS, MOST_TOKENS = 6, 1_000_000
"""Conversations that are rehearsed, and their tokens, but at least one conversation: 10 to 20 s on one core."""


class PlannedTalk(Record):
    """The start of one sub-plan's dialogue: its share of tokens and its planned turns."""

    share: int
    """Tokens that the dialogue is to have."""
    turns: tuple[tuple[int, bool], ...]
    """Tokens of each planned turn, and whether it voices a bullet."""
    ending: int = 0
    """Number of turns at the end that tell how the story came out."""
    history_tokens: int = HISTORY_TOKENS
    """Length at which the dialogue is folded."""
    is_worded: bool = False
    """Whether the turns are worded in the dialogue."""


class PromptSize(Record):
    """Calls of one prompt to one model, counted in the spec's tokenizer."""

    model: str
    prompt_id: str
    sizes: tuple[int, ...]
    """Tokens of each call, prompt and reply together, in ascending order."""


class Rehearsal(Record):
    """Usage of a rehearsal, scaled to the whole benchmark."""

    length: int
    conversations: int
    rehearsed: int
    """Conversations that were made; the counts are scaled where these are fewer."""
    tokenizer: str
    usage: tuple[Usage, ...]
    talks: tuple[PlannedTalk, ...]
    """Planned dialogues of the rehearsed conversations."""
    replies: tuple[tuple[int, int], ...]
    """Tokens that the assistant's replies were asked for and those that came, up to every eighth and to the last."""
    sizes: tuple[PromptSize, ...]
    """Sizes of the rehearsed calls, by model and prompt."""


async def rehearse(spec: BenchmarkSpec, services: Services) -> Rehearsal:
    """Make the first conversations of a spec with the stand-in model and return their usage.

    Raises SpecError for a name in `models` that is no model.
    """
    check_models(spec, services.kinds)
    count = max(1, min(spec.conversations, MOST_CONVERSATIONS, MOST_TOKENS // spec.length))
    # Nothing waits for anything here, so a limit would only cost time; a cap would end the rehearsal.
    # Plans are alike in what they use: of a conversation of many, one is rehearsed.
    lengths = plan_lengths(spec.length)
    changes = {
        "conversations": count,
        "length": lengths[0],
        "limits": Limits(concurrency=256),
        # The stand-in answers by rule; what is asked of the spec's own models is asked of the stand-in.
        "checks": spec.checks.model_copy(update={"model": has_model_checks(spec)}),
    }
    smaller = spec.model_copy(update=changes)
    with tempfile.TemporaryDirectory(prefix="longbeam-rehearsal-") as folder:
        benchmark = create_benchmark(smaller, Path(folder))
        counting = CountingModel(services.stand_in(), load_tokenizer(spec.tokenizer))
        meter = CostMeter(counting, smaller)
        benchmark, models = replace(benchmark, spec=smaller.for_any_model()), services.models(meter)
        await run_inline(benchmark, models)
        talks: list[PlannedTalk] = []
        for conversation_id in benchmark.conversation_ids:
            await rehearse_judging(benchmark, models, conversation_id)
            with WorkLog.open_read_only(benchmark.work_path(conversation_id)) as log:
                talks += _talks_of(log, benchmark.spec)
    return Rehearsal(
        length=spec.length,
        conversations=spec.conversations,
        rehearsed=count,
        tokenizer=spec.tokenizer,
        usage=tuple(_scaled(row, len(lengths) * spec.conversations / count) for row in meter.usage()),
        talks=tuple(talks) * len(lengths),
        replies=(*counting.replies[::8], *counting.replies[-1:]),
        sizes=tuple(
            PromptSize(model=model, prompt_id=prompt_id, sizes=tuple(sorted(sizes)))
            for (model, prompt_id), sizes in sorted(counting.sizes.items())
        ),
    )


def _scaled(row: Usage, factor: float) -> Usage:
    return Usage.of(row.key, {name: round(getattr(row, name) * factor) for name in COUNTS})


def _talks_of(log: WorkLog, spec: BenchmarkSpec) -> list[PlannedTalk]:
    sub_plans = [drafted.sub_plan for drafted in log.units.records("plan", Drafted)]
    written = list(log.units.records("user_turns", UserTurn))
    count = load_tokenizer(spec.tokenizer).count
    planned = {s.key: [t for t in written if t.turn_id.startswith(f"{s.key}.")] for s in sub_plans}
    shares = shares_of({key: len(turns) for key, turns in planned.items()}, spec.length)
    talks = [_talk_of(s, planned[s.key], shares[s.key], count) for s in sub_plans]
    own = {"history_tokens": history_tokens(spec), "is_worded": spec.turns is TurnWriting.IN_DIALOGUE}
    return [talk.model_copy(update=own) for talk in talks]


def _talk_of(sub_plan: SubPlan, turns: Sequence[UserTurn], share: int, count: Callable[[str], int]) -> PlannedTalk:
    closing = {b.bullet_id for b in sub_plan.bullets if b.variety == CLOSING}
    ending = [t for t in turns if closing & set(t.bullet_ids)]
    others = [t for t in turns if t not in ending]
    sizes = tuple((count(t.text), t.is_required) for t in (*others, *ending))
    return PlannedTalk(share=share, turns=sizes, ending=len(ending))


@dataclass
class CountingModel:
    """The stand-in model with the token counts of a server that has a prefix cache for each model."""

    stand_in: ChatModel
    tokenizer: Tokenizer
    caches: dict[str, PrefixCache] = field(default_factory=lambda: defaultdict(PrefixCache))
    replies: list[tuple[int, int]] = field(default_factory=list)
    sizes: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.encode = PromptEncoder(self.tokenizer.encode)

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer, with tokens."""
        prompt = self.encode(call.messages())
        reply = await self.stand_in.complete(call)
        output = self.tokenizer.count(reply.text)
        self.sizes[call.model, call.prompt.prompt_id].append(tokens_in(prompt) + output)
        if isinstance(call.inputs, AssistantReplyInputs):
            asked, said = self.replies[-1] if self.replies else (0, 0)
            self.replies.append((asked + call.inputs.target_tokens, said + output))
        return reply.model_copy(
            update={
                "prompt_tokens": tokens_in(prompt),
                "cached_tokens": self.caches[call.model].serve(prompt),
                "output_tokens": output,
            }
        )
