"""Runs the model-backed checks on finished conversations, and finds again what they found.

Each check of each probe is a unit in a work log of its own (`output/<benchmark>/checks/<conversation_id>.sqlite`), so
what was asked is not asked again, a killed run goes on, and an import, which has no other work log, is no exception. A
unit counts while the probe, the messages it was checked against, the prompts and the models are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import cache

from longbeam.errors import RunStopped, UserError
from longbeam.evaluation.model_checks.base import ModelCheck, ProbeCase
from longbeam.evaluation.model_checks.registry import MODEL_CHECKS
from longbeam.memory.bm25 import Bm25Index, ranked
from longbeam.models.asking import Asker
from longbeam.models.base import Models
from longbeam.models.journal import JournalledModel
from longbeam.models.kinds import is_language_model
from longbeam.pipeline.repair.probes import version_of
from longbeam.pipeline.run.unit_spec import Dependencies, UnitSpec
from longbeam.pipeline.run.units import Blocked, Progress, SilentProgress, Units, all_of
from longbeam.prompts.declarations import default_registry
from longbeam.schemas.base import Record
from longbeam.schemas.defaults import DEFAULT_MODEL
from longbeam.schemas.dialogue import Message, MessageRole
from longbeam.schemas.findings import Finding
from longbeam.schemas.progress import Position
from longbeam.schemas.spec import BenchmarkSpec, Role
from longbeam.store.artifacts import SealedConversation
from longbeam.store.layout import Benchmark
from longbeam.store.worklog import WorkLog

STAGE = "checks"
ROLES = (Role.READER, Role.JUDGE)
CHECKS_VERSION = 1
"""Raised when what a check does with the same replies changes."""
CHECK = UnitSpec(STAGE, Finding, version=CHECKS_VERSION)
"""A check of a probe; the check says which prompts it asks."""
_MODELS = "models"
_VERSIONS = "versions"
"""Name under which a work log keeps the versions of the models' rules."""


class ModelChecksRun(Record):
    """Summary of a run of the checks."""

    calls: int
    replayed: int
    """Replies taken from the journal."""
    failures: tuple[str, ...]
    """One line for each check of a probe that failed."""
    stopped: str = ""
    """Reason why the run ended early; empty if it did not."""


def checking_spec(spec: BenchmarkSpec, model: str | None, max_cost_usd: float | None = None) -> BenchmarkSpec:
    """Return the benchmark's spec with the model that reads and judges; None: those that the spec names."""
    given = {} if model is None else {role.value: model for role in ROLES}
    models = {**spec.models, **given}
    if not models:
        models = {"default": DEFAULT_MODEL}  # an import's spec names none
    limits = spec.limits if max_cost_usd is None else spec.limits.model_copy(update={"max_cost_usd": max_cost_usd})
    return spec.model_copy(update={_MODELS: models, "limits": limits})


def refuse_rules(benchmark: Benchmark, spec: BenchmarkSpec) -> None:
    """Raise UserError where rules would judge text that was not written by rule."""
    made = benchmark.spec
    is_own = not made.is_given and not any(is_language_model(made.model_for(role)) for role in Role)
    by_rule = [model for model in map(spec.model_for, ROLES) if not is_language_model(model)]
    if by_rule and not is_own:
        raise UserError(
            f"--model-checks: benchmark {made.name!r} was not written by the {by_rule[0]} writer, and its lexical "
            "rules can judge nothing else; name a language model, as in --model openai:NAME (docs/models.md)"
        )


async def run_model_checks(
    benchmark: Benchmark, spec: BenchmarkSpec, models: Models, *, progress: Progress | None = None
) -> ModelChecksRun:
    """Check the selected probes of all finished conversations; `stored_model_findings` has the findings."""
    calls = replayed = 0
    failures: list[str] = []
    stopped = ""
    for conversation_id in benchmark.sealed_ids:
        path = benchmark.checks_path(conversation_id)
        with WorkLog.open(path) as log, SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            named = {role.value: spec.model_for(role) for role in ROLES}
            log.meta_set(_MODELS, named)
            log.meta_set(_VERSIONS, {model: models.version_of(model) for model in named.values()})
            journalled = JournalledModel(models.chat, log.journal)
            units = Units(conversation_id, spec, log, replace(models, chat=journalled), default_registry())
            units.on_unit = _told(progress or SilentProgress(), conversation_id, journalled)
            try:
                await all_of([_checked(units, check, case, sealed) for check, case in _work(sealed)])
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
        path = benchmark.checks_path(conversation_id)
        if not path.exists():
            continue
        with WorkLog.open_read_only(path) as log, SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            spec = benchmark.spec.model_copy(update={_MODELS: log.meta_get(_MODELS) or {}})
            made_with = Dependencies(spec, default_registry(), _stored_versions(log))
            for check, case in _work(sealed):
                key = _key(check, case)
                unit = log.units.find(STAGE, key)
                inputs = (_checked_text(check, case, sealed),)
                if unit is not None and unit.fingerprint == made_with.fingerprint(CHECK.asking(*check.prompts), inputs):
                    found += log.units.records(STAGE, Finding, unit_keys=[key])
    return found


