"""A hundred memory systems that misbehave, each in another way: each fails by itself, and the others are scored."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, OK, USER_ERROR, run
from longbeam.evaluation import read_results
from longbeam.pipeline.evaluate import results_path
from longbeam.schemas import BenchmarkSpec, Result
from longbeam.store import Benchmark, create_benchmark, seal_conversation
from tests.tiny import tiny_conversation

ACTS = {
    "exit": "raise SystemExit(3)",
    "os_error": "raise OSError('gone')",
    "cancelled": "raise asyncio.CancelledError",
    "interrupt": "raise KeyboardInterrupt",
    "generator_exit": "raise GeneratorExit",
    "base": "raise type('Odd', (BaseException,), {})('odd')",
    "mute": "raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})",
    "slow_text": "raise type('Slow', (Exception,), {'__str__': lambda self: time.sleep(600)})",
    "shut": "raise type('Shut', (Exception,), {'__getattribute__': lambda self, name: exec('raise SystemExit(8)')})",
    "steering": "raise ValueError('\\x1b[2J\\udc80\\n' * 9)",
    "steering_name": "raise type('Bad\\x1b[2J\\nName', (ValueError,), {})('odd')",
    "memory": "raise MemoryError",
    "stop": "next(iter(()))",
    "deep": "getattr(self, METHOD)(*given)",
    "user_error": "raise longbeam.errors.UserError('not the user')",
    "run_stopped": "raise longbeam.errors.RunStopped('not the run')",
    "group": "raise BaseExceptionGroup('many', [SystemExit(1), ValueError('x')])",
    "hangs": "time.sleep(600)",
    "spins": "exec('while True: pass')",
}
ASYNC_ACTS = {
    "waits": "await asyncio.sleep(600)",
    "blocks": "time.sleep(600)",
    "stubborn": (
        "while True:\n    try:\n        await asyncio.sleep(600)\n    except asyncio.CancelledError:\n        pass"
    ),
    "cancels": "asyncio.current_task().cancel()\nawait asyncio.sleep(1)",
    "ends_loop": "asyncio.get_running_loop().stop()\nawait asyncio.sleep(600)",
    "closes_loop": (
        "loop = asyncio.get_running_loop()\nloop.call_soon(loop.close)\nloop.stop()\nawait asyncio.sleep(600)"
    ),
    "exit": "raise SystemExit(3)",
    "cancelled": "raise asyncio.CancelledError",
    "slow_text": ACTS["slow_text"],
    "shut": ACTS["shut"],
}
RETURNS = {
    "none": "None",
    "number": "3",
    "bytes": "b'x'",
    "surrogate": "['half \\ud83d'] if METHOD == 'search' else 'half \\ud83d'",
    "huge": "['x' * 10_000_000] if METHOD == 'search' else 'x' * 10_000_000",
    "nested": "[[['x']]]",
    "lying": "[type('Text', (str,), {'__len__': lambda self: 1})('x' * 10_000_000)]",
    "zone": "[Memory('x', created_at=dt.datetime.now(dt.UTC))]",
    "wrong_memory": "[Memory(3)]",
    "shut": "type('Shut', (), {'__class__': property(lambda self: exec('raise SystemExit(8)'))})()",
    "raises_later": "(1 / 0 for _ in range(3))",
}
CHANGES = {
    "content": "object.__setattr__(given[0].messages[0], 'content', 'changed')",
    "dict": "given[0].__dict__['messages'] = ()",
    "nested_dict": "given[0].messages[0].__dict__.clear()",
    "all": "[m.__dict__.update(content='changed', message_key='x') for m in given[0].messages]",
}

HEAD = """
import asyncio, datetime as dt, time
import longbeam.errors
from longbeam.memory.product import Memory

METHOD = {method!r}

class System:
    '''Misbehaves.'''

    def __init__(self, settings, tools):
        self.heard = []

    def add(self, exchange, timestamp):
        self.heard.append(exchange.messages[0].content)

    def search(self, query, k):
        return self.heard[:k]
"""


def method_of(name: str, body: str, *, is_async: bool = False) -> str:
    lines = textwrap.indent(body, " " * 8)
    return f"\n    {'async ' if is_async else ''}def {name}(self, *given):\n{lines}\n"


def systems() -> dict[str, str]:
    """Return the sources of systems by name."""
    found: dict[str, str] = {}
    methods = ["__init__", "add", "search", "finish", "close"]
    for act, method in itertools.product(ACTS, methods):
        # One that spins is enough: it takes its share of the processor to the end.
        if act != "spins" or method == "search":
            found[f"{method.strip('_')}_{act}"] = HEAD.format(method=method) + method_of(method, ACTS[act])
    for act, method in itertools.product(ASYNC_ACTS, ["search", "close"]):
        body = method_of(method, ASYNC_ACTS[act], is_async=True)
        found[f"async_{method}_{act}"] = HEAD.format(method=method) + body
    for kind, method in itertools.product(RETURNS, ["search", "answer"]):
        source = HEAD.format(method=method) + method_of(method, f"return {RETURNS[kind]}")
        found[f"{method}_returns_{kind}"] = source
    for change in CHANGES:
        body = f"{CHANGES[change]}\nself.heard.append('x')"
        found[f"changes_{change}"] = HEAD.format(method="add") + method_of("add", body)
    return found


SOURCES = systems()
HARMLESS = {name for name in SOURCES if name.startswith("changes_")}
"""Systems that fail at nothing, because what they change is a copy."""
LIMITS = {"add_s": "1", "search_s": "1", "answer_s": "1", "finish_s": "1", "close_s": "1", "attempts": "1"}


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    folder = tmp_path / "modules"
    folder.mkdir()
    for name, source in SOURCES.items():
        (folder / f"mis_{name}.py").write_text(source, encoding="utf-8")
    return folder


@pytest.fixture
def benchmark(out: Path) -> Benchmark:
    made = tiny_conversation()
    benchmark = create_benchmark(BenchmarkSpec(name="tiny", length=16_000), out)
    seal_conversation(benchmark.sealed_path("c000"), made.head, made.said, made.asked)
    return benchmark


def evaluated(
    benchmark: Benchmark, names: list[str], folder: Path, *more: str, limits: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command, as threads that never end would stay in this process."""
    given = {} if limits is None else limits
    options = [part for name in names for key, value in given.items() for part in ("--set", f"{name}.{key}={value}")]
    command = [sys.executable, "-m", "longbeam", "evaluate", benchmark.spec.name, "--out", str(benchmark.root.parent)]
    paths = os.pathsep.join([str(folder), *sys.path])
    return subprocess.run(
        [*command, "--system", ",".join([*names, "rag"]), *options, *more],
        capture_output=True,
        text=True,
        timeout=400,
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )


