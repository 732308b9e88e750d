"""Samples: sealed benchmarks that are shipped in the package, packed from a benchmark and unpacked into one.

A sample is a folder with a JSONL export (docs/export-format.md) and three more files:

    sample.json     title, who wrote, who read, licence
    journal.json    calls, tokens and acceptance of the run that made it
    reviews.jsonl   the review log; absent if nobody has reviewed
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from longbeam.errors import UserError
from longbeam.formats import (
    CARD,
    UNREVIEWED_LIMIT,
    WRITTEN,
    ImportOptions,
    export_jsonl,
    importer,
    read_json,
    read_text,
    want,
)
from longbeam.formats.exporting import MANIFEST
from longbeam.pipeline.importing import GivenReport, Origin, import_benchmark
from longbeam.pipeline.status import benchmark_status
from longbeam.schemas import ConversationReader, Record
from longbeam.store import Benchmark, sha256_of, write_atomically
from longbeam.terminal import counted

SAMPLES = Path(__file__).parents[1] / "samples"
LARGEST = 2_000_000
"""Bytes of a sample's files."""
ABOUT, JOURNAL, REVIEWS = "sample.json", "journal.json", "reviews.jsonl"
_STATUSES = re.compile(r" Probes by their status in a review: unreviewed [\d,]+\.")
_BEAM_FAULTS = (
    "of the 1,360 probes of BEAM whose conversations are released, people had validated all, and simple rules find 67 "
    "(4.9 %) wrong"
)


class SampleAbout(Record):
    """Description of a sample that its maker gives; its card repeats it."""

    title: str
    writer: str
    """A model's name, or `a large language model, replies relayed by hand`."""
    readers: str = ""
    """Who read the probes, such as `language models`; empty: nobody."""
    licence: str = "CC-BY-4.0"
    errors: dict[str, int] = Field(default_factory=dict)
    """Errors that `validate` finds, by check, of a sample that is shipped as its model left it; none in any other."""


@dataclass(frozen=True)
class Sample:
    """One sample of the package."""

    folder: Path
    about: SampleAbout
    counts: Mapping[str, int]
    """`conversations`, `messages`, `probes`, `tokens`."""
    tokenizer: str

    @property
    def reviews(self) -> Path | None:
        """The review log, which wheels hold compressed; None where nobody has reviewed."""
        return next(iter(self.folder.glob(f"{REVIEWS}*")), None)

    @property
    def name(self) -> str:
        """Name of the sample, and of the benchmark that it is unpacked into."""
        return self.folder.name


def samples(folder: Path = SAMPLES) -> list[Sample]:
    """Return the samples in a folder by name."""
    return [_sample(path.parent) for path in sorted(folder.glob(f"*/{ABOUT}"))]


def sample_named(name: str, folder: Path = SAMPLES) -> Sample:
    """Return a sample; UserError, with the names of the others, if there is none of this name."""
    found = {sample.name: sample for sample in samples(folder)}
    if name not in found:
        raise UserError(f"there is no sample {name!r}; there is {', '.join(found) or 'none in this package'}")
    return found[name]


def unpack(sample: Sample, out: Path, name: str = "") -> GivenReport:
    """Make a benchmark of a sample; its review log is left to the caller. Errors are those of an import."""
    origin = Origin("jsonl", sample.about.licence, sample.tokenizer)
    conversations = importer("jsonl")(sample.folder, ImportOptions(tokenizer=sample.tokenizer))
    return import_benchmark(conversations, name or sample.name, out, origin)


def pack(
    benchmark: Benchmark,
    readers: Iterable[ConversationReader],
    target: Path,
    about: SampleAbout,
    refused: Mapping[str, Mapping[str, str]],
) -> Sample:
    """Write a sample of a finished benchmark to the folder `target`; its review log is left to the caller.

    `readers` are its conversations with the probes that the review shows, and `refused` has the reasons of those that
    readers rejected, by conversation and probe. Raises UserError if a conversation is not finished.
    """
    if missing := sorted(set(benchmark.conversation_ids) - set(benchmark.sealed_ids)):
        raise UserError(f"benchmark {benchmark.spec.name!r}: conversation {missing[0]} is not finished")
    for name in (ABOUT, JOURNAL, REVIEWS):  # or the export takes the folder for somebody else's
        (target / name).unlink(missing_ok=True)
    spec = benchmark.spec.model_copy(update={"licence": about.licence})
    export_jsonl(readers, spec, target)
    status = benchmark_status(benchmark).model_dump(mode="json", include={"length", "used", "conversations"})
    write_atomically(target / JOURNAL, json.dumps(status, ensure_ascii=False, indent=1) + "\n")
    write_atomically(target / ABOUT, about.model_dump_json(indent=1) + "\n")
    probes = read_json(target / MANIFEST)["counts"]["probes"]
    _complete_card(target, _who(about, refused, probes), is_read=bool(about.readers))
    return _sample(target)


def refuse_large(sample: Sample) -> None:
    """Raise UserError for a sample that is too large to be shipped."""
    size = sum(path.stat().st_size for path in sample.folder.iterdir())
    if size > LARGEST:
        raise UserError(f"{sample.folder}: has {size:,} bytes, and a sample may have {LARGEST:,}; take a shorter one")


def _sample(folder: Path) -> Sample:
    where = folder / ABOUT
    manifest = want(dict, read_json(folder / MANIFEST), str(folder / MANIFEST), "an object")
    try:
        about = SampleAbout.model_validate_json(read_text(where))
    except ValidationError as exc:
        raise UserError(f"{where}: is not a sample's description: {exc.errors()[0]['msg']}") from exc
    return Sample(folder, about, manifest["counts"], manifest["spec"]["tokenizer"])


def _who(about: SampleAbout, refused: Mapping[str, Mapping[str, str]], probes: int) -> str:
    """Return what the card says about writers and readers."""
    said = f"Writer: {about.writer}."
    if about.errors:
        found = ", ".join(f"{number} `{check}`" for check, number in about.errors.items())
        said += f" Shipped as the writer left it, with the errors that `validate` finds: {found}."
    if not about.readers:
        return f"{said} Nobody has read the probes yet.\n"
    rows = [f"| `{c}` | `{p}` | {_cell(why)} |" for c, probes in refused.items() for p, why in probes.items()]
    table = "\n".join(["\n\n| conversation | probe | reason |", "|---|---|---|", *rows]) if rows else ""
    told = (
        f"They rejected {len(rows)} of {counted(probes, 'probe')}; exports of the unpacked sample leave these out. For "
        f"comparison: {_BEAM_FAULTS}."
    )
    return f"{said} Readers of the probes: {about.readers}; no person has reviewed them. {told}{table}\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")


def _complete_card(folder: Path, text: str, *, is_read: bool) -> None:
    """Add a paragraph to the export's card, and the card's new digest to its manifest.

    What the paragraph says of its readers takes the place of what an export without a review says of the probes.
    """
    card, manifest = folder / CARD, read_json(folder / MANIFEST)
    before, heading, after = read_text(card).partition(WRITTEN)
    assert heading, card
    if is_read:
        after = _STATUSES.sub("", after.replace(f"- {UNREVIEWED_LIMIT}\n", ""))
    write_atomically(card, f"{before}{heading}\n{text}{after}")
    manifest["files"][CARD] = {"sha256": sha256_of(card), "bytes": card.stat().st_size}
    write_atomically(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
