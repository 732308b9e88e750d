"""Judging of entailment by models: the role `checker` decides what the rules of `entailment` cannot.

A second checker is asked only about faults that the first one found: a fault counts when both agree. A checker whose
replies cannot be read finds no fault, because a check that fails must not stop what it checks. A checker that fails
its calibration refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from longbeam.generators.calibration import fitness_of
from longbeam.generators.entailment import RuleAnswer, Ruling, rule_on_message
from longbeam.models import Acceptance, Asker, has_model_checks
from longbeam.prompts.calls import (
    BulletBrief,
    ClaimVerdict,
    ContradictionInputs,
    ContradictionReply,
    EntailmentInputs,
    EntailmentReply,
    SpokenDay,
    ToldRemark,
    in_full,
)
from longbeam.schemas import Incident, IncidentKind, Role

ENTAILMENT_PROMPTS = ("check_entailment",)
CONTRADICTION_PROMPTS = ("check_contradiction",)


def fault_in(text: str, brief: BulletBrief) -> str:
    """Return what rules find wrong with a message that voices a bullet; empty if it may say the bullet."""
    ruling = rule_on_message(text, brief)
    return _fault_of(brief, ruling.reason) if ruling.answer is RuleAnswer.NO else ""


def _fault_of(brief: BulletBrief, reason: str) -> str:
    return f"the turn that voices {brief.bullet.bullet_id} does not say it: {reason}"


@dataclass
class Voicing:
    """The check that messages say the bullets which they voice, and its memory of what the checker refused."""

    asker: Asker
    briefs: Sequence[BulletBrief]
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Messages with the ids of bullets that the checker did not find in them."""
    days: Mapping[str, Sequence[SpokenDay]] = field(default_factory=dict)
    """By bullet, the days that its message may say shortly."""

    async def judge(self, turns: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
        """Return what the checker refuses where rules cannot tell; a turn is a text with the ids that it voices."""
        faults: list[str] = []
        if not has_model_checks(self.asker.spec):
            return faults
        for i, (text, voices) in enumerate(turns):
            doubtful = {
                b.bullet.text: b for b in self._own(voices) if self._ruling(text, b).answer is RuleAnswer.UNSURE
            }
            message = self._in_full(text, voices)
            missed = await unsaid_claims(self.asker, f"says.{i}", message, tuple(doubtful)) if doubtful else {}
            for claim, reason in missed.items():
                self.refused.add((text, doubtful[claim].bullet.bullet_id))
                faults.append(_fault_of(doubtful[claim], reason))
        return faults

    def said(self, text: str, voices: Sequence[str]) -> list[str]:
        """Return which of the bullets a message says; each other one is an incident."""
        kept = []
        for brief in self._own(voices):
            bullet_id = brief.bullet.bullet_id
            fault = fault_in(self._in_full(text, [bullet_id]), brief)
            if fault or (text, bullet_id) in self.refused:
                detail = fault or _fault_of(brief, "the checker does not find it there")
                self.asker.note(Incident(kind=IncidentKind.NOT_ENTAILED, prompt_id="user_turns", detail=detail))
            else:
                kept.append(bullet_id)
        return kept

    def _own(self, voices: Sequence[str]) -> list[BulletBrief]:
        return [brief for brief in self.briefs if brief.bullet.bullet_id in voices]

    def _ruling(self, text: str, brief: BulletBrief) -> Ruling:
        return rule_on_message(self._in_full(text, [brief.bullet.bullet_id]), brief)

    def _in_full(self, text: str, bullet_ids: Iterable[str]) -> str:
        return in_full(text, [day for bullet_id in bullet_ids for day in self.days.get(bullet_id, ())])


async def unsaid_claims(asker: Asker, place: str, message: str, claims: Sequence[str]) -> dict[str, str]:
    """Return the claims that a message does not say, with the checker's reasons; none where no checker is asked.

    `place` names the message within the unit that asks.
    """
    missed: dict[str, str] = {}
    for judge in _judges(asker, place):
        inputs = EntailmentInputs(message=message, claims=tuple(claims))
        missed = {claims[v.claim - 1]: v.reason for v in await _verdicts(judge, inputs) if not v.is_said}
        claims = tuple(missed)
        if not missed:
            return {}
    objection = "; ".join(f"{claim!r}: {reason}" for claim, reason in missed.items())
    return {} if missed and await _is_unfit(asker, place, "check_entailment", objection) else missed


async def _verdicts(judge: Asker, inputs: EntailmentInputs) -> Sequence[ClaimVerdict]:
    numbers = list(range(1, len(inputs.claims) + 1))

    def check(reply: EntailmentReply) -> Iterator[str]:
        if [v.claim for v in reply.verdicts] != numbers:
            yield f"give a verdict on each claim from 1 to {len(numbers)}, once and in this order"

    def mend(reply: EntailmentReply) -> EntailmentReply:
        return EntailmentReply(verdicts=[v for v in reply.verdicts if v.claim in numbers])

    default = EntailmentReply(verdicts=[])
    reply: EntailmentReply = await judge.structured(
        "check_entailment", inputs, accept=Acceptance(check=check, mend=mend, default=default)
    )
    return reply.verdicts


async def contradiction_fault(asker: Asker, place: str, earlier: ToldRemark, later: ToldRemark) -> str:
    """Return the checker's reason why the later of two remarks is no slip; empty if it is one, or none is asked.

    It is none if both can be true, or if nobody would misremember such a thing.
    """
    reason = ""
    for judge in _judges(asker, place):
        reply = await _compared(judge, earlier, later, in_doubt=False)
        reason = "" if reply.is_plausible and not reply.can_both_be_true else reply.reason
        if not reason:
            return ""
    return "" if reason and await _is_unfit(asker, place, "check_contradiction", reason) else reason


async def _compared(judge: Asker, earlier: ToldRemark, later: ToldRemark, *, in_doubt: bool) -> ContradictionReply:
    """Return a checker's reply on two remarks; `in_doubt`: whether they can both be true if no reply can be used."""
    inputs = ContradictionInputs(earlier=earlier, later=later)
    accept = Acceptance(default=ContradictionReply(reason="", can_both_be_true=in_doubt))
    reply: ContradictionReply = await judge.structured("check_contradiction", inputs, accept=accept)
    return reply


async def exclude_each_other(asker: Asker, place: str, earlier: ToldRemark, later: ToldRemark) -> bool:
    """Return whether all checkers find that two remarks cannot both be true; False if none is asked, or one is unfit.

    Nobody planned these remarks, so that doubt counts against a contradiction.
    """
    reason = ""
    for judge in _judges(asker, place):
        reply = await _compared(judge, earlier, later, in_doubt=True)
        if reply.can_both_be_true:
            return False
        reason = reply.reason
    if not has_model_checks(asker.spec):
        return False
    return not await _is_unfit(asker, place, "check_contradiction", reason, "no contradiction")


async def _is_unfit(asker: Asker, place: str, prompt_id: str, objection: str, consequence: str = "not refused") -> bool:
    """Return whether a judge that objects is not fit to; the objection is an incident then."""
    for judge in _judges(asker, place):
        fitness = await fitness_of(judge)
        if not fitness.is_fit:
            detail = f"{fitness}, {consequence}: {objection}"
            asker.note(Incident(kind=IncidentKind.UNFIT, prompt_id=prompt_id, place=place, detail=detail))
            return True
    return False


def _judges(asker: Asker, place: str) -> Iterator[Asker]:
    if not has_model_checks(asker.spec):
        return
    yield asker.within(place)
    if asker.spec.model_for(Role.SECOND_CHECKER):
        yield asker.within(f"{place}/second").acting_as(Role.SECOND_CHECKER)
