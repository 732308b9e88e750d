"""The review of a benchmark that is packed as a sample comes back when the sample is unpacked."""

from __future__ import annotations

from pathlib import Path

from benchmarks.pack_sample import write
from longbeam.pipeline import REVIEWS, unpack
from longbeam.review import import_log, rejections_of, reviewed_probes
from longbeam.store import Benchmark
from tests.annotation_ui.conftest import Enter

ITEM = "c000/information_extraction.0"
SPARE = "c000/information_extraction.1"


async def test_a_sample_keeps_the_review_the_rejected_probe_and_its_replacement(
    enter: Enter, benchmark: Benchmark, tmp_path: Path
) -> None:
    ana = await enter("ana")
    await ana.judge(ITEM, "reject")
    await ana.judge(SPARE, "accept")
    sample = write(benchmark.root.parent, benchmark.spec.name, tmp_path / "samples" / "s", "A trip", as_it_came=True)
    card = (sample.folder / "README.md").read_text()
    assert "Readers of the probes: language models; no person has reviewed them. They rejected 1 of " in card
    assert "67 (4.9 %) wrong" in card
    assert "| `c000` | `information_extraction.0` |" in card
    unpacked = unpack(sample, tmp_path / "out").benchmark
    import_log(unpacked.reviews_path, sample.folder / REVIEWS)
    assert rejections_of(unpacked) == rejections_of(benchmark)
    ours, theirs = reviewed_probes(unpacked), reviewed_probes(benchmark)
    assert ours is not None
    assert theirs is not None
    assert {p.probe_id for p in ours["c000"]} == {p.probe_id for p in theirs["c000"]}
