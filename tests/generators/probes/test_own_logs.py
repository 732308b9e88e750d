"""Joins, differences, counts and totals over the entries of a log."""

from __future__ import annotations

import random

from longbeam.generators.probes import ProbeCandidate, assemble_probe, find_log_questions, probe_inputs
from longbeam.generators.probes.multi_session_reasoning import check, find_candidates
from longbeam.offline import answer_over, answer_probe_prompt, asides, judge, understand
from longbeam.prompts.calls import JudgeInputs, ProbeReply
from longbeam.schemas import BulletKind, Probe, Value
from longbeam.text import name, number
from longbeam.validation import SIDE_STORIES, ConversationIndex
from tests.generators.probes.story import Story

RUN = asides().logs[0]
CANAL, WOODS, LAKE = RUN.places[:3]
RUNS = ((5, CANAL, "Dana"), (7, WOODS, "Olga"), (6, CANAL, "Olga"), (9, LAKE, "Dana"), (4, WOODS, "Ruth"))


def _story(unsaid: int = -1) -> Story:
    """Five runs, a session each; the message of the entry `unsaid` says nothing of it."""
    story = Story()
    for i, (amount, place, who) in enumerate(RUNS):
        distance = number(amount, RUN.unit)
        text = f"{RUN.tell[i % 4].format(amount=distance.text, place=f'{place} with {who}')}."
        values = [("amount", distance), ("place", name(place)), ("companion", name(who))]
        _tell(story, i, RUN.name, text, values, i == unsaid)
    return story


def _tell(story: Story, session: int, topic: str, text: str, values: list[tuple[str, Value]], is_unsaid: bool) -> None:
    facts = [(topic, f"{role} on day {session}", value) for role, value in values]
    said = "Nothing new." if is_unsaid else text
    story.tell(session, topic, text, *facts, kind=BulletKind.SIDE, said=said)
    story.facts[-len(facts) :] = [f.model_copy(update={"side_story": topic}) for f in story.facts[-len(facts) :]]


def _found(story: Story) -> dict[str, ProbeCandidate]:
    """Candidates by what they ask for."""
    return {c.topic: c for c in find_candidates(story.material())}


def _probe(story: Story, candidate: ProbeCandidate) -> Probe:
    worded = answer_probe_prompt("", probe_inputs(story.head(), candidate), random.Random(1))
    assert isinstance(worded, ProbeReply)
    assert check(candidate, worded) == ()
    return assemble_probe(candidate, worded)


def test_join_and_differences_name_the_right_people() -> None:
    # Along the canal: Dana, Olga. Through the woods: Olga, Ruth. Around the reservoir: Dana.
    sketches = find_log_questions(_story().material())
    found = {s.topic: s.fields["payload"].items for s in sketches if "payload" in s.fields}
    both, never = (
        "who came along on evening runs both {} and {}",
        "who came along on evening runs {} but never on those {}",
    )
    assert found == {
        both.format(CANAL, WOODS): ("Olga",),
        both.format(LAKE, CANAL) if LAKE < CANAL else both.format(CANAL, LAKE): ("Dana",),
        never.format(CANAL, WOODS): ("Dana",),
        never.format(CANAL, LAKE): ("Olga",),
        never.format(WOODS, CANAL): ("Ruth",),
        never.format(WOODS, LAKE): ("Olga", "Ruth"),
        never.format(LAKE, WOODS): ("Dana",),
    }


def test_counts_and_totals_are_over_all_entries() -> None:
    sketches = find_log_questions(_story().material())
    found = {s.topic: s.fields["details"].computed_value for s in sketches}
    assert found["times that Dana came along on my evening runs"] == "2"
    assert found["evening runs"] == "5"
    assert found[f"evening runs {CANAL}"] == "2"
    assert found["km of all evening runs together"] == "31 km"  # 5 + 7 + 6 + 9 + 4


def test_a_log_beside_which_another_time_is_told_is_not_counted() -> None:
    story = _story()
    story.tell(2, "the knee", f"My knee hurt on that {RUN.name.removeprefix('my ').rstrip('s')} along the wall.")
    assert not [topic for topic in _found(story) if "run" in topic]


def test_story_with_an_untold_entry_gives_no_question() -> None:
    assert not [topic for topic in _found(_story(unsaid=2)) if "run" in topic]


def test_gold_is_met_and_blank_echo_and_one_name_too_many_are_not() -> None:
    story = _story()
    for candidate in _found(story).values():
        probe = _probe(story, candidate)
        for answer, is_right in ((probe.gold_answer, True), ("", False), (probe.question, False)):
            verdicts = [
                judge(JudgeInputs(question=probe.question, nugget=n.text, answer=answer, is_strict=True)).verdict
                for n in probe.rubric
            ]
            assert (set(verdicts) == {"met"}) is is_right, (probe.question, answer, verdicts)
        if getattr(candidate.payload, "items", ()):
            more = "They were Dana, Olga, Ruth and Ines, so Dana, Olga, Ruth, Ines."
            (nugget,) = probe.rubric
            reply = judge(JudgeInputs(question=probe.question, nugget=nugget.text, answer=more, is_strict=True))
            assert reply.verdict == "not met"


def test_reader_answers_from_the_evidence_and_not_without_it() -> None:
    story = _story()
    for candidate in _found(story).values():
        probe = _probe(story, candidate)
        quotes = [e.quote for e in probe.evidence]
        said = answer_over(probe.question, understand(quotes).statements)
        verdicts = {
            judge(JudgeInputs(question=probe.question, nugget=n.text, answer=said, is_strict=True)).verdict
            for n in probe.rubric
        }
        assert verdicts == {"met"}, (probe.question, said)
        assert answer_over(probe.question, understand(["Hello again."]).statements) == ""


def _kinds(story: Story, probe: Probe) -> set[str]:
    index = ConversationIndex(head=story.head(), messages=sorted(story.messages, key=lambda m: m.session))
    assert SIDE_STORIES.on_probe is not None
    return {problem.kind for problem in SIDE_STORIES.on_probe(index, probe)}


def test_check_passes_right_probes_and_finds_left_out_entries_and_wrong_results() -> None:
    story = _story()
    found = _found(story)
    probes = [_probe(story, c) for c in found.values()]
    assert not [p.question for p in probes if _kinds(story, p)]

    counted = _probe(story, found["evening runs"])
    assert _kinds(story, counted.model_copy(update={"fact_ids": counted.fact_ids[1:]})) == {"entry_left_out"}
    wrong = counted.details.model_copy(update={"computed_value": "7"})
    assert _kinds(story, counted.model_copy(update={"details": wrong})) == {"wrong_result"}
    joined = _probe(story, next(c for topic, c in found.items() if " both " in topic))
    others = joined.details.model_copy(update={"items": ("Ruth",)})
    assert _kinds(story, joined.model_copy(update={"details": others})) == {"wrong_result"}
    alone = joined.details.model_copy(update={"computed_from": ()})
    assert _kinds(story, joined.model_copy(update={"details": alone})) == {"wrong_result"}


def test_check_finds_another_message_that_may_count() -> None:
    story = _story()
    probe = _probe(story, _found(story)["evening runs"])
    story.tell(6, "the roof", "The roof is late.", said="My evening run led over the roof again.")
    assert _kinds(story, probe) == {"elsewhere"}
