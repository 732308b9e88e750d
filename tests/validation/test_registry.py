from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longbeam.abilities import registry
from longbeam.schemas import Finding, Severity
from longbeam.validation import CHECKS, all_checks

RULES = """
from longbeam.abilities.record import Ability
from longbeam.validation.base import Check, Problem, Severity

CHECK = Check(name="counting", doc="Counts.", severities={"none": Severity.ERROR}, on_probe=lambda index, probe: ())
COUNTING = Ability(name="counting", evidence_rules="counting_ability:CHECK")
"""


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with an ability that has a check of its own."""
    caches = (registry._plug_ins, registry._load, registry.ability_of)
    info = tmp_path / "counting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[longbeam.abilities]\ncounting = counting_ability:COUNTING\n")
    (tmp_path / "counting_ability.py").write_text(RULES)
    monkeypatch.syspath_prepend(str(tmp_path))
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.mark.usefixtures("counting")
def test_an_installed_ability_brings_its_check() -> None:
    assert [c.name for c in all_checks()] == [*(c.name for c in CHECKS), "counting"]


def test_without_plug_ins_the_checks_are_those_of_the_package() -> None:
    assert all_checks() == CHECKS


def test_a_finding_knows_the_name_of_its_check() -> None:
    finding = Finding(
        check="leaks.plan_word", severity=Severity.ERROR, conversation_id="c000", subject="p0.s0.t0.n0", message="."
    )
    assert finding.check_name == "leaks"
