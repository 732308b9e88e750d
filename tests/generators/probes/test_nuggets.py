"""A checked reply becomes a probe with ids that hang together."""

from __future__ import annotations

from longbeam.generators.probes import assemble_probe
from longbeam.generators.probes.multi_session_reasoning import find_candidates
from longbeam.schemas import Probe
from longbeam.text import money
from tests.generators.probes.story import Story, reply


def _probe() -> Probe:
    story = Story()
    for session, (thing, value) in enumerate((("the kitchen", money(80)), ("the roof", money(95)))):
        told = (thing, "price", value)
        story.tell(session, thing, f"The price of {thing} is {value.text}.", told)
    candidate = next(c for c in find_candidates(story.material()) if c.variety == "sum")
    draft = reply(" Both together? ", "Together $175: $80 and $95.", ("States $175", [0, 1]), ("States $80", [0]))
    return assemble_probe(candidate, draft)


def test_nuggets_are_numbered_within_the_probe() -> None:
    probe = _probe()
    assert [n.nugget_id for n in probe.rubric] == [f"{probe.probe_id}.n0", f"{probe.probe_id}.n1"]
    assert probe.question == "Both together?"


def test_evidence_names_the_nuggets_it_supports() -> None:
    assert [[n[-2:] for n in e.nugget_ids] for e in _probe().evidence] == [["n0", "n1"], ["n0"]]


def test_provenance_names_bullets_and_facts() -> None:
    probe = _probe()
    assert probe.bullet_ids == ("p0.s0.b0", "p0.s1.b0")
    assert probe.fact_ids == ("p0.f0", "p0.f1")
