"""Places, rates, asking again and stopping, in virtual time: nothing here really waits."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
import re
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from longbeam.errors import ProviderError, RunStopped
from longbeam.models import CALLING, LimitedModel, ModelCall
from longbeam.pipeline.run import all_of
from longbeam.schemas import ModelReply
from tests.models.calls import call, spec_of
from tests.virtual_time import VirtualLoop, run_virtually

LATENCY_S = 0.05


def error(kind: str, retry_after_s: float | None = None) -> ProviderError:
    is_retryable = kind in {"rate_limit", "server_error", "connection"}
    return ProviderError(f"openai:m: {kind}", kind=kind, is_retryable=is_retryable, retry_after_s=retry_after_s)


class Endpoint:
    """Takes `takes` calls at once for LATENCY_S each; refuses more, or works them off in turn if it `queues`."""

    def __init__(
        self, takes: int = 1_000, *, queues: bool = False, fault: Callable[[], Exception | None] | None = None
    ) -> None:
        self.takes = takes
        self._gate = asyncio.Semaphore(takes) if queues else None
        self._fault = fault
        self.in_flight = self.most = self.refused = self.asked = 0
        self.answered_at: list[float] = []
        self.sent_at: list[float] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        loop = asyncio.get_running_loop()
        self.asked += 1
        self.sent_at.append(loop.time())
        if self._fault is not None and (fault := self._fault()) is not None:
            raise fault
        if self._gate is None and self.in_flight >= self.takes:
            self.refused += 1
            raise error("rate_limit")
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            if self._gate is not None:
                async with self._gate:
                    await asyncio.sleep(LATENCY_S)
            else:
                await asyncio.sleep(LATENCY_S)
        finally:
            self.in_flight -= 1
        self.answered_at.append(loop.time())
        return ModelReply(text="yes", prompt_tokens=90, output_tokens=10)


async def ask(model: LimitedModel, count: int, wanted: int = 64) -> float:
    """Seconds that `count` calls take, `wanted` of them at a time."""
    gate = asyncio.Semaphore(wanted)

    async def one(number: int) -> None:
        async with gate:
            await model.complete(call(said=str(number)))

    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(one(i) for i in range(count)))
    return asyncio.get_running_loop().time() - began


def limited(endpoint: Endpoint, **spec: Any) -> LimitedModel:
    return LimitedModel(endpoint, spec_of(**spec), rng=random.Random(1))


def test_an_unknown_limit_is_found_with_few_refusals() -> None:
    async def run() -> tuple[float, Endpoint]:
        endpoint = Endpoint(takes=32)
        return await ask(limited(endpoint), 1_000), endpoint

    took, endpoint = run_virtually(run())
    assert took < 2.5  # 1,000 / 32 calls x 0.05 s = 1.56 s at best
    assert endpoint.refused < 50
    assert endpoint.most == 32


def test_a_limit_that_rises_is_followed_within_two_seconds() -> None:
    async def run() -> Endpoint:
        endpoint = Endpoint(takes=32)
        running = asyncio.create_task(ask(limited(endpoint), 10_000))
        await asyncio.sleep(3)
        endpoint.takes = 64
        await asyncio.sleep(2)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return endpoint

    endpoint = run_virtually(run())
    last_quarter = sum(4.75 <= t < 5 for t in endpoint.answered_at)
    assert last_quarter >= 0.9 * 64 * 0.25 / LATENCY_S


def test_an_endpoint_that_queues_is_not_filled() -> None:
    async def run() -> tuple[float, Endpoint]:
        endpoint = Endpoint(takes=16, queues=True)
        return await ask(limited(endpoint), 1_000), endpoint

    took, endpoint = run_virtually(run())
    assert endpoint.most <= 40  # of 64 wanted
    assert took < 3.3  # 1,000 / 16 x 0.05 s = 3.1 s at best


def test_the_spec_limits_what_is_in_flight() -> None:
    async def run(**spec: Any) -> int:
        endpoint = Endpoint()
        await ask(limited(endpoint, **spec), 200)
        return endpoint.most

    assert run_virtually(run(concurrency=5)) == 5
    assert run_virtually(run(concurrency=64)) == 64  # reached, not only allowed
    assert run_virtually(_with_endpoint_limit(7)) == 7


async def _with_endpoint_limit(most: int) -> int:
    endpoint = Endpoint()
    spec = spec_of().model_dump()
    spec["endpoints"]["openai:m"]["limits"]["concurrency"] = most
    model = LimitedModel(endpoint, type(spec_of()).model_validate(spec))
    await ask(model, 200)
    return endpoint.most


@pytest.mark.parametrize(
    ("limits", "per_minute"), [({"requests_per_minute": 300}, 300), ({"tokens_per_minute": 30_000}, 300)]
)
def test_no_minute_holds_more_than_is_allowed(limits: dict[str, int], per_minute: int) -> None:
    """100 tokens a call: 30,000 tokens are 300 calls."""

    async def run() -> list[float]:
        endpoint = Endpoint()
        await ask(limited(endpoint, **limits), 900)
        return endpoint.sent_at

    sent = run_virtually(run())
    most = max(sum(begin <= t < begin + 60 for t in sent) for begin in sent)
    assert most <= per_minute
    assert sent[-1] < 200  # 900 calls at 300 a minute: three minutes, and a little for what had to be learnt


def test_retry_after_is_obeyed_by_the_call_and_by_nobody_else() -> None:
    faults = [error("rate_limit", retry_after_s=30)]

    async def run() -> tuple[float, list[float]]:
        endpoint = Endpoint(fault=lambda: faults.pop() if faults else None)
        return await ask(limited(endpoint), 20), endpoint.answered_at

    took, answered_at = run_virtually(run())
    assert 30 <= took < 31
    assert sum(t < 1 for t in answered_at) == 19


def test_a_call_that_always_fails_is_given_up_while_others_are_answered() -> None:
    class Poisoned(Endpoint):
        poisoned = 0

        async def complete(self, call: ModelCall) -> ModelReply:
            if "poison" in call.unit_key:
                self.poisoned += 1
                raise error("server_error")
            return await super().complete(call)

    async def run() -> int:
        endpoint = Poisoned()
        model = limited(endpoint)
        others = asyncio.create_task(ask(model, 20_000, wanted=4))
        await asyncio.sleep(1)
        with pytest.raises(ProviderError, match="server_error"):
            await model.complete(call(unit_key="c000/dialogue/poison"))
        others.cancel()
        await asyncio.gather(others, return_exceptions=True)
        return endpoint.poisoned

    assert run_virtually(run()) == CALLING.tries


def test_an_endpoint_that_refuses_whatever_it_is_asked_stops_the_run() -> None:
    """One refusal may be of its call; three in a row, and never an answer, are of every call."""

    async def run() -> tuple[int, str]:
        endpoint = Endpoint(fault=lambda: error("bad_request"))
        model = limited(endpoint)
        for _ in range(2):
            with pytest.raises(ProviderError):
                await model.complete(call())
        with pytest.raises(RunStopped) as stopped:
            await model.complete(call())
        return endpoint.asked, str(stopped.value)

    asked, said = run_virtually(run())
    assert asked == 3
    assert "bad_request" in said


def test_refusals_of_calls_among_others_that_are_answered_stop_nothing() -> None:
    async def run() -> int:
        faults = iter([None, *("bad_request" for _ in range(9)), *(None for _ in range(20))])
        endpoint = Endpoint(fault=lambda: error(kind) if (kind := next(faults)) else None)
        model = limited(endpoint)
        refused = 0
        for _ in range(20):
            try:
                await model.complete(call())
            except ProviderError:
                refused += 1
        return refused

    assert run_virtually(run()) == 9


def test_passing_faults_are_asked_again() -> None:
    rng = random.Random(7)

    def fault() -> Exception | None:
        return error(rng.choice(["server_error", "connection", "rate_limit"])) if rng.random() < 0.1 else None

    async def run() -> int:
        endpoint = Endpoint(fault=fault)
        await ask(limited(endpoint), 1_000)
        return len(endpoint.answered_at)

    assert run_virtually(run()) == 1_000


def test_a_call_without_an_end_is_given_up_and_asked_again() -> None:
    class Hanging(Endpoint):
        async def complete(self, call: ModelCall) -> ModelReply:
            if self.asked == 0:
                self.asked += 1
                await asyncio.Event().wait()
            return await super().complete(call)

    async def run() -> float:
        endpoint = Hanging()
        return await ask(limited(endpoint, timeout_s=7), 5)

    assert 7 < run_virtually(run()) < 8


def test_a_reply_that_came_while_the_process_was_held_up_is_not_paid_twice() -> None:
    class HeldUp(Endpoint):
        async def complete(self, call: ModelCall) -> ModelReply:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, VirtualLoop)
            loop.call_later(6, loop.hold_up, 30)
            await asyncio.sleep(6.9)  # in time; the loop sees it together with the time-out
            return await super().complete(call)

    async def run() -> int:
        endpoint = HeldUp()
        await ask(limited(endpoint, timeout_s=7), 5)
        return endpoint.asked

    assert run_virtually(run()) == 5


class Streaming(Endpoint):
    """Streams a reply for `seconds` of which a piece comes every 5 s; then it stops for `silent_s` and ends."""

    def __init__(self, seconds: float, silent_s: float = 0.0) -> None:
        super().__init__()
        self._seconds, self._silent_s = seconds, silent_s

    async def complete(self, call: ModelCall) -> ModelReply:
        loop = asyncio.get_running_loop()
        end_at = loop.time() + self._seconds
        while loop.time() < end_at:
            await asyncio.sleep(5)
            call.progress.heard_at = loop.time()
        await asyncio.sleep(self._silent_s)
        return await super().complete(call)


def test_a_reply_that_grows_may_take_longer_than_the_time_out() -> None:
    async def run() -> tuple[float, int]:
        endpoint = Streaming(5_000, silent_s=100)
        return await ask(limited(endpoint, timeout_s=600), 3), endpoint.asked

    took, asked = run_virtually(run())
    assert 5_000 < took < 5_200
    assert asked == 3


def test_a_stream_that_stops_in_its_middle_is_given_up_after_the_idle_time_out() -> None:
    async def run() -> float:
        endpoint = Streaming(10, silent_s=10_000)
        with pytest.raises(ProviderError, match="the reply stopped in its middle; nothing came for 120 s"):
            await asyncio.wait_for(limited(endpoint)._ask(call()), 10_000)
        return asyncio.get_running_loop().time()

    assert 130 <= run_virtually(run()) < 131


def test_two_time_outs_of_one_long_lone_call_do_not_stop_the_run() -> None:
    class Slow(Endpoint):
        async def complete(self, call: ModelCall) -> ModelReply:
            self.asked += 1
            if self.asked in {2, 3}:
                await asyncio.Event().wait()
            return await super().complete(call)

    async def run() -> int:
        endpoint = Slow()
        model = limited(endpoint, timeout_s=600)
        await model.complete(call(said="quick"))
        await model.complete(call(said="long"))
        return len(endpoint.answered_at)

    assert run_virtually(run()) == 2


def test_a_lone_call_that_always_times_out_fails_alone_and_an_endpoint_that_died_stops_the_run() -> None:
    class Dead(Endpoint):
        async def complete(self, call: ModelCall) -> ModelReply:
            if self.asked:
                await asyncio.Event().wait()
            return await super().complete(call)

    async def run() -> list[str]:
        model = limited(Dead(), timeout_s=600)
        await model.complete(call(said="quick"))
        raised = []
        for said in ("long", "another"):
            with pytest.raises((ProviderError, RunStopped)) as caught:
                await model.complete(call(said=said))
            raised.append(type(caught.value).__name__)
        return raised

    assert run_virtually(run()) == ["ProviderError", "RunStopped"]


def test_refusals_while_a_long_reply_streams_do_not_stop_the_run() -> None:
    """A slow endpoint that takes one call at a time writes one reply for longer than our patience."""

    class One(Streaming):
        async def complete(self, call: ModelCall) -> ModelReply:
            if self.in_flight:
                raise error("rate_limit")
            self.in_flight += 1
            try:
                return await super().complete(call)
            finally:
                self.in_flight -= 1

    async def run() -> int:
        endpoint = One(3 * CALLING.patience_s)
        await ask(limited(endpoint), 2)
        return len(endpoint.answered_at)

    assert run_virtually(run()) == 2


def stopped_by(endpoint: Endpoint, calls: int = 8) -> tuple[list[BaseException], float]:
    """What each of `calls` calls raised, and how long it took."""

    async def run() -> tuple[list[BaseException], float]:
        model = limited(endpoint)
        results = await asyncio.gather(
            *(model.complete(call(said=str(i))) for i in range(calls)), return_exceptions=True
        )
        return [r for r in results if isinstance(r, BaseException)], asyncio.get_running_loop().time()

    return run_virtually(run())


@pytest.mark.parametrize("kind", ["authentication", "quota", "not_found", "not_an_api"])
def test_what_every_call_would_meet_stops_the_run_at_once(kind: str) -> None:
    raised, _ = stopped_by(Endpoint(fault=lambda: error(kind)))
    assert {type(r) for r in raised} == {RunStopped}
    assert {str(r) for r in raised} == {f"openai:m: {kind}"}
    # one unit is recorded as failed, the others stay to be done
    assert len([r for r in raised if isinstance(r, RunStopped) and r.failure is not None]) == 1


def test_an_endpoint_that_is_down_stops_the_run_soon() -> None:
    raised, took = stopped_by(Endpoint(fault=lambda: error("connection")))
    assert {type(r) for r in raised} == {RunStopped}
    assert took < 5


def test_one_refused_key_among_answers_is_one_failure_and_three_stop_the_run() -> None:
    faults: list[str] = []

    async def run() -> list[BaseException | ModelReply]:
        endpoint = Endpoint(fault=lambda: error(faults.pop()) if faults else None)
        model = limited(endpoint)
        outcomes: list[BaseException | ModelReply] = []
        for fault in ("", "authentication", "", "authentication", "authentication", "authentication", ""):
            if fault:
                faults.append(fault)
            outcomes += await asyncio.gather(model.complete(call()), return_exceptions=True)
        return outcomes

    kinds = [type(o).__name__ for o in run_virtually(run())]
    assert kinds == [
        "ModelReply", "ProviderError", "ModelReply", "ProviderError", "ProviderError", "RunStopped", "RunStopped",
    ]  # fmt: skip


def test_an_outage_is_waited_out_and_a_long_one_stops_the_run() -> None:
    def down_from(begin: float, end: float) -> tuple[int, str]:
        def fault() -> Exception | None:
            return error("server_error") if begin <= asyncio.get_running_loop().time() < end else None

        async def run() -> tuple[int, str]:
            endpoint = Endpoint(fault=fault)
            try:
                await ask(limited(endpoint), 2_000)
            except RunStopped as exc:
                return len(endpoint.answered_at), str(exc)
            return len(endpoint.answered_at), ""

        return run_virtually(run())

    assert down_from(0.5, CALLING.patience_s / 2) == (2_000, "")
    answered, reason = down_from(0.5, 10 * CALLING.patience_s)
    assert 0 < answered < 2_000
    assert reason == "openai:m: server_error"


@pytest.mark.parametrize(
    ("seconds", "words"), [(3600, "1 h 0 min"), (5 * 3600 + 90, "5 h 1 min"), (float("inf"), "8760 h 0 min")]
)
def test_a_stop_says_the_rest_that_the_server_asks_for_and_when_to_resume(seconds: float, words: str) -> None:
    before = dt.datetime.now().astimezone().replace(microsecond=0)
    raised, _ = stopped_by(Endpoint(fault=lambda: error("rate_limit", seconds)))
    said = re.fullmatch(
        r"openai:m: rate_limit\. The server asks for a rest of (.*): resume after (\S+ \S+) \S+", str(raised[0])
    )
    assert said is not None
    assert said[1] == words
    end = dt.datetime.fromisoformat(said[2]).replace(tzinfo=before.tzinfo)
    assert dt.timedelta(0) <= end - before - dt.timedelta(seconds=min(seconds, 365 * 86_400)) < dt.timedelta(minutes=5)


@pytest.mark.parametrize("kind", ["rate_limit", "server_error"])
def test_an_endpoint_that_wants_hours_of_rest_stops_the_run(kind: str) -> None:
    raised, took = stopped_by(Endpoint(fault=lambda: error(kind, CALLING.longest_retry_after_s + 1)))
    assert {type(r) for r in raised} == {RunStopped}
    assert took < 1


def test_a_jump_of_the_wall_clock_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> float:
        endpoint = Endpoint(takes=8, fault=iter_faults())
        return run_virtually(ask(limited(endpoint, requests_per_minute=600), 300))

    def iter_faults() -> Callable[[], Exception | None]:
        faults = [error("rate_limit", 2.0), error("server_error")] * 5
        return lambda: faults.pop() if faults else None

    before = run()
    jumping = iter(range(0, 10**9, 86_400))
    monkeypatch.setattr(time, "time", lambda: float(next(jumping)))
    assert run() == before


def test_cancelled_calls_leave_their_places_to_others() -> None:
    async def run() -> int:
        endpoint = Endpoint()
        model = limited(endpoint, concurrency=4)
        tasks = [asyncio.create_task(model.complete(call(said=str(i)))) for i in range(40)]
        await asyncio.sleep(LATENCY_S / 2)
        for task in tasks[:20]:
            task.cancel()
        done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
        return sum(isinstance(r, ModelReply) for r in done)

    assert run_virtually(run()) == 20


# --- a run that is stopped ---------------------------------------------------------------------------------------


async def stopped(work: Coroutine[Any, Any, object], after_s: float) -> float:
    """Cancel the work after a time; return the seconds that it takes to end."""
    task = asyncio.create_task(work)
    await asyncio.sleep(after_s)
    began = asyncio.get_running_loop().time()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    return asyncio.get_running_loop().time() - began


def test_a_stopped_run_awaits_what_was_sent_and_sends_no_more() -> None:
    async def run() -> tuple[float, Endpoint, list[str]]:
        endpoint, recorded = Endpoint(), list[str]()
        model = limited(endpoint, concurrency=4)

        async def chain(number: int) -> None:
            for turn in range(9):
                await model.complete(call(said=f"{number}.{turn}"))
                recorded.append(f"{number}.{turn}")

        took = await stopped(all_of([chain(i) for i in range(8)]), LATENCY_S / 2)
        return took, endpoint, recorded

    took, endpoint, recorded = run_virtually(run())
    assert took == pytest.approx(LATENCY_S / 2)
    assert (endpoint.asked, len(endpoint.answered_at), sorted(recorded)) == (4, 4, ["0.0", "1.0", "2.0", "3.0"])


@pytest.mark.parametrize("kind", ["rate_limit", "server_error"])
def test_a_stopped_run_does_not_repeat_a_call(kind: str) -> None:
    """Stopped while the call sleeps before its second try, and while its first try is on its way."""

    class Failing(Endpoint):
        async def complete(self, call: ModelCall) -> ModelReply:
            await super().complete(call)
            raise error(kind, 60.0)

    async def run(after_s: float) -> tuple[float, int]:
        endpoint = Failing()
        return await stopped(limited(endpoint).complete(call()), after_s), endpoint.asked

    assert run_virtually(run(1.0)) == (0.0, 1)
    took, asked = run_virtually(run(LATENCY_S / 2))
    assert took == pytest.approx(LATENCY_S / 2)
    assert asked == 1


def test_a_stopped_run_awaits_a_reply_as_long_as_its_time_out() -> None:
    class Mute:
        async def complete(self, call: ModelCall) -> ModelReply:
            await asyncio.sleep(3600)
            raise AssertionError("nobody waits that long")

    async def run() -> float:
        return await stopped(LimitedModel(Mute(), spec_of(timeout_s=30)).complete(call()), 10.0)

    assert run_virtually(run()) == pytest.approx(20 + CALLING.grace_s)


def test_a_stopped_run_does_not_send_a_call_that_is_held_back() -> None:
    class Waiting(Endpoint):
        """Holds every call back for an hour before it sends it."""

        async def complete(self, call: ModelCall) -> ModelReply:
            with call.progress.held():
                await asyncio.sleep(3600)
            return await super().complete(call)

    async def run() -> tuple[float, int]:
        endpoint = Waiting()
        return await stopped(limited(endpoint).complete(call()), 1.0), endpoint.asked

    assert run_virtually(run()) == (0.0, 0)


def test_an_outer_time_out_stays_one_when_the_reply_comes_after_it() -> None:
    async def run() -> tuple[float, Endpoint]:
        endpoint = Endpoint()
        model = limited(endpoint)

        async def twice() -> None:
            async with asyncio.timeout(LATENCY_S / 2):
                await model.complete(call())
                await model.complete(call(said="Another?"))

        with pytest.raises(TimeoutError):
            await twice()
        return asyncio.get_running_loop().time(), endpoint

    ended_at, endpoint = run_virtually(run())
    assert ended_at == pytest.approx(LATENCY_S)
    assert endpoint.asked == 1
