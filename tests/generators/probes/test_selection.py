"""Which probes are used: spread over facts, wording, levels and deciles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longbeam.generators import PROBING
from longbeam.generators.probes import Interference, Places, select_probes, selection
from longbeam.schemas import Difficulty, Evidence, Nugget, Probe, ProbeDetails

POSITIONS = {f"m{i}": i for i in range(100)}


def _probe(
    ability: str, ordinal: int, *, at: int, fact: str = "", level: Difficulty = Difficulty.EASY, question: str = ""
) -> Probe:
    probe_id = f"{ability}.{ordinal}"
    return Probe(
        probe_id=probe_id,
        ability=ability,
        question=question or f"{probe_id} unlike {ordinal}?",
        gold_answer="x",
        difficulty=level,
        rubric=(Nugget(nugget_id=f"{probe_id}.n0", text="x"),),
        evidence=(Evidence(message_key=f"m{at}", quote="x"),),
        fact_ids=(fact or probe_id,),
        rank=ordinal,
    )


def _select(probes: list[Probe], per_ability: int = 1) -> list[str]:
    chosen = select_probes(probes, per_ability, Places(POSITIONS, 100))
    return [p.probe_id for p in chosen if p.is_selected]


def test_selected_probes_do_not_share_a_fact_where_avoidable() -> None:
    probes = [_probe("a", 0, at=0, fact="f"), _probe("b", 0, at=50, fact="f"), _probe("b", 1, at=1)]
    assert _select(probes) == ["a.0", "b.1"]


def test_a_share_of_the_selected_probes_needs_the_assistant() -> None:
    said = [_probe(ability, i, at=10 * i) for ability in ("a", "b", "c", "d") for i in range(3)]
    given = [
        _probe(ability, 9, at=85).model_copy(update={"bullet_ids": (f"p0.s0.a{i}",), "probe_id": f"{ability}.9"})
        for i, ability in enumerate(("b", "c", "d"))
    ]
    chosen = select_probes([*said, *given], 2, Places(POSITIONS, 100, assistant_share=0.25))

    selected = [p.probe_id for p in chosen if p.is_selected]
    assert [i for i in selected if i.endswith(".9")] == ["b.9", "c.9"]
    assert len(selected) == 8


def test_sharing_is_accepted_when_there_is_nothing_else() -> None:
    assert _select([_probe("a", 0, at=0, fact="f"), _probe("b", 0, at=50, fact="f")]) == ["a.0", "b.0"]


def test_levels_of_an_ability_are_spread() -> None:
    probes = [_probe("a", 0, at=0), _probe("a", 1, at=50), _probe("a", 2, at=1, level=Difficulty.HARD)]
    assert _select(probes, 2) == ["a.0", "a.2"]


def test_deciles_are_spread() -> None:
    # 0 and 5 lie in the first decile, 85 in the ninth.
    probes = [_probe("a", 0, at=0), _probe("a", 1, at=5), _probe("a", 2, at=85)]
    assert _select(probes, 2) == ["a.0", "a.2"]


def test_evidence_in_the_last_tenth_is_taken_like_any_other() -> None:
    late, shared = _probe("a", 0, at=95), _probe("a", 1, at=1, fact="b.0")
    assert _select([late, shared, _probe("b", 0, at=2)]) == ["a.0", "b.0"]


def test_abilities_give_half_of_their_probes_to_what_the_assistant_said_and_more_only_for_the_share() -> None:
    said = [_probe(ability, i, at=10 * i) for ability in ("a", "b", "c", "d") for i in range(4)]
    given = [
        _probe(ability, 4 + i, at=40 + i).model_copy(update={"bullet_ids": (f"p0.s0.a{i}",)})
        for ability, count in (("a", 4), ("b", 2))
        for i in range(count)
    ]

    def of_assistant(share: float) -> list[str]:
        chosen = select_probes([*said, *given], 4, Places(POSITIONS, 100, assistant_share=share))
        return sorted(p.ability for p in chosen if p.is_selected and p.bullet_ids)

    assert of_assistant(0.25) == ["a", "a", "b", "b"]  # four of sixteen
    assert of_assistant(0.375) == ["a", "a", "a", "a", "b", "b"]  # six, and b has no more


def test_half_of_the_probes_need_what_they_cite_where_there_are_such() -> None:
    probes = [_probe("a", i, at=10 * i) for i in range(4)]
    restated = {"a.0": 3, "a.1": 1}
    chosen = select_probes(probes, 2, Places(POSITIONS, 100, restated=restated))
    assert [p.probe_id for p in chosen if p.is_selected] == ["a.2", "a.0"]


def test_a_probe_that_passed_the_gate_stays_whatever_takes_the_place_of_another() -> None:
    # Without a gate a.1 and b.0 share no fact; a.0 passed, and b takes what goes with it.
    probes = [
        _probe("a", 0, at=0, fact="f"),
        _probe("a", 1, at=50),
        _probe("b", 0, at=1, fact="f"),
        _probe("b", 1, at=2),
    ]
    chosen = select_probes(probes, 1, Places(POSITIONS, 100), doubted={"a.0"}, passed={"a.0"})
    assert [p.probe_id for p in chosen if p.is_selected] == ["a.0", "b.1"]


def test_hard_probes_are_those_that_trivial_memories_answer_least() -> None:
    probes = [_probe("a", i, at=10 * i) for i in range(4)]
    answered = {"a.0": (1.0, 2.0), "a.1": (1.0, 1.0), "a.2": (0.5, 0.5), "a.3": (0.0, 0.0)}
    chosen = select_probes(probes, 2, Places(POSITIONS, 100, answered=answered))
    assert [p.probe_id for p in chosen] == ["a.3", "a.2", "a.1", "a.0"]


@pytest.mark.parametrize(
    ("first", "second", "taken"),
    [
        ((0, 0.0), (1, 1.0), "a.1"),  # a competitor counts more than shared words
        ((3, 0.5), (9, 0.5), "a.0"),  # three competitors are enough
        ((2, 0.5), (2, 0.3), "a.1"),
        ((2, 0.35), (2, 0.25), "a.0"),  # both share a fifth to two fifths of their words
    ],
)
def test_probes_with_competitors_and_few_shared_words_come_first(
    first: tuple[int, float], second: tuple[int, float], taken: str
) -> None:
    interference = {"a.0": Interference(*first), "a.1": Interference(*second)}
    chosen = select_probes(
        [_probe("a", 0, at=0), _probe("a", 1, at=1)], 1, Places(POSITIONS, 100, interference=interference)
    )
    assert [p.probe_id for p in chosen if p.is_selected] == [taken]


def test_questions_that_differ_by_a_name_are_not_taken_together() -> None:
    probes = [
        _probe("a", 0, at=0, question="What did I say the price of the roof is?"),
        _probe("a", 1, at=85, question="What did I say the price of the porch is?"),
        _probe("a", 2, at=1, question="Can you remind me of the attic's builder?"),
    ]
    assert _select(probes, 2) == ["a.0", "a.2"]


def test_all_probes_come_back_ranked_with_the_selected_first() -> None:
    probes = [_probe("a", i, at=10 * i) for i in range(4)]
    ranked = select_probes(probes, 2, Places(POSITIONS, 100))
    assert [(p.rank, p.is_selected) for p in ranked] == [(0, True), (1, True), (2, False), (3, False)]
    assert sorted(p.probe_id for p in ranked) == ["a.0", "a.1", "a.2", "a.3"]


def test_selection_does_not_depend_on_the_order_of_the_input() -> None:
    probes = [_probe(a, i, at=(7 * i) % 100, fact=f"f{i % 3}") for a in "abc" for i in range(6)]
    assert _select(probes, 2) == _select(probes[::-1], 2)


def _of_kind(probe: Probe, kind: str) -> Probe:
    return probe.model_copy(update={"details": ProbeDetails(variety=kind)})


def test_a_share_of_each_abilitys_probes_is_of_a_further_kind_where_there_is_one() -> None:
    plain = [_probe(ability, i, at=10 * i) for ability in ("a", "b") for i in range(3)]
    kinds = [_of_kind(_probe("a", 8 + i, at=40 + i), "as_of") for i in range(2)]
    chosen = select_probes([*plain, *kinds], 2, Places(POSITIONS, 100, kinds_share=0.5))

    selected = [p for p in chosen if p.is_selected]
    assert [(p.ability, p.details.variety) for p in selected] == [("a", "as_of"), ("a", ""), ("b", ""), ("b", "")]


def test_kinds_take_turns() -> None:
    kinds = [_of_kind(_probe("a", i, at=10 * i), "as_of" if i < 2 else "planned_actual") for i in range(4)]
    chosen = select_probes(kinds, 2, Places(POSITIONS, 100, kinds_share=1))
    assert [p.details.variety for p in chosen if p.is_selected] == ["as_of", "planned_actual"]


def test_the_documentation_has_the_rules_of_the_module() -> None:
    page = (Path(__file__).parents[3] / "docs" / "probes.md").read_text(encoding="utf-8")
    rules = re.search(r"^1\. has passed the gate.*?^14\. [^\n]+\n", selection.__doc__ or "", re.DOTALL | re.MULTILINE)

    assert rules is not None
    assert rules[0] in page
    assert f"of which {PROBING.enough_competitors} count" in rules[0]
    assert f"in steps of {PROBING.overlap_step};" in rules[0]


def test_varieties_take_turns_over_the_conversations_of_a_benchmark() -> None:
    probes = [
        _probe("a", i, at=10 * i).model_copy(update={"details": ProbeDetails(variety=variety)})
        for i, variety in enumerate(("number", "number", "number", "name", "money"))
    ]
    chosen = [select_probes(probes, 1, Places(POSITIONS, 100, ordinal=ordinal)) for ordinal in range(6)]
    taken = [p.details.variety for one in chosen for p in one if p.is_selected]
    assert taken == ["money", "name", "number"] * 2
    two = select_probes(probes, 2, Places(POSITIONS, 100))
    assert {p.details.variety for p in two if p.is_selected} == {"money", "name"}


def test_abilities_take_turns_to_ask_for_more_of_what_the_assistant_said() -> None:
    said = [_probe(ability, i, at=10 * i) for ability in ("a", "b", "c", "d") for i in range(3)]
    given = [
        _probe(ability, 5 + i, at=80 + i).model_copy(update={"bullet_ids": (f"p0.s0.a{i}",)})
        for ability in ("a", "b")
        for i in range(2)
    ]
    both = []
    for ordinal in range(4):
        chosen = select_probes([*said, *given], 2, Places(POSITIONS, 100, assistant_share=0.375, ordinal=ordinal))
        replies = [p.ability for p in chosen if p.is_selected and p.bullet_ids]
        both.append(max("ab", key=replies.count))
    assert both == ["a", "b", "a", "a"]  # of four abilities, the second begins with b


def test_of_no_probes_none_is_selected() -> None:
    assert select_probes([], 2, Places(POSITIONS, 100, assistant_share=0.25, ordinal=3)) == []
