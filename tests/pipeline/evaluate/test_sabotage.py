"""Memory systems that sabotage the process: what is put back, what one line names, what a process apart keeps off."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, OK
from longbeam.evaluation import read_results
from longbeam.memory import Host
from longbeam.pipeline.evaluate import results_path
from longbeam.schemas import BenchmarkSpec
from longbeam.store import Benchmark, create_benchmark, seal_conversation
from tests.pipeline.evaluate.test_misbehaving import HEAD, evaluated, method_of, scored
from tests.tiny import tiny_conversation

SABOTAGE = {
    "recursion": "import sys; sys.setrecursionlimit(90)",
    "recursion_above": "import sys; sys.setrecursionlimit(sys.getrecursionlimit() // 8)",
    "forks": "import os\nif os.fork() == 0: return ['child']",
    "forks_and_raises": "import os\nif os.fork() == 0: raise SystemExit(0)",
    "chdir": "import os; os.chdir('/proc')",
    "umask": "import os; os.umask(0o777)",
    "hook_none": "import sys, threading; sys.excepthook = sys.unraisablehook = threading.excepthook = None",
    "del": "type(self).__del__ = lambda self: 1 / 0",
    "eq": "type(self).__eq__ = type(self).__hash__ = type(self).__repr__ = lambda *given: 1 / 0",
    "getattr": "type(self).__getattr__ = lambda *given: 1 / 0",
    "escapes": "import sys\nfor to in (sys.stdout, sys.stderr): print('\\x1b[2J\\x07', file=to)",
    "thread": "import threading; threading.Thread(target=lambda: 1 / 0).start()",
    "warnings": "import warnings; warnings.simplefilter('error')",
    "environment": "import os; os.environ.clear()",
    "locale": "import locale; locale.setlocale(locale.LC_ALL, 'C')",
    "random": "import random; random.seed(1); random.random = lambda: 0",
    "own_folder": "import shutil; shutil.rmtree(self.tools.folder)",
}
"""What is kept off, or harms nobody, in the process of the evaluation."""
FATAL = {
    "ends": "import os; os._exit(5)",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "sigterm": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "sigint": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "alarm": "import signal; signal.alarm(1); time.sleep(5)",
    "cancels": (
        "import gc\nfor o in gc.get_objects():\n"
        "    if isinstance(o, asyncio.Task): o.get_loop().call_soon_threadsafe(o.cancel)"
    ),
    "sleep": "asyncio.sleep = None",
    "json": "import json; json.dumps = json.loads = None",
    "clock": "time.monotonic = None",
    "descriptors": "import os; os.closerange(0, 3)",
    "all_descriptors": "import os; os.closerange(0, 256)",
    "unlinks": (
        "import glob, os\nfor path in glob.glob(str(self.tools.folder.parents[2] / '**'), recursive=True):\n"
        "    os.path.isfile(path) and os.unlink(path)"
    ),
}
"""What no code keeps off inside one process."""
ENDS_WITH_A_LINE = re.compile(r"(?:error|stopped): .* after sab_\w+:System\.\w+, code of others")


def sabotaged(benchmark: Benchmark, folder: Path, acts: dict[str, str], *more: str) -> subprocess.CompletedProcess[str]:
    head = HEAD.replace("self.heard = []", "self.heard = []\n        self.tools = tools")
    for name, act in acts.items():
        body = method_of("search", f"{act}\nreturn self.heard[:3]")
        (folder / f"sab_{name}.py").write_text(head.format(method="search") + body, encoding="utf-8")
    return evaluated(benchmark, [f"sab_{name}:System" for name in acts], folder, *more)


def calls(done: subprocess.CompletedProcess[str]) -> int:
    """Return the model calls that a command counted; one that has nothing left to do counts none."""
    return max((int(number) for number in re.findall(r"units, (\d+) calls", done.stderr)), default=0)


def tiny(out: Path) -> Benchmark:
    made = tiny_conversation()
    benchmark = create_benchmark(BenchmarkSpec(name="tiny", length=16_000), out)
    seal_conversation(benchmark.sealed_path("c000"), made.head, made.said, made.asked)
    return benchmark


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[object], int]:
    """Results of `rag` without anybody beside it, and the calls that they take."""
    folder = tmp_path_factory.mktemp("alone")
    benchmark = tiny(folder / "out")
    done = evaluated(benchmark, [], folder)
    assert done.returncode == OK, done.stderr
    return scored(benchmark, "rag"), calls(done)


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_sabotage_of_the_process_is_put_back_and_the_others_are_scored(
    tmp_path: Path, alone: tuple[list[object], int]
) -> None:
    benchmark = tiny(tmp_path / "out")
    done = sabotaged(benchmark, tmp_path, SABOTAGE)
    assert done.returncode == INCOMPLETE, done.stderr
    assert scored(benchmark, "rag") == alone[0]
    failed = {
        line.partition("sab_")[2].partition(":")[0] for line in read_results(results_path(benchmark)).run.failures
    }
    assert failed == {"own_folder", "getattr"}  # the first needs its folder, the second has a `close` that raises
    assert all(len(scored(benchmark, f"sab_{name}:System")) == 2 for name in SABOTAGE if name != "own_folder")


@pytest.mark.slow
@pytest.mark.timeout(420)
@pytest.mark.parametrize("name", FATAL)
def test_sabotage_that_ends_the_process_is_one_line_that_names_it_and_nothing_is_paid_twice(
    name: str, tmp_path: Path, alone: tuple[list[object], int]
) -> None:
    benchmark = tiny(tmp_path / "out")
    # Without its descriptors the event loop wakes at the time limit.
    done = sabotaged(benchmark, tmp_path, {name: FATAL[name]}, "--set", f"sab_{name}:System.search_s=20")
    assert done.returncode != OK
    assert len([line for line in done.stderr.splitlines() if ENDS_WITH_A_LINE.match(line)]) == 1, done.stderr[-3000:]
    assert "Traceback" not in done.stderr
    if name == "unlinks":
        return  # the benchmark itself is gone
    again = evaluated(benchmark, [], tmp_path)
    assert again.returncode == OK, again.stderr
    assert scored(benchmark, "rag") == alone[0]
    assert calls(again) < alone[1]


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_sabotage_in_a_process_apart_costs_the_others_nothing(tmp_path: Path, alone: tuple[list[object], int]) -> None:
    benchmark = tiny(tmp_path / "out")
    acts = {name: act for name, act in {**SABOTAGE, **FATAL}.items() if name != "unlinks"}
    done = sabotaged(benchmark, tmp_path, acts, "--isolate")
    assert done.returncode == INCOMPLETE, done.stderr
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    assert scored(benchmark, "rag") == alone[0]
    failed = {
        line.partition("sab_")[2].partition(":")[0] for line in read_results(results_path(benchmark)).run.failures
    }
    assert {"ends", "killed", "segfault", "sigterm", "alarm"} <= failed <= {*FATAL, "own_folder", "getattr"}


@pytest.mark.parametrize(
    ("act", "read"),
    [
        (lambda: sys.setrecursionlimit(sys.getrecursionlimit() // 2), sys.getrecursionlimit),
        (lambda: os.chdir("/"), os.getcwd),
        (lambda: os.umask(0o777), lambda: os.umask(os.umask(0o077))),
        (lambda: setattr(sys, "excepthook", None), lambda: sys.excepthook),
        (lambda: setattr(threading, "excepthook", None), lambda: threading.excepthook),
        (lambda: [] if os.fork() == 0 else None, os.getpid),
    ],
)
async def test_a_call_puts_the_process_back(act: Callable[[], object], read: Callable[[], object]) -> None:
    before = read()
    host = Host(object)
    await host.run("search", act, 60)
    host.close()
    assert read() == before
