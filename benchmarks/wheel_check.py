"""The wheel as a user gets it: built, installed in an empty environment, used from a folder without the repository.

    python benchmarks/wheel_check.py [PYTHON ...]

Without arguments: python3.11, 3.12 and 3.13, where they are found. Prints a Markdown row for each: packages, megabytes,
and seconds of `import longbeam` and `longbeam --help` (the best of five). Exits 1 when a command fails,
or when the core is larger than MOST_MB. Standard library only; pip fetches the dependencies.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
COMMANDS = (
    "generate --name small --length 16K",
    "validate small",
    "stats small",
    "export small --format jsonl --to export",
    "evaluate small --system rag",
)
MOST_MB = 250
"""Megabytes of an environment with the core, as pip leaves it."""
REVIEW_NEEDS = "pip install 'longbeam[review]'"
OWN_TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")


def main(pythons: Sequence[str]) -> int:
    """Check the wheel with each Python; return the exit code."""
    found = pythons or find_pythons()
    missing = [] if pythons else [v for v in VERSIONS if v not in {version_of(p) for p in found}]
    if missing:
        print(f"not checked, because no interpreter was found: Python {', '.join(missing)}", file=sys.stderr)
    if not found:
        return 1
    print("| Python | packages | MB | without bytecode | `import longbeam` | `longbeam --help` |")
    print("|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="longbeam-wheel-") as folder:
        wheel = build(found[0], Path(folder))
        for python in found:
            print(check(python, wheel, Path(folder) / version_of(python)), flush=True)
    return 0


def find_pythons() -> list[str]:
    """Return an interpreter for each supported version: on the PATH, or of pyenv."""
    found = []
    for version in VERSIONS:
        pyenv = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}*/bin/python"))
        candidates = [path for path in (shutil.which(f"python{version}"), *map(str, pyenv)) if path]
        working = [path for path in candidates if version_of(path) == version]
        found += working[:1]
    return found


def version_of(python: str) -> str:
    """Return `3.11` of an interpreter; empty if it does not start."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return ran.stdout.strip()


def build(python: str, folder: Path) -> Path:
    """Build the wheel of the repository."""
    tools = folder / "build-env"
    run([python, "-m", "venv", str(tools)], folder)
    run([str(tools / "bin" / "pip"), "wheel", "-q", "--no-deps", "-w", str(folder / "dist"), str(REPOSITORY)], folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def check(python: str, wheel: Path, folder: Path) -> str:
    """Install the wheel in an empty environment, run the commands, and return the row of the table."""
    folder.mkdir()
    environment = folder / "env"
    run([python, "-m", "venv", str(environment)], folder)
    run([str(environment / "bin" / "pip"), "install", "-q", str(wheel)], folder)
    longbeam = str(environment / "bin" / "longbeam")
    for command in COMMANDS:
        run([longbeam, *command.split()], folder)
    review = subprocess.run([longbeam, "review", "--demo"], cwd=folder, capture_output=True, text=True, check=False)
    if review.returncode != 2 or REVIEW_NEEDS not in review.stderr:
        raise SystemExit(f"review without its extra: exit {review.returncode}: {review.stderr}")
    packages, size, bare = measure(environment)
    if size > MOST_MB:
        raise SystemExit(f"the core takes {size} MB as pip leaves it, and {MOST_MB} are allowed")
    code = [str(environment / "bin" / "python"), "-c", "import longbeam"]
    seconds = [best_of_five(command, folder) for command in (code, [longbeam, "--help"])]
    return f"| {version_of(python)} | {packages} | {size} | {bare} | {seconds[0]:.2f} s | {seconds[1]:.2f} s |"


def measure(environment: Path) -> tuple[int, int, int]:
    """Return packages and megabytes (10^6 bytes) of an environment, with and without bytecode, without pip."""
    (site,) = environment.glob("lib/python*/site-packages")
    files = [path for path in site.rglob("*") if path.is_file() and not is_tool(path.relative_to(site))]
    size = sum(path.stat().st_size for path in files)
    bare = sum(path.stat().st_size for path in files if path.suffix != ".pyc")
    packages = sum(not is_tool(path.relative_to(site)) for path in site.glob("*.dist-info"))
    return packages, round(size / 1e6), round(bare / 1e6)


def is_tool(path: Path) -> bool:
    """Return whether a file belongs to what every new environment has."""
    return path.parts[0].split("-")[0] in OWN_TOOLS or path.parts[0].startswith("distutils-precedence")


def best_of_five(command: Sequence[str], folder: Path) -> float:
    """Return the seconds of the fastest of five runs, which is the one that was disturbed least."""

    def timed() -> float:
        begun = time.perf_counter()
        run(command, folder)
        return time.perf_counter() - begun

    return min(timed() for _ in range(5))


def run(command: Sequence[str], folder: Path) -> None:
    """Run a command in a folder; SystemExit with its output if it fails."""
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {ran.returncode}\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
