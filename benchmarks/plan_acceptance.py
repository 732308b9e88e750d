"""How many first replies to each planning prompt can be used: plans of several stories by one model.

    python -m benchmarks.plan_acceptance openai:NAME --server http://127.0.0.1:8080/v1 --domains cooking sport \
        [--context 16384] [--length 16K] [--seed 61] [--minutes 20] [--at-once 1] [--out output/plans]

A story is stopped when its plan is whole or its time is over. Its replies are kept, and the same command again goes on
with it. Prints how far each story came, and a table of the prompts over all of them; what a run said is in its
plan-DOMAIN.log. The first story has the seed that is named, each further one the next. docs/local-models.md has what
was measured.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from benchmarks.real_models import PROGRESS, known_domain
from longbeam.formats import making_section
from longbeam.pipeline.run import making_of
from longbeam.schemas import Domain, Making
from longbeam.store import WorkLog, benchmark_names, open_benchmark

PLANNING = frozenset({"persona", "plan"})
"""Stages that a story goes through; it is stopped at the first word of another one."""
TURNS = "user_turns"
"""Prompt of the stage behind them."""

SPEC = """
name = "{name}"
seed = {seed}
length = "{length}"
domains = ["{domain}"]
models = {{ default = "{model}" }}
[endpoints."{model}"]
base_url = "{server}"
context = {context}
[limits]
concurrency = 1
"""


def followed(lines: Iterable[str], stop: Callable[[], None]) -> str:
    """Return the last line of progress before the plan is whole, at which `stop` is called, or before the lines end."""
    last = "nothing done"
    for line in lines:
        reported = PROGRESS.match(line)
        if reported is not None and reported[1] not in PLANNING:
            stop()
            return f"plan whole ({last})"
        if reported is not None:
            last = line.partition(";")[0].strip()
    return last


def written(lines: Iterable[str], log: IO[str]) -> Iterator[str]:
    """Yield the lines; write them to a log as well."""
    for line in lines:
        log.write(line)
        yield line


def spec_of(options: argparse.Namespace, name: str, domain: Domain, seed: int) -> str:
    """Return the spec file of one story."""
    return SPEC.format(**{**vars(options), "name": name, "domain": domain, "seed": seed})


def plan(options: argparse.Namespace, domain: Domain, seed: int) -> str:
    """Plan one story until its time is over; return a line on how far it came."""
    name, out = f"plan-{domain}", Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    spec = out / f"{name}.toml"
    spec.write_text(spec_of(options, name, domain, seed))
    command = [sys.executable, "-m", "longbeam", "generate", str(spec), "--runner", "inline", "--out", str(out)]
    begun, is_stopped, log_path = time.monotonic(), threading.Event(), out / f"{name}.log"
    with (
        log_path.open("a") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running,
    ):
        assert running.stdout is not None

        def stop() -> None:
            is_stopped.set()
            running.send_signal(signal.SIGINT)  # replies in flight are awaited and kept

        timer = threading.Timer(options.minutes * 60, stop)
        timer.start()
        lines = written(running.stdout, log)
        reached = followed(lines, stop)
        timer.cancel()
        deque(lines, maxlen=0)  # to its end, so that the run does not wait for a reader
    why = "" if is_stopped.is_set() else f"; ended by itself, see {log_path}"
    return f"{name}: {(time.monotonic() - begun) / 60:.1f} min, {reached}{why}"


def planning_of(name: str, out: Path) -> Making:
    """Return how a story's plan was made, without the turns that a run begins before it is stopped.

    Nothing was made where the run ended before its first call.
    """
    if name not in benchmark_names(out):
        return Making()
    benchmark = open_benchmark(out, name)
    if not benchmark.work_path(benchmark.conversation_ids[0]).exists():
        return Making()
    with WorkLog.open_read_only(benchmark.work_path(benchmark.conversation_ids[0])) as log:
        making = making_of(log)
    return Making(
        prompts=tuple(record for record in making.prompts if record.prompt_id != TURNS),
        incidents=tuple(incident for incident in making.incidents if incident.prompt_id != TURNS),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Plan the stories, and print how far they came and the table of their prompts."""
    options = options_of(arguments)
    with ThreadPoolExecutor(options.at_once) as pool:
        seeds = range(options.seed, options.seed + len(options.domains))
        for line in pool.map(lambda domain, seed: plan(options, domain, seed), options.domains, seeds):
            print(line, flush=True)
    print(making_section([planning_of(f"plan-{domain}", Path(options.out)) for domain in options.domains]))


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="openai:NAME")
    parser.add_argument("--server", required=True, help="its address, with /v1")
    parser.add_argument("--domains", type=known_domain, nargs="+", required=True)
    parser.add_argument("--context", type=int, default=16_384)
    parser.add_argument("--length", default="16K")
    parser.add_argument("--seed", type=int, default=61)
    parser.add_argument("--minutes", type=float, default=20, help="most time of a story")
    parser.add_argument("--at-once", type=int, default=1, help="stories at a time")
    parser.add_argument("--out", default="output/plans")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
