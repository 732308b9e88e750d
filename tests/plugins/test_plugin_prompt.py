"""A plug-in's ability whose probes a prompt words: its template, and its rule for models that follow rules."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from longbeam.abilities import registry
from longbeam.errors import SpecError
from longbeam.generators.probes import generator_for, plan_candidates, write_probe, writing_prompts
from longbeam.keys import UnitKey
from longbeam.models import Asker
from longbeam.prompts import default_registry
from longbeam.schemas import BenchmarkSpec
from tests.generators.probes.story import OfflineModel, full_story
from tests.wired import answered_by

MODULE = """
from pathlib import Path

from longbeam.abilities.record import Ability
from longbeam.generators.probes import information_extraction
from longbeam.generators.probes.candidates import AbilityGenerator
from longbeam.prompts.calls.probes import NuggetDraft, ProbeInputs, ProbeReply
from longbeam.prompts.registry import Prompt
from longbeam.schemas.spec import Role


def find(material):
    direct = [c for c in information_extraction.find_candidates(material) if c.variety == "direct"]
    names = [{"ability": "small_talk", "candidate_id": f"small_talk.{i}"} for i in range(len(direct))]
    return [c.model_copy(update=own) for c, own in zip(direct, names, strict=True)]


def word(inputs, rng):
    excerpt = inputs.excerpts[0]
    text = f"The {excerpt.attribute} of {excerpt.subject} is {excerpt.value.text}"
    question = f"By the way, what is the {excerpt.attribute} of {excerpt.subject}?"
    return ProbeReply(question=question, gold_answer=text, nuggets=[NuggetDraft(text=text, excerpts=[0])])


GENERATOR = AbilityGenerator(find, information_extraction.check)
HERE = Path(__file__).parent
PROMPT = Prompt("probe_small_talk", 1, Role.PROBER, ProbeInputs, ProbeReply, directory=HERE)
ABILITY = Ability(
    name="small_talk",
    generator="small_talk:GENERATOR",
    prompt_id="probe_small_talk",
    prompt="small_talk:PROMPT",
    wording_rule="small_talk:word",
)
"""
TEMPLATE = """{% block system %}
{% include "_probe_rules.j2" %}
This question is asked in passing.
{% endblock %}
{% block user %}
{% include "_probe_material.j2" %}
{% endblock %}
"""
CACHES = (registry._plug_ins, registry._load, registry.ability_of, generator_for, default_registry)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which the package is installed."""
    info = tmp_path / "small_talk-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: small-talk\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[longbeam.abilities]\nsmall_talk = small_talk:ABILITY\n")
    (tmp_path / "small_talk.py").write_text(MODULE)
    (tmp_path / "probe_small_talk.j2").write_text(TEMPLATE)
    monkeypatch.syspath_prepend(str(tmp_path))
    for cached in CACHES:
        cached.cache_clear()
    yield tmp_path
    sys.modules.pop("small_talk", None)
    for cached in CACHES:
        cached.cache_clear()


def test_a_prompt_of_a_plug_in_words_its_probes(site: Path) -> None:
    material, model = full_story().material(), OfflineModel()
    asker = Asker(answered_by(model), default_registry(), BenchmarkSpec(name="t"), UnitKey("c000", "probes"))

    candidate = asyncio.run(plan_candidates(asker, material, "small_talk", 40))[0]
    probe = asyncio.run(write_probe(asker, material.head, candidate))

    assert writing_prompts("small_talk") == ("probe_small_talk",)
    assert (probe.probe_id, probe.ability) == ("small_talk.0", "small_talk")
    assert probe.question.startswith("By the way, what is the ")
    system, _ = model.calls[-1].prompt.render(model.calls[-1].inputs)
    assert "This question is asked in passing." in system.content


def test_a_rule_based_model_says_that_a_wording_rule_is_missing(site: Path) -> None:
    (site / "small_talk.py").write_text(MODULE.replace('wording_rule="small_talk:word",', ""))
    material, model = full_story().material(), OfflineModel()
    asker = Asker(answered_by(model), default_registry(), BenchmarkSpec(name="t"), UnitKey("c000", "probes"))
    candidate = asyncio.run(plan_candidates(asker, material, "small_talk", 40))[0]

    with pytest.raises(SpecError, match="'small_talk' has no wording_rule"):
        asyncio.run(write_probe(asker, material.head, candidate))
