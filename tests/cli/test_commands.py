from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path

import pytest

import longbeam
from longbeam.cli import INCOMPLETE, INTERRUPTED, OK, USER_ERROR, report_run, run
from longbeam.pipeline import kept_line
from longbeam.pipeline.run import RunSummary
from longbeam.schemas import BenchmarkSpec, ProbeSettings
from longbeam.store import (
    Benchmark,
    Failure,
    Unit,
    UnitStatus,
    WorkLog,
    create_benchmark,
    open_benchmark,
    read_statistics,
    seal_conversation,
)
from tests.tiny import tiny_conversation

COMMANDS = (
    "generate",
    "resume",
    "status",
    "validate",
    "stats",
    "export",
    "import",
    "repair",
    "review",
    "reviews",
    "evaluate",
    "report",
    "judge-agreement",
    "study",
    "leaderboard",
    "serve-manual",
    "sample",
    "probe",
    "flows",
)
HEAVY = ("prefect", "openai", "vllm", "duckdb", "faker", "networkx", "fastapi")


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty output folder below the working folder."""
    monkeypatch.chdir(tmp_path)
    return Path("output")


@pytest.fixture
def sealed(out: Path) -> Benchmark:
    """A benchmark of two conversations, of which the first is sealed: the hand-written one."""
    benchmark = create_benchmark(BenchmarkSpec(name="tiny", conversations=2, length=16_000), out)
    tiny = tiny_conversation()
    seal_conversation(benchmark.sealed_path("c000"), tiny.head, tiny.said, tiny.asked)
    return benchmark


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    return captured.err


# --- starting -----------------------------------------------------------------------------------------------


def heavy_after(*commands: list[str], heavy: tuple[str, ...]) -> dict[str, list[str]]:
    """Run commands one after another in a process of their own; return which of the libraries each has left loaded."""
    code = (
        "import contextlib, io, json, sys\nfrom longbeam.cli import run\nloaded = {}\n"
        f"for command in {commands!r}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as shown:\n        run(command)\n"
        "    assert shown.getvalue(), command\n"
        f"    loaded[' '.join(command)] = sorted(set({heavy!r}) & set(sys.modules))\n"
        "print(json.dumps(loaded))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded: dict[str, list[str]] = json.loads(ran.stdout)
    return loaded


def test_help_imports_nothing_heavy() -> None:
    commands = [["--help"], ["--version"], *([c, "--help"] for c in COMMANDS)]
    assert heavy_after(*commands, heavy=HEAVY) == {" ".join(command): [] for command in commands}


def test_commands_that_read_never_import_prefect_or_openai(sealed: Benchmark) -> None:
    status, *others = ["status", "tiny"], ["stats", "tiny"], ["export", "tiny", "--to", "there"], ["validate", "tiny"]
    assert heavy_after(status, heavy=("prefect", "openai", "vllm", "scipy")) == {"status tiny": []}
    loaded = heavy_after(*others, heavy=("prefect", "openai", "vllm"))
    assert loaded == {" ".join(command): [] for command in others}


def test_the_module_is_the_command() -> None:
    ran = subprocess.run([sys.executable, "-m", "longbeam", "--version"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (OK, f"longbeam {longbeam.__version__}\n")


def test_every_command_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"\n## longbeam {command}" in page


# --- mistakes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["generat"], "No such command 'generat'. Did you mean 'generate'? See `longbeam --help`"),
        (["generate", "--lenght", "64K"], "No such option: --lenght"),
        (["generate", "--runner", "slurm"], "'slurm' is not one of 'auto', 'prefect', 'inline'"),
        (["generate", "--conversations", "many"], "'--conversations': Input should be a valid integer"),
        (["generate", "--length", "12 miles"], "--length: length '12 miles' is not a number of tokens"),
        (["generate", "--name", "a/b"], "--name: name 'a/b'"),
        (["generate", "nowhere.toml"], "nowhere.toml: no such spec file"),
        (["generate", "mine"], "mine: no such spec file; to name a benchmark write --name mine"),
        (["generate", "--seeds", "nowhere.json"], "nowhere.json"),
        (["generate", "--domain", "gardening"], "--domain: domains[0] = 'gardening': no such domain"),
        (
            ["generate", "--model", "openai:gpt-x"],
            "openai:gpt-x: its key is read from OPENAI_API_KEY",
        ),
        (["generate", "--model", "gpt-4o"], "models.default = 'gpt-4o': no such model; write offline, openai:NAME"),
        (["estimate", "--model", "gpt-4o"], "models.default = 'gpt-4o': no such model; write offline, openai:NAME"),
        (["estimate", "--model", "similarity"], "models.default = 'similarity': this model serves only as judge"),
        (["resume", "nothing"], "no benchmark 'nothing' in output"),
        (["status", "nothing"], "no benchmark 'nothing' in output"),
        (["validate", "../up"], "benchmark name '../up'"),
        (["stats"], "Missing argument 'name'"),
        (["export", "nothing"], "Missing option '--to'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(
    out: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], part: str
) -> None:
    assert run(arguments) == USER_ERROR
    line = complaint(capsys)
    assert line.startswith("error: ")
    assert part in line
    assert not out.exists()  # nothing half-made is left


def test_a_change_that_is_not_allowed_is_refused(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "--name", "tiny", "--length", "32K", "--conversations", "2"]) == USER_ERROR
    assert "length cannot change from 16000 to 32000" in complaint(capsys)


def test_estimate_of_an_evaluation_refuses_an_unknown_reader(
    sealed: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["evaluate", "tiny", "--reader", "gpt-4o", "--estimate"]) == USER_ERROR
    assert "models.reader = 'gpt-4o': no such model; write offline, openai:NAME" in complaint(capsys)


def test_a_damaged_file_is_one_line(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    sealed.sealed_path("c000").write_bytes(b"no database")
    assert run(["stats", "tiny"]) == USER_ERROR
    assert "c000.duckdb" in complaint(capsys)


def test_nothing_finished_says_how_to_go_on(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_benchmark(BenchmarkSpec(name="new"), out)
    for arguments in (["validate", "new"], ["stats", "new"], ["export", "new", "--to", "there"]):
        assert run(arguments) == USER_ERROR
        assert complaint(capsys).endswith("go on with: longbeam resume new\n")


# --- reading ------------------------------------------------------------------------------------------------


def test_status_shows_conversations_and_failures(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    with WorkLog.open(sealed.work_path("c001")) as log:
        log.units.fail(
            "dialogue",
            "p0.s2",
            Failure(fingerprint="f", error_kind="timeout", error="no answer\nin 60 s", attempts=3),
        )
    assert run(["status", "tiny"]) == OK

    text = capsys.readouterr().out
    assert text.startswith("tiny: 0 of 2 conversations finished, 1 failed unit,")
    assert "dialogue p0.s2 failed after 3 attempts: timeout: no answer in 60 s" in text
    assert text.endswith("Go on with: longbeam resume tiny\n")


def test_status_as_json(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "tiny", "--json"]) == OK
    status = json.loads(capsys.readouterr().out)
    assert [c["conversation_id"] for c in status["conversations"]] == ["c000", "c001"]


def test_validate_prints_findings_and_exits_1_on_errors(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    # The hand-written conversation is far shorter than was asked for, among other faults.
    assert run(["validate", "tiny"]) == INCOMPLETE
    captured = capsys.readouterr()
    assert captured.out.startswith("error ")
    assert "tiny: 1 conversation checked: " in captured.out
    assert "1 of 2 conversations are not finished" in captured.err


def test_validate_as_json_has_every_finding(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    run(["validate", "tiny", "--json"])
    findings = json.loads(capsys.readouterr().out)
    assert {"check", "severity", "conversation_id", "subject", "message", "evidence"} == set(findings[0])


def test_stats_to_a_file(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stats", "tiny", "--json", "--to", "stats.json"]) == OK
    assert json.loads(Path("stats.json").read_text(encoding="utf-8"))["mean"]["tokens"] == 230
    assert capsys.readouterr().out == "written to stats.json\n"


def test_stats_as_a_page_needs_nothing_else(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stats", "tiny", "--html", "stats.html"]) == OK
    page = Path("stats.html").read_text(encoding="utf-8")
    assert "Where the evidence is" in page
    assert "information extraction" in page
    assert "http" not in page.split("<pre>")[0].replace("http-equiv", "")
    assert capsys.readouterr().out == "written to stats.html\n"


def test_validate_and_stats_keep_what_the_other_found(sealed: Benchmark) -> None:
    from longbeam.store import read_findings, read_statistics
    from tests.store.stored_seeds import stored_seeds

    run(["stats", "tiny"])
    run(["validate", "tiny"])
    assert read_statistics(sealed.database_path)["benchmark"]["mean"]["tokens"] == 230
    run(["stats", "tiny"])
    assert read_findings(sealed.database_path)
    assert [conversation_id for conversation_id, _ in stored_seeds(sealed.database_path)] == ["c000"]


def test_export_writes_the_finished_conversations(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "tiny", "--format", "jsonl", "--to", "there"]) == OK
    captured = capsys.readouterr()
    assert captured.out.startswith("there: 1 conversation, 8 messages, 230 tokens, 2 probes")
    assert "1 of 2 conversations are not finished" in captured.err
    assert len((Path("there") / "messages.jsonl").read_text(encoding="utf-8").splitlines()) == 8


def test_export_as_json_has_counts_and_files(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "tiny", "--to", "exported", "--json"]) == OK
    said = json.loads(capsys.readouterr().out)
    assert said["conversations"] == 1
    assert "probes.jsonl" in said["sha256"]


def test_generate_as_json_says_what_was_done(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--name", "counted", "--length", "16K", "--runner", "inline", "--json"]
    assert run(["generate", *small]) == OK
    said = json.loads(capsys.readouterr().out)
    assert (said["name"], said["finished"], said["failures"]) == ("counted", 1, [])
    assert run(["resume", "counted", "--json"]) == OK
    captured = capsys.readouterr()
    assert json.loads(captured.out)["calls"] == 0
    assert captured.err == "counted: 1 of 1 conversation kept\n"


def test_generate_says_of_a_finished_benchmark_what_resume_says(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["generate", "--name", "twice", "--length", "16K", "--runner", "inline", "--json"]
    assert run(small) == OK
    capsys.readouterr()
    assert run(small) == OK
    captured = capsys.readouterr()
    assert json.loads(captured.out)["calls"] == 0
    assert captured.err.splitlines()[0] == "twice: 1 of 1 conversation kept"

    with WorkLog.open(open_benchmark(out, "twice").work_path("c000")) as log:
        log.units.fail("probes", "summarization.0", Failure(fingerprint="f", error_kind="e", error="e", attempts=1))
    line = kept_line(open_benchmark(out, "twice"))
    assert line.startswith("twice: 0 of 1 conversation kept; c000 where something changed or failed, with ")


def test_hard_goes_into_the_probe_settings_of_the_spec(out: Path) -> None:
    Path("spec.toml").write_text('name = "hard"\nlength = "16K"\n[probes]\non_the_way = 0\n', encoding="utf-8")
    assert run(["generate", "spec.toml", "--hard", "--runner", "inline"]) == OK
    assert open_benchmark(out, "hard").spec.probes == ProbeSettings(on_the_way=0, hard=True)


def test_a_run_that_goes_on_says_in_one_line_what_it_keeps(out: Path) -> None:
    benchmark = create_benchmark(BenchmarkSpec(name="going", conversations=2, length=16_000), out)
    with WorkLog.open(benchmark.work_path("c000")) as log:
        log.units.finish("persona", "p", fingerprint="f", records=[])
        log.units.finish("plan", "p0.s0", fingerprint="f", records=[])
    assert kept_line(benchmark) == "going: 0 of 2 conversations kept; c000 from plan on, with 2 units kept"


def test_reviewed_only_says_what_it_left_out(sealed: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "tiny", "--to", "there", "--reviewed-only"]) == OK
    assert "left out: 2 probes not reviewed" in capsys.readouterr().out


def test_another_out_is_in_the_commands_to_copy(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_benchmark(BenchmarkSpec(name="new"), Path("else where"))
    assert run(["stats", "new", "--out", "else where"]) == USER_ERROR
    assert complaint(capsys).endswith("longbeam resume new --out 'else where'\n")


# --- making -------------------------------------------------------------------------------------------------


def test_generate_validate_stats_export_end_to_end(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Path("calls.log")
    arguments = ["generate", "--name", "small", "--length", "16K", "--runner", "inline"]
    assert run([*arguments, "--domain", "coding", "--invocation-log", str(log)]) == OK

    captured = capsys.readouterr()
    assert captured.out.startswith("small: 1 of 1 conversation finished, ")
    assert "\n  longbeam export small --format jsonl --to output/small/export\n" in captured.out
    assert "c000 seal: 1/1 units" in captured.err
    calls = log.read_text(encoding="utf-8").splitlines()
    assert len(set(calls)) == len(calls) > 100

    assert run(["resume", "small", "--runner", "inline", "--invocation-log", str(log)]) == OK
    assert log.read_text(encoding="utf-8").splitlines() == calls  # nothing was asked for twice

    assert run(["stats", "small"]) == OK
    database = Path("output/small/benchmark.duckdb")
    database.write_bytes(b"garbage" * 5000)
    Path("output/small/reviews.sqlite").touch()  # of a review that could not begin
    assert run(["resume", "small", "--runner", "inline"]) == OK
    assert f"{database}: was damaged, and was made again" in capsys.readouterr().err
    assert set(read_statistics(database)) == {"benchmark"}
    assert run(["export", "small", "--to", "there"]) == OK
    assert len((Path("there") / "conversations.jsonl").read_text(encoding="utf-8").splitlines()) == 1


def test_failed_units_exit_1_and_say_how_to_go_on(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = create_benchmark(BenchmarkSpec(name="new", conversations=2), out)
    unit = Unit(
        stage="plan",
        unit_key="outline",
        status=UnitStatus.FAILED,
        fingerprint="f",
        generation=1,
        error_kind="schema",
        error="no stages",
        attempts=3,
    )
    summary = RunSummary(
        conversations=2,
        finished=1,
        failures=(("c001", unit),),
        calls=40,
        replayed=2,
        remade={"plan": 7, "seal": 1200},
    )

    assert report_run(benchmark, summary, out) == INCOMPLETE
    assert capsys.readouterr().err.splitlines() == [
        "new: units made anew, because prompts, rules or the spec changed since: 7 of stage plan, 1,200 of stage seal",
        "new: 1 of 2 conversations finished, 40 model calls, 2 replies from the journal",
        "  c001 plan outline failed after 3 attempts: schema: no stages",
        "Try what failed again with: longbeam resume new",
    ]


@pytest.mark.parametrize(
    ("number", "sigint"),
    # Shells start background jobs with SIGINT ignored; SIGTERM must stop those, too. Ctrl-C: test_hostile_input.py.
    [pytest.param(signal.SIGINT, signal.SIG_DFL, marks=pytest.mark.slow), (signal.SIGTERM, signal.SIG_IGN)],
)
def test_a_stopped_run_exits_130_and_says_how_to_go_on(
    out: Path, number: signal.Signals, sigint: signal.Handlers
) -> None:
    arguments = ["generate", "--name", "big", "--length", "1M", "--domain", "coding", "--runner", "inline"]
    stopped = subprocess.Popen(
        [sys.executable, "-m", "longbeam", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, sigint),
    )
    assert stopped.stderr is not None
    assert stopped.stderr.readline().startswith("c000 persona")
    stopped.send_signal(number)
    printed, said = stopped.communicate(timeout=60)

    assert (stopped.returncode, printed) == (INTERRUPTED, "")
    assert said.endswith("stopped; nothing is lost. Go on with: longbeam resume big\n")


# --- the public names ------------------------------------------------------------------------------------------


def test_public_names_are_there_and_lazy() -> None:
    code = f"import longbeam, sys; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
    for name in longbeam.__all__:
        assert getattr(longbeam, name) is not None
    assert sorted(longbeam.__all__) == sorted(["__version__", *dir(longbeam)])
    with pytest.raises(AttributeError, match="attribute nonsense"):
        _ = longbeam.nonsense


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert longbeam.__version__ == version("longbeam")


def test_serve_offline_refuses_what_is_no_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve-offline", "latency=5"]) == 2
    assert "setting 'latency' is unknown; settings are latency_ms, " in capsys.readouterr().err


def test_a_folder_that_is_removed_before_a_run_opens_it_is_noticed(
    out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = asyncio.run

    def remove_and_begin(work: Coroutine[object, object, object]) -> object:
        shutil.rmtree(out / "small")
        return begin(work)

    monkeypatch.setattr(asyncio, "run", remove_and_begin)
    arguments = ["generate", "--name", "small", "--length", "16K", "--runner", "inline"]

    assert run([*arguments, "--domain", "coding"]) == USER_ERROR
    assert "small: was removed while a run was writing it: there is no spec.json any more" in capsys.readouterr().err
