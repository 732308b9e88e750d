"""Used and expected calls, tokens and cost of a run, as texts and tables.

Both are kept beside the benchmark, so that `longbeam status` can show them:

output/<name>/rehearsal.json   calls and tokens of a rehearsal of this spec
output/<name>/pace.json        speed and reply lengths of the last run, which the journals do not hold
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from longbeam import __version__
from longbeam.generators import history_tokens
from longbeam.models import CostMeter, Prices, answers_by_rule, cost_of, has_model_checks
from longbeam.pipeline.cost.contexts import short_contexts
from longbeam.pipeline.cost.forecast import forecast
from longbeam.pipeline.cost.rehearsal import Rehearsal, rehearse
from longbeam.pipeline.run.stages import STAGES
from longbeam.pipeline.services import Services
from longbeam.schemas import BenchmarkSpec, Price, Record, Usage, digest_of
from longbeam.store import Benchmark, write_atomically
from longbeam.terminal import counted

R = TypeVar("R", bound=Record)
RENEW_S = 5.0
"""Between two forecasts; one takes some hundredths of a second."""
ALIVE_S = 60.0
"""Age of `pace.json` up to which a run that has not said that it ended counts as going on."""


class Pace(Record):
    """How a run goes."""

    asked_tokens: int = 0
    """Lengths that the assistant's replies were asked for, in all runs ..."""
    said_tokens: int = 0
    """... and those that came."""
    calls: int = 0
    """Made in this run."""
    elapsed_s: float = 0.0
    has_ended: bool = False
    """Whether the run has ended; a killed run does not get to say so."""


def is_worth_rehearsing(spec: BenchmarkSpec) -> bool:
    """Whether anything that this spec asks takes money or a language model's time."""
    return any(not answers_by_rule(spec, m) or spec.endpoint_for(m).price is not None for m in spec.models_in_use)


def rehearsal_of(benchmark: Benchmark, services: Services) -> Rehearsal:
    """Return the benchmark's rehearsal, made now unless a kept one would come out the same."""
    spec, path = benchmark.spec, benchmark.root / "rehearsal.json"
    kept = _read(path, Kept)
    if kept is not None and kept.spec_digest == _digest(spec):
        return kept.rehearsal
    rehearsal = asyncio.run(rehearse(spec, services))
    kept = Kept(spec_digest=_digest(spec), rehearsal=rehearsal)
    write_atomically(path, kept.model_dump_json() + "\n")
    return rehearsal


class Kept(Record):
    """A rehearsal and what it depends on."""

    spec_digest: str
    """Digest of the settings and the version that it was made with."""
    rehearsal: Rehearsal


def _digest(spec: BenchmarkSpec) -> str:
    """Return the digest of everything that changes a rehearsal.

    A rehearsal depends on limits, endpoints and sampling in two ways only: the `context` of the assistant's model sets
    the length at which a dialogue is folded, and the kinds of models decide whether a model checks what is written. The
    version of longbeam stands for the prompts and the stand-in's rules, which take long to load.
    """
    settings = {
        name: getattr(spec, name)
        for name in BenchmarkSpec.model_fields
        if name not in {"limits", "endpoints", "sampling"}
    }
    return digest_of(BenchmarkSpec(**settings), history_tokens(spec), has_model_checks(spec), __version__)


@dataclass
class Outlook:
    """Usage of a run so far and its expected usage; the forecast is renewed from time to time."""

    benchmark: Benchmark
    meter: CostMeter
    rehearsal: Rehearsal | None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._begun = self._renewed = self.clock()
        self._expected: tuple[Usage, ...] = self.rehearsal.usage if self.rehearsal is not None else ()
        before = _read(self._path, Pace) or Pace()
        self.meter.asked_tokens += before.asked_tokens
        self.meter.said_tokens += before.said_tokens

    @property
    def _path(self) -> Path:
        return self.benchmark.root / "pace.json"

    def line(self) -> str:
        """`used 1,204,331 tokens, $0.42 of about 2,710,000 tokens, $1.10`."""
        self._renew()
        return outlook_line(self.meter.prices, self.meter.usage(), self._expected)

    def calls_left(self) -> dict[str, int] | None:
        """Return the number of calls still expected, by stage; None without a forecast."""
        if not self._expected:
            return None
        expected, used = _calls_by_stage(self._expected), _calls_by_stage(self.meter.usage())
        return {stage: max(0, calls - used[stage]) for stage, calls in expected.items()}

    def close(self) -> None:
        """Keep what the journals do not hold, and that the run has ended."""
        self.save(has_ended=True)

    def save(self, *, has_ended: bool = False) -> None:
        """Keep what the journals do not hold."""
        calls = sum(counts["calls"] for counts in self.meter.now.values())
        pace = Pace(
            asked_tokens=self.meter.asked_tokens,
            said_tokens=self.meter.said_tokens,
            calls=calls,
            elapsed_s=self.clock() - self._begun,
            has_ended=has_ended,
        )
        write_atomically(self._path, pace.model_dump_json() + "\n")

    def _renew(self) -> None:
        if self.clock() - self._renewed < RENEW_S:
            return
        self._renewed = self.clock()
        self.save()
        if self.rehearsal is not None:
            self._expected = forecast(
                self.rehearsal,
                self.meter.usage(),
                asked_tokens=self.meter.asked_tokens,
                said_tokens=self.meter.said_tokens,
            )


