"""Layout of a benchmark on disk, with its spec.

output/<name>/spec.json                           the spec as last accepted
output/<name>/work/<conversation_id>.sqlite       journal and units: decides what is done
output/<name>/conversations/<conversation_id>.duckdb   sealed conversations, which all other commands read
output/<name>/checks/<conversation_id>.sqlite     journal and findings of model-backed checks
output/<name>/benchmark.duckdb                    seeds, findings, statistics
output/<name>/reviews.sqlite                      events of the review
output/<name>/leases/<conversation_id>/           the machine that generates it, and its replies on their way
output/<name>/logs/                               logs of the model servers that longbeam started
output/<name>/batches/                            batches of calls that are on their way, or were

Beside each file that is written as a whole (spec.json, seeds.json, *.duckdb) lies its digest, `*.sha256`; beside the
first two also a copy, `*.copy`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import SpecError, StoreError, UserError
from longbeam.schemas import FIXED_FIELDS, FULL_POOL_LENGTH, MAX_SINGLE_PLAN_LENGTH, NAME_PATTERN, BenchmarkSpec
from longbeam.store.digests import require_recorded, write_with_copy

_RESTORE = "`longbeam verify NAME --repair` puts a copy back"
SPEC, SEEDS = "spec.json", "seeds.json"


@dataclass(frozen=True)
class Benchmark:
    """A benchmark's spec and its place on disk."""

    spec: BenchmarkSpec
    root: Path
    kept: frozenset[str] = frozenset()
    """Finished conversations that a run leaves as they are."""
    part: str = ""
    """Part of its split that it is restricted to; empty for the whole benchmark."""
    in_part: frozenset[str] = frozenset()
    """Conversations of that part."""

    @property
    def conversation_ids(self) -> tuple[str, ...]:
        """`c000`, `c001`, ...: the conversations the spec asks for."""
        return tuple(f"c{i:03d}" for i in range(self.spec.conversations))

    @property
    def sealed_ids(self) -> tuple[str, ...]:
        """The conversations that are finished."""
        wanted = (i for i in self.conversation_ids if not self.part or i in self.in_part)
        return tuple(i for i in wanted if self.sealed_path(i).exists())

    @property
    def seeds_path(self) -> Path:
        """The benchmark's own copy of its seeds file: moving or editing the original changes nothing."""
        return self.root / SEEDS

    def require_spec(self) -> None:
        """Raise StoreError if the spec was removed, and with it perhaps the whole folder."""
        if not (self.root / SPEC).exists():
            raise StoreError(
                f"{self.root}: was removed while a run was writing it: there is no {SPEC} any more. Generate the "
                "benchmark again"
            )

    def kept_seeds(self) -> Path | None:
        """Return `seeds_path`; None where seeds come from the catalogue or are not written yet.

        Raises DamageError if the file was changed.
        """
        if self.spec.seeds_file is None and (self.spec.domain is None or not self.seeds_path.exists()):
            return None
        require_recorded(self.seeds_path, _RESTORE)
        return self.seeds_path

    @property
    def seeding_path(self) -> Path:
        """Journal of the calls that wrote the seeds of a domain of the spec's own."""
        return self.root / "seeds.sqlite"

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


def open_benchmark(out: Path | str, name: str) -> Benchmark:
    """Open a benchmark; UserError, with the names of the existing ones, if there is none of that name."""
    if not NAME_PATTERN.fullmatch(name):
        raise UserError(f"benchmark name {name!r}: only letters, digits, '.', '_' and '-' are allowed")
    out = Path(out)
    path = out / name / SPEC
    if not _exists(path, out):
        there = ", ".join(benchmark_names(out)) or "none"
        raise UserError(f"no benchmark {name!r} in {out}: there is {there}. Make one with `longbeam generate`")
    try:
        require_recorded(path, f"{_RESTORE}; a spec is changed by `longbeam generate`, not in this file")
        spec = BenchmarkSpec.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as exc:
        raise StoreError(f"{path} is not a spec this version can read: {' '.join(str(exc).split())[:200]}") from exc
    return Benchmark(spec, path.parent)


