"""Replies of SmolLM2-135M go the whole way, persona to seal: through parsing, checks, gates, a kill and a resume.

A run of its own takes half an hour and more on two cores (docs/local-models.md). Its replies are real, the requests are
not: each request gets the reply that the model gave to the first one of its prompt.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from longbeam.errors import RunStopped
from longbeam.library import validate
from longbeam.models import ModelCall
from longbeam.pipeline import benchmark_status, render_status
from longbeam.pipeline.run import gaps_of, run_inline
from longbeam.prompts.calls import EventsInputs, SubPlanInputs
from longbeam.schemas import ABILITIES, BenchmarkSpec, Incident, IncidentKind, ModelReply, Severity
from longbeam.store import Benchmark, SealedConversation, WorkLog, create_benchmark
from tests.wired import answered_by

REPLIES = Path(__file__).parent / "smollm2.jsonl"
STAGES = {"persona", "plan", "user_turns", "dialogue", "probes"}
SPEC = BenchmarkSpec.model_validate(
    {
        "name": "nonsense",
        "seed": 3,
        "length": "16K",
        "domains": ["trip_planning"],
        "probes_per_ability": 1,
        "models": {"default": "openai:smollm2-135m"},
        "checks": {"gap_share": 1.0},
        "limits": {"unusable_in_a_row": 0},
    }
)


class SmallModel:
    """Answers every request with the recorded reply to its prompt, empty where there is none; stops at a call."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.calls: list[str] = []
        self._stop_at = stop_at
        self._replies = {r["prompt_id"]: r["text"] for r in map(json.loads, REPLIES.read_text("utf-8").splitlines())}

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the recorded reply."""
        if len(self.calls) == self._stop_at:
            raise RunStopped("stopped by the test")
        self.calls.append(call.unit_key)
        text = self._replies.get(call.prompt.prompt_id, "")
        if isinstance(call.inputs, SubPlanInputs):
            text = _of_events(text, [e.event_id for e in call.inputs.events])
        elif isinstance(call.inputs, EventsInputs):
            text = _events_of(self._replies["sub_plan"], call.inputs)
        return ModelReply(text=text, model="smollm2-135m", output_tokens=len(text) // 4)


def _of_events(text: str, event_ids: list[str]) -> str:
    """Return a recorded reply, which numbers its lines, with the events of a call in their place."""
    return re.sub(r'"line": (\d+)', lambda m: f'"event": "{event_ids[(int(m[1]) - 1) % len(event_ids)]}"', text)


def _events_of(text: str, inputs: EventsInputs) -> str:
    """Return events of the words that the model gave to lines: it was never asked for any."""
    told = re.findall(r'"text" ?: ?"([^"]{12,80})', text)
    labels = [n.label for n in inputs.narratives]
    events = [
        {"event": f"e{n}", "narrative": labels[n % len(labels)], "thing": told[n % len(told)][:20], "what": told[n % 3]}
        for n in inputs.numbers
    ]
    return json.dumps({"events": events})


async def _made(benchmark: Benchmark, model: SmallModel) -> bool:
    return (await run_inline(benchmark, answered_by(model))).finished == 1


def _incidents(benchmark: Benchmark) -> list[Incident]:
    with WorkLog.open_read_only(benchmark.work_path("c000")) as log:
        return log.units.incidents()


async def test_replies_of_a_small_model_are_sealed_with_what_the_gates_say_of_them(tmp_path: Path) -> None:
    model, benchmark = SmallModel(), create_benchmark(SPEC, tmp_path / "whole")
    assert await _made(benchmark, model)
    assert {key.split("/")[1] for key in model.calls} >= STAGES
    assert gaps_of(benchmark).get("c000", 0.0) < 1
    found = Counter(incident.kind for incident in _incidents(benchmark))
    assert found.keys() >= {IncidentKind.MENDED, IncidentKind.UNGROUNDED}
    assert re.search(r"replies: [\d.]+% of \d+ requests", render_status(benchmark_status(benchmark), ("plan",)))
    findings = await validate(benchmark)
    errors = {(f.check, f.subject) for f in findings if f.severity is Severity.ERROR}
    assert errors >= {("length.off_target", "conversation"), *(("probe_set.number", ability) for ability in ABILITIES)}

    stopped = create_benchmark(SPEC, tmp_path / "stopped")
    begun, rest = SmallModel(stop_at=len(model.calls) // 2), SmallModel()
    assert not await _made(stopped, begun)
    assert await _made(stopped, rest)
    assert len(begun.calls) + len(rest.calls) == len(model.calls)  # no reply is asked for twice
    assert _messages(stopped) == _messages(benchmark)


def _messages(benchmark: Benchmark) -> list[str]:
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        return [m.model_dump_json() for m in sealed.messages()]