def unfit_cap(outlook: Outlook) -> str:
    """Say that the spending cap will be reached, if it will; empty otherwise."""
    cap = outlook.benchmark.spec.limits.max_cost_usd
    cost = cost_of(outlook.meter.prices, outlook.rehearsal.usage) if outlook.rehearsal is not None else None
    if cap is None or cost is None or cost <= cap:
        return ""
    return f"limits.max_cost_usd = {cap:g}, but about {money(cost)} is expected; the run will stop and can be resumed"


def stored_outlook(benchmark: Benchmark, used: Sequence[Usage]) -> tuple[tuple[Usage, ...], float | None]:
    """Return what the benchmark is expected to use, and the seconds left if a run is active; for `status`.

    Usage is empty if no rehearsal of the spec is stored.
    """
    kept = _read(benchmark.root / "rehearsal.json", Kept)
    if kept is None or kept.spec_digest != _digest(benchmark.spec):
        return (), None
    path = benchmark.root / "pace.json"
    pace = _read(path, Pace)
    if pace is None:
        return kept.rehearsal.usage, None
    expected = forecast(kept.rehearsal, used, asked_tokens=pace.asked_tokens, said_tokens=pace.said_tokens)
    is_going_on = not pace.has_ended and time.time() - path.stat().st_mtime < ALIVE_S
    left = _total(expected, "calls") - _total(used, "calls")
    return expected, left * pace.elapsed_s / pace.calls if is_going_on and pace.calls else None


def outlook_line(prices: Prices, used: Sequence[Usage], expected: Sequence[Usage]) -> str:
    """Return the used tokens and cost and, if known, the expected ones, as one line."""
    total = _tokens_and_money(prices, expected, "about ") if expected else ""
    if total and not _total(used, "prompt_tokens"):
        return f"expected: {total}"
    return f"used {_tokens_and_money(prices, used, '')}{f' of {total}' if total else ''}"


def _tokens_and_money(prices: Prices, rows: Sequence[Usage], about: str) -> str:
    text = f"{about}{_total(rows, 'prompt_tokens') + _total(rows, 'output_tokens'):,} tokens"
    priced = [row for row in rows if prices.get(row.model) is not None]
    if any(prices[row.model] for row in priced if prices[row.model] != Price()):
        text += f", {money(cost_of(prices, priced))}"
        text += " and what has no price" if len(priced) < len(rows) else ""
    return text


def money(usd: float | None) -> str:
    """`$1.10`, `$0.0042`; `no price` for None."""
    if usd is None:
        return "no price"
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def _calls_by_stage(rows: Iterable[Usage]) -> Counter[str]:
    calls: Counter[str] = Counter()
    for row in rows:
        calls[row.stage] += row.calls
    return calls


def _total(rows: Iterable[Usage], name: str) -> int:
    return sum(getattr(row, name) for row in rows)


def _read(path: Path, kind: type[R]) -> R | None:
    """Return the stored record, or None if the file is missing or of another version: the record is then made again."""
    try:
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError):
        return None


# --- tables ---------------------------------------------------------------------------------------------------------


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


class Estimate(Record):
    """The table that `longbeam estimate` prints."""

    name: str
    length: int
    conversations: int
    rehearsed: int
    tokenizer: str
    rows: tuple[EstimateRow, ...]
    total: EstimateRow
    unpriced_models: tuple[str, ...]
    gap_share: float
    """Share of a conversation's parts that may be missing when it is sealed."""
    short_contexts: tuple[str, ...]
    """A line for each model whose context is too short for some calls."""


def estimate_of(spec: BenchmarkSpec, rehearsal: Rehearsal) -> Estimate:
    """The estimate of a rehearsal, with the prices of the spec."""
    prices = Prices(spec, {row.model for row in rehearsal.usage})
    rows = rows_by_role(prices, rehearsal.usage)
    return Estimate(
        name=spec.name,
        length=spec.length,
        conversations=spec.conversations,
        rehearsed=rehearsal.rehearsed,
        tokenizer=rehearsal.tokenizer,
        rows=rows,
        total=total_of(rows),
        unpriced_models=tuple(sorted(m for m, price in prices.items() if price is None)),
        gap_share=spec.checks.gap_share,
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
    asked = f"{counted(estimate.conversations, 'conversation')} of {estimate.length:,} tokens"
    lines = [f"{estimate.name}: {asked}, from an offline rehearsal"]
    if estimate.rehearsed < estimate.conversations:
        lines[0] += f" of the first {estimate.rehearsed}, scaled"
    notes = [
        f"Tokens are counted in {estimate.tokenizer}; cached ones are what one server per model would find in a prefix",
        "cache of 16-token blocks that forgets nothing. Thinking of reasoning models and replies that have to be asked",
        "for again are not in it. While a run goes on, the estimate follows the lengths of replies that are seen.",
    ]
    if estimate.unpriced_models:
        notes.append(f"No price is known of {', '.join(estimate.unpriced_models)}: set price under [endpoints].")
    notes.append(
        f"A conversation is sealed with at most {estimate.gap_share:.1%} of its parts missing ([checks] gap_share)."
    )
    notes += estimate.short_contexts
    return lines[0] + "\n" + render_rows(estimate.rows) + "\n".join(notes) + "\n"
