from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from longbeam.abilities import Ability, Trait, abilities, ability_names, ability_of, find_ability, registry
from longbeam.errors import SpecError
from longbeam.schemas import ABILITIES


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages."""
    monkeypatch.syspath_prepend(str(tmp_path))
    caches = (registry._plug_ins, registry._load, registry.ability_of)
    for cached in caches:
        cached.cache_clear()
    yield tmp_path
    for cached in caches:
        cached.cache_clear()


def offer(site: Path, package: str, *lines: str) -> None:
    """Install a package that has these entry points."""
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(["[longbeam.abilities]", *lines, ""]))


def test_beams_ten_come_first_in_beams_order() -> None:
    assert ability_names()[:10] == ABILITIES
    assert [a.name for a in abilities()][:10] == list(ABILITIES)


@pytest.mark.parametrize(
    ("trait", "names"),
    [
        (Trait.ABSTAINS, {"abstention"}),
        (
            Trait.RECALLS,
            {"information_extraction", "knowledge_update", "multi_session_reasoning", "temporal_reasoning"},
        ),
        (Trait.ASKS_NEWEST_VALUE, {"information_extraction", "knowledge_update"}),
        (Trait.ASKS_UPDATED_VALUE, {"knowledge_update"}),
        (Trait.RESOLVES_CONTRADICTION, {"contradiction_resolution"}),
        (Trait.RETELLS_HISTORY, {"event_ordering", "summarization"}),
        (Trait.ORDERS_ITEMS, {"event_ordering"}),
        (Trait.GUIDES_ANSWERS, {"instruction_following", "preference_following"}),
        (Trait.SHAPES_ANSWERS, {"instruction_following"}),
        (
            Trait.CITES_SUBJECT,
            {"contradiction_resolution", "information_extraction", "knowledge_update", "temporal_reasoning"},
        ),
        (Trait.WORDS_NUGGETS_FREELY, {"contradiction_resolution", "event_ordering"}),
        (Trait.GIVES_STATED_DAYS, {"information_extraction", "knowledge_update", "summarization"}),
    ],
)
def test_each_trait_is_of_these_abilities(trait: Trait, names: set[str]) -> None:
    assert {a.name for a in abilities() if a.has(trait)} == names


def test_parts_of_the_evidence_have_their_roles() -> None:
    update = find_ability("knowledge_update")
    assert update.required_parts == ("original", "updated")
    assert update.parts_apart == (("original", "updated"),)
    assert update.beam_sides == {"original_info": "original", "updated_info": "updated"}
    assert find_ability("event_ordering").user_parts == frozenset()
    assert find_ability("temporal_reasoning").required_parts == ()


def test_an_unknown_ability_is_one_line_that_lists_what_there_is() -> None:
    with pytest.raises(SpecError, match=r"^abilities: 'counting' is unknown; there are abstention, .*reasoning$"):
        find_ability("counting")


def test_a_probe_of_an_unregistered_ability_has_a_record_without_traits() -> None:
    assert ability_of("multi-hop") == Ability(name="multi-hop")
    assert ability_of("knowledge_update") is find_ability("knowledge_update")


def test_a_package_offers_an_ability(site: Path) -> None:
    (site / "counting.py").write_text(
        "from longbeam.abilities.record import Ability\nABILITY = Ability(name='counting')\n"
    )
    offer(site, "counting", "counting = counting:ABILITY")

    assert ability_names()[10:] == ("counting",)
    assert find_ability("counting").shown_as == "counting"


def test_a_name_that_is_registered_twice_is_refused(site: Path) -> None:
    offer(site, "one", "counting = one:ABILITY")
    offer(site, "two", "counting = two:ABILITY")

    with pytest.raises(SpecError, match=r"^abilities: 'counting' is registered twice, by one:ABILITY and two:ABILITY"):
        find_ability("abstaining")


def test_a_built_in_name_is_refused(site: Path) -> None:
    offer(site, "one", "abstention = one:ABILITY")

    with pytest.raises(SpecError, match="'abstention' is built in, and one:ABILITY registers it again"):
        ability_names()


def test_an_ability_that_cannot_be_imported_is_named(site: Path) -> None:
    offer(site, "one", "counting = one_that_is_missing:ABILITY")

    assert "counting" in ability_names()  # loaded only when it is asked for
    with pytest.raises(SpecError, match=r"'counting' \(one_that_is_missing:ABILITY\) cannot be loaded"):
        find_ability("counting")
