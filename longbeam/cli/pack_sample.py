"""Pack a finished benchmark as a sample of the package.

Usage: `python -m longbeam.cli.pack_sample OUT NAME TARGET "TITLE"`; TARGET is the folder of the sample.

The sample says that a large language model wrote it, replies relayed by hand, and that language models read it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from longbeam.pipeline.samples import REVIEWS, Sample, SampleAbout, pack, refuse_large
from longbeam.review.log import export_log
from longbeam.review.outcomes import rejections_of, shown_conversations
from longbeam.store.layout import open_benchmark
from longbeam.store.reviews import has_reviews

WRITER, READERS = "a large language model, replies relayed by hand", "language models"


def write(out: Path, name: str, target: Path, title: str) -> Sample:
    """Write the sample to the folder `target`, which is its name; UserError if it cannot be shipped."""
    benchmark = open_benchmark(out, name)
    is_reviewed = has_reviews(benchmark.reviews_path)
    about = SampleAbout(title=title, writer=WRITER, readers=READERS if is_reviewed else "")
    with shown_conversations(benchmark) as readers:
        made = pack(benchmark, readers, target, about, rejections_of(benchmark))
    if is_reviewed:
        export_log(benchmark.reviews_path, target / REVIEWS)
    refuse_large(made)
    return made


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4])
