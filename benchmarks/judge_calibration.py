"""Calibrate the lexical judge on a benchmark: gold, wrong, echoed and swapped answers, by ability.

python -m benchmarks.judge_calibration OUT NAME [--verbose]
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from pathlib import Path
from statistics import fmean

from longbeam.evaluation.calibration import WRONG
from longbeam.evaluation.fixed_answers import FIXED_ANSWERS
from longbeam.evaluation.judging import judge_answer
from longbeam.evaluation.scoring import score_of
from longbeam.keys import UnitKey
from longbeam.models.asking import Asker
from longbeam.pipeline.checking import sealed_conversations
from longbeam.prompts.declarations import default_registry
from longbeam.schemas.evaluation import Answer
from longbeam.schemas.probes import Probe
from longbeam.store.layout import open_benchmark
from longbeam.wiring import services


async def calibrate(out: Path, name: str, *, is_verbose: bool) -> None:
    """Print the score of each kind of answer, in total and by ability."""
    benchmark = open_benchmark(out, name)
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    spec = benchmark.spec.model_copy(update={"models": {"default": "offline"}})
    with sealed_conversations(benchmark) as readers:
        for reader in readers:
            key = UnitKey(reader.head.conversation_id, "judge", "calibration")
            asker = Asker(services().models(services().stand_in()), default_registry(), spec, unit_key=key)
            probes = [p for p in reader.probes() if p.is_selected]
            for probe in probes:
                for kind in ("gold", *WRONG):
                    text = FIXED_ANSWERS[kind](probe, probes)
                    score = await _score(probe, kind, text, asker)
                    scores[kind][probe.ability].append(score)
                    if is_verbose and score != float(kind == "gold"):
                        print(f"{kind} {score:.2f} {key.conversation_id} {probe.probe_id}: {text[:120]!r}")
    for kind, by_ability in scores.items():
        each = ", ".join(f"{ability} {fmean(found):.2f}" for ability, found in sorted(by_ability.items()))
        print(f"{kind}: {fmean(fmean(found) for found in by_ability.values()):.3f} ({each})")


async def _score(probe: Probe, kind: str, text: str, asker: Asker) -> float:
    answer = Answer(conversation_id="c", probe_id=probe.probe_id, system=kind, text=text)
    judged = await judge_answer(probe, answer, asker.within(f"{kind}/{probe.probe_id}"), judge="", is_strict=True)
    return score_of(probe, judged, text)[0].score or 0.0


def main() -> None:
    """Run the calibration that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("name")
    parser.add_argument("--verbose", action="store_true", help="print each answer that is judged wrongly")
    given = parser.parse_args()
    asyncio.run(calibrate(given.out, given.name, is_verbose=given.verbose))


if __name__ == "__main__":
    main()
