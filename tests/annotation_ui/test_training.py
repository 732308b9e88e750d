from __future__ import annotations

import json
from collections import Counter

from longbeam.review import TRAINING_FILE, keep_training, plant_faults, planted_faults
from longbeam.schemas import Probe
from longbeam.store import Benchmark
from tests.annotation_ui.conftest import Enter
from tests.tiny import tiny_conversation

ITEM = "c000/information_extraction.0"
SOUND = "c000/abstention.0"


def test_faults_are_planted_into_selected_probes_and_all_others_stay_as_they_were() -> None:
    probes = {"c000": tiny_conversation().asked}
    made, text = plant_faults(probes, 2)
    planted = json.loads(text)
    assert len(planted) == 2
    assert max(Counter(fault["reason"] for fault in planted.values()).values()) == 1  # the kinds take turns
    changed = [new.probe_id for old, new in zip(probes["c000"], made["c000"], strict=True) if old != new]
    assert {f"c000/{probe_id}" for probe_id in changed} == set(planted)
    assert all(isinstance(Probe.model_validate(p.model_dump()), Probe) for p in made["c000"])
    assert plant_faults(probes, 2) == (made, text)


async def test_a_verdict_in_a_training_set_is_answered(enter: Enter, benchmark: Benchmark) -> None:
    keep_training(benchmark.root, json.dumps({ITEM: {"reason": "wrong_gold", "text": "the gold answer was changed"}}))
    ana = await enter("ana")

    async def told(item: str, verdict: str) -> dict[str, object]:
        version = (await ana.item(item))["item_version"]
        reason = {"reason_code": "wrong_gold"} if verdict == "reject" else {}
        body = {"kind": "judged", "after": {"verdict": verdict}, "item_version": version, **reason}
        found: dict[str, object] = (await ana.post(f"/api/items/{item}/acts", body))["training"]
        return found

    missed = await told(ITEM, "accept")
    assert missed["is_right"] is False
    assert str(missed["text"]).startswith("Not so: the gold answer was changed. You found 0 of 1 faults so far")
    right = await told(ITEM, "reject")
    assert (right["is_right"], "found 1 of 1" in str(right["text"])) == (True, True)
    alarm = await told(SOUND, "reject")
    assert (alarm["is_right"], "1 false alarm" in str(alarm["text"])) == (False, True)


async def test_no_other_benchmark_answers_verdicts(enter: Enter, benchmark: Benchmark) -> None:
    assert planted_faults(benchmark.root) is None
    assert not (benchmark.root / TRAINING_FILE).exists()
    ana = await enter("ana")
    version = (await ana.item(ITEM))["item_version"]
    body = {"kind": "judged", "after": {"verdict": "accept"}, "item_version": version}
    assert (await ana.post(f"/api/items/{ITEM}/acts", body))["training"] is None
