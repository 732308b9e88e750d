"""Models that give no usable reply at all: empty ones, reasoning without an answer, refusals.

Such an endpoint answers every request with 200, so the rules for failed calls never stop the run, and each unit pays
for all of its attempts. While a model has given no usable text in this process, its unusable replies are counted, and
the run stops at UNUSABLE_REPLIES. The first text switches that off, even one that fits no schema: small models write
many of those.

The count stands in the limiter: below the journal, so that replayed replies neither count nor excuse the model and the
last reply is stored before the run stops; and in the one place that all commands share and that stops calls to every
model.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from longbeam.models.base import ModelCall
from longbeam.models.outcomes import longer_limit, unusable_kind
from longbeam.schemas import BenchmarkSpec, ModelReply, Role

UNUSABLE_REPLIES = 12
"""Unusable replies without a usable one that stop a run: four requests with three attempts each."""
MOST_FIELDS = 3
"""Fields that the line names."""
LONGEST_SAID = 100
"""Characters of a refusal that the line shows."""


class UnusableReplies:
    """Unusable replies of one model, until its first usable one."""

    def __init__(self, model: str, spec: BenchmarkSpec) -> None:
        self._model, self._spec = model, spec
        self._is_usable = False
        self._kinds: Counter[str] = Counter()
        self._roles: set[Role] = set()
        """Roles whose replies were reasoning only."""
        self._refusal = ""
        self._fields: Counter[str] = Counter()
        """Fields in which the texts of empty replies stood."""
        self._in_flight: Counter[bool] = Counter()
        """Requests in flight: those in batches (True), and those sent one by one."""
        self._ended = asyncio.Event()

    async def judge(self, *, is_batched: bool) -> str:
        """Return why no request of this model may be sent; empty where one may.

        In doubt, wait for the replies on their way, which are paid for: a refusal comes sooner than a long text. Only a
        batch waits for batches, because they take hours.
        """
        while self._is_in_doubt and self._in_flight[is_batched]:
            self._ended.clear()
            await self._ended.wait()
        return self._line() if self._is_in_doubt else ""

    @contextmanager
    def sending(self, *, is_batched: bool) -> Iterator[None]:
        """Count a request as in flight within the block, in which its reply is added."""
        self._in_flight[is_batched] += 1
        try:
            yield
        finally:
            self._in_flight[is_batched] -= 1
            self._ended.set()

    def add(self, call: ModelCall, reply: ModelReply) -> None:
        """Count a reply to a call."""
        if self._is_usable:
            return
        kind = unusable_kind(reply, self._spec.language)
        self._is_usable = not kind
        self._kinds[kind] += 1
        if kind == "reasoning":
            self._roles.add(call.role)
        elif kind == "empty" and reply.text_field:
            self._fields[reply.text_field] += 1
        elif kind == "refusal":
            self._refusal = " ".join((reply.refusal or reply.text).split())[:LONGEST_SAID] or self._refusal

    @property
    def _is_in_doubt(self) -> bool:
        return not self._is_usable and self._kinds.total() >= UNUSABLE_REPLIES

    def _line(self) -> str:
        kinds, total = self._kinds.most_common(), self._kinds.total()
        refusals = f"were refusals (the last: {self._refusal})" if self._refusal else "were refusals"
        said = {
            "empty": f"were empty{self._held}",
            "reasoning": "spent their whole length limit on reasoning",
            "refusal": refusals,
        }
        remedies = {
            "empty": self._remedy_of_empty,
            "reasoning": f"In the spec, {longer_limit(self._spec, self._model, self._roles)}",
            "refusal": "Name another model in [models]",
        }
        if len(kinds) == 1:
            found = f"all {total} {said[kinds[0][0]]}"
        else:
            found = f"of {total} replies, " + " and ".join(f"{count} {said[kind]}" for kind, count in kinds)
        advice = ". ".join(remedies[kind] for kind, _ in kinds)
        return f"{self._model} has given no usable reply since this run began: {found}. {advice}"

    @property
    def _held(self) -> str:
        """Return where the texts of empty replies stood; empty where they stood nowhere."""
        if not self._fields:
            return ""
        named = " and ".join(f"{name!r} ({count})" for name, count in self._fields.most_common(MOST_FIELDS))
        return f": their texts stood in the field {named} of the message in place of 'content'"

    @property
    def _remedy_of_empty(self) -> str:
        if self._fields:
            return (
                "A parser of its server takes answers for thoughts or tool calls: change its reasoning parser, tool"
                f" parser or chat template ({self._place})"
            )
        return f"Check the name of the model and the chat template of its server ({self._place})"

    @property
    def _place(self) -> str:
        """Return the part of the spec that names the model."""
        return f'[endpoints."{self._model}"]' if self._model in self._spec.endpoints else "[models]"
