"""Ctrl-C while calls are on their way: their replies are recorded, unless it is pressed again."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from longbeam.models import JournalledModel, LimitedModel, ModelCall
from longbeam.schemas import ModelReply
from longbeam.stopping import run_stoppable
from longbeam.store import WorkLog
from tests.models.calls import call, spec_of

CALLS = [call(unit_key=f"c000/dialogue/p0.s0/t{i}") for i in range(3)]


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@dataclass
class Held:
    """Calls `on_all_sent` with the last of `wanted` calls; answers when `gate` is set."""

    wanted: int
    on_all_sent: Callable[[], None]
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate = asyncio.Event()

    async def complete(self, call: ModelCall) -> ModelReply:
        self.asked.append(call.unit_key)
        if len(self.asked) == self.wanted:
            self.on_all_sent()
        await self.gate.wait()
        return ModelReply(text=f"reply to {call.unit_key}")


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Hear Ctrl-C as a foreground process does, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


async def ask(model: Held, path: Path) -> None:
    with WorkLog.open(path) as log:
        journalled = JournalledModel(LimitedModel(model, spec_of(concurrency=2)), log.journal)
        await asyncio.gather(*(journalled.complete(c) for c in CALLS), return_exceptions=True)


def recorded(path: Path) -> list[str]:
    with WorkLog.open_read_only(path) as log:
        return [c.unit_key for c in CALLS if log.journal.reply_of(c.key) is not None]


def test_replies_on_their_way_are_recorded_after_ctrl_c(tmp_path: Path) -> None:
    model, told = Held(wanted=2, on_all_sent=press), list[str]()

    def tell(line: str) -> None:
        told.append(line)
        model.gate.set()

    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        run_stoppable(ask(model, tmp_path / "c000.sqlite"), tell=tell)

    assert told == ["stopping; replies awaited: 2. Ctrl-C again ends without them"]
    assert model.asked == recorded(tmp_path / "c000.sqlite") == [c.unit_key for c in CALLS[:2]]

    resumed = Held(wanted=0, on_all_sent=press)
    resumed.gate.set()
    run_stoppable(ask(resumed, tmp_path / "c000.sqlite"))
    assert resumed.asked == [CALLS[2].unit_key]


def test_the_second_ctrl_c_ends_without_the_replies(tmp_path: Path) -> None:
    model = Held(wanted=2, on_all_sent=press)

    with pytest.raises(KeyboardInterrupt, match=r"^replies lost: 2$"):
        run_stoppable(ask(model, tmp_path / "c000.sqlite"), tell=lambda _: press())

    assert len(model.asked) == 2
    assert recorded(tmp_path / "c000.sqlite") == []
