"""Plug-ins that fail while they run: one line with the plug-in's name, whatever they raise or return."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from longbeam.cli import USER_ERROR, run
from longbeam.schemas import BenchmarkSpec
from longbeam.store import create_benchmark, seal_conversation
from tests.plugins.installed import run_with
from tests.tiny import tiny_conversation

Plug = Callable[[str, str, str], None]
RAISED = {
    "ZeroDivisionError('a bug')": "ZeroDivisionError: a bug",
    "SystemExit(3)": "SystemExit: 3",
    "KeyError('\\x1b[31m')": "KeyError",
    "OSError(5, 'no')": "OSError",
    "RuntimeError('two\\nlines')": "RuntimeError: two lines",
}


@pytest.fixture
def plug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plug:
    """Installs a module with an object `PLUG` under a group and a name."""

    def install(group: str, name: str, code: str) -> None:
        site = tmp_path / f"site-{name}"
        info = site / f"longbeam_{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"broken_{name}.py").write_text(code)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: longbeam-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[longbeam.{group}]\n{name} = broken_{name}:PLUG\n")
        monkeypatch.syspath_prepend(str(site))

    return install


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with the import `mine` of a short chat with a probe, as LoCoMo has it."""
    sample = {
        "sample_id": "one",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a dog named Rex."}],
        },
        "qa": [{"question": "What is the dog's name?", "answer": "Rex", "evidence": ["D1:1"], "category": 4}],
    }
    (tmp_path / "locomo10.json").write_text(json.dumps([sample]))
    assert run(["import", "locomo", str(tmp_path / "locomo10.json"), "--name", "mine", "--out", str(tmp_path)]) == 0
    return tmp_path


