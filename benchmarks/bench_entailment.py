"""How well rules and a judge tell whether words say what they were asked to say, and what a judgement costs.

The pairs in `entailment_pairs.json` were written and labelled by hand: 60 messages with a claim, 16 pairs of remarks.
Precision and recall are those of finding faults: a claim that is not said, a remark that excludes no other one.

Run: `python -m benchmarks.bench_entailment SPEC.toml`, with a spec that names the model to judge as `models.checker`.
Without a spec only the rules are measured.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longbeam.generators import RuleAnswer, contradiction_fault, rule_on_message, unsaid_claims
from longbeam.keys import UnitKey
from longbeam.models import Asker, ChatModel, LimitedModel, ModelCall
from longbeam.pipeline import load_spec
from longbeam.prompts import default_registry
from longbeam.prompts.calls import BulletBrief, LedgerLine, ToldRemark
from longbeam.schemas import BenchmarkSpec, Bullet, BulletKind, ModelReply
from longbeam.text import values_in
from longbeam.wiring import services

PAIRS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "entailment_pairs.json").read_text("utf-8")
)


@dataclass
class Counting:
    """A model that answers as another does and adds up calls and tokens by prompt."""

    inner: ChatModel
    tokens: dict[str, Counter[str]] = field(default_factory=dict)

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the other model's reply."""
        reply = await self.inner.complete(call)
        counts = self.tokens.setdefault(call.prompt.prompt_id, Counter())
        counts.update(calls=1, prompt=reply.prompt_tokens, output=reply.output_tokens)
        return reply


def score(found: Sequence[bool], faulty: Sequence[bool]) -> str:
    """Return precision and recall of the faults found."""
    right = sum(a and b for a, b in zip(found, faulty, strict=True))
    agreed = sum(a == b for a, b in zip(found, faulty, strict=True))
    precision, recall = right / max(1, sum(found)), right / max(1, sum(faulty))
    return f"precision {precision:.2f}, recall {recall:.2f}, {agreed} of {len(faulty)} right"


def brief_of(claim: str) -> BulletBrief:
    """Return a claim as a bullet, with its values as facts."""
    day = dt.date(2022, 4, 1)
    bullet = Bullet(bullet_id="p0.s0.b0", kind=BulletKind.EVENT, narrative="n", topic="t", text=claim, happens_on=day)
    subject = claim.split(" is ")[0] if " is " in claim else ""
    facts = tuple(
        LedgerLine(fact_id=f"p0.f{i}", subject=subject, attribute="", kind=v.kind, is_fixed=False, value=v)
        for i, v in enumerate(values_in(claim, year=2022))
    )
    return BulletBrief(bullet=bullet, facts=facts)


def _told(text: str) -> ToldRemark:
    return ToldRemark(text=text, day=dt.date(2022, 4, 1))


def measure_rules() -> None:
    """Print what the rules say of the claims, by label."""
    table = Counter((p["is_said"], rule_on_message(p["message"], brief_of(p["claim"])).answer) for p in PAIRS["claims"])
    for is_said in (True, False):
        counts = ", ".join(f"{answer.value} {table[is_said, answer]}" for answer in RuleAnswer)
        print(f"rules, {'said' if is_said else 'not said'}: {counts}")


async def measure_judge(spec: BenchmarkSpec, home: Path) -> None:
    """Print the judge's precision and recall, and the tokens of a judgement."""
    counting = Counting(LimitedModel(services().make_model(spec, home=home), spec))
    asker = Asker(services().models(counting), default_registry(), spec, UnitKey("c000", "user_turns", "pairs"))
    gate, started = asyncio.Semaphore(spec.limits.concurrency), time.monotonic()

    async def judged(kind: str, find: Callable[[int, dict[str, Any]], Any]) -> list[bool]:
        async def one(i: int, pair: dict[str, Any]) -> bool:
            async with gate:
                return bool(await find(i, pair))

        return list(await asyncio.gather(*(one(i, pair) for i, pair in enumerate(PAIRS[kind]))))

    claims = await judged("claims", lambda i, p: unsaid_claims(asker, f"c{i}", p["message"], [p["claim"]]))
    print("judge, claims:", score(claims, [not p["is_said"] for p in PAIRS["claims"]]))
    remarks = await judged(
        "remarks", lambda i, p: contradiction_fault(asker, f"r{i}", _told(p["earlier"]), _told(p["later"]))
    )
    print("judge, remarks:", score(remarks, [p["can_both_be_true"] for p in PAIRS["remarks"]]))
    for prompt_id, counts in counting.tokens.items():
        calls = counts["calls"]
        print(f"{prompt_id}: {calls} calls, {counts['prompt'] // calls} + {counts['output'] // calls} tokens a call")
    print(f"incidents: {len(asker.incidents)}; {time.monotonic() - started:.0f} s")
    for kind, found, label in (("claims", claims, "is_said"), ("remarks", remarks, "can_both_be_true")):
        for pair, is_fault in zip(PAIRS[kind], found, strict=True):
            if is_fault != (pair[label] == (kind == "remarks")):
                print("  wrong:", json.dumps(pair, ensure_ascii=False))


def main() -> None:
    """Measure the rules, and the judge of the spec if one is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", nargs="?", type=Path)
    options = parser.parse_args()
    measure_rules()
    if options.spec is not None:
        asyncio.run(measure_judge(load_spec(options.spec), options.spec.parent))


if __name__ == "__main__":
    main()
