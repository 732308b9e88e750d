"""Expected cost of a spec before it runs: a table of the rehearsal's calls and tokens, priced, and a band around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from longbeam.keys import STAGES
from longbeam.models import CALLING, Prices, cost_of, model_context
from longbeam.pipeline.tuning import RUNNING
from longbeam.schemas import BenchmarkSpec, Record, Usage
from longbeam.terminal import counted

MOST_NAMED = 3
"""Prompts that the line on a short context names."""


def money(usd: float | None) -> str:
    """`$1.10`, `$0.0042`; `no price` for None."""
    if usd is None:
        return "no price"
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


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
    sizes: tuple[PromptSize, ...]
    """Sizes of the rehearsed calls, by model and prompt."""
    is_of_chats: bool = False
    """Whether probes over imported chats were rehearsed."""


class EstimateRow(Record):
    """Calls, tokens and cost of one stage and role."""

    stage: str
    role: str
    model: str
    calls: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost_usd: float | None
    """None where the model has no price."""


class Band(Record):
    """Bounds of what a run may cost."""

    low_usd: float | None
    high_usd: float | None
    low_tokens: int
    high_tokens: int

    @classmethod
    def around(cls, cost_usd: float | None, tokens: int) -> Band:
        """Return the bounds around an estimate; no bounds in USD where it has no price."""
        low, high = 1 - RUNNING.band, 1 + RUNNING.band
        low_usd, high_usd = (None, None) if cost_usd is None else (cost_usd * low, cost_usd * high)
        return cls(low_usd=low_usd, high_usd=high_usd, low_tokens=round(tokens * low), high_tokens=round(tokens * high))

    @property
    def text(self) -> str:
        """`$0.24 to $0.40`; tokens where nothing has a price."""
        if self.low_usd and self.high_usd:
            return f"{money(self.low_usd)} to {money(self.high_usd)}"
        return f"{self.low_tokens:,} to {self.high_tokens:,} tokens"


class Estimate(Record):
    """The table that `longbeam estimate` prints."""

    name: str
    length: int
    conversations: int
    rehearsed: int
    tokenizer: str
    rows: tuple[EstimateRow, ...]
    total: EstimateRow
    band: Band
    unpriced_models: tuple[str, ...]
    gap_share: float
    """Share of a conversation's parts that may be missing when it is sealed."""
    is_of_chats: bool = False
    """Whether the estimate is of probes over imported chats."""
    short_contexts: tuple[str, ...]
    """A line for each model whose context is too short for some calls."""


def estimate_of(spec: BenchmarkSpec, rehearsal: Rehearsal) -> Estimate:
    """The estimate of a rehearsal, with the prices of the spec."""
    prices = Prices(spec, {row.model for row in rehearsal.usage})
    rows = rows_by_role(prices, rehearsal.usage)
    total = total_of(rows)
    return Estimate(
        name=spec.name,
        length=spec.length,
        conversations=spec.conversations,
        rehearsed=rehearsal.rehearsed,
        tokenizer=rehearsal.tokenizer,
        rows=rows,
        total=total,
        band=Band.around(total.cost_usd, total.prompt_tokens + total.output_tokens),
        unpriced_models=tuple(sorted(m for m, price in prices.items() if price is None)),
        gap_share=spec.checks.gap_share,
        is_of_chats=rehearsal.is_of_chats,
        short_contexts=tuple(short_contexts(spec, rehearsal)),
    )


def rows_by_role(prices: Prices, usage: Iterable[Usage]) -> tuple[EstimateRow, ...]:
    """Add up by stage, role and model, in the order of the stages; what came after generation is last."""
    groups: dict[tuple[str, str, str], list[Usage]] = {}
    order = {stage: i for i, stage in enumerate(STAGES)}
    for row in sorted(usage, key=lambda u: (order.get(u.stage, len(order)), u.stage, u.role, u.model)):
        groups.setdefault((row.stage, row.role, row.model), []).append(row)
    return tuple(
        _row(stage, role, model, group, cost_of(prices, group)) for (stage, role, model), group in groups.items()
    )


def total_of(rows: Sequence[EstimateRow]) -> EstimateRow:
    """The last line of a table."""
    costs = [row.cost_usd for row in rows]
    return _row("total", "", "", rows, None if None in costs else sum(c for c in costs if c is not None))


def _row(
    stage: str, role: str, model: str, rows: Sequence[Usage] | Sequence[EstimateRow], cost: float | None
) -> EstimateRow:
    names = ("calls", "prompt_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
    sums = {name: sum(getattr(row, name) for row in rows) for name in names}
    return EstimateRow(stage=stage, role=role, model=model, cost_usd=cost, **sums)


def render_rows(rows: Sequence[EstimateRow]) -> str:
    """Return a table with a line of sums; ends with a newline."""
    head = ("stage", "role", "model", "calls", "prompt", "of it cached", "output", "cost")
    table = [head, *(_cells(row) for row in (*rows, total_of(rows)))]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    lines = []
    for line in table:
        cells = [
            cell.ljust(w) if i < 3 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _cells(row: EstimateRow) -> tuple[str, ...]:
    counts = (row.calls, row.prompt_tokens, row.cached_tokens, row.output_tokens)
    return (row.stage, row.role, row.model, *(f"{n:,}" for n in counts), money(row.cost_usd))


def render_estimate(estimate: Estimate) -> str:
    """Return the estimate as text, with what it rests on; ends with a newline."""
    of = "about " if estimate.is_of_chats else ""
    asked = f"{counted(estimate.conversations, 'conversation')} of {of}{estimate.length:,} tokens"
    lines = [f"{estimate.name}: {asked}, from an offline rehearsal"]
    if estimate.rehearsed < estimate.conversations:
        lines[0] += f" of the first {estimate.rehearsed}, scaled"
    notes = [
        f"Expect {estimate.band.text}: runs of a very good model came within {RUNNING.band:.0%} of their rehearsal"
        f"{', in generation' if estimate.is_of_chats else ''}.",
        f"Tokens are counted in {estimate.tokenizer}; cached ones are what one server per model would find in a prefix",
        "cache of 16-token blocks that forgets nothing. Thinking of reasoning models and replies that have to be asked",
        "for again are not in it: a model whose replies often do not fit costs more than the band.",
    ]
    if estimate.unpriced_models:
        notes.append(f"No price is known of {', '.join(estimate.unpriced_models)}: set price under [endpoints].")
    if not estimate.is_of_chats:
        share = f"{estimate.gap_share:.1%}"
        notes.append(f"A conversation is sealed with at most {share} of its parts missing ([checks] gap_share).")
    notes += estimate.short_contexts
    return lines[0] + "\n" + render_rows(estimate.rows) + "\n".join(notes) + "\n"


# --- contexts ---


def short_contexts(spec: BenchmarkSpec, rehearsal: Rehearsal) -> list[str]:
    """Return a line for each model whose context is too short for some of the rehearsed calls."""
    lines = []
    for model in sorted({size.model for size in rehearsal.sizes}):
        context = model_context(spec, model)
        if context is not None and (line := _context_line(model, context, rehearsal)):
            lines.append(line)
    return lines


def _context_line(model: str, context: int, rehearsal: Rehearsal) -> str:
    longest: dict[str, int] = {}
    calls = beyond = 0
    for prompt in rehearsal.sizes:
        if prompt.model != model:
            continue
        unfit = [
            size for size in (round(tokens * CALLING.tokenizer_margin) for tokens in prompt.sizes) if size > context
        ]
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
