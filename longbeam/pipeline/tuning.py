"""Tuning of `pipeline`: numbers that decide what is made, asked or flagged, with unit and reason (docs/tuning.md)."""

from __future__ import annotations

from longbeam.schemas import Record


class RunTuning(Record):
    """Numbers of a run: what is open at once, what is made again, and the estimate."""

    band: float = 0.25  # Share by which a run may miss its rehearsal: two runs cost 8 and 21 % less than theirs.
    judged_every: int = 8  # Messages for one that is judged: rules were in doubt about 9 of 70 (docs/checks.md).
    statement_tokens: int = 69  # Tokens of a statement noted of a chat: by hand, of 40 in each of two chats.
    rehearsed_conversations: int = 6  # Conversations that are rehearsed: more cost seconds and tell the same.
    rehearsed_tokens: int = 1_000_000  # Tokens that are rehearsed: a longer benchmark is reckoned from them.
    ranked: int = 20  # Passages that a system is asked to rank: for hit@k.
    reply_s: float = 2.0  # Seconds of a reply in the sentence on time: whoever knows the endpoint scales it.
    repair_rounds: int = 3  # Rounds of repair and validation in one command: what three do not mend, a person does.
    conversations_at_once: int = 4  # Conversations at a time, at least: more where the calls in flight allow.
    batched_conversations: int = 64  # Conversations at a time with batches: one batch holds the calls of all.
    chains_at_least: int = 4  # Pieces (dialogues) at the same time: the shortest lengths have fewer sub-plans.
    turn_tries: int = 3  # Tries of one turn: what three do not give, a model does not.
    plan_tries: int = 2  # Tries of a unit of the plan before the run goes on without it: much depends on each of them.
    wordings: int = 3  # Tries of one probe, the first one included: another candidate is cheaper.
    rewordings: int = 2  # Critiques whose words are taken: a critic's error shows in the next round (2 of 8 refused).
    open_per_call: int = 2  # Pieces (dialogues) begun per call in flight: enough to choose from, few enough for memory.
    least_open: int = 16  # Pieces (dialogues) open, at least: one call in flight still wants a choice.
    waiting_per_call: float = 0.5  # Pieces (dialogues) waiting, per call: four times as many end no sooner at 10M.
    settle_rounds: int = 3  # Rounds that use up what dialogues left of the budget: the second leaves little.
    settled_share: float = 0.004  # Share of the target below which nothing more is settled: the promise is 2 %.


RUNNING = RunTuning()
