"""Score 200 answers in free wording with the lexical judge: two writers who had not seen it wrote them.

    python -m benchmarks.free_answers

Forty probes of home16, coding32, pantry16, legal16, the recorded conversation and an offline one of 128K; half of the
answers are right and half wrong in a tempting way. `granted` numbers the criteria that a wrong answer cannot help
meeting; they do not count. `half` divides the probes: rules may be mended on the first, the second stays unseen.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from longbeam.evaluation import judge_answer, score_of
from longbeam.keys import UnitKey
from longbeam.models import Asker
from longbeam.prompts import default_registry
from longbeam.schemas import Answer, BenchmarkSpec, Difficulty, Nugget, Probe, ProbeDetails
from longbeam.wiring import services

FILE = Path(__file__).parent / "judged_answers" / "free200.jsonl"


async def score(row: dict[str, Any], asker: Asker) -> float:
    """Return the score of an answer by the paper's rule, without the criteria that it cannot help meeting."""
    kept = [text for number, text in enumerate(row["criteria"], 1) if number not in row["granted"]]
    rubric = tuple(Nugget(nugget_id=f"n{i}", text=text) for i, text in enumerate(kept or row["criteria"]))
    details = ProbeDetails(items=tuple(row["items"]))
    probe = Probe(probe_id=row["probe_id"], ability=row["ability"], question=row["question"], gold_answer="-",
                  rubric=rubric, details=details, difficulty=Difficulty.EASY, evidence=())  # fmt: skip
    answer = Answer(conversation_id="c000", probe_id=probe.probe_id, system="written", text=row["answer"])
    judged = await judge_answer(probe, answer, asker, judge="", is_strict=True)
    return score_of(probe, judged, row["answer"])[0].score or 0.0


async def main() -> None:
    """Print the means of right and wrong answers by half, and by kind."""
    spec = BenchmarkSpec(name="rules")
    models = services().models(services().make_model(spec, home=FILE.parent))
    found: dict[tuple[bool, str], list[float]] = defaultdict(list)
    for number, line in enumerate(FILE.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        asker = Asker(models, default_registry(), spec, unit_key=UnitKey("c000", "judge", str(number)))
        scored = await score(row, asker)
        for key in ("all", f"{row['half']} half", row["kind"]):
            found[row["is_right"], key].append(scored)
    for (is_right, key), scores in sorted(found.items()):
        print(f"{'right' if is_right else 'wrong'} {key}: {fmean(scores):.3f} ({len(scores)})")


if __name__ == "__main__":
    asyncio.run(main())
