"""Pack a finished benchmark as a sample of the package.

Usage: `python -m longbeam.cli.pack_sample OUT NAME TARGET "TITLE" [--writer "WHO"]`; TARGET is its folder.

Without `--writer` the sample says that a large language model wrote it, replies relayed by hand. Where it has reviews,
it says that language models read it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from longbeam.pipeline.samples import REVIEWS, Sample, SampleAbout, pack, refuse_large
from longbeam.review.log import export_log
from longbeam.review.outcomes import rejections_of, shown_conversations
from longbeam.store.layout import open_benchmark
from longbeam.store.reviews import has_reviews

BY_HAND, READERS = "a large language model, replies relayed by hand", "language models"


def write(out: Path, name: str, target: Path, title: str, writer: str = BY_HAND) -> Sample:
    """Write the sample to the folder `target`, which is its name; UserError if it cannot be shipped."""
    benchmark = open_benchmark(out, name)
    is_reviewed = has_reviews(benchmark.reviews_path)
    about = SampleAbout(title=title, writer=writer, readers=READERS if is_reviewed else "")
    with shown_conversations(benchmark) as readers:
        made = pack(benchmark, readers, target, about, rejections_of(benchmark))
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
    write(**vars(parser.parse_args()))
