"""Expected cost of a repair: its calls by prompt, each at the mean usage of earlier calls of the same prompt."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from longbeam.evaluation import GUESSED_AT_ONCE, MEASURING
from longbeam.generators.probes import writing_prompts
from longbeam.keys import ProbeId, natural_order
from longbeam.models import cost_of, has_model_checks, prices_of
from longbeam.pipeline.cost.estimate import money
from longbeam.pipeline.repair.plan import Repairs
from longbeam.pipeline.run.mending import TurnFault
from longbeam.schemas import COUNTS, Message, MessageKind, Probe, Usage, summed
from longbeam.store import Benchmark, SealedConversation, WorkLog
from longbeam.terminal import counted

_PROMPTS = {
    MessageKind.REPLY: "assistant_reply",
    MessageKind.ANSWER: "user_answer",
    MessageKind.FOLLOW_UP: "user_follow_up",
}
"""Prompt that writes each kind of message other than the question that opens a turn."""


def render_plan(benchmark: Benchmark, wanted: Mapping[str, Repairs]) -> str:
    """Return one line for each turn or probe to make again, and one with the expected cost; ends with a newline."""
    lines, rows = [], list[Usage]()
    for conversation_id, repairs in wanted.items():
        calls = calls_for(repairs)
        if has_model_checks(benchmark.spec):
            calls += checker_calls(benchmark, conversation_id, repairs)
        rows += _usage(benchmark, conversation_id, calls)
        for key, fault in repairs.turns.items():
            lines.append(f"{conversation_id} {key}: would be said anew ({'; '.join(fault.problems.values())})")
        free = {ability: list(ids) for ability, ids in repairs.spares.items()}
        for probe_id, reason in repairs.probes.items():
            spare = free.get(ProbeId.parse(probe_id).ability)
            what = f"{spare.pop(0)} would take its place" if spare else "it, or another, would be worded again"
            lines.append(f"{conversation_id} {probe_id}: {what} ({reason})")
        lines += [f"{conversation_id} {ability}: refused probes would be worded again" for ability in repairs.short]
    total = [sum(getattr(row, name) for row in rows) for name in COUNTS]
    used = dict(zip(COUNTS, total, strict=True))
    cost = money(cost_of(prices_of(benchmark.spec), rows))
    lines.append(
        f"about {counted(used['calls'], 'model call')}, {used['prompt_tokens']:,} prompt tokens,"
        f" {used['output_tokens']:,} output, {cost}; nothing was changed"
    )
    return "\n".join(lines) + "\n"


def calls_for(repairs: Repairs) -> Counter[str]:
    """Return how many calls of each prompt a repair makes, if every reply fits."""
    calls: Counter[str] = Counter()
    for fault in repairs.turns.values():
        calls.update(_calls_of_turn(fault))
    for probe_id in _reworded(repairs):
        calls.update(writing_prompts(ProbeId.parse(probe_id).ability))
    for ability in repairs.short:
        calls.update(writing_prompts(ability))
    return calls


def checker_calls(benchmark: Benchmark, conversation_id: str, repairs: Repairs) -> Counter[str]:
    """Return how many calls of each prompt of the checker a repair makes, if no check finds anything."""
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        probes = list(sealed.probes())
    # Every verdict is on the whole conversation, so a regenerated message has all selected probes judged again.
    staying = [p for p in probes if p.is_selected and p.probe_id not in repairs.probes] if repairs.turns else []
    judged = [*_newly_selected(repairs, probes), *staying]
    batches = math.ceil(len(judged) / MEASURING.gate_batch)
    guesses = math.ceil(len(judged) / GUESSED_AT_ONCE)
    return Counter(
        {
            "guess_answers": guesses,
            "read_passages": 2 * batches,
            "criticise_probes": batches,
            "mark_answers": batches,
        }
    )


def _newly_selected(repairs: Repairs, probes: Sequence[Probe]) -> list[Probe]:
    """Return the probes that a repair selects or words again, as they are now.

    An ability with too few probes gets one that is not among them: another probe stands for it.
    """
    known = {probe.probe_id: probe for probe in probes}
    new = [known[probe_id] for probe_id in (*_promoted(repairs), *_reworded(repairs))]
    for ability in filter(writing_prompts, repairs.short):
        new += [p for p in probes if p.ability == ability][:1] or list(probes[:1])
    return new


def _promoted(repairs: Repairs) -> list[str]:
    """Return the spare probes that take the place of a refused one."""
    wanted = Counter(ProbeId.parse(probe_id).ability for probe_id in repairs.probes)
    return [i for ability, count in wanted.items() for i in repairs.spares.get(ability, ())[:count]]


def _reworded(repairs: Repairs) -> list[str]:
    """Return the refused probes that are worded again, for want of spare ones."""
    reworded = []
    for ability in dict.fromkeys(ProbeId.parse(probe_id).ability for probe_id in repairs.probes):
        refused = [i for i in repairs.probes if ProbeId.parse(i).ability == ability]
        missing = max(0, len(refused) - len(repairs.spares.get(ability, ())))
        if writing_prompts(ability):
            reworded += sorted(refused, key=natural_order)[:missing]
    return reworded


def _calls_of_turn(fault: TurnFault) -> Iterable[str]:
    if fault.bullet_id:
        return ("user_turns", "assistant_reply", "question_detector")
    first = fault.sealed[0]
    if first.message_key not in fault.problems:
        return [_PROMPTS[m.kind] for m in fault.sealed if m.message_key in fault.problems]
    question = "user_turns" if first.bullet_ids else "more_turns"
    return [question, *(p for m in fault.sealed[1:] for p in _calls_of(m))]


def _calls_of(message: Message) -> tuple[str, ...]:
    # After a reply it may be asked whether the user is asked something.
    detectors = ("question_detector",) if message.kind is MessageKind.REPLY else ()
    return (_PROMPTS[message.kind], *detectors)


def _usage(benchmark: Benchmark, conversation_id: str, calls: Mapping[str, int]) -> list[Usage]:
    """Return the expected usage of calls: the mean usage of the same prompts in the conversation's journal."""
    with WorkLog.open_read_only(benchmark.work_path(conversation_id)) as log:
        known = summed(row.model_copy(update={"stage": "repair"}) for row in log.journal.usage())
    found = []
    for prompt_id, count in calls.items():
        row = next((r for r in known if r.prompt_id == prompt_id), None)
        if row is None:
            found.append(Usage(stage="repair", role="", prompt_id=prompt_id, model="", calls=count))
        else:
            found.append(Usage.of(row.key, {n: round(c * count / row.calls) for n, c in row.counts().items()}))
    return found
