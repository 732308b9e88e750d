"""How far a benchmark is: read from the work logs and the sealed files, also while a run writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from longbeam.keys import PROBES, REPAIR, STAGES, TEXT_STAGES
from longbeam.models import prices_of
from longbeam.pipeline.cost.estimate import EstimateRow, money, render_rows, rows_by_role, total_of
from longbeam.pipeline.cost.outlook import stored_outlook
from longbeam.pipeline.run.finished import unchanged_conversations
from longbeam.pipeline.run.gaps import making_of, share_of_gaps
from longbeam.pipeline.run.metering import checks_usage, evaluation_logs
from longbeam.prompts import registry_for
from longbeam.schemas import (
    KeptRun,
    Making,
    Position,
    Record,
    Usage,
    incident_counts,
    off_subject,
    prompt_lines,
    summed,
    total_line,
)
from longbeam.store import Benchmark, Unit, UnitStatus, WorkLog, living_holder, position_of_holder
from longbeam.terminal import counted, duration, without_places

MOST_NAMED = 3
"""Conversations that `kept_line` names."""


class ConversationStatus(Record):
    """How far one conversation is."""

    conversation_id: str
    is_finished: bool
    """Whether it is sealed, with no failed unit but of repairs."""
    done: dict[str, int]
    """Units done, by stage."""
    failures: tuple[Unit, ...]
    calls: tuple[Usage, ...]
    """Model calls in the journal, those of model-backed checks among them."""
    making: Making = Making()
    """Replies by prompt, and incidents; those of the seal are in the sealed file alone."""
    worker: str = ""
    """Who makes it on a cluster now; empty if nobody does."""
    gap_share: float | None = None
    """Share of the parts of its text for which no reply could be used; None if there is no gap, or a run goes on."""
    position: Position | None = None
    """How far the worker is, beyond what the work log in place holds; None where it has not said."""


class EvaluationStatus(Record):
    """How far the evaluations of a benchmark are."""

    runs: int = 0
    """Runs that are kept."""
    last: KeptRun | None = None
    answers: int = 0
    """Answers that are stored, those of a run that goes on or was stopped among them."""
    judged: int = 0
    failures: int = 0


class BenchmarkStatus(Record):
    """Progress of a benchmark."""

    name: str
    length: int
    conversations: tuple[ConversationStatus, ...]
    used: tuple[EstimateRow, ...] = ()
    """Calls, tokens and cost of everything in the journals, by stage and role."""
    expected: tuple[EstimateRow, ...] = ()
    """The expected `used` at the end of the run; empty if no rehearsal of the spec is stored."""
    evaluations: EvaluationStatus = EvaluationStatus()
    seconds_left: float | None = None
    """Expected seconds until the active run ends; None if no run is active or nothing is known."""

    @property
    def finished(self) -> int:
        """Conversations that are finished."""
        return sum(c.is_finished for c in self.conversations)

    @property
    def failed_units(self) -> int:
        """Failed units of all conversations."""
        return sum(len(c.failures) for c in self.conversations)

    @property
    def calls(self) -> int:
        """Model calls in all journals."""
        return sum(t.calls for c in self.conversations for t in c.calls)


def kept_line(benchmark: Benchmark) -> str:
    """Return one line on what earlier runs have done and where unfinished conversations go on; empty if nothing is.

    Conversations in which a run finds nothing to make count as kept, whether the run goes through them or not.
    """
    sealed, going_on, units = set(benchmark.sealed_ids), [], 0
    kept = benchmark.kept
    if sealed - kept:
        kept |= unchanged_conversations(benchmark, registry_for(benchmark.spec))
    for conversation_id in benchmark.conversation_ids:
        if conversation_id in kept or not (path := benchmark.work_path(conversation_id)).exists():
            continue
        with WorkLog.open_read_only(path) as log:
            done = {stage: counts[UnitStatus.DONE] for stage, counts in log.units.counts().items()}
        units += sum(done.values())
        if conversation_id in sealed:
            going_on.append(f"{conversation_id} where something changed or failed")
        elif begun := [stage for stage in STAGES if done.get(stage)]:
            going_on.append(f"{conversation_id} from {begun[-1]} on")
    if not (going_on or kept):
        return ""
    finished = f"{len(kept)} of {counted(len(benchmark.conversation_ids), 'conversation')} kept"
    more = f" and {len(going_on) - MOST_NAMED} more" if len(going_on) > MOST_NAMED else ""
    left = f"; {', '.join(going_on[:MOST_NAMED])}{more}, with {counted(units, 'unit')} kept" if going_on else ""
    return f"{benchmark.spec.name}: {finished}{left}"


def benchmark_status(benchmark: Benchmark) -> BenchmarkStatus:
    """Return how far each conversation is. Raises StoreError if a work log is damaged."""
    conversations = tuple(_conversation_status(benchmark, i) for i in benchmark.conversation_ids)
    prices = prices_of(benchmark.spec)
    used = summed(row for c in conversations for row in c.calls)
    expected, seconds_left = stored_outlook(benchmark, [row for row in used if row.stage in STAGES])
    return BenchmarkStatus(
        name=benchmark.spec.name,
        length=benchmark.spec.length,
        conversations=conversations,
        used=rows_by_role(prices, used),
        expected=rows_by_role(prices, expected),
        evaluations=_evaluation_status(benchmark),
        seconds_left=seconds_left,
    )


def _evaluation_status(benchmark: Benchmark) -> EvaluationStatus:
    logs = evaluation_logs(benchmark)
    if not logs:
        return EvaluationStatus()
    # Here, because memory systems load numeric libraries, which `status` of a run need not wait for.
    from longbeam.evaluation import kept_runs
    from longbeam.pipeline.evaluate import evaluation_folder

    counts: Counter[str] = Counter()
    for path in logs:
        with WorkLog.open_read_only(path) as log:
            for stage, of in log.units.counts().items():
                counts[stage] += of[UnitStatus.DONE]
            counts["failed"] += len(log.units.failures())
    runs = kept_runs(evaluation_folder(benchmark))
    return EvaluationStatus(
        runs=len(runs),
        last=runs[-1] if runs else None,
        answers=counts["answer"],
        judged=counts["judge"],
        failures=counts["failed"],
    )


def render_evaluations(status: BenchmarkStatus) -> str:
    """Return one line on the evaluations; empty where there is none. Ends a line."""
    of, last = status.evaluations, status.evaluations.last
    if not (of.answers or of.judged or of.runs):
        return ""
    kept = f", the last {last.name or last.run_id} of {last.made_at:%Y-%m-%d %H:%M} UTC" if last is not None else ""
    failed = f", {of.failures:,} failed" if of.failures else ""
    return (
        f"evaluations: {counted(of.runs, 'run')} kept{kept}; {of.answers:,} answers stored, {of.judged:,} judged"
        f"{failed} (`longbeam runs {status.name}`)\n"
    )


def _conversation_status(benchmark: Benchmark, conversation_id: str) -> ConversationStatus:
    folder = benchmark.lease_folder(conversation_id)
    holder = living_holder(folder)
    worker = holder.worker if holder is not None else ""
    position = position_of_holder(folder) if holder is not None else None
    checks = tuple(checks_usage(benchmark, conversation_id))
    if not benchmark.work_path(conversation_id).exists():
        return ConversationStatus(
            conversation_id=conversation_id,
            is_finished=False,
            done={},
            failures=(),
            calls=checks,
            worker=worker,
            position=position,
        )
    with WorkLog.open_read_only(benchmark.work_path(conversation_id)) as log:
        counts, failures, calls = log.units.counts(), log.units.failures(), log.journal.usage()
        gap_share, making = share_of_gaps(log), making_of(log)
    return ConversationStatus(
        conversation_id=conversation_id,
        is_finished=benchmark.sealed_path(conversation_id).exists()
        and _may_be_sealed(failures, gap_share, benchmark.spec.checks.gap_share),
        done={stage: count[UnitStatus.DONE] for stage, count in counts.items()},
        failures=tuple(failures),
        calls=(*calls, *checks),
        worker=worker,
        gap_share=gap_share,
        making=making,
        position=position,
    )


def finished_ids(benchmark: Benchmark) -> tuple[str, ...]:
    """Return the finished conversations, as `status` counts them. Raises StoreError if a work log is damaged."""
    if benchmark.spec.is_given:
        return benchmark.sealed_ids
    return tuple(i for i in benchmark.sealed_ids if _is_finished(benchmark, i))


def _is_finished(benchmark: Benchmark, conversation_id: str) -> bool:
    if not (path := benchmark.work_path(conversation_id)).exists():
        return False
    with WorkLog.open_read_only(path) as log:
        return _may_be_sealed(log.units.failures(), share_of_gaps(log), benchmark.spec.checks.gap_share)


def _may_be_sealed(failures: Sequence[Unit], gap_share: float | None, allowed: float) -> bool:
    """Return whether a conversation with these failures can be finished."""
    # What could not be repaired is a failure; the conversation was finished before, and is as it was.
    # A probe that could not be worded has left its place to the next.
    left_out = {REPAIR, PROBES} if gap_share is None else {REPAIR, PROBES, *TEXT_STAGES}
    is_allowed = gap_share is None or gap_share <= allowed
    return is_allowed and all(f.stage == REPAIR or (f.stage in left_out and f.is_exhausted) for f in failures)


def render_used(status: BenchmarkStatus) -> str:
    """Return the table of what was used; empty where nothing was counted. Ends a line."""
    if not any(row.prompt_tokens for row in status.used):
        return ""
    return f"used so far\n{render_rows(status.used).rstrip()}\n"


def render_status(status: BenchmarkStatus, stages: tuple[str, ...]) -> str:
    """Return the status as text: one line a conversation, one line a failed unit; ends with a newline."""
    lines = [
        f"{status.name}: {status.finished} of {counted(len(status.conversations), 'conversation')} finished, "
        f"{counted(status.failed_units, 'failed unit')}, {counted(status.calls, 'model call')}"
    ]
    width = max(len(stage) for stage in stages)
    lines.append("  ".join(["     ", *(stage.rjust(width) for stage in stages), "state"]))
    for conversation in status.conversations:
        done = (str(conversation.done.get(stage, 0)).rjust(width) for stage in stages)
        lines.append("  ".join([conversation.conversation_id.ljust(5), *done, _state(conversation)]))
        lines.extend(f"       {line}" for line in describe_failures(conversation.failures))
    if used := render_used(status):
        lines += ["", used.rstrip()]
    lines += off_subject([c.making for c in status.conversations])
    if made := describe_making([c.making for c in status.conversations]):
        lines.append(made)
    if status.expected and status.finished < len(status.conversations):
        left = f", about {duration(status.seconds_left)} left" if status.seconds_left is not None else ""
        total = total_of(status.expected)
        lines.append(
            f"expected in all: {total.calls:,} calls, {total.prompt_tokens:,} prompt tokens"
            f" ({total.cached_tokens:,} cached), {total.output_tokens:,} output, {money(total.cost_usd)}{left}"
        )
    return "\n".join(lines) + "\n" + render_evaluations(status)


def describe_making(makings: Sequence[Making]) -> str:
    """Return one line on replies that could not be used as they came; empty where there are none."""
    total, counts = total_line(prompt_lines(makings)), incident_counts(makings)
    fixes = {"mended": total.mended, "short": total.short, "defaulted": total.defaulted, "given up": total.refused}
    parts = [f"{n:,} {name.replace('_', ' ')}" for name, n in {**fixes, **counts}.items() if n]
    if total.replies == total.requests and not parts:
        return ""
    shares = f"{total.first_share:.1%} of {total.requests:,} requests took one reply, {total.wasted_share:.1%} of"
    return f"replies: {shares} the output wasted{'; ' if parts else ''}{', '.join(parts)} (by prompt: `longbeam stats`)"


def describe_failure(unit: Unit) -> str:
    """One line: which unit, what went wrong, after how many attempts."""
    message = " ".join(unit.error.split())
    times = f" after {unit.attempts} attempts" if unit.attempts > 1 else ""
    return f"{unit.stage} {unit.unit_key} failed{times}: {unit.error_kind}: {message[:200]}"


def describe_failures(units: Sequence[Unit]) -> list[str]:
    """Return a line for each unit that failed; units of a stage that failed alike share one."""
    groups: dict[tuple[str, str, str], list[Unit]] = {}
    for unit in units:
        groups.setdefault((unit.stage, unit.error_kind, without_places(unit.error)), []).append(unit)
    lines = []
    for alike in groups.values():
        more = f"; {counted(len(alike) - 1, 'more unit')} of {alike[0].stage} failed alike" if len(alike) > 1 else ""
        lines.append(describe_failure(alike[0]) + more)
    return lines


def _state(conversation: ConversationStatus) -> str:
    if conversation.worker:
        at = conversation.position
        where = f", {at.stage} {at.units_done}/{at.units_total}, {at.calls:,} calls" if at and at.stage else ""
        return f"with {conversation.worker}{where}"
    if conversation.is_finished:
        return f"finished, {conversation.gap_share:.1%} of its parts missing" if conversation.gap_share else "finished"
    if conversation.failures:
        gaps = f", {conversation.gap_share:.1%} of its parts missing" if conversation.gap_share else ""
        return f"{len(conversation.failures)} failed{gaps}"
    return "begun" if conversation.done else "not begun"
