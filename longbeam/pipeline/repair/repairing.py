"""Repair.

What error findings name is made again, and nothing else; imported probes with errors are taken out of the
selection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from longbeam.keys import ProbeId, natural_order
from longbeam.models import Models
from longbeam.pipeline.checking import check_and_store
from longbeam.pipeline.repair.plan import Rejections, Repairs, repairs_of
from longbeam.pipeline.run.conversation import Conversation, TalkedConversation
from longbeam.pipeline.run.driver import (
    ConversationRun,
    RunContext,
    conversation_places,
    limited_models,
    open_run,
    seeds_of,
    talk_conversation,
)
from longbeam.pipeline.run.mending import mend_turns
from longbeam.pipeline.run.probing import ProbePool, ask_for_new_wording
from longbeam.pipeline.run.refusals import refuse, remember_order, remembered_order, version_of
from longbeam.pipeline.run.scheduling import Schedule
from longbeam.pipeline.run.stages import SEAL, checks_stage, probes_stage, seal_stage
from longbeam.pipeline.run.units import all_of
from longbeam.pipeline.tuning import RUNNING
from longbeam.prompts import PromptRegistry
from longbeam.schemas import Finding, Probe, Record, Severity
from longbeam.store import Benchmark, SealedConversation, WorkLog, seal_conversation


def withdraw(benchmark: Benchmark, wanted: dict[str, Repairs]) -> list[str]:
    """Take the probes that `wanted` names out of the selection; return a line for each."""
    lines = []
    for conversation_id, repairs in wanted.items():
        path = benchmark.sealed_path(conversation_id)
        with WorkLog.open(benchmark.work_path(conversation_id)) as log, SealedConversation(path) as sealed:
            probes = list(sealed.probes())
            for probe in probes:
                if (reason := repairs.probes.get(probe.probe_id)) is not None:
                    refuse(log, probe, reason)
                    lines.append(f"{conversation_id} {probe.probe_id}: withdrawn ({reason})")
            kept = [p.model_copy(update={"is_selected": False}) if p.probe_id in repairs.probes else p for p in probes]
            seal_conversation(path, sealed.head, sealed.messages(), kept)
    return lines


class RepairReport(Record):
    """Result of a repair."""

    name: str
    done: tuple[str, ...] = ()
    """One line for each turn or probe that was made again, in the order of the conversations."""
    left: tuple[str, ...] = ()
    """One line for each error that is left, with the reason."""
    conversations: tuple[str, ...] = ()
    """Conversations that were sealed again."""
    calls: int = 0
    """Model calls made."""
    replayed: int = 0
    """Replies taken from the journal."""
    stopped: str = ""
    """Reason why the repair ended early; empty if it did not."""


@dataclass
class _RepairTally:
    done: dict[str, list[str]] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    calls: int = 0
    replayed: int = 0
    stopped: str = ""


async def repair(
    benchmark: Benchmark,
    models: Models,
    *,
    rejected: Callable[[], Rejections] = dict,
    rounds: int = RUNNING.repair_rounds,
    prompts: PromptRegistry | None = None,
) -> RepairReport:
    """Repair the finished conversations of a benchmark, round after round until nothing is left or nothing helps.

    `rejected` reads what reviewers rejected of the probes as they are sealed at that moment: one that was worded again
    is another probe to them. Findings are stored as `validate` stores them, after the last round.
    """
    tally = _RepairTally()
    findings = check_and_store(benchmark)
    for _ in range(rounds):
        wanted = repairs_of(benchmark, findings, rejected())
        if not wanted or not await _round(benchmark, wanted, tally, models, prompts):
            break
        findings = check_and_store(benchmark)
    errors = [f for f in findings if f.severity is Severity.ERROR]
    still_rejected = repairs_of(benchmark, [], rejected())
    return RepairReport(
        name=benchmark.spec.name,
        done=tuple(f"{i} {line}" for i in sorted(tally.done) for line in tally.done[i]),
        left=(
            *(_left(f, tally.failures.get(f.conversation_id, ())) for f in errors),
            *(f"{i} {p}: {reason}" for i, r in still_rejected.items() for p, reason in r.probes.items()),
        ),
        conversations=tuple(sorted(tally.done)),
        calls=tally.calls,
        replayed=tally.replayed,
        stopped=tally.stopped,
    )


def repair_import(benchmark: Benchmark, *, withdraws: bool, rejected: Callable[[], Rejections] = dict) -> RepairReport:
    """Report the errors of an import, and where `withdraws` take the probes that have some out of the selection.

    Nothing of what somebody else wrote is changed.
    """
    findings = check_and_store(benchmark)
    wanted = repairs_of(benchmark, findings, rejected())
    done = withdraw(benchmark, {i: r for i, r in wanted.items() if r.probes}) if withdraws else []
    if done:
        findings = check_and_store(benchmark)
    return RepairReport(
        name=benchmark.spec.name,
        done=tuple(done),
        left=tuple(left_of(benchmark, findings, {})),
        conversations=tuple(dict.fromkeys(line.partition(" ")[0] for line in done)),
    )


def left_of(benchmark: Benchmark, findings: Sequence[Finding], wanted: Mapping[str, Repairs]) -> list[str]:
    """Return a line for each error that `wanted` does nothing about; not for those on probes that are not selected."""
    lines = []
    withdrawn: dict[str, set[str]] = {}
    for finding in findings:
        i = finding.conversation_id
        if finding.severity is not Severity.ERROR:
            continue
        if i and i not in withdrawn:
            with SealedConversation(benchmark.sealed_path(i)) as sealed:
                withdrawn[i] = {p.probe_id for p in sealed.probes() if not p.is_selected}
        repairs = wanted.get(i)
        named = (finding.subject, *finding.evidence[:1])
        if finding.subject in withdrawn.get(i, ()) or (repairs is not None and any(map(repairs.concerns, named))):
            continue
        lines.append(_left(finding, ()))
    return lines


def _left(finding: Finding, failures: Sequence[str]) -> str:
    where = f"{finding.conversation_id} " if finding.conversation_id else ""
    names = {finding.subject, *finding.evidence, *(key.rpartition(".")[0] for key in finding.evidence)}
    tried = [line.partition(": ")[2] for line in failures if line.partition(": ")[0] in names]
    return f"{where}{finding.subject}: {finding.check}: {finding.message}" + (f" ({tried[-1]})" if tried else "")


async def _round(
    benchmark: Benchmark,
    wanted: Mapping[str, Repairs],
    tally: _RepairTally,
    models: Models,
    prompts: PromptRegistry | None,
) -> bool:
    """Try everything once; return whether another round may help: something was made, or has a try left."""
    schedule, places = Schedule(benchmark.spec.limits.concurrency), conversation_places(benchmark)
    seeds = dict(zip(benchmark.conversation_ids, seeds_of(benchmark), strict=True))
    before = tally.calls, sum(map(len, tally.done.values()))

    async def one(context: RunContext, conversation_id: str) -> None:
        async with places, open_run(context, conversation_id, seeds[conversation_id]) as run:
            work = _ConversationRepair(wanted[conversation_id])
            await work.run(run)
            tally.done.setdefault(conversation_id, []).extend(work.done)
            tally.failures.setdefault(conversation_id, []).extend(work.failures)
            tally.calls += run.journalled.asks
            tally.replayed += run.journalled.hits
            tally.stopped = tally.stopped or run.stopped

    async with limited_models(models, benchmark.spec) as shared:
        context = RunContext(benchmark, shared, schedule, prompts=prompts)
        await all_of([one(context, conversation_id) for conversation_id in wanted])
    return not tally.stopped and before != (tally.calls, sum(map(len, tally.done.values())))


@dataclass
class _ConversationRepair:
    """The repair of one conversation: what is wanted, and what was done so far."""

    wanted: Repairs
    done: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """`<turn or probe>: <why it could not be mended>`."""

    async def run(self, run: ConversationRun) -> None:
        """Run all stages: replies come from the journal, but for what is made again between dialogues and probes."""
        c = run.conversation
        if (talked := await talk_conversation(run)) is None:
            return
        with SealedConversation(c.sealed_path) as sealed:
            before = list(sealed.probes())
        if remembered_order(c.units.log) is None:
            remember_order(c.units.log, before)
        faults = list(self.wanted.turns.values())
        mended = await run.through(mend_turns(talked, faults))
        if mended is None:
            return
        talked, failures = mended[0].without_indexes(), mended[1]
        self.failures += failures
        failed = {line.partition(": ")[0] for line in failures}
        self.done += [f"{key}: said anew" for key in self.wanted.turns if key not in failed]
        unwanted = {**self.wanted.probes, **self.wanted.spares_rejected}
        for probe in before:
            if probe.probe_id in unwanted:
                refuse(c.units.log, probe, unwanted[probe.probe_id])
        probed = await run.through(_probed(talked))
        if probed is not None and self._reword(c, probed[1]):
            probed = await run.through(_probed(talked))
        if probed is None:
            return
        talked, pool = probed
        self._report_probes(before, pool.probes)
        remember_order(c.units.log, pool.probes)
        # The sealed file is what was found at fault, whatever the work log says of how it was made.
        c.units.log.units.remove(SEAL.stage, keep=())
        await run.through(seal_stage(talked, pool))

    def _reword(self, c: Conversation, pool: ProbePool) -> bool:
        """Have refused probes worded again where an ability has too few others; say whether there is one."""
        asked, opened = c.units.spec.probes_per_ability, False
        for ability in c.units.spec.abilities:
            missing = asked - sum(p.is_selected for p in pool.probes if p.ability == ability)
            refused = [i for i in pool.refused if ProbeId.parse(i).ability == ability]
            for probe_id in sorted(refused, key=natural_order):
                if missing > 0 and ask_for_new_wording(c.units, probe_id, pool.refused[probe_id]):
                    missing, opened = missing - 1, True
            if missing > 0:
                self.failures.append(f"{ability}: no candidate is left that may be worded again")
        return opened

    def _report_probes(self, before: Sequence[Probe], after: Sequence[Probe]) -> None:
        old = {p.probe_id: p for p in before}
        was, now = ({p.probe_id for p in probes if p.is_selected} for probes in (before, after))
        self.done += [f"{i}: left out ({self.wanted.probes.get(i, 'refused by a check')})" for i in sorted(was - now)]
        self.done += [f"{i}: taken in its place" for i in sorted(now - was)]
        for probe in after:
            if probe.probe_id in was & now and version_of(probe) != version_of(old[probe.probe_id]):
                self.done.append(f"{probe.probe_id}: kept, and made again from what is said and known now")


async def _probed(talked: TalkedConversation) -> tuple[TalkedConversation, ProbePool]:
    return await checks_stage(await probes_stage(talked))