def scored(benchmark: Benchmark, system: str) -> list[Result]:
    results = read_results(results_path(benchmark)).results
    return [result for result in results if result.system == system]


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_each_of_a_hundred_systems_fails_by_itself_and_the_others_are_scored(
    benchmark: Benchmark, modules: Path
) -> None:
    assert len(SOURCES) >= 100
    assert evaluated(benchmark, [], modules).returncode == OK
    alone = scored(benchmark, "rag")
    names = {f"mis_{name}:System": name for name in SOURCES}
    done = evaluated(benchmark, list(names), modules, limits=LIMITS)
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    assert done.returncode == INCOMPLETE, done.stderr
    assert scored(benchmark, "rag") == alone
    run = read_results(results_path(benchmark)).run
    assert all(line.isprintable() and len(line) < 1_000 for line in run.failures)
    silent = {names[name] for name in names if not any(name in line for line in run.failures)}
    assert silent == HARMLESS


LINGERING = """
import atexit, multiprocessing, threading, time
from concurrent.futures import ThreadPoolExecutor

class System:
    def __init__(self, settings, tools):
        self.pool = ThreadPoolExecutor(1)
        self.pool.submit(time.sleep, 600)
        threading.Thread(target=time.sleep, args=[600], daemon=False).start()
        self.child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=[600])
        self.child.start()
        atexit.register(time.sleep, 600)

    def add(self, exchange, timestamp): ...

    def search(self, query, k):
        return ["x"]
"""


def test_a_command_ends_whatever_threads_children_and_hooks_a_system_leaves(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    (tmp_path / "lingering.py").write_text(LINGERING, encoding="utf-8")
    begun = time.monotonic()
    done = evaluated(benchmark, ["lingering:System"], tmp_path)
    assert done.returncode == OK, done.stderr
    assert time.monotonic() - begun < 120
    assert len(scored(benchmark, "lingering:System")) == 2


APART = {
    "ends": ("import os; os._exit(5)", "its process ended (exit code 5)"),
    "killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "its process ended (signal SIGKILL)"),
    "hangs": ("import re; re.match('(a+)+$', 'a' * 60 + 'b')", "no result within 3 s"),  # and holds the interpreter
    "leaves": ("raise SystemExit(3)", "apart_leaves:System.search: SystemExit: 3"),
    "patches": ("import longbeam.memory.retrieval as r; r.ranked = None; return ['x']", ""),
    "slow_text": ("raise type('Slow', (Exception,), {'__str__': lambda self: time.sleep(600)})", "within 3 s"),
    "prints": ("print('{}'); return ['printed']", ""),
}


LATE = ["apart_hangs", "apart_slow_text"]


def test_products_in_processes_of_their_own_fail_by_themselves(benchmark: Benchmark, tmp_path: Path) -> None:
    for name, (body, _) in APART.items():
        source = HEAD.format(method="search") + method_of("search", body)
        (tmp_path / f"apart_{name}.py").write_text(source, encoding="utf-8")
    names = [f"apart_{name}:System" for name in APART]
    # A tenth of a second is less than Python's start, which no limit counts.
    limits = [
        part for name in LATE for part in ("--set", f"{name}:System.search_s=3", "--set", f"{name}:System.finish_s=0.5")
    ]
    done = evaluated(benchmark, names, tmp_path, "--isolate", *limits)
    assert done.returncode == INCOMPLETE, done.stderr
    assert len(scored(benchmark, "rag")) == 2
    failures = " ".join(read_results(results_path(benchmark)).run.failures)
    for name, (_, said) in APART.items():
        arm = f"apart_{name}:System" + ("[finish_s=0.5,search_s=3]" if f"apart_{name}" in LATE else "")
        assert len(scored(benchmark, arm)) == (0 if said else 2), name
        assert said in failures
        assert bool(said) == (f"apart_{name}" in failures)


@pytest.mark.parametrize(
    "source", ["raise SystemExit(3)", "1 / 0", "import gone", "System = 3", "x = 1", "syntax error"]
)
def test_a_system_that_cannot_be_imported_is_one_line(
    benchmark: Benchmark,
    tmp_path: Path,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "failing.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("failing", None)
    out = str(benchmark.root.parent)
    assert run(["evaluate", "tiny", "--system", "failing:System", "--out", out]) == USER_ERROR
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert "failing:System" in said
