"""Calibrate a judge on a benchmark: gold, wrong, echoed and swapped answers, by ability.

    python -m benchmarks.judge_calibration OUT NAME [--judge MODEL] [--reader MODEL] [--each N] [--without ABILITY,...]
        [--written FILE]

Without `--judge` the lexical judge is calibrated. Another judge, such as `similarity`, `gguf:PATH` or one of the
spec's endpoints, is compared on the same answers, nugget by nugget, with the lexical judge or that of `--against`.
`--reader` adds its answers from the cited messages alone. `--written` adds answers that people wrote, one JSON
object a line with `probe_id`, `answer` and `is_right`, such as `benchmarks/judged_answers/home16.jsonl`. `--each`
takes that many probes of each ability. Replies are kept in OUT/NAME/calibration, so the same command goes on where
it was stopped, and a stopped command prints what it counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from longbeam.evaluation import FIXED_ANSWERS, WRONG, cohen_kappa, judge_answer, score_of
from longbeam.keys import UnitKey
from longbeam.memory import dated
from longbeam.models import Asker, JournalledModel
from longbeam.pipeline.evaluate import ReadConversation, read_conversation
from longbeam.pipeline.run import limited_models
from longbeam.prompts import default_registry
from longbeam.prompts.calls import AnswerInputs
from longbeam.schemas import DEFAULT_MODEL, Answer, BenchmarkSpec, Endpoint, Judgement, Probe
from longbeam.store import WorkLog, open_benchmark
from longbeam.wiring import services

KINDS = ("gold", *WRONG)
READ = "read"
RIGHT, FALSE = "written right", "written wrong"
Scores = dict[str, dict[str, list[float]]]
"""Scores by kind of answer, then by ability."""


@dataclass
class Tally:
    """Scores of a judge, and its verdicts beside those of another judge."""

    scores: Scores = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    pairs: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    """The other judge's verdict and this judge's, by kind of answer."""
    differing: list[str] = field(default_factory=list)
    failed: int = 0
    against: str = DEFAULT_MODEL

    def add(self, probe: Probe, answer: Answer, lexical: Judgement, judged: Judgement) -> None:
        """Count one answer under both judges."""
        score = score_of(probe, judged, answer.text)[0].score
        if score is not None:
            self.scores[answer.system][probe.ability].append(score)
        texts = {n.nugget_id: n.text for n in probe.rubric}
        for first, second in zip(lexical.nuggets, judged.nuggets, strict=True):
            if first.score is None or second.score is None:
                self.failed += 1
                continue
            self.pairs[answer.system].append((first.score, second.score))
            if first.score != second.score:
                self.differing.append(
                    f"{answer.system} {probe.probe_id}: {self.against} {first.score}, this {second.score}\n"
                    f"  nugget: {texts[first.nugget_id]}\n  answer: {answer.text[:300]!r}\n  reason: {second.reason}"
                )


def sample(probes: Sequence[Probe], each: int, without: Sequence[str]) -> Iterator[Probe]:
    """Yield the first probes of each ability that is not left out."""
    seen: Counter[str] = Counter()
    for probe in probes:
        seen[probe.ability] += 1
        if seen[probe.ability] <= each and probe.ability not in without:
            yield probe


def spec_of(spec: BenchmarkSpec, judge: str, reader: str, threads: int) -> BenchmarkSpec:
    """Return the spec with these models, on one slot of so many threads each."""
    named = {"default": DEFAULT_MODEL, "judge": judge, "reader": reader or DEFAULT_MODEL}
    local = Endpoint(threads=threads, slots=1, context=8_192)
    files = {n: n.removeprefix("gguf:") for n in named.values() if n.startswith("gguf:")}
    served = {n: local.model_copy(update={"model": path}) for n, path in files.items()}
    return spec.model_copy(update={"models": named, "endpoints": {**spec.endpoints, **served}})


def evidence_of(conversation: ReadConversation, probe: Probe) -> str:
    """Return the cited messages with their dates."""
    cited = {e.message_key for e in probe.evidence}
    parts = []
    for exchange in conversation.exchanges:
        if messages := tuple(m for m in exchange.messages if m.message_key in cited):
            parts.append(dated(exchange.model_copy(update={"messages": messages})))
    return "\n\n".join(parts)


async def calibrate(given: argparse.Namespace, tally: Tally) -> None:
    """Count the scores of each kind of answer, and the agreement with the other judge."""
    benchmark = open_benchmark(given.out, given.name)
    spec = spec_of(benchmark.spec, given.judge, given.reader, given.threads)
    home = benchmark.root / "calibration"
    async with AsyncExitStack() as stack:
        chat = services().make_model(spec, home=home)
        models = await stack.enter_async_context(limited_models(services().models(chat), spec))
        for id_ in benchmark.sealed_ids:
            conversation = read_conversation(benchmark, id_, None, None)
            with WorkLog.open(home / f"{id_}.sqlite") as log:
                kept = services().models(JournalledModel(models.chat, log.journal))
                asker = Asker(kept, default_registry(), spec, unit_key=UnitKey(id_, "judge", "calibration"))
                sampled = sample(conversation.probes, given.each, given.without.split(","))
                await asyncio.gather(*(_count(probe, conversation, asker, given, tally) for probe in sampled))


async def _count(
    probe: Probe, conversation: ReadConversation, asker: Asker, given: argparse.Namespace, tally: Tally
) -> None:
    """Judge all kinds of answers to one probe by both judges."""
    id_ = conversation.conversation_id
    rules = BenchmarkSpec(name="rules", models={"default": DEFAULT_MODEL, "judge": given.against})
    stand_in = services().models(services().make_model(rules, home=given.out / given.name / "calibration"))
    by_words = Asker(stand_in, default_registry(), rules, unit_key=UnitKey(id_, "judge", "words"))
    kinds = (*given.kinds.split(","), *([READ] if given.reader else []))
    texts = [(kind, await _text(kind, conversation, probe, asker)) for kind in kinds if kind]
    for number, (kind, text) in enumerate((*texts, *written_answers(given.written, probe))):
        answer = Answer(conversation_id=id_, probe_id=probe.probe_id, system=kind, text=text)
        place = f"{kind}/{probe.probe_id}" if number < len(texts) else f"{kind}/{probe.probe_id}/{number - len(texts)}"
        places = [a.within(place) for a in (by_words, asker)]
        lexical, judged = [await judge_answer(probe, answer, a, judge="", is_strict=True) for a in places]
        tally.add(probe, answer, lexical, judged)
        score = score_of(probe, judged, text)[0].score
        if given.verbose and (kind == READ or score != float(kind in ("gold", RIGHT))):
            print(f"{kind} {score} {id_} {probe.probe_id}: {text[:200]!r}", flush=True)


def written_answers(path: Path | None, probe: Probe) -> list[tuple[str, str]]:
    """Return kind and text of the written answers to a probe, in the order of the file."""
    if path is None:
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(RIGHT if r["is_right"] else FALSE, r["answer"]) for r in rows if r["probe_id"] == probe.probe_id]


async def _text(kind: str, conversation: ReadConversation, probe: Probe, asker: Asker) -> str:
    if kind != READ:
        return FIXED_ANSWERS[kind](probe, conversation.probes)
    asked = conversation.question(probe)
    context = evidence_of(conversation, probe)
    inputs = AnswerInputs(context=context, question=asked.text, asked_on=asked.asked_at.date())
    return await asker.within(probe.probe_id).prose("answer", inputs)


def show(tally: Tally, judge: str) -> None:
    """Print what was counted."""
    for kind, by_ability in tally.scores.items():
        each = ", ".join(f"{ability} {fmean(found):.2f}" for ability, found in sorted(by_ability.items()))
        print(f"{kind}: {fmean(fmean(found) for found in by_ability.values()):.3f} ({each})")
    if judge == DEFAULT_MODEL:
        return
    print("\n".join(tally.differing))
    for kind, pairs in [*tally.pairs.items(), ("all", [p for of in tally.pairs.values() for p in of])]:
        kappa = cohen_kappa(pairs)
        told = "-" if kappa is None else f"{kappa:.3f}"
        print(f"{kind}: {len(pairs)} verdicts, equal {sum(a == b for a, b in pairs) / len(pairs):.3f}, kappa {told}")
    print(f"{tally.failed} failed verdicts")


def main() -> None:
    """Run the calibration that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("name")
    parser.add_argument("--judge", default=DEFAULT_MODEL)
    parser.add_argument("--against", default=DEFAULT_MODEL, help="judge to compare with")
    parser.add_argument("--reader", default="")
    parser.add_argument("--each", type=int, default=10**6, help="probes of each ability")
    parser.add_argument("--without", default="", help="abilities to leave out")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of answers")
    parser.add_argument("--written", type=Path, help="file of answers that people wrote")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="print each answer that is judged wrongly")
    given = parser.parse_args()
    tally = Tally(against=given.against)
    try:
        asyncio.run(calibrate(given, tally))
    finally:
        show(tally, given.judge)


if __name__ == "__main__":
    main()
