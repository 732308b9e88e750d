"""The forecast plays a dialogue by the rule that drives the dialogue itself: the same numbers give the same steps."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, cycle

import pytest

from longbeam.generators import (
    Ask,
    DetectQuestion,
    DrawReaction,
    Frame,
    Ledger,
    MoreTurns,
    Step,
    SubPlanMaterial,
    Talk,
    dialogue_steps,
)
from longbeam.models import ModelCall, load_tokenizer
from longbeam.pipeline.cost import WORDED, Behaviour, PlannedTalk, Played, PlayedDialogue
from longbeam.prompts.calls import AssistantReplyInputs, Reaction, Stage
from longbeam.schemas import CLOSING, UserTurn
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for

TOKENIZER = load_tokenizer("o200k_base")


@dataclass
class RecordingTalk(Talk):
    """A dialogue that notes its steps, what was said in each, the verdicts, and the reactions."""

    steps: list[type] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    verdicts: list[bool] = field(default_factory=list)
    reactions: list[Reaction | None] = field(default_factory=list)

    async def carry_out(self, step: Step[UserTurn]) -> object:
        used = self.budget.used
        outcome = await super().carry_out(step)
        self.steps.append(type(step))
        if self.budget.used > used:
            self.tokens.append(self.budget.used - used)
        if isinstance(step, DetectQuestion):
            self.verdicts.append(bool(outcome))
        if isinstance(step, DrawReaction):
            assert outcome is None or isinstance(outcome, Reaction)
            self.reactions.append(outcome)
        return outcome


class Verdicts(random.Random):
    """Chances that come out as the verdicts of a real dialogue did, each behind one that decides on a call."""

    def __init__(self, verdicts: Iterator[bool]) -> None:
        super().__init__(0)
        self._verdicts = verdicts

    def random(self) -> float:
        return 0.0 if next(self._verdicts) else 1.0

    def uniform(self, a: float, b: float) -> float:
        return 1.0  # the lengths that are asked for do not matter: the replies have those that they had


@dataclass
class RecordingPlay(PlayedDialogue):
    """A dialogue in numbers that is given those of a real one."""

    numbers: Iterator[int] = field(default_factory=lambda: iter(()))
    steps: list[type] = field(default_factory=list)

    reactions: Iterator[Reaction | None] = field(default_factory=lambda: iter(()))

    def carry_out(self, step: Step[None]) -> object:
        self.steps.append(type(step))
        return next(self.reactions, None) if isinstance(step, DrawReaction) else super().carry_out(step)

    def say(self, tokens: float) -> None:
        super().say(next(self.numbers))


def _material(share: int, *, has_ending: bool) -> SubPlanMaterial:
    head = good_conversation().head
    plan = head.plans[0]
    *others, last = plan.sub_plans[0].bullets
    closing = last.model_copy(update={"variety": CLOSING}) if has_ending else last
    sub_plan = plan.sub_plans[0].model_copy(update={"bullets": (*others, closing)})
    plan = plan.model_copy(update={"sub_plans": (sub_plan, *plan.sub_plans[1:])})
    turns = tuple(
        UserTurn(turn_id=f"{sub_plan.key}.t{i}", text=f"What about point {100 + i}?", bullet_ids=(b.bullet_id,))
        for i, b in enumerate(sub_plan.bullets)
    )
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    stage = Stage(stage_index=0, first_day=sub_plan.anchor, last_day=sub_plan.bullets[-1].happens_on)
    return SubPlanMaterial(frame, Ledger.of(plan), stage, sub_plan, turns, share)


def _model(reply_share: float) -> ScriptedModel:
    """A model whose further questions have as many tokens as the planned ones."""
    numbers, asks = count(200), cycle([True, False, False])

    def more_turns(call: ModelCall) -> str:
        texts = [f"What about point {next(numbers)}?" for _ in range(call.inputs.model_dump()["questions"])]
        return json.dumps({"turns": [{"text": t, "asks_about": []} for t in texts]})

    def reply(call: ModelCall) -> str:
        assert isinstance(call.inputs, AssistantReplyInputs)
        return "word " * int(reply_share * call.inputs.target_tokens) + str(next(numbers))

    return ScriptedModel(
        {
            "assistant_reply": reply,
            "question_detector": lambda _: json.dumps({"reason": "so", "asks_user": next(asks)}),
            "user_answer": lambda _: f"Because of {next(numbers)}",
            "user_follow_up": lambda _: f"And then {next(numbers)}",
            "more_turns": more_turns,
            "compact_memory": ["It was talked about."],
        }
    )


@pytest.mark.parametrize("has_ending", [False, True])
@pytest.mark.parametrize(("share", "reply_share"), [(900, 1.0), (4_000, 1.0), (12_000, 0.5), (12_000, 2.0)])
async def test_dialogue_and_forecast_take_the_same_steps_for_the_same_numbers(
    share: int, reply_share: float, has_ending: bool
) -> None:
    material = _material(share, has_ending=has_ending)
    talk = RecordingTalk(asker_for(_model(reply_share)), TOKENIZER, material)
    queue = [talk.queued(turn) for turn in material.turns]
    await talk.follow(dialogue_steps(queue, talk.budget))

    planned = PlannedTalk(
        share=share, turns=tuple((q.tokens, q.is_required) for q in queue), ending=sum(q.ends_story for q in queue)
    )
    play = RecordingPlay(
        planned,
        Behaviour(reply_ratio=1.0, asks_user=0.5, answer_tokens=0.0, follow_up_tokens=0.0, detected=0.0),
        Verdicts(verdict for verdict in talk.verdicts for _ in range(2)),
        Played(),
        numbers=iter(talk.tokens),
        reactions=iter(talk.reactions),
    )
    play.run()
    assert play.steps == talk.steps
    assert play.budget == talk.budget


def test_turns_that_end_the_story_come_last_with_their_tokens_kept() -> None:
    planned = PlannedTalk(share=3_000, turns=((10, True), (12, True)), ending=1)
    play = RecordingPlay(planned, Behaviour(1.0, 0.0, 0.0, 0.0), random.Random(1), Played())
    play.numbers = iter([10, 200, *[10, 300] * 20])
    play.run()
    assert play.steps[0] is Ask
    last_more = max(i for i, step in enumerate(play.steps) if step is MoreTurns)
    # One more question stands behind all that the budget adds, and its reply has room.
    assert Ask in play.steps[last_more:]
    assert play.budget.left >= -300


def test_of_the_turns_that_are_worded_in_the_dialogue_a_share_costs_a_call() -> None:
    planned = PlannedTalk(share=60_000, turns=((100, True),) * 300, is_worded=True)
    play = PlayedDialogue(planned, Behaviour(1.0, 0.0, 0.0, 0.0), random.Random(1), Played())
    play.run()
    turns = play.played.calls["assistant_reply"]
    # Three standard errors of a share of 0.48 of 300 turns: 0.087.
    assert abs(play.played.calls["word_turn"] / turns - WORDED) < 0.087
