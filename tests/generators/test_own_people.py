from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from longbeam.errors import UserError
from longbeam.generators import check_people, draw_profile, draw_relationships, user_of
from longbeam.schemas import Circle, Gender, PeopleSettings, Relation


def people(**fields: Any) -> PeopleSettings:
    return PeopleSettings.model_validate(fields)


def table(tmp_path: Path, text: str) -> PeopleSettings:
    path = tmp_path / "people.csv"
    path.write_text(text, encoding="utf-8")
    return people(table=str(path))


def test_user_without_settings_is_the_drawn_one() -> None:
    assert user_of(3, 1, PeopleSettings()) == draw_profile(3, 1)


def test_rows_of_a_table_are_taken_in_turn(tmp_path: Path) -> None:
    settings = table(
        tmp_path,
        "Role,Company,Plan tier,Country,City,Gender,Age\n"
        'support lead,Nordhafen,Enterprise,Germany,Hamburg,f,41\n"administrator, part-time",Quay,,,Bristol,m,\n',
    )
    first, second, third = (user_of(0, i, settings) for i in range(3))

    assert (first.profession, first.employer, first.city, first.country) == (
        "support lead",
        "Nordhafen",
        "Hamburg",
        "Germany",
    )
    assert (first.gender, first.age) == (Gender.FEMALE, 41)
    assert [(t.name, t.value) for t in first.traits] == [("plan tier", "Enterprise")]
    assert (second.profession, second.city, second.country) == ("administrator, part-time", "Bristol", "United Kingdom")
    assert second.traits == ()  # an empty cell says nothing
    assert third.profession == first.profession
    assert first.name.split()[0] == first.first_name


def test_a_named_user_keeps_the_name(tmp_path: Path) -> None:
    user = user_of(0, 0, table(tmp_path, "name;age\nAda van Dijk;33\n"))

    assert (user.name, user.first_name, user.age) == ("Ada van Dijk", "Ada", 33)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no row"),
        ("role\n\n", "holds no row"),
        ("role,age\nlead,17\n", "line 2: age '17': a whole number from 18 to 99 is needed"),
        ("role,age\nlead,old\n", "line 2: age 'old'"),
        ("role,gender\nlead,x\n", "line 2: gender 'x': female or male"),
        ("role,age\nlead, part-time,40\n", "line 2: more cells than columns"),
        ("role,age,Job\nlead,40,clerk\n", "two columns are 'profession'; role and job are other names"),
    ],
)
def test_a_table_that_cannot_be_used_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=r"^\[people\] table [^\n]+$") as caught:
        check_people(table(tmp_path, text))
    assert said in str(caught.value)


def test_a_missing_table_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        check_people(people(table=str(tmp_path / "none.csv")))


def test_groups_have_their_shares_over_few_conversations() -> None:
    traits = {"profession": "administrator", "company size": {"from": 50, "to": 500}, "region": ["North", "South"]}
    settings = people(groups=[{"share": 0.7, "traits": traits}, {"share": 0.2, "traits": {"role": "accountant"}}])
    users = [user_of(5, i, settings) for i in range(40)]
    jobs = Counter(user.profession for user in users)
    drawn = [{t.name: t.value for t in user.traits} for user in users if user.profession == "administrator"]

    assert 26 <= jobs["administrator"] <= 30  # 28 of 40
    assert 7 <= jobs["accountant"] <= 9
    assert all(50 <= int(traits["company size"]) <= 500 for traits in drawn)
    assert {traits["region"] for traits in drawn} == {"North", "South"}
    assert users == [user_of(5, i, settings) for i in range(40)]


@pytest.mark.parametrize(
    "fields",
    [
        {"groups": [{"share": 0.7, "traits": {}}, {"share": 0.7, "traits": {}}]},
        {"groups": [{"share": 0, "traits": {}}]},
        {"groups": [{"share": 1, "traits": {"size": {"from": 9, "to": 3}}}]},
        {"groups": [{"share": 1, "traits": {"size": []}}]},
        {"groups": [{"share": 1, "traits": {"age": 12}}]},
        {"groups": [{"share": 1, "traits": {"gender": "x"}}]},
        {"groups": [{"share": 1, "traits": {}}], "table": "people.csv"},
        {"around": []},
        {"around": ["enemies"]},
    ],
)
def test_settings_that_contradict_themselves_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        people(**fields)


def test_countries_bound_where_users_live_and_their_names() -> None:
    settings = people(countries=["Germany", "France"])
    users = [user_of(1, i, settings) for i in range(12)]

    assert {user.country for user in users} == {"Germany", "France"}
    assert len({user.name for user in users}) == 12
    with pytest.raises(UserError, match="countries: 'Atlantis' is not known; countries are"):
        check_people(people(countries=["Atlantis"]))


def test_people_of_work_stand_beside_the_family() -> None:
    profile = draw_profile(2, 0)
    usual = draw_relationships(2, 0, profile)
    graph = draw_relationships(2, 0, profile, around=(Circle.COLLEAGUES, Circle.CUSTOMERS, Circle.VENDORS))
    both = draw_relationships(2, 0, profile, around=tuple(Circle))

    assert {p.relation for p in graph.people} == {Relation.COLLEAGUE, Relation.CUSTOMER, Relation.VENDOR}
    assert {p.relation for p in both.people} == {p.relation for p in usual.people} | {p.relation for p in graph.people}
    assert len({p.first_name for p in both.people}) == len(both.people)
    assert all(22 <= p.age <= 64 for p in graph.people)
    assert [node["id"] for node in graph.node_link["nodes"]] == ["user", *(p.person_id for p in graph.people)]
