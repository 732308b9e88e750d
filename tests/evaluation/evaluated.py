"""Evaluations put together by hand: the scores of some systems on some conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longbeam.evaluation import Evaluated, Timings
from longbeam.schemas import (
    Answer,
    AskedProbe,
    Context,
    EvaluationRun,
    EvaluationSettings,
    Judgement,
    Nugget,
    NuggetJudgement,
    Result,
    Retrieval,
    Scoring,
)

Scores = Mapping[str, Sequence[Sequence[float | None]]]
"""By system, then conversation, then probe."""


def evaluated(
    scores: Scores,
    *,
    name: str = "mine",
    ability: str = "summarization",
    text: str = "an answer",
    judge: str = "judge one",
    tokens: int = 1_000,
) -> Evaluated:
    """Return an evaluation in which each probe has one nugget, whose verdict is its score."""
    results, probes = [], []
    for system, conversations in scores.items():
        for i, of in enumerate(conversations):
            for j, score in enumerate(of):
                results.append(_result(system, f"c{i:03d}", f"{ability}.{j}", ability, score, text, judge))
    for i, of in enumerate(next(iter(scores.values()))):
        for j in range(len(of)):
            probes.append(
                AskedProbe(
                    conversation_id=f"c{i:03d}",
                    probe_id=f"{ability}.{j}",
                    ability=ability,
                    question=f"Question {j} <script>alert(1)</script>?",
                    gold_answer="gold",
                    rubric=(Nugget(nugget_id="n", text="States gold."),),
                    deciles=(j,),
                )
            )
    run = EvaluationRun(
        longbeam="0",
        benchmark=name,
        length=tokens,
        tokens=tokens,
        conversations=len(next(iter(scores.values()))),
        reader="a reader",
        judge=judge,
        settings=EvaluationSettings(),
        systems=tuple(scores),
        probes=tuple(probes),
    )
    return Evaluated(run, tuple(results), Timings())


def _result(
    system: str, conversation_id: str, probe_id: str, ability: str, score: float | None, text: str, judge: str
) -> Result:
    error = "no JSON" if score is None else ""
    nugget = NuggetJudgement(nugget_id="n", score=score, reason="because", error=error)
    names = {"conversation_id": conversation_id, "probe_id": probe_id, "system": system}
    return Result(
        **names,
        ability=ability,
        answer=Answer(**names, text=text, context=Context(text="what was read | it", tokens=4)),
        judgement=Judgement(**names, judge=judge, nuggets=(nugget,)),
        scores=(Scoring(rule="paper", score=score), Scoring(rule="released", score=score and float(int(score)))),
        retrieval=Retrieval(
            evidence_recall=1, evidence_precision=0.5, values_found=None, answer_values_found=None, tokens=4
        ),
    )
