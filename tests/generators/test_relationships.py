from __future__ import annotations

import datetime as dt
from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings, strategies as st

from longbeam.generators import CORE, aged, circles_of, draw_profile, draw_relationships, people_of_plan
from longbeam.schemas import Gender, Profile, Relation, RelationshipGraph


def user_of(age: int, gender: Gender = Gender.FEMALE) -> Profile:
    return draw_profile(0, 0).model_copy(update={"age": age, "gender": gender})


def check_constraints(profile: Profile, graph: RelationshipGraph, size: int) -> None:
    names = [profile.first_name, *(p.first_name for p in graph.people)]
    assert len({name[:4].casefold() for name in names}) == len(names)
    assert [p.person_id for p in graph.people] == [f"n{n}" for n in range(1, len(graph.people) + 1)]
    parents, partners, children = (graph.of(r) for r in (Relation.PARENT, Relation.PARTNER, Relation.CHILD))
    assert all(18 <= p.age - profile.age <= 45 and p.age < 100 for p in parents)
    assert len(parents) <= 2
    assert len({p.gender for p in parents}) == len(parents)
    assert all(p.age >= 18 and abs(p.age - profile.age) <= 10 for p in partners)
    assert len(partners) <= 1
    assert all(18 <= profile.age - p.age <= 45 for p in children)
    assert all(partner.age - child.age >= 18 for partner in partners for child in children)
    assert len(children) <= 3
    assert all(p.age >= 18 and abs(p.age - profile.age) <= 12 for p in graph.of(Relation.FRIEND))
    assert all(p.age >= 18 for p in graph.of(Relation.ACQUAINTANCE))
    assert 2 * size <= len(graph.of(Relation.FRIEND)) <= 5 * size
    assert 3 * size <= len(graph.of(Relation.ACQUAINTANCE)) <= 6 * size


@settings(max_examples=200)
@given(st.integers(0, 10**6), st.integers(0, 9_999), st.integers(18, 81), st.sampled_from(Gender))
def test_ages_and_names_hold_for_everybody(spec_seed: int, index: int, age: int, gender: Gender) -> None:
    # 81: the oldest user who can have a parent of 99; personas end at 70
    profile = user_of(age, gender)

    check_constraints(profile, draw_relationships(spec_seed, index, profile), size=1)


@pytest.mark.parametrize("index", range(40))
def test_a_larger_graph_keeps_the_people_of_the_smaller(index: int) -> None:
    profile = draw_profile(0, index)
    small, large = (draw_relationships(0, index, profile, size) for size in (1, 12))

    check_constraints(profile, large, size=12)
    for relation in Relation:
        before, after = ([(p.first_name, p.gender, p.age) for p in graph.of(relation)] for graph in (small, large))
        assert after[: len(before)] == before
        if relation not in (Relation.FRIEND, Relation.ACQUAINTANCE):
            assert after == before


def test_a_graph_is_a_pure_function_of_its_arguments() -> None:
    profile = draw_profile(1, 2)

    assert draw_relationships(1, 2, profile) == draw_relationships(1, 2, profile)
    assert draw_relationships(1, 2, profile) != draw_relationships(2, 2, profile)
    assert draw_relationships(1, 2, profile) != draw_relationships(1, 3, profile)


def test_shares_are_near_beams() -> None:
    graphs = [draw_relationships(0, index, user_of(35)) for index in range(1_000)]
    having = Counter(relation for graph in graphs for relation in Relation if graph.of(relation))

    # at 35: parents 0.85, partner 0.8, children (35 - 25) / (45 - 25) x 0.8 = 0.4
    assert having[Relation.PARENT] / 1_000 == pytest.approx(0.85, abs=0.05)
    assert having[Relation.PARTNER] / 1_000 == pytest.approx(0.8, abs=0.05)
    assert having[Relation.CHILD] / 1_000 == pytest.approx(0.4, abs=0.05)
    assert having[Relation.FRIEND] == having[Relation.ACQUAINTANCE] == 1_000


def test_node_link_data_is_the_same_graph() -> None:
    profile = draw_profile(0, 0)
    people = draw_relationships(0, 0, profile)
    kept = RelationshipGraph.model_validate_json(people.model_dump_json())

    graph = nx.node_link_graph(kept.node_link, edges="edges")

    assert kept == people
    assert list(graph) == ["user", *(p.person_id for p in people.people)]
    assert {(u, v, d["relation"]) for u, v, d in graph.edges(data=True)} == {
        ("user", p.person_id, p.relation.value) for p in people.people
    }
    assert graph.nodes["n1"]["age"] == people.people[0].age


@pytest.mark.parametrize("size", [0, 13])
def test_a_size_without_names_enough_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=r"outside 1\.\.12"):
        draw_relationships(0, 0, draw_profile(0, 0), size)


def test_circles_come_in_plan_by_plan_and_some_people_come_back() -> None:
    profile = draw_profile(3, 0)
    graph = draw_relationships(3, 0, profile, size=4)
    circles = circles_of(3, 0, profile, size=4)
    in_circles = [p.person_id for circle in circles for p in circle]
    core = [p.person_id for p in graph.people if p.relation in CORE]
    assert sorted(in_circles + core) == sorted(p.person_id for p in graph.people)
    people, introduced = people_of_plan(graph, circles, 2, "key")
    assert {p.person_id for p in circles[2]} == {p.person_id for p in introduced}
    back = {p.person_id for p in people} - {p.person_id for p in introduced} - set(core)
    assert len(back) == 2
    assert back <= {p.person_id for circle in circles[:2] for p in circle}
    # nobody is left to meet after the last circle: a former one comes back
    people, introduced = people_of_plan(graph, circles, 5, "key")
    assert introduced == ()
    assert {p.person_id for p in circles[1]} <= {p.person_id for p in people}


def test_people_grow_older_by_a_birthday_a_year() -> None:
    person = draw_relationships(3, 0, draw_profile(3, 0)).people[0]
    first = dt.date(2020, 3, 1)
    ages = [aged(person, first, first + dt.timedelta(days=days), "key").age for days in (0, 365, 730)]
    assert ages == [person.age, person.age + 1, person.age + 2]
