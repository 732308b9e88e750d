"""The assistant asks about contradictions where the spec says so, and the probes know it."""

from __future__ import annotations

from pathlib import Path

from longbeam.pipeline.run import run_inline
from longbeam.prompts import default_registry
from longbeam.prompts.calls import AssistantReplyInputs, UserReplyInputs
from longbeam.schemas import BenchmarkSpec, BulletKind, OnContradiction, Probe
from longbeam.store import SealedConversation, create_benchmark
from tests.prompts.samples import SAMPLES
from tests.wired import offline

ASKS = "Which of the two is right?"


def _shown(prompt_id: str, reaction: OnContradiction) -> str:
    inputs = SAMPLES[prompt_id]
    assert isinstance(inputs, AssistantReplyInputs | UserReplyInputs)
    context = inputs.context.model_copy(update={"on_contradiction": reaction})
    asked = inputs.model_copy(update={"context": context})
    return "\n".join(m.content for m in default_registry()[prompt_id].render(asked))


def test_the_prompts_follow_the_setting() -> None:
    assert "do not discuss the difference" in _shown("assistant_reply", OnContradiction.IGNORE)
    assert "name both statements" in _shown("assistant_reply", OnContradiction.ASK)
    assert "do not discuss the difference" not in _shown("assistant_reply", OnContradiction.ASK)
    assert "leave it open" in _shown("user_answer", OnContradiction.ASK)
    assert "leave it open" not in _shown("user_answer", OnContradiction.IGNORE)


async def test_an_assistant_that_asks_does_so_at_each_contradiction_and_the_probes_say_it(tmp_path: Path) -> None:
    spec = BenchmarkSpec.model_validate(
        {"name": "asking", "seed": 5, "length": "16K", "domains": ["cooking"], "on_contradiction": "ask"}
        | {"abilities": ["contradiction_resolution"]}
    )
    benchmark = create_benchmark(spec, tmp_path)
    assert (await run_inline(benchmark, offline())).failures == ()
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        denials = {b.bullet_id for p in sealed.head.plans for b in p.bullets() if b.kind is BulletKind.CONTRADICTION}
        messages, probes = list(sealed.messages()), list[Probe](sealed.probes())
    replies = [messages[i + 1].content for i, m in enumerate(messages) if denials.intersection(m.bullet_ids)]
    assert replies
    assert all(reply.endswith(ASKS) for reply in replies)
    assert sum(m.content.endswith(ASKS) for m in messages) == len(replies)
    assert {p.details.on_contradiction for p in probes} == {"ask"}
