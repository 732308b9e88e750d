from __future__ import annotations

import asyncio
from typing import cast

from longbeam.flows.runner import WAITING_AT_END, _tell_that_all_is_made
from longbeam.pipeline.run.driver import RunSummary
from longbeam.pipeline.run.units import Progress


class Told:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def waiting(self, text: str) -> None:
        self.lines.append(text)


async def test_a_run_that_ends_before_the_server_starts_says_what_it_waits_for() -> None:
    async def ended(error: Exception | None) -> RunSummary:
        if error is not None:
            raise error
        return cast(RunSummary, None)

    for error, lines in ((None, [WAITING_AT_END]), (ValueError("broken"), [])):
        told = Told()
        run = asyncio.create_task(ended(error))
        await asyncio.wait([run])
        _tell_that_all_is_made(cast(Progress, told), run)
        assert told.lines == lines