def _exists(path: Path, out: Path) -> bool:
    """Return whether a file is there; UserError for an `out` that can be no folder of this machine."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as exc:  # a name too long, one with NUL, a folder that may not be read
        reason = exc.strerror if isinstance(exc, OSError) else exc
        shown = str(out) if len(str(out)) <= 60 else f"{str(out)[:57]}..."
        raise UserError(f"--out {shown!r}: cannot be used: {reason}; choose another --out") from exc
    return True


def create_benchmark(spec: BenchmarkSpec, out: Path | str) -> Benchmark:
    """Make a benchmark's folder, or open an existing one and store the changed spec.

    Raises SpecError if a fixed field was changed.
    """
    if spec.is_given:
        raise SpecError(f"benchmark {spec.name!r} was {spec.source}; there is nothing to generate")
    out = Path(out)
    root = out / spec.name
    if _exists(root / SPEC, out):
        begun = open_benchmark(out, spec.name).spec
        if "seed" not in spec.model_fields_set:
            spec = spec.model_copy(update={"seed": begun.seed})
        _refuse_fixed_changes(begun, spec)
    try:
        for folder in ("work", "conversations"):
            (root / folder).mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise StoreError(f"cannot make {root}: {exc.strerror}; choose another --out") from exc
    benchmark = Benchmark(spec, root)
    if spec.seeds_file is not None:
        _keep_seeds(benchmark, Path(spec.seeds_file))
    write_spec(root, spec)
    return benchmark


def write_spec(root: Path, spec: BenchmarkSpec) -> None:
    """Store the spec of a benchmark."""
    write_with_copy(root / SPEC, f"{spec.model_dump_json(indent=1)}\n".encode())


def _keep_seeds(benchmark: Benchmark, original: Path) -> None:
    try:
        found = original.read_bytes()
    except OSError as exc:
        raise UserError(f"seeds file {str(original)!r}: cannot be read: {exc.strerror}") from exc
    if not benchmark.seeds_path.exists():
        write_with_copy(benchmark.seeds_path, found)
        return
    require_recorded(benchmark.seeds_path, _RESTORE)
    if benchmark.seeds_path.read_bytes() != found:
        raise SpecError(
            f"benchmark {benchmark.spec.name!r}: the seeds in {str(original)!r} are not those it was begun with"
            f" ({benchmark.seeds_path}); seeds cannot change once it exists. Give the new one another name"
        )


def _shown(value: object) -> str:
    """Return a field's value as a spec file writes it."""
    return "none" if value is None else json.dumps(value, ensure_ascii=False)


def _refuse_fixed_changes(old: BenchmarkSpec, new: BenchmarkSpec) -> None:
    if old.is_given:
        raise SpecError(
            f"benchmark {new.name!r} was {old.source}; there is nothing to generate. Give the new one another name"
        )
    for field in FIXED_FIELDS:
        before, after = getattr(old, field), getattr(new, field)
        if field == "seeds_file" and before is not None and after is not None:
            continue  # what counts is what stands in it, not where it lies: `_keep_seeds` compares that
        if field == "strategy" and max(new.lengths) <= MAX_SINGLE_PLAN_LENGTH:
            continue  # a conversation of one plan has no relation between plans
        if before != after:
            raise SpecError(
                f"benchmark {new.name!r}: {field} cannot change from {_shown(before)} to {_shown(after)} once it"
                " exists; conversations, probes, limits and models can. Give the new one another name"
            )
    if min(new.lengths) < FULL_POOL_LENGTH and new.probes_per_ability != old.probes_per_ability:
        raise SpecError(
            f"benchmark {new.name!r}: probes_per_ability cannot change from {old.probes_per_ability} to"
            f" {new.probes_per_ability} once it exists, because a plan of less than 128K tokens is made for the number"
            " asked for. Give the new one another name"
        )
    if new.conversations < old.conversations:
        raise SpecError(
            f"benchmark {new.name!r}: conversations cannot fall from {old.conversations} to {new.conversations};"
            " finished ones are never thrown away. Give the smaller one another name"
        )
