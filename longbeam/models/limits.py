"""Limits between a call and its endpoint: concurrency, rates, time-outs, retries, and when to stop the run.

One call's trouble is its own (a poisoned prompt, a 500 among answers); trouble that every call would meet (a
wrong key, no server, a model without one usable reply) stops the run, so that it costs neither hours nor a
thousand failed units. Unusable replies are counted here: below the journal, so that replayed replies neither
count nor excuse the model and the last reply is stored before the run stops. All times are the event loop's,
which is monotonic: a change of the wall clock does nothing.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from longbeam.errors import ProviderError, RunStopped
from longbeam.models.base import CallProgress, ChatModel, ModelCall
from longbeam.models.batching import is_batched
from longbeam.models.outcomes import longer_limit, unusable_kind
from longbeam.models.pacing import AdaptiveWindow, Rates
from longbeam.models.tuning import CALLING
from longbeam.schemas import BenchmarkSpec, Limits, ModelReply, Role
from longbeam.stopping import until_answered
from longbeam.terminal import duration, followed_by
from longbeam.text import language_of

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
        kind = unusable_kind(reply, language_of(self._spec.language))
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
        return not self._is_usable and self._kinds.total() >= CALLING.unusable_replies

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


_LONGEST_REST_S = 365 * 86_400.0
"""A longer Retry-After is shown as this one: a date has bounds."""


DEFINITE = frozenset({"authentication", "quota", "not_found", "not_an_api"})
"""Kinds of errors that every other call would meet as well."""


@dataclass
class Lane:
    """The way to one model's endpoint."""

    window: AdaptiveWindow
    rates: Rates
    unusable: UnusableReplies
    has_answered: bool = False
    answered_at: float = float("-inf")
    silent_since: float | None = None
    """Time of the first failure after the last answer."""
    refusals: int = 0
    """Definite errors since the last answer."""
    in_trouble: set[int] = field(default_factory=set)
    """Calls that failed since the last answer, by the identities of their troubles."""
    on_their_way: set[CallProgress] = field(default_factory=set)
    """Progress of the calls in flight."""

    def is_heard(self, since: float) -> bool:
        """Return whether a reply on its way has grown since a moment."""
        return any(p.heard_at is not None and p.heard_at >= since for p in self.on_their_way)


@dataclass
class Trouble:
    """The failures that one call has met so far."""

    tries: int = 0
    alone: int = 0
    """Failures between which the endpoint answered other calls."""
    last_at: float = float("-inf")


class _Silence:
    """Ends a call whose reply does not begin in time, or stops growing."""

    def __init__(self, progress: CallProgress, limits: Limits) -> None:
        self.limit = asyncio.timeout(None)
        self._progress, self._limits = progress, limits
        self._loop = asyncio.get_running_loop()
        self._begin_s = self._loop.time() + limits.timeout_s
        self._grace_for: float | None = None
        """End of the silence for which the grace was given."""

    def __str__(self) -> str:
        if self._progress.heard_at is None:
            return f"no reply within {self._limits.timeout_s:g} s"
        return f"the reply stopped in its middle; nothing came for {self._limits.idle_timeout_s:g} s"

    async def __aenter__(self) -> _Silence:
        first_look_s = min(self._limits.timeout_s, self._limits.idle_timeout_s)
        self._timer = self._loop.call_later(first_look_s, self._look)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        now, heard_at = self._loop.time(), self._progress.heard_at
        end_at = self._begin_s if heard_at is None else heard_at + self._limits.idle_timeout_s
        if end_at > now:
            self._timer = self._loop.call_at(end_at, self._look)
        elif end_at != self._grace_for:
            # Where this process was held up, the reply may lie in the socket, paid for: it is read first.
            self._grace_for = end_at
            self._timer = self._loop.call_at(now + CALLING.grace_s, self._look)
        else:
            self.limit.reschedule(now)


