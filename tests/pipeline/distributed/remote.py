"""Workers without a cluster: jobs, a worker that is a process, and what is in the folders afterwards."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

from longbeam import __version__
from longbeam.models import ModelCall
from longbeam.offline import OfflineWriter
from longbeam.pipeline.distributed import Job, work
from longbeam.pipeline.run import seeds_of
from longbeam.schemas import Message, ModelReply, Probe
from longbeam.store import LEASE_S, Benchmark, Holder, SealedConversation
from longbeam.wiring import services


class Falling(OfflineWriter):
    """Answers so many calls, says so, and then answers no more."""

    def __init__(self, answers: int, invocation_log: Path | None = None) -> None:
        super().__init__(invocation_log=invocation_log)
        self.left = answers
        self.is_mute = asyncio.Event()

    async def complete(self, call: ModelCall) -> ModelReply:
        if self.left <= 0:
            await asyncio.sleep(0.2)  # the answers before this one are on their way
            self.is_mute.set()
            print("mute", flush=True)
            await asyncio.sleep(600)
        self.left -= 1
        return await super().complete(call)


def job_of(benchmark: Benchmark, scratch: Path, conversation_id: str = "c000", **changes: str) -> Job:
    seeds = dict(zip(benchmark.conversation_ids, seeds_of(benchmark), strict=True))
    job = Job(
        version=__version__,
        root=str(benchmark.root),
        run_id="r1",
        conversation_id=conversation_id,
        seed=seeds[conversation_id],
        spec=benchmark.spec,
        services="longbeam.wiring:services",
        scratch=str(scratch),
    )
    return job.model_copy(update=changes)


def made(benchmark: Benchmark, conversation_id: str = "c000") -> tuple[list[Message], list[Probe]]:
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        return list(sealed.messages()), list(sealed.probes())


def expire(folder: Path) -> None:
    """As if the last holder were on another machine, and silent for longer than a lease lasts."""
    path = max(folder.glob("*.lease"))
    path.write_text(Holder(worker="far away", machine="another", pid=os.getpid()).model_dump_json())
    os.utime(path, (time.time() - LEASE_S - 1,) * 2)


def main() -> None:
    """Be a worker: make the job of the first argument, falling silent after as many answers as the second says."""
    job = Job.model_validate_json(sys.argv[1])
    asyncio.run(work(job, services(), Falling(int(sys.argv[2]), Path(job.invocation_log))))


if __name__ == "__main__":
    main()
