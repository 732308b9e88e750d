"""Layout of a benchmark on disk, with its spec.

output/<name>/spec.json                           the spec as last accepted
output/<name>/work/<conversation_id>.sqlite       journal and units: decides what is done
output/<name>/conversations/<conversation_id>.duckdb   sealed conversations, which all other commands read
output/<name>/checks/<conversation_id>.sqlite     journal and findings of model-backed checks
output/<name>/benchmark.duckdb                    seeds, findings, statistics
output/<name>/reviews.sqlite                      events of the review
output/<name>/leases/<conversation_id>/           the machine that generates it, and its replies on their way
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import SpecError, StoreError, UserError
from longbeam.schemas.spec import FIXED_FIELDS, NAME_PATTERN, BenchmarkSpec
from longbeam.store.files import write_atomically


@dataclass(frozen=True)
class Benchmark:
    """A benchmark's spec and its place on disk."""

    spec: BenchmarkSpec
    root: Path

    @property
    def conversation_ids(self) -> tuple[str, ...]:
        """`c000`, `c001`, ...: the conversations the spec asks for."""
        return tuple(f"c{i:03d}" for i in range(self.spec.conversations))

    @property
    def sealed_ids(self) -> tuple[str, ...]:
        """The conversations that are finished."""
        return tuple(i for i in self.conversation_ids if self.sealed_path(i).exists())

    @property
    def seeds_path(self) -> Path:
        """The benchmark's own copy of its seeds file: moving or editing the original changes nothing."""
        return self.root / "seeds.json"

    @property
    def database_path(self) -> Path:
        """Seeds, findings and statistics."""
        return self.root / "benchmark.duckdb"

    @property
    def reviews_path(self) -> Path:
        """The review log; absent until somebody reviews."""
        return self.root / "reviews.sqlite"

    def work_path(self, conversation_id: str) -> Path:
        """The work log of a conversation."""
        return self.root / "work" / f"{conversation_id}.sqlite"

    def lease_folder(self, conversation_id: str) -> Path:
        """Folder of the shared lease on a conversation; absent if no distributed worker has generated it."""
        return self.root / "leases" / conversation_id

    def checks_path(self, conversation_id: str) -> Path:
        """The work log of a conversation's model-backed checks; absent until they were asked for."""
        return self.root / "checks" / f"{conversation_id}.sqlite"

    def sealed_path(self, conversation_id: str) -> Path:
        """The sealed file of a conversation; absent until it is finished."""
        return self.root / "conversations" / f"{conversation_id}.duckdb"


def benchmark_names(out: Path) -> tuple[str, ...]:
    """Names of the benchmarks under a folder."""
    return tuple(sorted(p.parent.name for p in out.glob("*/spec.json")))


def open_benchmark(out: Path, name: str) -> Benchmark:
    """Open a benchmark; UserError, with the names of the existing ones, if there is none of that name."""
    if not NAME_PATTERN.fullmatch(name):
        raise UserError(f"benchmark name {name!r}: only letters, digits, '.', '_' and '-' are allowed")
    path = out / name / "spec.json"
    if not path.exists():
        there = ", ".join(benchmark_names(out)) or "none"
        raise UserError(f"no benchmark {name!r} in {out}: there is {there}. Make one with `longbeam generate`")
    try:
        spec = BenchmarkSpec.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as exc:
        raise StoreError(f"{path} is not a spec this version can read: {' '.join(str(exc).split())[:200]}") from exc
    return Benchmark(spec, path.parent)


def create_benchmark(spec: BenchmarkSpec, out: Path) -> Benchmark:
    """Make a benchmark's folder, or open an existing one and store the changed spec.

    Raises SpecError if a fixed field was changed.
    """
    if spec.is_given:
        raise SpecError(f"benchmark {spec.name!r} was {spec.source}; there is nothing to generate")
    root = out / spec.name
    if (root / "spec.json").exists():
        _refuse_fixed_changes(open_benchmark(out, spec.name).spec, spec)
    try:
        for folder in ("work", "conversations"):
            (root / folder).mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise StoreError(f"cannot make {root}: {exc.strerror}; choose another --out") from exc
    benchmark = Benchmark(spec, root)
    if spec.seeds_file is not None:
        _keep_seeds(benchmark, Path(spec.seeds_file))
    write_atomically(root / "spec.json", spec.model_dump_json(indent=1) + "\n")
    return benchmark


def _keep_seeds(benchmark: Benchmark, original: Path) -> None:
    try:
        found = original.read_bytes()
    except OSError as exc:
        raise UserError(f"seeds file {str(original)!r}: cannot be read: {exc.strerror}") from exc
    if not benchmark.seeds_path.exists():
        write_atomically(benchmark.seeds_path, found)
    elif benchmark.seeds_path.read_bytes() != found:
        raise SpecError(
            f"benchmark {benchmark.spec.name!r}: the seeds in {str(original)!r} are not those it was begun with"
            f" ({benchmark.seeds_path}); seeds cannot change once it exists. Give the new one another name"
        )


def _refuse_fixed_changes(old: BenchmarkSpec, new: BenchmarkSpec) -> None:
    for field in FIXED_FIELDS:
        before, after = getattr(old, field), getattr(new, field)
        if field == "seeds_file" and before is not None and after is not None:
            continue  # what counts is what stands in it, not where it lies: `_keep_seeds` compares that
        if before != after:
            raise SpecError(
                f"benchmark {new.name!r}: {field} cannot change from {before!r} to {after!r} once it exists;"
                " conversations, probes, limits and models can. Give the new one another name"
            )
    if new.conversations < old.conversations:
        raise SpecError(
            f"benchmark {new.name!r}: conversations cannot fall from {old.conversations} to {new.conversations};"
            " finished ones are never thrown away. Give the smaller one another name"
        )