def _when_to_resume(rest_s: float) -> str:
    """Return a sentence about an endpoint's Retry-After: its length, and its end by this machine's clock."""
    rest_s = min(rest_s, _LONGEST_REST_S)
    end = dt.datetime.now().astimezone() + dt.timedelta(seconds=rest_s + 59)  # shown without seconds, so rounded up
    return f"The server asks for a rest of {duration(rest_s)}: resume after {end:%Y-%m-%d %H:%M %Z}"


class LimitedModel:
    """A ChatModel that asks `inner` no more than the spec and the endpoints allow. For one event loop."""

    def __init__(self, inner: ChatModel, spec: BenchmarkSpec, *, rng: random.Random | None = None) -> None:
        self._inner = inner
        self._spec = spec
        self._rng = rng or random.Random()
        self._places = asyncio.Semaphore(spec.limits.concurrency)
        self._lanes: dict[str, Lane] = {}
        self._stopped: str = ""
        self._reopens_units = False
        self._stop = asyncio.Event()

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply. Raises ProviderError for the call's own failure, RunStopped for everybody's.

        A call that is cancelled when it was sent returns its reply all the same; the cancellation comes with the
        task's next await.
        """
        if is_batched(self._spec, call):
            # It takes no place: it waits for hours, with thousands of others.
            return await self._send(self._lane(call.model), call, self._inner.complete, is_batched=True)
        lane = self._lane(call.model)
        trouble = Trouble()
        while True:
            try:
                return await self._try(lane, call)
            except ProviderError as exc:
                wait_s = self._wait_after(lane, exc, trouble)
            await self._sleep(wait_s)

    async def _try(self, lane: Lane, call: ModelCall) -> ModelReply:
        characters = sum(len(m.content) for m in call.messages()) if lane.rates.counts_tokens else 0
        guess = await lane.rates.wait(characters)
        entered_at = await lane.window.enter()
        reply: ModelReply | None = None
        is_refused = False
        try:
            async with self._places:
                reply = await self._send(lane, call, self._answered)
        except ProviderError as exc:
            is_refused = exc.kind == "rate_limit"
            raise
        finally:
            lane.on_their_way.discard(call.progress)
            tokens = reply.output_tokens if reply is not None else 0
            lane.window.leave(entered_at, is_refused=is_refused, is_answered=reply is not None, tokens=tokens)
        lane.has_answered, lane.silent_since, lane.refusals = True, None, 0
        lane.in_trouble.clear()
        lane.answered_at = asyncio.get_running_loop().time()
        lane.rates.settle(guess, characters, reply.prompt_tokens, reply.output_tokens)
        return reply

    async def _send(
        self,
        lane: Lane,
        call: ModelCall,
        ask: Callable[[ModelCall], Awaitable[ModelReply]],
        *,
        is_batched: bool = False,
    ) -> ModelReply:
        """Return what `ask` returns; raises RunStopped before it where no call is sent any more."""
        self._refuse_if_stopped()
        reason = await lane.unusable.judge(is_batched=is_batched)
        self._refuse_if_stopped()  # another call stopped the run meanwhile
        if reason:
            self._reopens_units = True
            raise self._stop_with(reason)
        with lane.unusable.sending(is_batched=is_batched):
            if not is_batched:
                lane.on_their_way.add(call.progress)
            reply = await ask(call)
            lane.unusable.add(call, reply)
        return reply

    async def _answered(self, call: ModelCall) -> ModelReply:
        """Return the reply to a call that is sent and paid for, also when the run is stopped, for the journal."""
        return await until_answered(partial(self._ask, call), lambda: call.progress.is_held)

    async def _ask(self, call: ModelCall) -> ModelReply:
        call.progress.heard_at = None
        async with _Silence(call.progress, self._spec.limits) as silence:
            try:
                async with silence.limit:
                    return await self._inner.complete(call)
            except TimeoutError as exc:
                raise ProviderError(f"{call.model}: {silence}", kind="timeout", is_retryable=True) from exc

    def _wait_after(self, lane: Lane, error: ProviderError, trouble: Trouble) -> float:
        """The seconds to wait before the call is tried again; raises the error, or stops the run."""
        now = asyncio.get_running_loop().time()
        is_alone = trouble.tries == 0 or lane.answered_at >= trouble.last_at  # others were answered meanwhile
        trouble.tries, trouble.last_at = trouble.tries + 1, now
        trouble.alone += is_alone
        if lane.silent_since is None:
            lane.silent_since = now
        lane.in_trouble.add(id(trouble))
        is_lone_time_out = error.kind == "timeout" and lane.in_trouble == {id(trouble)}
        self._look_at_refusals(lane, error)
        if not error.is_retryable:
            raise error
        if (rest_s := error.retry_after_s or 0.0) > CALLING.longest_retry_after_s:
            raise self._stop_for(error, _when_to_resume(rest_s))
        if error.kind == "rate_limit":
            self._look_at_patience(lane, error, now)
        elif not lane.has_answered:
            if trouble.tries >= CALLING.first_tries:
                raise self._stop_for(error)
        elif is_lone_time_out:
            if trouble.tries >= CALLING.timed_out_tries:
                raise error
        elif not is_alone:
            self._look_at_patience(lane, error, now)
        elif trouble.alone >= CALLING.tries:
            raise error
        longest = min(CALLING.longest_back_off_s, CALLING.back_off_s * 2 ** (trouble.tries - 1))
        return rest_s + self._rng.uniform(0, longest)

    def _look_at_refusals(self, lane: Lane, error: ProviderError) -> None:
        """Stop the run for an error that every call would meet."""
        # A bad request among calls that are answered is the call's own; from a silent endpoint it may be all there is.
        is_of_all = error.kind in DEFINITE or (error.kind == "bad_request" and not lane.has_answered)
        if is_of_all:
            lane.refusals += 1
            is_definite = error.kind in DEFINITE and not lane.has_answered
            if is_definite or lane.refusals >= CALLING.refusals:
                raise self._stop_for(error)

    def _look_at_patience(self, lane: Lane, error: ProviderError, now: float) -> None:
        # Time-outs show a silence only after it: patience begins when several calls have had theirs.
        patience_s = CALLING.patience_s + (2 * self._spec.limits.timeout_s if error.kind == "timeout" else 0.0)
        is_silent = lane.silent_since is not None and now - lane.silent_since > patience_s
        if is_silent and not lane.is_heard(now - CALLING.patience_s):
            raise self._stop_for(error)

    def _stop_for(self, error: ProviderError, advice: str = "") -> RunStopped:
        if self._stopped:
            return RunStopped(self._stopped, reopens_units=self._reopens_units)
        return self._stop_with(followed_by(str(error), advice), failure=error)

    def _stop_with(self, reason: str, *, failure: ProviderError | None = None) -> RunStopped:
        self._stopped = reason
        self._stop.set()
        for lane in self._lanes.values():
            lane.window.open()
        return RunStopped(self._stopped, failure=failure, reopens_units=self._reopens_units)

    def _refuse_if_stopped(self) -> None:
        if self._stopped:
            raise RunStopped(self._stopped, reopens_units=self._reopens_units)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, or end at once when the run is stopped."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return
        self._refuse_if_stopped()

    def _lane(self, model: str) -> Lane:
        lane = self._lanes.get(model)
        if lane is None:
            lane = self._lanes[model] = self._new_lane(model, asyncio.get_running_loop().time)
        return lane

    def _new_lane(self, model: str, clock: Callable[[], float]) -> Lane:
        limits = self._spec.endpoint_for(model).limits
        most = self._spec.concurrency_of(model)
        # Only an endpoint elsewhere has something to teach.
        window = AdaptiveWindow(most, clock, is_fixed=not model.startswith("openai:"))
        unusable = UnusableReplies(model, self._spec)
        return Lane(window=window, rates=Rates(limits, clock, self._sleep), unusable=unusable)
