"""Each command in README and docs has the options that it is shown with; the first commands are run as written."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from longbeam.cli import OK, run
from longbeam.cli.entry import app
from longbeam.pipeline import check_spec, load_spec
from longbeam.prompts import TEMPLATES

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = sorted([*REPOSITORY.glob("docs/*.md"), REPOSITORY / "README.md"])
PATHS = ("want-a-benchmark", "measure-my-memory", "check-probes")
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.M | re.S)
_COMMAND = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?longbeam (?!=)(.*)$", re.M)


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a page in a language."""
    return [text for name, text in _FENCE.findall(page.read_text("utf-8")) if name == language]


def commands(page: Path) -> Iterator[str]:
    """Yield the commands in the fenced blocks of a page, without `longbeam`; continued lines are joined."""
    for language in ("", "sh", "text", "console"):
        for block in blocks(page, language):
            yield from _COMMAND.findall(block.replace("\\\n", " "))


def unknown_part(line: str) -> str:
    """Return the command or option of a line that does not exist; empty if all do."""
    at: Any = typer.main.get_command(app)
    words = shlex.split(re.split(r"\s#|[|>&;]", line)[0])
    for before, word in zip(["", *words], words, strict=False):
        if word.startswith("--"):
            if word.split("=")[0] not in {o for p in at.params for o in (*p.opts, *p.secondary_opts)} | {"--help"}:
                return word
        elif not before.startswith("--") and (subcommands := getattr(at, "commands", None)):
            if word not in subcommands:
                return word
            at = subcommands[word]
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_exists_with_its_options(page: Path) -> None:
    wrong = {line: part for line in commands(page) if (part := unknown_part(line))}
    assert wrong == {}