def _stored_versions(log: WorkLog) -> Callable[[str], str]:
    """Return the versions of the models' rules, as the last run of the checks stored them."""
    versions: dict[str, str] = log.meta_get(_VERSIONS) or {}
    return lambda model: versions.get(model, "")


def _told(
    progress: Progress, conversation_id: str, journalled: JournalledModel
) -> Callable[[str, int, int, int], None]:
    def tell(stage: str, done: int, total: int, tokens: int) -> None:
        position = Position(stage=stage, units_done=done, units_total=total, tokens=tokens, calls=journalled.asks)
        progress.update(conversation_id, position)

    return tell


async def _checked(units: Units, check: ModelCheck, case: ProbeCase, sealed: SealedConversation) -> None:
    async def work(asker: Asker, _: object) -> Sequence[Finding]:
        model = units.spec.model_for(Role.JUDGE)
        return [check.finding(problem, case, model) for problem in await check.find(asker, case)]

    with suppress(Blocked):  # it is in `units.failed`
        await units.run(CHECK.asking(*check.prompts), _key(check, case), _checked_text(check, case, sealed), work=work)


def _checked_text(check: ModelCheck, case: ProbeCase, sealed: SealedConversation) -> list[object]:
    """Return what a check of a probe reads: the probe, the messages it cites, and for some checks the conversation."""
    cited = [[m.message_key, m.content] for m in case.cited]
    return [version_of(case.probe), cited, *([sealed.said_digest] if check.reads_all else [])]


def _key(check: ModelCheck, case: ProbeCase) -> str:
    return f"{check.name}/{case.probe.probe_id}"


def _work(sealed: SealedConversation) -> Iterator[tuple[ModelCheck, ProbeCase]]:
    """Yield every check with the probes that it applies to."""
    probes = [p for p in sealed.probes() if p.is_selected]
    wanted = {e.message_key for p in probes for e in p.evidence}
    cited: dict[str, Message] = {}
    last = None
    for message in sealed.messages():
        last = message.sent_at
        if message.message_key in wanted:
            cited[message.message_key] = message
    if last is None:
        return
    nearest = _search(sealed)
    for probe in probes:
        keys = {e.message_key for e in probe.evidence}
        case = ProbeCase(
            conversation_id=sealed.head.conversation_id,
            probe=probe,
            cited=tuple(m for key, m in cited.items() if key in keys),
            others=tuple(p for p in probes if p is not probe),
            asked_at=probe.asked_at or last + timedelta(days=1),
            nearest=_without(keys, nearest),
        )
        for check in MODEL_CHECKS:
            if check.applies(case):
                yield check, case


Nearest = Callable[[str, int], Sequence[Message]]


def _search(sealed: SealedConversation) -> Nearest:
    """Search all that people say; the index is made when something is first searched."""

    @cache
    def index() -> tuple[list[Message], Bm25Index]:
        said = [m for m in sealed.messages() if m.role is MessageRole.USER or m.speaker != MessageRole.ASSISTANT]
        return said, Bm25Index([m.content for m in said])

    def nearest(query: str, count: int) -> list[Message]:
        said, bm25 = index()
        return [said[i] for i in ranked(bm25.scores(query), count)]

    return nearest


def _without(keys: set[str], nearest: Nearest) -> Nearest:
    def found(query: str, count: int) -> list[Message]:
        messages = [m for m in nearest(query, count + len(keys)) if m.message_key not in keys][:count]
        return sorted(messages, key=lambda m: (m.message_id or 0, m.message_key))

    return found
