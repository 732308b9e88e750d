"""Calls that do not fit into the context of their model, known before the first of them is made."""

from __future__ import annotations

from longbeam.models import TOKENIZER_MARGIN, model_context
from longbeam.pipeline.cost.rehearsal import Rehearsal
from longbeam.schemas import BenchmarkSpec
from longbeam.terminal import counted

MOST_NAMED = 3
"""Prompts that the line names."""


def short_contexts(spec: BenchmarkSpec, rehearsal: Rehearsal) -> list[str]:
    """Return a line for each model whose context is too short for some of the rehearsed calls."""
    lines = []
    for model in sorted({size.model for size in rehearsal.sizes}):
        context = model_context(spec, model)
        if context is not None and (line := _line(model, context, rehearsal)):
            lines.append(line)
    return lines


def _line(model: str, context: int, rehearsal: Rehearsal) -> str:
    longest: dict[str, int] = {}
    calls = beyond = 0
    for prompt in rehearsal.sizes:
        if prompt.model != model:
            continue
        unfit = [size for size in (round(tokens * TOKENIZER_MARGIN) for tokens in prompt.sizes) if size > context]
        calls, beyond = calls + len(prompt.sizes), beyond + len(unfit)
        if unfit:
            longest[prompt.prompt_id] = max(unfit)
    if not longest:
        return ""
    ranked = sorted(longest, key=lambda prompt_id: -longest[prompt_id])
    named = ", ".join(f"{prompt_id} (up to {longest[prompt_id]:,})" for prompt_id in ranked[:MOST_NAMED])
    more = f" and {counted(len(ranked) - MOST_NAMED, 'more prompt')}" if len(ranked) > MOST_NAMED else ""
    return (
        f"{model}: about {beyond:,} of {counted(calls, 'call')} do not fit into its context of {context:,} tokens: "
        f"{named}{more}; their units will fail. Raise context, or name a model with a longer one for these roles"
    )
