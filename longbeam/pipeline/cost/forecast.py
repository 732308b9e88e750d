"""Expected usage at the end of a run: the usage of the rehearsal, corrected by the run so far.

The number of calls of a dialogue depends on the length of replies, relative to the length asked for, and on how often
the detectors say yes. The run shows both. Replies of twice the length do not cost twice as much: the token budget then
holds fewer of them. So the dialogues are simulated in numbers by the rule that drives them
(`generators/turn_loop.py`): once with the rehearsal's figures and once with the observed ones. Comparing the two
corrects the rehearsal's counts.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from longbeam.generators import (
    DIALOGUE_PROMPTS,
    END_CHARACTERS,
    KEPT_SHARE,
    USER_MESSAGES,
    Ask,
    Budget,
    DetectQuestion,
    DrawReaction,
    MoreTurns,
    QueuedTurn,
    React,
    Reply,
    Step,
    Waiting,
    dialogue_steps,
    reaction_at,
)
from longbeam.generators.dialogue_history import SUMMARY_TOKENS
from longbeam.models import MESSAGE_OVERHEAD
from longbeam.pipeline.cost.rehearsal import PlannedTalk, Rehearsal
from longbeam.prompts.calls import Reaction
from longbeam.schemas import COUNTS, Usage, UsageKey

PLAYED = 4
"""Times that each dialogue is played; chance differs between them."""
MOST_TALKS = 24
"""Dialogues that are played, evenly taken from those rehearsed."""
TRUSTED = 12
"""Calls after which what was seen of a rate counts as much as what the rehearsal had."""
END_TOKENS = END_CHARACTERS // 4
REACTING = 0.75
"""Share of the turns that a reaction may follow: no wish and no ending (`generators/turn_cards.py`)."""
WORDED = 0.48
"""Share of the messages that are worded anew where messages are worded in the dialogue: 27 % take the reply up, and the
reply may have answered 29 % of the others (25 of 86 messages of the samples `home16` and `coding32`)."""


@dataclass(frozen=True)
class Behaviour:
    """How the models of a run answer."""

    reply_ratio: float
    """Tokens of a reply against those asked for."""
    asks_user: float
    """Share of the replies that the user answers."""
    answer_tokens: float
    follow_up_tokens: float
    detected: float = 1.0
    """Share of the replies about which the question detector is asked; of the others code knows."""


@dataclass
class Played:
    """Calls of a played dialogue, and the tokens that their prompts hold of it, by prompt."""

    calls: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    said: float = 0.0
    """Tokens of the assistant's replies."""

    def per_call(self, prompt_id: str) -> float:
        """Tokens of the dialogue that a call of this prompt holds."""
        return self.tokens[prompt_id] / self.calls[prompt_id] if self.calls[prompt_id] else 0.0


@dataclass
class PlayedDialogue:
    """One dialogue in numbers: it drives the steps of `generators.turn_loop` as the dialogue does."""

    talk: PlannedTalk
    behaviour: Behaviour
    rng: random.Random
    played: Played
    sizes: list[float] = field(default_factory=list)
    summary: float = 0.0
    said: float = 0.0
    """Tokens of the newest reply."""

    def __post_init__(self) -> None:
        self.budget = Budget(self.talk.share)
        turns = self.talk.turns
        self.turn_tokens = round(sum(size for size, _ in turns) / max(1, len(turns)))

    def run(self) -> None:
        """Play the whole dialogue."""
        first_ending = len(self.talk.turns) - self.talk.ending
        turns = [
            QueuedTurn(None, size, is_required, ends_story=i >= first_ending)
            for i, (size, is_required) in enumerate(self.talk.turns)
        ]
        steps = dialogue_steps(turns, self.budget)
        outcome: object = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration:
                return
            outcome = self.carry_out(step)

    def carry_out(self, step: Step[None]) -> object:
        """Count a step and return its outcome: a verdict, further turns, or None."""
        match step:
            case Ask(queued):
                if self.talk.is_worded and self.sizes and self.rng.random() < WORDED:
                    self.call("word_turn", sum(self.sizes[-USER_MESSAGES:]))
                self.say(queued.tokens)
            case Reply(_, _, waiting):
                self.reply(waiting)
            case DetectQuestion():
                if self.rng.random() < self.behaviour.detected:
                    self.call("question_detector", min(self.said, END_TOKENS))
                return self.rng.random() < self.behaviour.asks_user
            case DrawReaction(reactions):
                return reaction_at(self.rng, reactions) if self.rng.random() < REACTING else None
            case React(reaction):
                is_answer = reaction is Reaction.ANSWER
                self.call("user_answer" if is_answer else "user_follow_up", sum(self.sizes[-USER_MESSAGES:]))
                self.say(self.behaviour.answer_tokens if is_answer else self.behaviour.follow_up_tokens)
            case MoreTurns(count):
                self.call("more_turns")
                return [QueuedTurn(None, self.turn_tokens, is_required=False)] * count
        return None

    def call(self, prompt_id: str, tokens: float = 0.0) -> None:
        self.played.calls[prompt_id] += 1
        self.played.tokens[prompt_id] += tokens

    def say(self, tokens: float) -> None:
        self.sizes.append(tokens)
        self.budget.used += round(tokens)

    def reply(self, waiting: Waiting) -> None:
        self.fold()
        self.said = self.behaviour.reply_ratio * self.budget.reply_length(waiting, self.rng.uniform(0.6, 1.4))
        self.call("assistant_reply", self.summary + sum(self.sizes) + MESSAGE_OVERHEAD * len(self.sizes))
        self.played.said += self.said
        self.say(self.said)

    def fold(self) -> None:
        if sum(self.sizes) <= self.talk.history_tokens:
            return
        keep = len(self.sizes)
        kept: float = 0
        while keep > 1 and kept + self.sizes[keep - 1] <= self.talk.history_tokens // KEPT_SHARE:
            keep -= 1
            kept += self.sizes[keep]
        self.call("compact_memory", self.summary + sum(self.sizes[:keep]))
        self.summary = SUMMARY_TOKENS
        del self.sizes[:keep]


