"""Runs the model-backed checks on finished conversations, and finds again what they found.

The units are in a work log of their own (`output/<benchmark>/checks/<conversation_id>.sqlite`), because an import has
no other one. What `generate` has asked is in the conversation's work log and is not asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from longbeam.errors import RunStopped, UserError
from longbeam.models import JournalledModel, Models
from longbeam.pipeline.run.probe_checks import (
    CHECKERS,
    CheckedConversation,
    Kept,
    is_undecided,
    judge_probes,
    kept_verdicts,
    kept_with,
)
from longbeam.pipeline.run.unit_spec import Dependencies
from longbeam.pipeline.run.units import Progress, SilentProgress, Units
from longbeam.pipeline.spec_file import EVALUATION_FIELDS, with_evaluation_fields, with_models
from longbeam.prompts import registry_for
from longbeam.schemas import DEFAULT_MODEL, BenchmarkSpec, Finding, Record, Role, is_language_model
from longbeam.store import Benchmark, SealedConversation, WorkLog

CHECKING_FIELDS = (*EVALUATION_FIELDS, "checks")
"""Fields of a spec that decide how the checks are asked; of `models`, the checkers count."""


class ModelChecksRun(Record):
    """Summary of a run of the checks."""

    calls: int
    replayed: int
    """Replies taken from the journal."""
    failures: tuple[str, ...]
    """One line for each check of a probe that failed."""
    stopped: str = ""
    """Reason why the run ended early; empty if it did not."""


def checking_spec(
    spec: BenchmarkSpec, model: str | None, max_cost_usd: float | None = None, given: BenchmarkSpec | None = None
) -> BenchmarkSpec:
    """Return the benchmark's spec with the model that checks; None: those that the spec names.

    `given` is another spec whose CHECKING_FIELDS count in place of the benchmark's, its checkers among them.
    """
    models: dict[str, str] = dict(spec.models) or {"default": DEFAULT_MODEL}  # an import's spec names none
    if given is not None:
        given = given if model is None else with_models(given, {Role.CHECKER.value: model})
        spec = with_evaluation_fields(spec, given, CHECKING_FIELDS)
        named = {role.value: name for role in CHECKERS if (name := given.model_for(role))}
        models = {role: name for role, name in models.items() if role not in CHECKERS} | named
    elif model is not None:
        models = {role: named for role, named in models.items() if role not in CHECKERS}
        models[Role.CHECKER.value] = model
    limits = spec.limits if max_cost_usd is None else spec.limits.model_copy(update={"max_cost_usd": max_cost_usd})
    return spec.model_copy(update={"models": models, "limits": limits})


def refuse_rules(benchmark: Benchmark, spec: BenchmarkSpec) -> None:
    """Raise UserError where rules would judge text that was not written by rule."""
    made = benchmark.spec
    is_own = not made.is_given and not any(map(is_language_model, made.models_in_use))
    by_rule = [model for model in map(spec.model_for, CHECKERS) if model and not is_language_model(model)]
    if by_rule and not is_own:
        raise UserError(
            f"--model-checks: benchmark {made.name!r} was not written by the {by_rule[0]} writer, and its lexical "
            "rules can judge nothing else; name a language model, as in --model openai:NAME or in the file of --spec "
            "(docs/models.md)"
        )


async def run_model_checks(
    benchmark: Benchmark, spec: BenchmarkSpec, models: Models, *, progress: Progress | None = None
) -> ModelChecksRun:
    """Check the selected probes of all finished conversations; `stored_model_findings` has the findings."""
    calls = replayed = 0
    failures: list[str] = []
    stopped = ""
    made_with = Dependencies(spec, registry_for(spec), models.version_of)
    for conversation_id in benchmark.sealed_ids:
        path = benchmark.checks_path(conversation_id)
        with WorkLog.open(path) as log, SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            journalled = JournalledModel(models.chat, log.journal)
            units = Units(conversation_id, spec, log, replace(models, chat=journalled), registry_for(spec))
            units.reporting_to(progress or SilentProgress(), journalled)
            read = _checked(sealed)
            made = _kept_in(benchmark.work_path(conversation_id), read, lambda _: made_with)
            decided = {probe_id for probe_id, verdict in made.items() if not is_undecided(verdict)}
            try:
                await judge_probes(units, read, [p for p in read.selected if p.probe_id not in decided])
            except RunStopped as exc:
                stopped = str(exc)
            calls, replayed = calls + journalled.asks, replayed + journalled.hits
            failures += [f"{conversation_id} {u.unit_key}: {u.error}" for u in units.failed]
        if stopped:
            break
    return ModelChecksRun(calls=calls, replayed=replayed, failures=tuple(failures), stopped=stopped)


def stored_model_findings(benchmark: Benchmark) -> list[Finding]:
    """Return what the checks found of the probes as they are now; what was never checked has no findings."""
    found: list[Finding] = []
    for conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            read = _checked(sealed)
            kept: Kept = {}
            for path in (benchmark.work_path(conversation_id), benchmark.checks_path(conversation_id)):
                kept |= _kept_in(path, read, lambda log: kept_with(log, benchmark.spec, registry_for(benchmark.spec)))
        found += [finding for verdict in kept.values() for finding in verdict.findings]
    return found


def _checked(sealed: SealedConversation) -> CheckedConversation:
    probes = tuple(sealed.probes())
    head = sealed.head
    return CheckedConversation(head.conversation_id, sealed.messages, lambda: sealed.said_digest, probes, head.plans)


def _kept_in(path: Path, read: CheckedConversation, made_with: Callable[[WorkLog], Dependencies | None]) -> Kept:
    if not path.exists():
        return {}
    with WorkLog.open_read_only(path) as log:
        made = made_with(log)
        return {} if made is None else kept_verdicts(log, made, read)
