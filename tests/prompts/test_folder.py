from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.errors import UserError
from longbeam.prompts import TEMPLATES, default_registry, overridden_prompts, registry_for
from longbeam.schemas import BenchmarkSpec


def spec_of(folder: Path) -> BenchmarkSpec:
    return BenchmarkSpec.model_validate({"name": "b", "prompts": {"folder": str(folder)}})


def test_without_a_folder_prompts_are_longbeams() -> None:
    assert registry_for(BenchmarkSpec(name="b")) is default_registry()
    assert overridden_prompts(BenchmarkSpec(name="b")) == {}


def test_a_template_of_the_folder_takes_the_place_of_longbeams(tmp_path: Path) -> None:
    own = (TEMPLATES / "personality.j2").read_text().replace("{% block system %}", "{% block system %}\nBe terse.\n")
    (tmp_path / "personality.j2").write_text(own)
    registry = registry_for(spec_of(tmp_path))

    assert list(overridden_prompts(spec_of(tmp_path))) == ["personality"]
    assert registry["outline"] is default_registry()["outline"]
    digest = registry["personality"].digest
    (usual,) = default_registry().versions(["personality"])
    assert registry.versions(["personality"]) == (f"{usual}+{digest[:12]}",)


def test_a_part_changes_every_prompt_that_includes_it(tmp_path: Path) -> None:
    (tmp_path / "_people.j2").write_text((TEMPLATES / "_people.j2").read_text() + "\nNobody else.\n")
    changed = overridden_prompts(spec_of(tmp_path))

    assert {"outline", "narratives", "user_turns"} <= changed.keys()
    assert "personality" not in changed


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("personalty.j2", "x", "longbeam has no such template; did you mean personality.j2"),
        ("personality.j2", "{% block system %}{{ nonsense | inline }}{% endblock %}", "'nonsense'"),
        ("personality.j2", "{% block system %}{{ gender", "personality.j2, line 1: unexpected end"),
        ("personality.j2", "no block", "blocks are"),
        ("readme.txt", "x", "holds no template"),
    ],
)
def test_a_folder_that_cannot_be_used_is_one_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=r"^\[prompts\] folder [^\n]+$") as caught:
        registry_for(spec_of(tmp_path))
    assert said in str(caught.value)


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        registry_for(spec_of(tmp_path / "none"))