def play(talks: Sequence[PlannedTalk], behaviour: Behaviour) -> Played:
    """Play dialogues in numbers; the same chances every time, so that two behaviours can be compared."""
    played = Played()
    step = max(1, len(talks) // MOST_TALKS)
    for i, talk in enumerate(talks[::step]):
        for n in range(PLAYED):
            PlayedDialogue(talk, behaviour, random.Random(f"forecast/{i}/{n}"), played).run()
    return played


def forecast(
    rehearsal: Rehearsal, used: Iterable[Usage], *, asked_tokens: int = 0, said_tokens: int = 0
) -> tuple[Usage, ...]:
    """Return what the whole benchmark is expected to use, `used` included.

    `asked_tokens` and `said_tokens` sum over the assistant's replies so far: the lengths asked for and the real ones.
    """
    seen = {row.key: row for row in used}
    base = {row.key: row for row in rehearsal.usage}
    expected_calls, extra = _dialogue(rehearsal, seen.values(), asked_tokens, said_tokens)
    rates = {name: _calibration(base, seen, name) for name in ("prompt_tokens", "output_tokens")}
    rows = []
    for key in sorted({*base, *seen}):
        rehearsed, so_far = (rows_by_key.get(key, Usage.of(key, {})) for rows_by_key in (base, seen))
        factor, more = expected_calls.get(key[2], 1.0), extra.get(key[2], _NOTHING)
        rows.append(_expected(rehearsed, so_far, factor, more, rates))
    return tuple(rows)


@dataclass(frozen=True)
class _Extra:
    """Tokens by which a call of a dialogue prompt differs from the rehearsal's."""

    held: float = 0.0
    """Tokens of the dialogue that the rehearsal's calls hold."""
    prompt: float = 0.0
    output: float = 0.0


_NOTHING = _Extra()


def _dialogue(
    rehearsal: Rehearsal, seen: Iterable[Usage], asked: int, said: int
) -> tuple[dict[str, float], dict[str, _Extra]]:
    """Return, for each dialogue prompt, the factor on the rehearsal's calls and the change in tokens per call."""
    rehearsed, before = _rehearsed(rehearsal)
    now = behaviour_of(seen, asked, said * _early(rehearsal, asked), rehearsed)
    after = play(rehearsal.talks, now)
    # The ratio of two small counts is mostly chance: a rehearsal with two requests for more turns says little of them.
    calls = {p: (after.calls[p] + TRUSTED) / (before.calls[p] + TRUSTED) for p in DIALOGUE_PROMPTS if before.calls[p]}
    mean_reply = [p.said / max(1, p.calls["assistant_reply"]) for p in (before, after)]
    extra = {
        p: _Extra(
            held=before.per_call(p),
            prompt=after.per_call(p) - before.per_call(p) if after.calls[p] else 0.0,
            output=mean_reply[1] - mean_reply[0] if p == "assistant_reply" else 0.0,
        )
        for p in DIALOGUE_PROMPTS
    }
    return calls, extra


@lru_cache(maxsize=1)
def _rehearsed(rehearsal: Rehearsal) -> tuple[Behaviour, Played]:
    """Return how the models of a rehearsal answered, and its dialogues so played; a run forecasts every few seconds."""
    asked, said = rehearsal.replies[-1] if rehearsal.replies else (0, 0)
    behaviour = behaviour_of(rehearsal.usage, asked, said)
    return behaviour, play(rehearsal.talks, behaviour)


def _early(rehearsal: Rehearsal, asked: int) -> float:
    """Return the length ratio of all rehearsed replies over that of the first ones, up to `asked` tokens asked for.

    Replies at the beginning of a dialogue differ from later ones in the lengths asked for and in how they meet them.
    """
    curve = rehearsal.replies
    if not curve or not asked:
        return 1.0
    first_asked, first_said = next((point for point in curve if point[0] >= asked), curve[-1])
    return (curve[-1][1] / curve[-1][0]) / (first_said / first_asked)


def behaviour_of(rows: Iterable[Usage], asked: int, said: float, prior: Behaviour | None = None) -> Behaviour:
    """Return how the models of these calls behaved; `prior` counts as additional calls, so few calls change little."""
    calls, output = Counter[str](), Counter[str]()
    for row in rows:
        calls[row.prompt_id] += row.calls
        output[row.prompt_id] += row.output_tokens - row.reasoning_tokens

    def blended(part: float, whole: float, before: float, weight: float) -> float:
        if prior is None:
            return part / whole if whole else before
        return (part + before * weight) / (whole + weight) if whole else before

    was = prior or Behaviour(1.0, 0.0, 0.0, 0.0)
    # Replies to questions and to answers may ask; those to other reactions are not read.
    replies = max(calls["assistant_reply"] - calls["user_follow_up"], calls["question_detector"])
    return Behaviour(
        # A ratio of a few replies is exact to some percent already; a rate of a few verdicts says little.
        reply_ratio=said / asked if asked else was.reply_ratio,
        detected=blended(calls["question_detector"], replies, was.detected, TRUSTED),
        asks_user=blended(calls["user_answer"], replies, was.asks_user, TRUSTED),
        answer_tokens=blended(output["user_answer"], calls["user_answer"], was.answer_tokens, 1),
        follow_up_tokens=blended(output["user_follow_up"], calls["user_follow_up"], was.follow_up_tokens, 1),
    )


def _calibration(base: Mapping[UsageKey, Usage], seen: Mapping[UsageKey, Usage], name: str) -> float:
    """Return the ratio of tokens per call to the rehearsal's, over the calls outside of the dialogue."""
    found = expected = 0.0
    for key, row in seen.items():
        if key in base and key[2] not in DIALOGUE_PROMPTS and base[key].calls:
            found += getattr(row, name)
            expected += getattr(base[key], name) / base[key].calls * row.calls
    return found / expected if expected else 1.0


def _expected(rehearsed: Usage, used: Usage, factor: float, extra: _Extra, rates: Mapping[str, float]) -> Usage:
    """Return one row at the end of the run, from the rehearsal's row and the usage so far."""
    key = used.key
    calls = max(used.calls, round(rehearsed.calls * factor))
    if calls == used.calls:
        return used
    counts: dict[str, float] = defaultdict(float, calls=calls)
    changes = {"prompt_tokens": (extra.held, extra.prompt), "output_tokens": (0.0, extra.output)}
    for name, (held, change) in changes.items():
        mean = getattr(rehearsed, name) / rehearsed.calls
        # The part of a prompt outside the dialogue (rules, plans, story) grows as the prompts of other stages did.
        mean = (mean - held) * (rates[name] if name == "prompt_tokens" or not extra.output else 1.0) + held + change
        counts[name] = _projected(getattr(used, name), used.calls, calls, mean, is_dialogue=key[2] in DIALOGUE_PROMPTS)
    counts["reasoning_tokens"] = used.reasoning_tokens * calls / used.calls if used.calls else 0.0
    cached = used if used.calls >= TRUSTED else rehearsed
    hit = cached.cached_tokens / cached.prompt_tokens if cached.prompt_tokens else 0.0
    counts["cached_tokens"] = used.cached_tokens + (counts["prompt_tokens"] - used.prompt_tokens) * hit
    return Usage.of(key, {name: round(counts[name]) for name in COUNTS})


def _projected(used: int, made: int, calls: int, mean: float, *, is_dialogue: bool) -> float:
    """Tokens of all calls: of those made so far, and of the others by `mean`, and by what was seen as it grows."""
    if not made:
        return calls * mean
    share, seen = made / calls, used / made
    if not is_dialogue:
        return used + (calls - made) * (mean + (seen - mean) * share)
    # The first calls of a dialogue hold less of it than the mean, so they say little of the others.
    weight = share * share
    return max(used, (1 - weight) * calls * mean + weight * calls * seen)
