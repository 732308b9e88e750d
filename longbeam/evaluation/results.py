"""Results files: one line about the run, then one result a line; they can be read without their benchmark.

Contexts are in a file beside them, `results.contexts.jsonl` beside `results.jsonl`: each paragraph once, and a context
as the numbers of its paragraphs, because systems read the same exchanges for many questions.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from longbeam.errors import UserError
from longbeam.evaluation.timings import Timings
from longbeam.keys import ItemId
from longbeam.schemas import AskedProbe, Context, EvaluationRun, KeptRun, Probe, Result
from longbeam.store import write_recorded
from longbeam.terminal import counted, printable, whole_text, without_places

RESULTS_FILE = "results.jsonl"
TIMINGS_FILE = "timings.json"
DECILES = 10
_JOINT = "\n\n"
"""Separator of the paragraphs of a context."""
_MISSING = "[what was read is not beside this file; it was written to a file of the same name with .contexts in it]"


@dataclass(frozen=True)
class Evaluated:
    """A results file, with the timings beside it."""

    run: EvaluationRun
    results: tuple[Result, ...]
    timings: Timings
    kept: KeptRun | None = None
    """The run in the list of those that are kept; None for a file by itself."""

    @property
    def label(self) -> str:
        """Name in tables and plots: the benchmark, the run if it has one, and the control if it is one."""
        run = f", run {self.kept.name or self.kept.run_id}" if self.kept else ""
        return f"{self.run.benchmark}{run}" + (f" ({self.run.control})" if self.run.control else "")


def write_results(path: Path, run: EvaluationRun, results: Sequence[Result]) -> None:
    """Write a results file and the contexts beside it; each file is whole or absent."""
    contexts = {r.answer.context.digest: r.answer.context for r in results if r.answer.context is not None}
    # Contexts come first, so that results never name one that is absent.
    write_recorded(contexts_path(path), "".join(_context_lines(contexts)))
    write_recorded(path, "\n".join([run.model_dump_json(), *map(_result_line, results)]) + "\n")


def contexts_path(path: Path) -> Path:
    """Return the path of the contexts of a results file."""
    return path.with_suffix(f".contexts{path.suffix}")


def _result_line(result: Result) -> str:
    fields = result.model_dump(mode="json", exclude_defaults=True)
    if result.answer.context is not None:
        kept = result.answer.context.model_dump(mode="json", include={"tokens", "parts"})
        fields["answer"]["context"] = {"digest": result.answer.context.digest, **kept}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _context_lines(contexts: Mapping[str, Context]) -> Iterator[str]:
    """Yield lines of two kinds: paragraphs, numbered from 0, and contexts, as numbers of paragraphs before them."""
    numbers: dict[str, int] = {}
    for digest, context in contexts.items():
        paragraphs = context.text.split(_JOINT)
        for text in paragraphs:
            if text not in numbers:
                numbers[text] = len(numbers)
                yield json.dumps({"paragraph": text}, ensure_ascii=False) + "\n"
        fields = context.model_dump(mode="json", exclude={"text"})
        yield json.dumps({"digest": digest, "paragraphs": [numbers[text] for text in paragraphs], **fields}) + "\n"


def _read_contexts(path: Path) -> dict[str, Context]:
    """Return contexts by digest; none if there is no file, as beside a results file that was copied alone."""
    paragraphs: list[str] = []
    found: dict[str, Context] = {}
    if not path.exists():
        return found
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                fields = from_json(line)
                if "paragraph" in fields:
                    paragraphs.append(fields["paragraph"])
                    continue
                text = _JOINT.join(paragraphs[i] for i in fields.pop("paragraphs"))
                digest = fields.pop("digest")
                found[digest] = Context.model_validate({"text": text, **fields})
                if found[digest].digest != digest:
                    raise ValueError("the context is another one than its digest says")
            except (ValueError, KeyError, IndexError, TypeError, AttributeError) as exc:
                raise UserError(f"{path}: line {number}: {exc}; make it with `longbeam evaluate`") from exc
    return found


def _result_of(line: str, contexts: Mapping[str, Context]) -> Result:
    """Return the result of a line with its context; a note replaces a context that is absent."""
    fields = from_json(line)
    answer = fields.get("answer") if isinstance(fields, dict) else None
    named = answer.get("context") if isinstance(answer, dict) else None
    if isinstance(named, dict) and "digest" in named:
        found = contexts.get(named.pop("digest"))
        fields["answer"]["context"] = found or {"text": _MISSING, **named}
    return Result.model_validate(fields)


def read_results(path: Path) -> Evaluated:
    """Read a results file; UserError names a line that does not belong to one."""
    try:
        with path.open(encoding="utf-8") as file:
            run = EvaluationRun.model_validate_json(next(file, ""))
            contexts = _read_contexts(contexts_path(path))
            results = []
            for number, line in enumerate(file, 2):
                try:
                    results.append(_result_of(line, contexts))
                except ValueError as exc:
                    reason = first_problem(exc) if isinstance(exc, ValidationError) else str(exc)
                    raise UserError(f"{path}: line {number}: {reason}; make it with `longbeam evaluate`") from exc
    except OSError as exc:
        raise UserError(f"{path}: {exc.strerror}; make it with `longbeam evaluate`") from exc
    except UnicodeDecodeError as exc:
        raise UserError(f"{path}: is no text; a results file of `longbeam evaluate` is expected") from exc
    except ValidationError as exc:
        raise UserError(
            f"{path}: line 1: {first_problem(exc)}; a results file of `longbeam evaluate` is expected"
        ) from exc
    for name in (run.benchmark, run.control, run.reader, run.judge, run.longbeam, *run.systems, *run.versions.values()):
        if name != printable(whole_text(name)) or "\n" in name or "\t" in name:
            raise UserError(f"{path}: line 1: {name[:60]!r} is a name with characters that are not printed")
    return Evaluated(run, tuple(results), Timings.read(path.parent / TIMINGS_FILE))


def first_problem(exc: ValidationError) -> str:
    """Return the first place that does not fit, and why."""
    error = exc.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in error['loc'])} {error['msg']}".strip()


def reworded(asked: Sequence[AskedProbe], now: Mapping[str, Sequence[Probe]]) -> list[str]:
    """Return the items whose probes have changed since they were asked, or are gone."""
    said = {(c, p.probe_id): (p.question, p.gold_answer, p.rubric) for c, probes in now.items() for p in probes}
    return [str(ItemId(*a.key)) for a in asked if said.get(a.key) != (a.question, a.gold_answer, a.rubric)]


def asked_probe(conversation_id: str, probe: Probe, places: Mapping[str, float], length: int = 0) -> AskedProbe:
    """Return the probe as reports need it; `places` has the share of the conversation before each message."""
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
        variety=probe.details.variety,
        is_on_the_way=probe.asked_at is not None,
        length=length,
    )


def grouped_failures(failures: Sequence[str]) -> tuple[str, ...]:
    """Return the failures, first ones first: those of a system and stage with one reason as one line with their number.

    Reasons are one where they differ in numbers and in the places of the calls alone; the first one is shown. A failure
    that no other one equals stays as it is, with its conversation and probe.
    """
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for failure in failures:
        unit, _, reason = failure.partition(": ")
        groups[_system_of(unit), without_places(reason)].append(failure)
    return tuple(
        alike[0]
        if len(alike) == 1
        else f"{system} ({counted(len(alike), _noun(system))}): {alike[0].partition(': ')[2]}"
        for (system, _), alike in groups.items()
    )


def _system_of(unit: str) -> str:
    """Return stage and system of a unit: `answer/rag` of `c000/answer/rag/x`, `used/rag` of `c000/used/rag`."""
    within = unit.partition("/")[2]
    return within if _noun(within) == "conversation" else within.rpartition("/")[0]


def _noun(within: str) -> str:
    """Return the name of the units of a stage: use and close of a system are counted once a conversation."""
    return "conversation" if within.startswith(("used/", "close/")) else "probe"
