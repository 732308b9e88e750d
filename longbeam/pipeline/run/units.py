"""Units of work: run those that are not done, keep those that are, record failures.

A unit's done-mark counts only while its fingerprint is equal (`unit_spec.py`). A failure is stored with its reason and
stops only the work that needs the unit's records.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, TypeVarTuple, cast

from longbeam.errors import ProviderError, ReplyError, RunStopped
from longbeam.keys import DialogueKey, UnitKey
from longbeam.models.asking import ATTEMPTS, Asker
from longbeam.models.base import Models
from longbeam.pipeline.run.unit_spec import DeclaredPrompts, Dependencies, UnitSpec
from longbeam.prompts.registry import PromptRegistry
from longbeam.schemas.base import Record
from longbeam.schemas.dialogue import Message
from longbeam.schemas.progress import Position
from longbeam.schemas.spec import BenchmarkSpec
from longbeam.store.units import Failure, Unit, UnitStatus
from longbeam.store.worklog import WorkLog

R = TypeVar("R", bound=Record)
T = TypeVar("T")
U = TypeVar("U")
Ts = TypeVarTuple("Ts")
DIALOGUE = "dialogue"
"""The stage whose units make messages."""


class Progress(Protocol):
    """Receiver of the position of a conversation, whenever a unit ends."""

    def update(self, conversation_id: str, position: Position) -> None:
        """Take in the position of a conversation."""


class SilentProgress:
    """Progress for tests and notebooks."""

    def update(self, conversation_id: str, position: Position) -> None:
        """Show nothing."""


class Blocked(Exception):
    """Records that this work needs are missing because their unit failed; already recorded."""


@dataclass
class Units:
    """The units of one conversation in one run."""

    conversation_id: str
    spec: BenchmarkSpec
    log: WorkLog
    models: Models
    prompts: PromptRegistry
    on_unit: Callable[[str, int, int, int], None] = lambda stage, done, total, tokens: None
    """Called when a unit ends, with its stage, the stage's units done and begun, and the messages' tokens so far."""
    failed: list[Unit] = field(default_factory=list)
    tokens: dict[str, int] = field(default_factory=dict)
    """Tokens of each unit that makes messages."""
    _begun: Counter[str] = field(default_factory=Counter)
    _ended: Counter[str] = field(default_factory=Counter)

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
            self.tokens[sub_plan] = sum(m.tokens for m in records if isinstance(m, Message))
        self.on_unit(stage, self._ended[stage], self._begun[stage], sum(self.tokens.values()))
        return records

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
            return tuple(self.log.units.records(stage, spec.record, unit_keys=[key]))
        asker = self.asker(spec, key)
        try:
            records = tuple(await work(asker))
        except ProviderError as exc:
            self.failed.append(self._record_failure(stage, key, fingerprint, exc))
            raise Blocked(f"{stage} {key}") from exc
        except RunStopped as exc:
            if exc.failure is not None:
                self._record_failure(stage, key, fingerprint, exc.failure)
            raise
        self.log.units.finish(stage, key, fingerprint=fingerprint, records=records)
        return records

    def asker(self, spec: UnitSpec[R], key: str) -> Asker:
        """Return an asker for a unit's work, in the generation that the unit has come to."""
        return Asker(
            models=self.models,
            prompts=DeclaredPrompts(self.prompts, spec),
            spec=self.spec,
            unit_key=UnitKey(self.conversation_id, spec.stage, key),
            generation=self.log.units.generation(spec.stage, key),
        )

    def fingerprint(self, spec: UnitSpec[R], *inputs: object) -> str:
        """Return the digest of everything that a unit of this kind with these inputs depends on."""
        return Dependencies(self.spec, self.prompts, self.models.version_of).fingerprint(spec, inputs)

    def _record_failure(self, stage: str, key: str, fingerprint: str, error: ProviderError) -> Unit:
        is_content = isinstance(error, ReplyError)
        self.log.units.fail(
            stage,
            key,
            Failure(
                fingerprint=fingerprint,
                error_kind=error.kind,
                error=str(error),
                attempts=ATTEMPTS if is_content else 1,
                # Replies that did arrive are stored: when the endpoint answers again, only the failed call is paid for.
                opens_generation=is_content,
            ),
        )
        recorded = self.log.units.find(stage, key)
        assert recorded is not None
        return recorded


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
