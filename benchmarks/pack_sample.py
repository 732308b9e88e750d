"""Pack a finished benchmark as a sample of the package.

Usage: `python -m benchmarks.pack_sample OUT NAME TARGET "TITLE" [--writer "WHO"] [--as-it-came]`;
TARGET is its folder.

Without `--writer` the sample says that a large language model wrote it, replies relayed by hand. Where it has reviews,
it says that language models read it. With `--as-it-came` it may have errors, and its card counts them.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from longbeam.errors import UserError
from longbeam.pipeline import REVIEWS, Sample, SampleAbout, check_and_store, pack, refuse_large, unpack
from longbeam.review import export_log, rejections_of, shown_conversations
from longbeam.schemas import Severity
from longbeam.store import has_reviews, open_benchmark

BY_HAND, READERS = "a large language model, replies relayed by hand", "language models"


def write(  # noqa: PLR0913 - the options of the command
    out: Path, name: str, target: Path, title: str, writer: str = BY_HAND, *, as_it_came: bool = False
) -> Sample:
    """Write the sample to the folder `target`, which is its name; UserError if it cannot be shipped."""
    benchmark = open_benchmark(out, name)
    is_reviewed = has_reviews(benchmark.reviews_path)
    about = SampleAbout(title=title, writer=writer, readers=READERS if is_reviewed else "")
    with tempfile.TemporaryDirectory() as scratch, shown_conversations(benchmark) as readers:
        # What is shipped is checked: the review may have added a probe that was missing, or taken one away.
        first = pack(benchmark, readers, Path(scratch) / name, about, rejections_of(benchmark))
        unpacked = unpack(first, Path(scratch) / "out").benchmark
        found = (f.check for f in check_and_store(unpacked) if f.severity is Severity.ERROR)
        errors = dict(Counter(found).most_common())
    if errors and not as_it_came:
        raise UserError(f"benchmark {name!r}: `longbeam validate` finds {sum(errors.values())} errors; mend them first")
    with shown_conversations(benchmark) as readers:
        given = about.model_copy(update={"errors": errors})
        made = pack(benchmark, readers, target, given, rejections_of(benchmark))
    if is_reviewed:
        export_log(benchmark.reviews_path, target / REVIEWS)
    refuse_large(made)
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("name")
    parser.add_argument("target", type=Path)
    parser.add_argument("title")
    parser.add_argument("--writer", default=BY_HAND, help="who wrote, for the card and `longbeam sample`")
    parser.add_argument("--as-it-came", action="store_true", help="ship it with its errors, and count them in the card")
    write(**vars(parser.parse_args()))
