"""Input that nobody means: one line each, from the command line and from Python, before anything is paid for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from longbeam.abilities import Ability
from longbeam.cli import INTERRUPTED, OK, USER_ERROR, run
from longbeam.errors import UserError
from longbeam.formats import ImportOptions, export_beam, import_beam
from longbeam.formats.exporting import MANIFEST
from longbeam.pipeline import Origin, check_ability, import_benchmark
from longbeam.schemas import BenchmarkSpec
from longbeam.store import Benchmark, create_benchmark, open_benchmark, read_findings, write_spec
from longbeam.wiring import generate
from tests.builders import good_conversation
from tests.cli.test_commands import complaint
from tests.formats.sources import SPEC, beam_folder, locomo_sample, write_json
from tests.pipeline.conftest import CountingModel

CONTROLLED = ("study", "controlled")
NINES = "9" * 400
MANY_NINES = "9" * 5_000


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that is the user's mistake; return the one line that says so."""
    assert run(arguments) == USER_ERROR
    return complaint(capsys)


# --- specs ------------------------------------------------------------------------------------------------

TOO_LONG = {"digits": NINES, "thousands of digits": MANY_NINES, "thousands with a unit": f"{MANY_NINES}K"}


@pytest.mark.parametrize("length", TOO_LONG.values(), ids=TOO_LONG)
def test_a_length_of_hundreds_of_digits_is_one_line(capsys: pytest.CaptureFixture[str], length: str) -> None:
    said = refused(capsys, "generate", "--name", "a", "--length", length)
    assert "--length: length" in said
    assert len(said) < 300


@pytest.mark.parametrize("length", [10**400, 10**5_000, NINES, -(10**5_000)], ids=["400", "5000", "text", "negative"])
def test_a_length_beyond_all_bounds_is_refused_in_python(length: Any) -> None:
    with pytest.raises(ValueError, match=r"length .*(at most|at least|is not a number)"):
        BenchmarkSpec(name="a", length=length)


SPECS = {
    "length": f"length = {NINES}",
    "length beyond what Python reads": f"length = {MANY_NINES}",
    "seed": f"seed = {NINES}",
    "nested lists": f"a = {'[' * 3_000}{']' * 3_000}",
    "nested tables": f"a = {'{a=' * 3_000}1{'}' * 3_000}",
    "NUL in seeds_file": 'seeds_file = "a\\u0000b"',
    "NUL in a model's path": 'models = { default = "gguf:a\\u0000b" }',
    "a home of nobody": 'models = { default = "gguf:~nobody-at-all/x.gguf" }',
    "controls in base_url": '[endpoints."openai:x"]\nbase_url = "http://h/\\u0007v1"',
    "NUL in the name": 'name = "a\\u0000b"',
}


