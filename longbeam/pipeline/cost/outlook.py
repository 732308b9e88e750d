"""Used and expected calls, tokens and cost of a run while it goes on.

Both are kept beside the benchmark, so that `longbeam status` can show them:

output/<name>/rehearsal.json   calls and tokens of a rehearsal of this spec
output/<name>/pace.json        speed of the last run, which the journals do not hold
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
from longbeam.pipeline.cost.estimate import Rehearsal, money
from longbeam.pipeline.services import Services
from longbeam.schemas import COUNTS, BenchmarkSpec, Price, Record, Usage, digest_of
from longbeam.store import Benchmark, write_atomically

R = TypeVar("R", bound=Record)
RENEW_S = 5.0
"""Between two forecasts, each with a write of `pace.json`."""
ALIVE_S = 60.0
"""Age of `pace.json` up to which a run that has not said that it ended counts as going on."""


class CostPace(Record):
    """How a run goes."""

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
    # Whoever only reads what was kept, as `longbeam status` does, does without the generators.
    from longbeam.pipeline.cost.rehearsal import rehearse

    spec, path = benchmark.spec, benchmark.root / "rehearsal.json"
    kept = _read(path, KeptRehearsal)
    if kept is not None and kept.spec_digest == _digest(spec):
        return kept.rehearsal
    rehearsal = asyncio.run(rehearse(spec, services))
    kept = KeptRehearsal(spec_digest=_digest(spec), rehearsal=rehearsal)
    write_atomically(path, kept.model_dump_json() + "\n")
    return rehearsal


class KeptRehearsal(Record):
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
        pace = CostPace(
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
            self._expected = forecast(self.rehearsal, self.meter.usage())


def forecast(rehearsal: Rehearsal, used: Iterable[Usage]) -> tuple[Usage, ...]:
    """Return what the whole benchmark is expected to use, `used` included.

    Calls of a prompt that are still to come cost what the rehearsal's did, and more and more what those of the run did
    the more of them were made.
    """
    seen = {row.key: row for row in used}
    base = {row.key: row for row in rehearsal.usage}
    return tuple(_expected(base.get(key), seen.get(key)) for key in sorted({*base, *seen}))


def _expected(rehearsed: Usage | None, used: Usage | None) -> Usage:
    if rehearsed is None or used is None or used.calls >= rehearsed.calls:
        row = used or rehearsed
        assert row is not None
        return row
    made = used.calls / rehearsed.calls
    counts = {}
    for name in COUNTS:
        before, so_far = getattr(rehearsed, name), getattr(used, name)
        a_call = (1 - made) * before / rehearsed.calls + made * (so_far / max(1, used.calls))
        counts[name] = so_far + round((rehearsed.calls - used.calls) * a_call)
    return Usage.of(used.key, {**counts, "calls": rehearsed.calls})


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
    kept = _read(benchmark.root / "rehearsal.json", KeptRehearsal)
    if kept is None or kept.spec_digest != _digest(benchmark.spec):
        return (), None
    path = benchmark.root / "pace.json"
    pace = _read(path, CostPace)
    if pace is None:
        return kept.rehearsal.usage, None
    expected = forecast(kept.rehearsal, used)
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
