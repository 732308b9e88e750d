"""Units of work: run those that are not done, keep those that are, record failures.

A unit's done-mark counts only while its fingerprint is equal (`unit_spec.py`). A failure is stored with its reason and
stops only the work that needs the unit's records. A unit whose replies failed in all of its tries is a gap: the run
goes on without its records (`gaps.py`), and a gap stays one for every later run until the gaps are reopened.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar, TypeVarTuple, cast

from longbeam.errors import ProviderError, ReplyError, RunStopped, is_final
from longbeam.keys import DialogueKey, UnitKey, natural_order
from longbeam.models import CALLING, WITHOUT_TEXT, Asker, JournalledModel, ModelCall, Models
from longbeam.pipeline.run.gaps import Gap, Gaps
from longbeam.pipeline.run.unit_spec import DeclaredPrompts, Dependencies, UnitSpec
from longbeam.prompts import PromptRegistry
from longbeam.schemas import BenchmarkSpec, Incident, Message, ModelReply, Position, Record
from longbeam.store import Failure, Unit, UnitStatus, WorkLog

R = TypeVar("R", bound=Record)
T = TypeVar("T")
U = TypeVar("U")
Ts = TypeVarTuple("Ts")
DIALOGUE = "dialogue"
"""The stage whose units make messages."""


class Progress(Protocol):
    """Receiver of the position of a conversation, whenever a unit ends or a reply comes."""

    def update(self, conversation_id: str, position: Position) -> None:
        """Take in the position of a conversation."""

    def waiting(self, reason: str) -> None:
        """Take in what the run waits for; empty: nothing."""


class SilentProgress:
    """Progress for tests and notebooks."""

    def update(self, conversation_id: str, position: Position) -> None:
        """Show nothing."""

    def waiting(self, reason: str) -> None:
        """Show nothing."""


class Blocked(Exception):
    """Records that this work needs are missing because their unit failed; already recorded.

    `is_gap`: whether the unit failed for good, so that the work may go on without its records.
    """

    def __init__(self, unit: str, *, is_gap: bool = False) -> None:
        super().__init__(unit)
        self.is_gap = is_gap


@dataclass
class Units:
    """The units of one conversation in one run."""

    conversation_id: str
    spec: BenchmarkSpec
    log: WorkLog
    models: Models
    prompts: PromptRegistry
    on_position: Callable[[Position], None] = lambda position: None
    """Called when a unit ends and when a reply comes."""
    failed: list[Unit] = field(default_factory=list)
    gaps: Gaps = field(default_factory=Gaps)
    """Number of the parts that the conversation consists of, and of those that are missing."""
    remade: Counter[str] = field(default_factory=Counter)
    """Units of each stage that were done, but with other inputs, prompts or rules than today's."""
    tokens: dict[str, int] = field(default_factory=dict)
    """Tokens of each unit that makes messages."""
    _failures: dict[tuple[str, str], Failure] = field(default_factory=dict)
    """Failures of this run at replies without a usable text, by stage and unit."""
    _written: int = 0
    """Their sum."""
    _expected: Counter[str] = field(default_factory=Counter)
    """Units of stages that begin one after the other."""
    _begun: Counter[str] = field(default_factory=Counter)
    _ended: Counter[str] = field(default_factory=Counter)
    _restored: Counter[str] = field(default_factory=Counter)
    """Units that were done before this run."""

    def reporting_to(self, progress: Progress, journalled: JournalledModel) -> None:
        """Report to the progress of a run when a unit ends and when a reply comes."""

        def position_changed(position: Position) -> None:
            counts = {"calls": journalled.ended, "output_tokens": journalled.output_tokens}
            progress.update(self.conversation_id, position.model_copy(update=counts))

        self.on_position = position_changed
        journalled.on_reply = self._reply_came

    def expect(self, stage: str, units: int) -> None:
        """Report this many units of a stage at least, though they begin one after the other."""
        self._expected[stage] = units

    def _reply_came(self, call: ModelCall, reply: ModelReply) -> None:
        key = UnitKey.parse(call.unit_key)
        if key.stage == DIALOGUE and call.inputs.asked_tokens is not None:
            # What the assistant says counts at once, until the whole sub-plan is counted.
            sub_plan = str(DialogueKey.parse(key.unit).sub_plan)
            self._count(sub_plan, self.tokens.get(sub_plan, 0) + reply.output_tokens - reply.reasoning_tokens)
        self._report(key.stage)

    def _report(self, stage: str) -> None:
        self.on_position(
            Position(
                stage=stage,
                units_done=self._ended[stage],
                units_total=max(self._begun[stage], self._expected[stage]),
                restored=self._restored[stage],
                tokens=self._written,
            )
        )

    def _count(self, sub_plan: str, tokens: int) -> None:
        self._written += tokens - self.tokens.get(sub_plan, 0)
        self.tokens[sub_plan] = tokens

    async def run(
        self, spec: UnitSpec[R], key: str, *inputs: *Ts, work: Callable[[Asker, *Ts], Awaitable[Sequence[R]]]
    ) -> tuple[R, ...]:
        """Return the unit's records, from the work log when it is done and nothing it depends on has changed.

        `work` gets the very inputs that the fingerprint is made of. Raises Blocked after a failure, which is recorded.
        """
        stage = spec.stage
        self._begun[stage] += 1
        try:
            records = await self._records(spec, key, inputs, lambda asker: work(asker, *inputs))
        finally:
            self._ended[stage] += 1
        if stage == DIALOGUE:
            # A sub-plan's extension holds what it extends: it counts in place of it.
            sub_plan = str(DialogueKey.parse(key).sub_plan)
            self._count(sub_plan, sum(m.tokens for m in records if isinstance(m, Message)))
        self._report(stage)
        return records

    async def run_or(
        self,
        spec: UnitSpec[R],
        key: str,
        *inputs: *Ts,
        work: Callable[[Asker, *Ts], Awaitable[Sequence[R]]],
        otherwise: Gap[R],
        parts: int = 1,
    ) -> tuple[R, ...]:
        """Return the unit's records as `run` does; those of `otherwise` where the unit is a gap.

        `parts` are those that the unit consists of: what can be left out of it one by one.
        """
        place = f"{spec.stage} {key}"
        self.gaps.expect(place, parts)
        try:
            return await self.run(spec, key, *inputs, work=work)
        except Blocked as exc:
            if not exc.is_gap:
                raise
            self.gaps.expect(place, parts + otherwise.parts)
            self.gaps.miss(place, parts + otherwise.parts)
            return tuple(otherwise.records)

    async def _records(
        self,
        spec: UnitSpec[R],
        key: str,
        inputs: Sequence[object],
        work: Callable[[Asker], Awaitable[Sequence[R]]],
    ) -> tuple[R, ...]:
        stage, fingerprint = spec.stage, self.fingerprint(spec, *inputs)
        unit = self.log.units.find(stage, key)
        if unit is not None and unit.status is UnitStatus.DONE and unit.fingerprint == fingerprint:
            self._restored[stage] += 1
            if spec.tries:
                self.gaps.count(f"{stage} {key}", self.log.units.records(stage, Incident, unit_keys=[key]))
            return tuple(self.log.units.records(stage, spec.record, unit_keys=[key]))
        self.remade[stage] += unit is not None and unit.status is UnitStatus.DONE
        while True:
            if unit is not None and self._is_gap(spec, unit, fingerprint):
                self._remember(unit)
                raise Blocked(f"{stage} {key}", is_gap=True)
            asker = self.asker(spec, key)
            try:
                records = tuple(await work(asker))
                break
            except ProviderError as exc:
                unit = self._record_failure(spec, asker, fingerprint, exc)
                if not (spec.tries and isinstance(exc, ReplyError)):
                    self._remember(unit)
                    raise Blocked(f"{stage} {key}", is_gap=bool(spec.tries) and is_final(exc)) from exc
            except RunStopped as exc:
                if exc.reopens_units:
                    self._reopen()
                if exc.failure is not None:
                    self._record_failure(spec, asker, fingerprint, exc.failure)
                raise
        if spec.tries:
            self.gaps.count(f"{stage} {key}", asker.incidents)
        self.log.units.finish(stage, key, fingerprint=fingerprint, records=[*records, *_incidents_of(asker)])
        self._failures.pop((stage, key), None)
        self._forget(stage, key)
        return records

    def _remember(self, unit: Unit) -> None:
        """Keep a failed unit once, however often its stage asked for it."""
        self._forget(unit.stage, unit.unit_key)
        self.failed.append(unit)

    def _forget(self, stage: str, key: str) -> None:
        """Drop a unit from those that failed: a later try of its stage may have made it."""
        self.failed[:] = [u for u in self.failed if (u.stage, u.unit_key) != (stage, key)]

    def _reopen(self) -> None:
        """Make the units that a useless model failed in this run no gaps: they may be made when it is put right."""
        for (stage, key), failure in self._failures.items():
            self.log.units.fail(stage, key, replace(failure, attempts=1, opens_generation=False))
        self._failures.clear()

    def _is_gap(self, spec: UnitSpec[R], unit: Unit, fingerprint: str) -> bool:
        """Return whether a unit failed in all of its tries since the gaps were reopened.

        Each opening allows `tries` generations, so that a run that is killed between two of them ends as one that is
        not. A unit whose inputs have changed since is tried at least once.
        """
        if not spec.tries or not unit.is_exhausted or unit.fingerprint != fingerprint:
            return False
        return unit.generation >= spec.tries * (self.gaps.openings + 1)

    def asker(self, spec: UnitSpec[R], key: str) -> Asker:
        """Return an asker for a unit's work, in the generation that the unit has come to."""
        return Asker(
            models=self.models,
            prompts=DeclaredPrompts(self.prompts, spec),
            spec=self.spec,
            unit_key=UnitKey(self.conversation_id, spec.stage, key),
            generation=self.log.units.generation(spec.stage, key),
            acting=spec.acting,
        )

    def fingerprint(self, spec: UnitSpec[R], *inputs: object) -> str:
        """Return the digest of everything that a unit of this kind with these inputs depends on."""
        return Dependencies(self.spec, self.prompts, self.models.version_of).fingerprint(spec, inputs)

    def _record_failure(self, spec: UnitSpec[R], asker: Asker, fingerprint: str, error: ProviderError) -> Unit:
        stage, key = spec.stage, asker.unit_key.unit
        is_content = isinstance(error, ReplyError)
        failure = Failure(
            fingerprint=fingerprint,
            error_kind=error.kind,
            error=str(error),
            attempts=CALLING.attempts if is_content else 1,
            incidents=_incidents_of(asker),
            # Replies that did arrive are stored: when the endpoint answers again, only the failed call is paid for.
            opens_generation=is_content,
        )
        self.log.units.fail(stage, key, failure)
        if error.kind in WITHOUT_TEXT:
            self._failures[stage, key] = failure
        recorded = self.log.units.find(stage, key)
        assert recorded is not None
        return recorded


def _incidents_of(asker: Asker) -> list[Incident]:
    """Return the incidents of a unit in an order that does not depend on which of its calls ended first."""
    return sorted(asker.incidents, key=lambda i: (natural_order(i.place), i.kind, i.detail))


async def both(first: Awaitable[T], second: Awaitable[U]) -> tuple[T, U]:
    """Await two; raises as `all_of` does."""
    results = await all_of([cast(Awaitable[object], first), second])
    return cast(T, results[0]), cast(U, results[1])


async def all_of(work: Sequence[Awaitable[T]]) -> list[T]:
    """Await all, and raise only when all have ended: a bug before RunStopped, and that before Blocked."""
    results = await asyncio.gather(*work, return_exceptions=True)
    if raised := [r for r in results if isinstance(r, BaseException)]:
        raise min(raised, key=lambda e: (isinstance(e, RunStopped | Blocked), isinstance(e, Blocked)))
    return [r for r in results if not isinstance(r, BaseException)]
