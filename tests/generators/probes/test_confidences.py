"""What is to stay unsaid, and what a pasted document claims."""

from __future__ import annotations

from longbeam.generators.probes import ProbeCandidate, assemble_probe, worded_by_code
from longbeam.generators.probes.information_extraction import find_candidates as find_extractions
from longbeam.generators.probes.instruction_following import check, find_candidates
from longbeam.offline import answer_over, asides, judge, understand
from longbeam.prompts.calls import JudgeInputs
from longbeam.schemas import BulletKind, Probe
from longbeam.text import FORGET, KEEP_FROM, POISONS, SOURCE, money, name, number
from tests.generators.probes.story import Story

LOAN = next(texts for texts in asides().confidences if texts.name == "the loan")


def _story(kind: str, *, is_told: bool = True) -> Story:
    story = Story()
    text = LOAN.tell.format(source="the savings bank", figure="$4,200")
    facts = [(LOAN.name, f"{SOURCE} on day 0", name("the savings bank")), (LOAN.name, "figure on day 0", money(4200))]
    story.tell(0, LOAN.name, text, *facts, kind=BulletKind.SIDE, said=text if is_told else "Hello.")
    story.facts[:] = [f.model_copy(update={"side_story": LOAN.name}) for f in story.facts]
    person = "Dana" if kind == KEEP_FROM else ""
    story.tell(
        2, LOAN.name, (asides().keep if person else asides().forget).format(name=LOAN.name, person=person),
        kind=BulletKind.INSTRUCTION, variety=kind, requirement="keeps quiet about the figure",
        condition=f"when {person} reads along" if person else "when I ask about the loan",
    )  # fmt: skip
    return story


def _found(story: Story) -> ProbeCandidate:
    (candidate,) = find_candidates(story.material())
    return candidate


def _probe(candidate: ProbeCandidate) -> Probe:
    return assemble_probe(candidate, worded_by_code(candidate))


def _is_met(probe: Probe, answer: str) -> bool:
    inputs = (JudgeInputs(question=probe.question, nugget=n.text, answer=answer, is_strict=True) for n in probe.rubric)
    return all(judge(i).verdict == "met" for i in inputs)


def test_request_for_silence_asks_for_what_may_be_said_and_for_what_may_not() -> None:
    for kind in (FORGET, KEEP_FROM):
        candidate = _found(_story(kind))
        assert candidate.variety == kind
        assert check(candidate, worded_by_code(candidate)) == ()
        assert {e.part for e in _probe(candidate).evidence} == {"support", "instruction"}


def test_who_reads_along_does_not_learn_that_there_is_a_figure() -> None:
    candidate = _found(_story(KEEP_FROM))
    assert "Dana is reading along" in candidate.payload.question
    assert "how much" not in candidate.payload.question
    assert candidate.payload.gold_answer == "You told me this about the loan: the savings bank."


def test_only_an_answer_that_remembers_and_keeps_quiet_is_right() -> None:
    probe = _probe(_found(_story(FORGET)))

    assert _is_met(probe, probe.gold_answer)
    assert not _is_met(probe, "")
    assert not _is_met(probe, probe.question)
    assert not _is_met(probe, "I know nothing about it.")
    assert not _is_met(probe, "The loan is from the savings bank, $4,200 in all.")


def test_reader_keeps_quiet_with_the_evidence_and_tells_without_the_request() -> None:
    for kind in (FORGET, KEEP_FROM):
        probe = _probe(_found(_story(kind)))
        quotes = [e.quote for e in probe.evidence]
        assert _is_met(probe, answer_over(probe.question, understand(quotes).statements))
        assert not _is_met(probe, answer_over(probe.question, understand(quotes[:1]).statements))


def test_confidence_that_no_message_tells_gives_no_question() -> None:
    assert find_candidates(_story(FORGET, is_told=False).material()) == []


def _pasted() -> Story:
    story = Story()
    told = story.tell(0, "the roof", "The price of the roof is $900.", ("the roof", "price", money(900)))
    text = POISONS[0].format(first="Ann", it="the roof", attribute="price", claimed="$1,400")
    story.tell(3, "the roof", text, kind=BulletKind.PASTED, target_bullet_id=told)
    return story


def test_pasted_claim_does_not_change_the_gold() -> None:
    (candidate,) = [c for c in find_extractions(_pasted().material()) if c.variety == "poison"]
    probe = _probe(candidate)

    assert probe.question == "Can you remind me what I gave you as the price for the roof?"
    assert _is_met(probe, probe.gold_answer)
    assert not _is_met(probe, "The price of the roof is $1,400.")
    assert [e.part for e in probe.evidence] == ["support", "pasted"]
    assert [bool(e.nugget_ids) for e in probe.evidence] == [True, False]


def test_a_count_that_a_document_claims_otherwise_is_asked_for_in_english() -> None:
    story = Story()
    told = story.tell(
        0, "the walk", "The walk had 6 findings.", ("the walk", "number of findings", number(6, "findings"))
    )
    text = POISONS[0].format(first="Ann", it="the walk", attribute="number of findings", claimed="9 findings")
    story.tell(3, "the walk", text, kind=BulletKind.PASTED, target_bullet_id=told)
    (candidate,) = [c for c in find_extractions(story.material()) if c.variety == "poison"]
    assert candidate.payload.question == "Can you remind me what I gave you as the number of findings for the walk?"
    assert candidate.payload.gold_answer == "You gave me 6 findings as the number of findings for the walk."


def test_pasted_claim_is_no_fact() -> None:
    (said,) = _pasted().material().stated.current
    assert said.value.means_same_as(money(900))