def in_a_fresh_shell(script: str, folder: Path) -> str:
    """Run a script as a new user's shell would, with the environment active; return stdout."""
    bin_folder = Path(sys.executable).parent
    env = {"HOME": str(folder), "PATH": f"{bin_folder}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    if "PYTHONPATH" in os.environ:  # another working tree than the installed one
        env["PYTHONPATH"] = os.environ["PYTHONPATH"]
    shell = ["bash", "-e", "-c", script]
    ran = subprocess.run(shell, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def in_this_process(
    script: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Run the commands of a script without starting Python for each; return stdout."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path, ""])  # as the command does
    sys.modules.pop("people", None)  # a reader's own module is that of this folder
    shown = ""
    for line in script.replace("\\\n", " ").splitlines():
        match shlex.split(line, comments=True):
            case []:
                pass
            case ["cd", target]:
                monkeypatch.chdir(target)
            case words:
                assert words[0] == "longbeam", line
                code, (out, err) = run(words[1:]), capsys.readouterr()
                assert code == OK, err
                shown += out
    return shown


_INSTALLS = re.compile(r"^(?:python3 -m venv|pip install) .*\n", re.M)
_OWN_CODE = {"README.md": "Recent", "docs/measure-my-memory.md": "Recent"}
"""Pages with a memory system of the reader's own, and its class, which is written to `people.py`."""


FIRST_PAGES = ["README.md", *(f"docs/{path}.md" for path in PATHS)]


def first_commands(page: str, folder: Path) -> str:
    """Return the commands of a page, without those that install; write its files to the folder."""
    for code in blocks(REPOSITORY / page, "python"):
        (folder / ("people.py" if "class " in code else "own.py")).write_text(code)
    if page == "README.md":  # the model is served by rules here; the reader's own server has the address of the page
        (spec,) = blocks(REPOSITORY / page, "toml")
        assert len(spec.splitlines()) <= 8
        (folder / "local.toml").write_text(re.sub(r'"openai:qwen"\n\[.*', '"offline"\n', spec, flags=re.S))
    return _INSTALLS.sub("", "".join(blocks(REPOSITORY / page, "sh")))


def check_first_page(page: str, shown: str) -> None:
    assert "1 of 1 conversation finished" in shown
    if page in _OWN_CODE:
        assert f"people:{_OWN_CODE[page]}" in shown


@pytest.mark.parametrize("page", FIRST_PAGES)
def test_the_commands_of_a_first_page_run_as_written(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_first_page(page, in_this_process(first_commands(page, tmp_path), tmp_path, monkeypatch, capsys))
    if page == "README.md":
        monkeypatch.syspath_prepend(tmp_path)
        runpy.run_path(str(tmp_path / "own.py"))
        assert "'Recent': " in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("page", FIRST_PAGES)
def test_the_commands_of_a_first_page_run_in_a_fresh_shell(page: str, tmp_path: Path) -> None:
    check_first_page(page, in_a_fresh_shell(first_commands(page, tmp_path), tmp_path))


def test_the_spec_of_the_readme_names_an_endpoint(tmp_path: Path) -> None:
    (text,) = blocks(REPOSITORY / "README.md", "toml")
    (tmp_path / "local.toml").write_text(text)
    spec = load_spec(tmp_path / "local.toml")
    check_spec(spec)
    assert spec.endpoint_for("openai:qwen").model == "qwen3:8b"


def test_every_page_of_the_docs_is_in_the_navigation_of_the_site() -> None:
    nav = (REPOSITORY / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[2]
    listed = set(re.findall(r"[\w/.-]+\.md", nav))
    pages = [*REPOSITORY.glob("docs/*.md"), *REPOSITORY.glob("docs/readings/*.md")]
    assert {page.relative_to(REPOSITORY / "docs").as_posix() for page in pages} <= listed


def test_the_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text("utf-8").split()) <= 700


def test_a_memory_system_in_the_current_folder_is_found_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = REPOSITORY / "docs" / "memory-systems.md"
    (code,) = [block for block in blocks(page, "python") if block.startswith("# people.py")]
    (tmp_path / "people.py").write_text(code)
    script = "longbeam suite canvas_standard --name planted\nlongbeam evaluate planted --system people:PEOPLE"
    shown = in_this_process(script, tmp_path, monkeypatch, capsys)
    assert "people:PEOPLE" in shown


# Command blocks that no test runs, by page and first words, each with its reason.
NOT_RUN = {
    ("CONTRIBUTING.md", "make lint"): "CI runs these targets, and `make nightly` the long ones",
    ("install.md", "python3 -m venv"): "`make wheel` does this with each Python",
    (
        "local-models.md",
        "pip install",
    ): "needs weights of a language model; tests/models run llama.cpp's server with random ones",
    ("local-models.md", "llama-server"): "needs llama.cpp's own server and weights",
    ("local-models.md", "ollama pull"): "needs ollama and its registry",
    (
        "manual.md",
        "longbeam serve-manual pending",
    ): "needs a writer and eight requests; tests/manual use the same commands",
    (
        "many-machines.md",
        "# one machine",
    ): "needs several machines; tests/flows/test_clusters.py has clusters on this one",
    (
        "memory-systems.md",
        "longbeam sample home16",
    ): "needs a server with a language model; tests/e2e/test_own_endpoint.py has one that answers by rule",
    ("check-probes.md", "longbeam review --demo"): "serves until stopped; review.md's servers are started by a test",
    ("products.md", "longbeam evaluate first20"): "needs the products' packages and a writer of replies; says so",
    ("official-scripts.md", "longbeam export demo --format longmemeval"): "clones a repository and asks a hosted model",
    ("official-scripts.md", "longbeam export demo --format locomo"): "clones a repository and asks a hosted model",
    ("official-scripts.md", "longbeam export demo --format huggingface"): "clones a repository",
    ("official-scripts.md", "longbeam export demo --format beam-json"): "runs other projects' harnesses",
    ("prefect.md", "longbeam generate SPEC.toml"): "starts a Prefect server for good; tests/flows runs these flows",
    ("prefect.md", "prefect server start"): "starts servers for good; tests/flows/test_deployments.py serves the flows",
    ("vllm.md", "pip install vllm"): "needs a GPU and 8 GB",
    ("vllm.md", "pip install 'longbeam[vllm]'"): "needs a GPU and 8 GB",
}
SPEC = 'name = "mine"\nlength = "16K"\n'
# What a block takes as given: a file, or a benchmark of this name. `served` blocks have servers among their lines.
RUN = {
    ("papers.md", "longbeam sample home16"): "tests/test_papers.py runs what the page's rows stand on",
    ("README.md", "python3 -m venv"): "",
    ("README.md", "longbeam estimate local.toml"): "",
    ("README.md", "longbeam evaluate first"): "",
    ("want-a-benchmark.md", ""): "",
    ("measure-my-memory.md", ""): "",
    ("check-probes.md", "longbeam generate"): "",
    ("check-probes.md", "longbeam sql"): "",
    ("database.md", "longbeam sql demo"): "demo",
    ("manual.md", "longbeam serve-manual --port"): "served",
    ("many-machines.md", "pip install 'longbeam[dask]'"): "SPEC.toml",
    ("memory-systems.md", "longbeam evaluate NAME"): "NAME",
    ("models.md", "longbeam serve-offline"): "served",
    ("review.md", "longbeam review --demo"): "served demo",
    ("show-a-measurement.md", ""): "",  # tests/e2e/test_measurement.py
    ("tutorial.md", ""): "",
    ("worlds.md", "longbeam init support"): "",
}
_SHELL = re.compile(
    r"^(?:\$ )?(?:longbeam|make|pip|python3?|llama-server|ollama|vllm|dask|ray|git|export|docker|uv|pipx|npm) ", re.M
)
_SERVER = re.compile(r"^longbeam (?:serve-\w+|review)\b.*$", re.M)


def command_blocks(page: Path) -> list[str]:
    """Return the fenced blocks of a page that are commands of a shell."""
    return [
        block for language in ("", "sh", "console", "text") for block in blocks(page, language) if _SHELL.search(block)
    ]


def key_of(page: Path, block: str) -> tuple[str, str] | None:
    """Return the key of a block in RUN or NOT_RUN."""
    found = [key for key in (*RUN, *NOT_RUN) if key[0] == page.name and block.startswith(key[1])]
    return found[0] if len(found) == 1 else None


def test_every_command_block_is_run_or_listed_with_a_reason() -> None:
    pages = [*PAGES, REPOSITORY / "CONTRIBUTING.md"]
    keys = {(page.name, block): key_of(page, block) for page in pages for block in command_blocks(page)}
    assert [block for block, key in keys.items() if key is None] == []
    assert {*RUN, *NOT_RUN} - {*keys.values()} == set()


def run_block(page: str, folder: Path) -> str:
    """Run a page's blocks of RUN as written, without lines that install; return stdout."""
    texts = [b for b in command_blocks(REPOSITORY / page) if key_of(REPOSITORY / page, b) in RUN]
    lines = [line for text in texts for line in text.splitlines() if not line.startswith("pip install")]
    return in_a_fresh_shell("\n".join(lines), folder)


def ends_when_told(command: str, folder: Path) -> str:
    """Start a server in a fresh shell, stop it as Ctrl-C does once it has an address; return the line with that."""
    bin_folder = Path(sys.executable).parent
    env = {**os.environ, "HOME": str(folder), "PATH": f"{bin_folder}:/usr/bin:/bin", "PYTHONUNBUFFERED": "1"}
    words = ["bash", "-c", f"exec {command}"]
    with subprocess.Popen(
        words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        told = next((line for line in server.stdout if "http://127.0.0.1" in line), "")
        server.send_signal(signal.SIGINT)
        rest = server.stdout.read()
    assert server.returncode in (0, 130), rest
    return told


@pytest.mark.slow
def test_a_grid_of_a_memory_system_runs_as_written(tmp_path: Path) -> None:
    in_a_fresh_shell("longbeam generate --name NAME --length 16K --runner inline", tmp_path)
    assert "light[k=20" in run_block("docs/memory-systems.md", tmp_path)


@pytest.mark.slow
def test_a_run_on_dask_runs_as_written(tmp_path: Path) -> None:
    (tmp_path / "SPEC.toml").write_text(SPEC)
    shown = run_block("docs/many-machines.md", tmp_path)
    assert "1 of 1 conversation finished" in shown


@pytest.mark.slow
def test_servers_start_as_written(tmp_path: Path) -> None:
    in_a_fresh_shell("longbeam generate --name demo --length 16K --runner inline", tmp_path)
    assert "summarization" in run_block("docs/database.md", tmp_path)
    for page in ("manual.md", "models.md", "review.md"):
        (block,) = [b for b in command_blocks(REPOSITORY / "docs" / page) if key_of(Path(page), b) in RUN]
        for command in _SERVER.findall(block):
            assert ends_when_told(command.split(" #")[0], tmp_path), command
        if page == "review.md":
            others = [line for line in block.splitlines() if not _SERVER.match(line)]
            in_a_fresh_shell("\n".join(others), tmp_path)
            assert (tmp_path / "out").exists()


def test_a_world_of_ones_own_begins_as_written(tmp_path: Path) -> None:
    run_block("docs/worlds.md", tmp_path)
    assert sorted(path.name for path in (tmp_path / "support").iterdir()) == ["people.csv", "seeds.toml", "spec.toml"]


def test_the_settings_of_a_world_can_be_read_as_written(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("role\nsupport lead\n")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "_people.j2").write_text((TEMPLATES / "_people.j2").read_text())
    for block in blocks(REPOSITORY / "docs" / "worlds.md", "toml"):
        (tmp_path / "spec.toml").write_text(f'name = "b"\n{block}')
        check_spec(load_spec(tmp_path / "spec.toml"))


@pytest.mark.slow
def test_the_tutorial_runs_as_written(tmp_path: Path) -> None:
    shown = in_a_fresh_shell("\n".join(blocks(REPOSITORY / "docs" / "tutorial.md", "sh")), tmp_path)
    assert "1 of 1 conversation finished" in shown
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "exported" / "README.md").exists()
