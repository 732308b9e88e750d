"""Results files: one line about the run, then one result a line; readable without the benchmark they came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import UserError
from longbeam.evaluation.timings import Timings
from longbeam.schemas.evaluation import AskedProbe, EvaluationRun, Result
from longbeam.schemas.probes import Probe

RESULTS_FILE = "results.jsonl"
TIMINGS_FILE = "timings.json"
DECILES = 10


@dataclass(frozen=True)
class Evaluated:
    """One results file, with the seconds measured beside it."""

    run: EvaluationRun
    results: tuple[Result, ...]
    timings: Timings

    @property
    def label(self) -> str:
        """How tables and plots name it: benchmark, and control if it is one."""
        return f"{self.run.benchmark} ({self.run.control})" if self.run.control else self.run.benchmark


def results_text(run: EvaluationRun, results: Sequence[Result]) -> str:
    """Return a results file as text."""
    lines = [run.model_dump_json(), *(r.model_dump_json(exclude_defaults=True) for r in results)]
    return "\n".join(lines) + "\n"


def read_results(path: Path) -> Evaluated:
    """Read a results file; UserError says which line is none of its."""
    try:
        with path.open(encoding="utf-8") as file:
            run = EvaluationRun.model_validate_json(next(file, ""))
            results = []
            for number, line in enumerate(file, 2):
                try:
                    results.append(Result.model_validate_json(line))
                except ValidationError as exc:
                    raise UserError(f"{path}: line {number}: {_first(exc)}; make it with `longbeam evaluate`") from exc
    except OSError as exc:
        raise UserError(f"{path}: {exc.strerror}; make it with `longbeam evaluate`") from exc
    except UnicodeDecodeError as exc:
        raise UserError(f"{path}: is no text; a results file of `longbeam evaluate` is expected") from exc
    except ValidationError as exc:
        raise UserError(f"{path}: line 1: {_first(exc)}; a results file of `longbeam evaluate` is expected") from exc
    return Evaluated(run, tuple(results), Timings.read(path.parent / TIMINGS_FILE))


def _first(exc: ValidationError) -> str:
    error = exc.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in error['loc'])} {error['msg']}".strip()


def asked_probe(conversation_id: str, probe: Probe, places: Mapping[str, float]) -> AskedProbe:
    """Return what a report says of a probe; `places`: share of the conversation before each message."""
    cited = {places[e.message_key] for e in probe.evidence if e.message_key in places}
    return AskedProbe(
        conversation_id=conversation_id,
        probe_id=probe.probe_id,
        ability=probe.ability,
        source_category=probe.source_category,
        question=probe.question,
        gold_answer=probe.gold_answer,
        rubric=probe.rubric,
        deciles=tuple(sorted({int(place * DECILES) for place in cited})),
    )