@pytest.mark.parametrize("text", SPECS.values(), ids=SPECS)
def test_a_hostile_spec_is_one_line(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Path("s.toml").write_text(text if text.startswith("name") else f'name = "a"\n{text}', encoding="utf-8")
    said = refused(capsys, "generate", "s.toml")
    assert said.startswith("error: ")
    assert len(said) < 500


@pytest.mark.parametrize("out", ["x" * 300, "x/" * 3_000, "a\0b"], ids=["long name", "long path", "NUL"])
@pytest.mark.parametrize("command", [["generate", "--name", "a", "--length", "16K"], ["status", "a"], ["resume", "a"]])
def test_an_impossible_folder_is_one_line(capsys: pytest.CaptureFixture[str], command: list[str], out: str) -> None:
    said = refused(capsys, *command, "--out", out)
    assert "--out" in said
    with pytest.raises(UserError, match="--out"):
        open_benchmark(Path(out), "a")
    with pytest.raises(UserError, match="--out"):
        create_benchmark(BenchmarkSpec(name="a", length=16_000), Path(out))


# --- exports ----------------------------------------------------------------------------------------------


def test_an_export_does_not_walk_a_folder_that_is_none_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`export --to /` read the names of all files of the disk before it refused."""
    (tmp_path / "disk" / "deep").mkdir(parents=True)
    (tmp_path / "disk" / "deep" / "file").write_text("kept")
    walked: list[Path] = []
    walk = Path.rglob
    monkeypatch.setattr(Path, "rglob", lambda self, pattern: walked.append(self) or walk(self, pattern))

    with pytest.raises(UserError, match="is not empty and not an export of longbeam"):
        export_beam([good_conversation()], SPEC, tmp_path / "disk")
    assert walked == []


def test_an_export_to_the_root_of_the_disk_is_one_line(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not empty" in refused(capsys, "export", "tiny", "--to", "/")


@pytest.mark.parametrize("to", ["x" * 300, "a\0b"], ids=["long", "NUL"])
def test_an_impossible_target_is_one_line(sealed: Benchmark, capsys: pytest.CaptureFixture[str], to: str) -> None:
    assert refused(capsys, "export", "tiny", "--to", to).startswith("error: ")


def test_files_beside_a_former_export_are_found_without_reading_all(tmp_path: Path) -> None:
    target = export_beam([good_conversation()], SPEC, tmp_path / "out").target
    (target / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"holds 'notes\.txt' beside a former export"):
        export_beam([good_conversation()], SPEC, target)
    assert json.loads((target / MANIFEST).read_text())["format"] == "beam"


@pytest.fixture
def sealed(tmp_path: Path) -> Benchmark:
    """An imported benchmark of one conversation."""
    given = import_beam(beam_folder(tmp_path / "in"), ImportOptions())
    return import_benchmark(given, "tiny", Path("output"), Origin("beam", "", "o200k_base")).benchmark


# --- before the first paid call ---------------------------------------------------------------------------


async def test_an_unknown_ability_is_found_before_the_first_call() -> None:
    """From Python it was found after 485 calls, by the probes."""
    model = CountingModel()
    with pytest.raises(UserError, match="abilities: 'guessing' is unknown; there are abstention, "):
        await generate(BenchmarkSpec(name="a", length=16_000, abilities=("abstention", "guessing")), model=model)
    assert model.calls == {}


BROKEN = {
    "none": Ability(name="guessing"),
    "lost": Ability(name="guessing", generator="longbeam.nowhere:GENERATOR"),
    "no prompt": Ability(
        name="guessing", generator="longbeam.generators.probes.abstention:GENERATOR", prompt_id="guess"
    ),
}


@pytest.mark.parametrize("ability", BROKEN.values(), ids=BROKEN)
def test_an_ability_that_cannot_be_generated_is_refused(ability: Ability) -> None:
    with pytest.raises(UserError, match=r"abilities: '.+' (has no|cannot|is worded)"):
        check_ability(ability)


@pytest.mark.parametrize(
    ("fields", "complaint_"),
    [
        ({"tokenizer": "zz"}, "tokenizer"),
        ({"models": {"default": "openia:x"}}, "openia"),
        ({"seeds_file": "nowhere.json"}, "nowhere.json"),
        ({"language": "German"}, "language"),
    ],
)
async def test_what_a_spec_names_is_looked_for_before_the_first_call(
    tmp_path: Path, fields: dict[str, Any], complaint_: str
) -> None:
    with pytest.raises(UserError, match=complaint_):
        await generate(BenchmarkSpec(**{"name": "a", "length": 16_000, **fields}), tmp_path / "made")
    assert os.listdir(tmp_path) == []


def test_a_resumed_benchmark_whose_ability_is_gone_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = create_benchmark(BenchmarkSpec(name="a", length=16_000), Path("output"))
    gone = [a if a != "abstention" else "guessing" for a in benchmark.spec.abilities]
    write_spec(benchmark.root, benchmark.spec.model_copy(update={"abilities": tuple(gone)}))
    assert "'guessing' is unknown" in refused(capsys, "resume", "a", "--runner", "inline")


def test_an_import_with_an_unknown_tokenizer_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    samples = write_json(tmp_path / "l.json", [locomo_sample()])
    said = refused(capsys, "import", "locomo", str(samples), "--name", "a", "--tokenizer", "zz")
    assert "'zz'" in said
    assert "o200k_base" in said
    with pytest.raises(UserError, match="'zz'"):
        import_benchmark([], "a", Path("output"), Origin("jsonl", "", "zz"))
    assert not Path("output").exists()


@pytest.mark.parametrize("place", ["text", "speaker", "sample_id", "question", "query"])
def test_half_a_surrogate_pair_in_an_import_is_replaced_with_a_finding(tmp_path: Path, place: str) -> None:
    """JSON can write it, UTF-8 cannot."""
    text = json.dumps([locomo_sample()])
    word = {"text": "I ran a race.", "speaker": "Ann", "sample_id": "conv-1", "question": "Why?", "query": '"dog"'}[
        place
    ]
    (tmp_path / "l.json").write_text(text.replace(word, word.replace(word.strip('"'), "a\\ud800b")), encoding="utf-8")
    assert run(["import", "locomo", str(tmp_path / "l.json"), "--name", "a"]) == OK
    checks = [finding.check for finding in read_findings(open_benchmark(Path("output"), "a").database_path)]
    assert checks.count("import.half_character") == 1


def test_controlled_on_a_benchmark_that_is_no_suite_is_one_line(
    sealed: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "'tiny' is no controlled suite" in refused(capsys, *CONTROLLED, "tiny")


@pytest.mark.parametrize("file", ["/etc/passwd", "notes.txt", "list.json"])
@pytest.mark.parametrize("command", ["trim", "analyze"])
def test_a_file_that_is_no_session_is_one_line(capsys: pytest.CaptureFixture[str], file: str, command: str) -> None:
    Path("notes.txt").write_text("Milk\nBread\n", encoding="utf-8")
    Path("list.json").write_text('[1, 2]\n{"a": 1}\n', encoding="utf-8")
    arguments = ["cmv", command, file, *(["--to", "trimmed"] if command == "trim" else [])]
    assert "no session of a coding agent" in refused(capsys, *arguments)
    assert not Path("trimmed").exists()


def run_as_foreground(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command as a terminal does; a test that is run in the background has SIGINT ignored, and so would it."""

    def heed() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.run(command, capture_output=True, text=True, preexec_fn=heed, check=False)


# --- Ctrl-C -----------------------------------------------------------------------------------------------

PRESSED = """
import os, runpy, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Press())
sys.argv = ["longbeam", "generate", "--name", "a", "--length", "16K", "--runner", "inline"]
runpy.run_module("longbeam", run_name="__main__")
"""


@pytest.mark.parametrize(
    "module", ["longbeam.cli", "typer", "longbeam.pipeline.spec_file", "longbeam.wiring", "duckdb"]
)
def test_ctrl_c_while_longbeam_starts_is_one_line(module: str, tmp_path: Path) -> None:
    """Pressed at the import of a module: each of these comes in the first tenths of a second."""
    ran = run_as_foreground([sys.executable, "-c", PRESSED.format(module=module)])
    assert ran.returncode == INTERRUPTED
    said = ran.stderr.strip()
    assert said in {"error: stopped", "", "stopped; nothing is lost. Go on with: longbeam resume a"}


PRESSED_AGAIN = """
import asyncio, os, signal, sys
from longbeam.stopping import run_stoppable

def press(): os.kill(os.getpid(), signal.SIGINT)

async def run():
    loop = asyncio.get_running_loop()
    for i in range({presses}):
        loop.call_later(0.01 * i, press)
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.2)
        print("closed", flush=True)

try:
    run_stoppable(run())
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize(
    ("presses", "said", "errors", "code"),
    [
        (1, "closed\nstopped\n", "", 0),
        (2, "closed\nstopped\n", "\nstopping; once more to leave at once\n", 0),
        (6, "", "\nstopping; once more to leave at once\nerror: stopped\n", INTERRUPTED),
    ],
)
def test_ctrl_c_again_and_again_is_no_traceback(presses: int, said: str, errors: str, code: int) -> None:
    command = [sys.executable, "-c", PRESSED_AGAIN.format(presses=presses)]
    ran = run_as_foreground(command)
    assert (ran.stdout, ran.stderr, ran.returncode) == (said, errors, code)