def told(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(command) == USER_ERROR
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err + shown.out
    assert "\x1b" not in shown.err
    return next(line for line in shown.err.splitlines() if line.startswith("error: "))


CHECK = """
from longbeam.validation.base import WARNING, Check, Problem
def find(index, probe):
    {body}
PLUG = Check(name={name!r}, doc="d", severities={{"long": WARNING}}, on_probe=find)
"""


@pytest.mark.parametrize("number", range(len(RAISED)))
def test_a_check_that_raises_is_named(plug: Plug, out: Path, capsys: pytest.CaptureFixture[str], number: int) -> None:
    raised, said = list(RAISED.items())[number]
    name = f"check{number}"
    plug("checks", name, CHECK.format(body=f"raise {raised}", name=name))
    line = told(["validate", "mine", "--out", str(out)], capsys)
    assert line.startswith(f"error: checks: '{name}' (broken_{name}:PLUG) failed: {said}")


@pytest.mark.parametrize("body", ["return ['a text']", "yield None", "yield Problem('other', 'p', 'm')", "return [3]"])
def test_a_check_that_yields_no_problems_of_its_own_is_named(
    plug: Plug, out: Path, capsys: pytest.CaptureFixture[str], body: str
) -> None:
    name = f"yields{crc32(body.encode())}"
    plug("checks", name, CHECK.format(body=body, name=name))
    line = told(["validate", "mine", "--out", str(out)], capsys)
    assert line.startswith(f"error: checks: '{name}' yields ")
    assert line.endswith("it must yield Problems of long")


FORMAT = """
from longbeam.formats.registry import Format
def read(path, options):
    {read}
def write(*given, **named):
    raise ZeroDivisionError("a bug")
PLUG = Format(read=read, write=write)
"""


@pytest.mark.parametrize(
    ("read", "said"),
    [
        ("raise KeyError('chat')", "(broken_{}:PLUG) failed: KeyError: 'chat'"),
        ("return None", "gives NoneType as a conversation"),
        ("return ['chat']", "gives str as a conversation"),
        ("yield 1 / 0", "(broken_{}:PLUG) failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_format_that_fails_is_named(
    plug: Plug, out: Path, capsys: pytest.CaptureFixture[str], read: str, said: str
) -> None:
    name = f"format{crc32(read.encode())}"
    plug("formats", name, FORMAT.format(read=read))
    line = told(["import", name, str(out / "locomo10.json"), "--name", "other", "--out", str(out)], capsys)
    assert line.startswith(f"error: formats: '{name}' " + said.format(name))
    assert not (out / "other").exists()
    exported = ["export", "mine", "--format", name, "--to", str(out / "to"), "--out", str(out)]
    assert f"(broken_{name}:PLUG) failed: ZeroDivisionError: a bug" in told(exported, capsys)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ZeroDivisionError('a bug')", "models: '{0}' (broken_{0}:PLUG) failed: ZeroDivisionError: a bug"),
        ("return 'a text'", "models: '{0}:small' answers with str, not with a ModelReply"),
    ],
)
def test_a_model_that_fails_is_named(
    plug: Plug, out: Path, capsys: pytest.CaptureFixture[str], body: str, said: str
) -> None:
    name = f"model{crc32(body.encode())}"
    code = f"class Model:\n    async def complete(self, call):\n        {body}\n"
    plug("models", name, code + "def PLUG(name, endpoint):\n    return Model()\n")
    command = ["evaluate", "mine", "--system", "rag", "--reader", f"{name}:small", "--out", str(out)]
    assert told(command, capsys).startswith("error: " + said.format(name))


def test_a_model_that_cannot_be_made_is_named(plug: Plug, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plug("models", "unmade", "def PLUG(name, endpoint):\n    return {}['key']\n")
    command = ["evaluate", "mine", "--system", "rag", "--reader", "unmade:small", "--out", str(out)]
    assert told(command, capsys).startswith("error: models: 'unmade' (broken_unmade:PLUG) failed: KeyError: 'key'")


RETRIEVER = """
class Retriever:
    async def index(self, texts):
        {index}
    async def scores(self, *given):
        {scores}
PLUG = Retriever
"""


@pytest.mark.parametrize(
    ("index", "scores", "said"),
    [
        ("1 / 0", "pass", "failed: ZeroDivisionError"),
        ("pass", "raise SystemExit(3)", "failed: SystemExit: 3"),
        ("pass", "return None", "gave NoneType as scores of 1 texts"),
        ("pass", "return 'text'", "gave str as scores"),
        ("pass", "return [[1.0]]", "gave list as scores"),
        ("pass", "return [float('nan')]", "gave list as scores"),
        ("pass", "return [1.0, 2.0]", "gave list as scores"),
    ],
)
@pytest.mark.parametrize("group", ["retrievers", "rerankers"])
def test_a_retriever_and_a_reranker_that_fail_are_named(
    plug: Plug, out: Path, capsys: pytest.CaptureFixture[str], group: str, index: str, scores: str, said: str
) -> None:
    if group == "rerankers" and index != "pass":
        return  # it has no index
    name = f"{group}{crc32(f'{index}{scores}'.encode())}"
    plug(group, name, RETRIEVER.format(index=index, scores=scores))
    system, setting = ("rag", "retriever") if group == "retrievers" else ("cogcanvas", "reranker")
    command = ["evaluate", "mine", "--system", system, "--set", f"{system}.{setting}={name}", "--out", str(out)]
    line = told(command, capsys)
    assert line.startswith(f"error: {group}: ")
    assert said in line


EMBEDDER = """
import numpy as np
class Embedder:
    def __init__(self, name):
        self.name = name
    async def embed(self, texts, *, is_query=False):
        {body}
def PLUG(name, endpoint):
    {made}
"""
OF_ITS_KIND = "return one vector per text, of finite numbers and all of as many"


@pytest.mark.parametrize(
    ("made", "body", "said"),
    [
        ("1 / 0", "pass", "(broken_{}:PLUG) failed: ZeroDivisionError"),
        ("return Embedder('other')", "pass", "returned Embedder; it must return an object with embed"),
        (
            "return None",
            "pass",
            "(broken_{0}:PLUG) returned NoneType; it must return an object with embed, and '{0}:small' as its name",
        ),
        ("return Embedder(name)", "raise SystemExit(3)", "(broken_{}:PLUG) failed: SystemExit: 3"),
        ("return Embedder(name)", "raise KeyError('texts')", "(broken_{}:PLUG) failed: KeyError: 'texts'"),
        ("return Embedder(name)", "return None", "gave NoneType as vectors of 1 texts; " + OF_ITS_KIND),
        ("return Embedder(name)", "return 'text'", "gave str as vectors"),
        ("return Embedder(name)", "return [[1.0], [1.0]]", "gave list as vectors"),
        ("return Embedder(name)", "return np.array([1.0])", "gave ndarray as vectors"),
        ("return Embedder(name)", "return [[float('nan')]]", "gave list as vectors"),
        ("return Embedder(name)", "return np.eye(2 + is_query)[:1]", "gave vectors of 3 numbers, and others of 2"),
    ],
)
def test_an_embedder_that_fails_is_named(
    plug: Plug, out: Path, capsys: pytest.CaptureFixture[str], made: str, body: str, said: str
) -> None:
    name = f"embedder{crc32(f'{made}{body}'.encode())}"
    plug("embedders", name, EMBEDDER.format(made=made, body=body))
    command = ["evaluate", "mine", "--system", "rag", "--embedder", f"{name}:small", "--out", str(out)]
    line = told(command, capsys)
    assert line.startswith(f"error: embedders: '{name}")
    assert said.format(name) in line


ABILITY = """
from longbeam.abilities import Ability
from longbeam.evaluation import Scorer
from longbeam.generators.probes import AbilityGenerator
from longbeam.validation import Check
def find(material):
    {find}
def check(candidate, reply):
    return ()
def word(candidate):
    return None
GENERATOR = AbilityGenerator(find, check, word=word)
def score(probe, judgement, answer):
    {score}
SCORER = Scorer(score)
CHECK = Check(name={name!r}, doc="d", severities={{}}, on_probe=lambda *given: ())
NOTHING = 3
PLUG = Ability(
    name={name!r}, generator="{name}:{generator}", scorer="{name}:SCORER", evidence_rules="{name}:{rules}"
)
"""


GENERATORS = [
    ("return 1 / 0", "GENERATOR", "failed: ZeroDivisionError"),
    ("raise SystemExit(3)", "GENERATOR", "failed: SystemExit: 3"),
    ("return None", "GENERATOR", "returned NoneType; it must return a list of ProbeCandidates"),
    ("return ['x']", "GENERATOR", "returned list; it must return a list of ProbeCandidates"),
    ("return []", "NOTHING", "is no AbilityGenerator"),
    ("return []", "GONE", "cannot be loaded: AttributeError"),
]
SCORERS = [
    ("return 1 / 0", "failed: ZeroDivisionError"),
    ("return 1.0", "returned float; it must return two scores"),
    ("return (2, 'x')", "returned tuple; it must return two scores"),
]


@pytest.mark.slow
def test_an_ability_that_fails_is_named(tmp_path: Path) -> None:
    site, unruly, out = tmp_path / "site", tmp_path / "unruly", ["--out", str(tmp_path)]
    chat = [{"role": "user", "content": f"My kiln cost {number} euros in March."} for number in range(900, 940)]
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    commands, expected = [["import", "chat", str(tmp_path / "chat.json"), "--name", "talk", *out]], [""]
    for number, (find, generator, said) in enumerate(GENERATORS):
        name = f"generated_{number}"
        _offer(site, name, find=find, generator=generator)
        (tmp_path / f"{name}.toml").write_text(f'name = "talk"\nabilities = ["{name}"]\n')
        commands.append(["probe", "talk", "--spec", str(tmp_path / f"{name}.toml"), "--yes", *out])
        expected.append(said)
    made = tiny_conversation()
    for number, (score, said) in enumerate(SCORERS):
        name = f"scored_{number}"
        _offer(site, name, score=score)
        benchmark = create_benchmark(BenchmarkSpec(name=name, length=16_000), tmp_path)
        asked = [probe.model_copy(update={"ability": name, "probe_id": f"{name}.0"}) for probe in made.asked[:1]]
        seal_conversation(benchmark.sealed_path("c000"), made.head, made.said, asked)
        commands.append(["evaluate", name, "--system", "rag", *out])
        expected.append(said)
    for command, ran, said in zip(commands, run_with([site], *commands), expected, strict=True):
        line = next((line for line in ran.err.splitlines() if line.startswith("error: ")), "")
        assert ran.code == (USER_ERROR if said else 0), (command, ran)
        assert said in line
        assert ("abilities: " in line) == bool(said)
        assert "Traceback" not in ran.err
    _offer(unruly, "unruly", rules="NOTHING")
    (ran,) = run_with([unruly], ["validate", "scored_0", *out])
    assert (ran.code, ran.err) == (USER_ERROR, "error: abilities: unruly:NOTHING is no Check\n")


def _offer(
    site: Path, name: str, *, find: str = "", score: str = "", generator: str = "GENERATOR", rules: str = "CHECK"
) -> None:
    """Install a module with an ability, as a package of its own."""
    info = site / f"longbeam_{name}-1.0.dist-info"
    info.mkdir(parents=True)
    code = ABILITY.format(find=find or "pass", score=score or "pass", name=name, generator=generator, rules=rules)
    (site / f"{name}.py").write_text(code)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: longbeam-{name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[longbeam.abilities]\n{name} = {name}:PLUG\n")
