"""Users of a benchmark's own: from a table, from groups with shares, or drawn in the spec's countries."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from longbeam.errors import UserError
from longbeam.generators.names import Names
from longbeam.generators.people import age_bounds, cities, draw_profile
from longbeam.schemas import ADULT_AGES, Gender, NumberSpan, PeopleSettings, Profile, ProfileTrait

ALIASES = {"role": "profession", "job": "profession", "company": "employer", "first name": "first_name"}
"""Names of columns that people write, and those of a profile's fields."""
_FIELDS = ("name", "first_name", "gender", "age", "city", "country", "profession", "employer")


def user_of(spec_seed: int, index: int, people: PeopleSettings) -> Profile:
    """Return the user of a conversation: as drawn for the benchmark's seed, with what the spec says of them.

    Rows of a table are taken in turn. Groups are taken in their shares, evenly spread over the conversations. Columns
    and traits that are no field of a profile are kept as its traits. Raises UserError for a table that cannot be used.
    """
    drawn = draw_profile(spec_seed, index)
    given = _given(spec_seed, index, people)
    if people.countries and "country" not in given and "city" not in given:
        rng = random.Random(f"{spec_seed}/people/{index}/place")
        given["city"], given["country"] = rng.choice([c for c in cities() if c[1] in people.countries])
    if not given:
        return drawn
    gender = Gender(given.get("gender", drawn.gender))
    city, country = _place(given, drawn, f"{spec_seed}/people/{index}/place")
    first, last, employer = _named(given, drawn, gender, country, f"{spec_seed}/people/{index}/names")
    profession = given.get("profession", drawn.profession)
    return drawn.model_copy(
        update={
            "name": given.get("name", f"{first} {last}"),
            "first_name": first,
            "gender": gender,
            "age": int(given["age"]) if "age" in given else _fitting_age(drawn.age, profession),
            "city": city,
            "country": country,
            "profession": profession,
            "employer": given.get("employer", employer),
            "traits": tuple(ProfileTrait(name=k, value=v) for k, v in given.items() if k not in _FIELDS),
        }
    )


def check_people(people: PeopleSettings) -> None:
    """Raise UserError for a table or countries that cannot be used, before anything is made."""
    if people.table is not None:
        _rows(Path(people.table))
    known = sorted({country for _, country in cities()})
    if unknown := [country for country in people.countries if country not in known]:
        raise UserError(f"[people] countries: {unknown[0]!r} is not known; countries are {', '.join(known)}")


def _given(spec_seed: int, index: int, people: PeopleSettings) -> dict[str, str]:
    if people.table is not None:
        rows = _rows(Path(people.table))
        return dict(rows[index % len(rows)])
    at = (random.Random(f"{spec_seed}/people").random() + index * _GOLDEN) % 1
    rng = random.Random(f"{spec_seed}/people/{index}")
    for group in people.groups:
        if at < group.share:
            return {ALIASES.get(k, k): _drawn(v, rng) for k, v in group.traits.items()}
        at -= group.share
    return {}


_GOLDEN = 0.6180339887498949
"""Steps of this size spread over the unit interval, so that even few conversations come near the shares."""


def _drawn(value: str | int | tuple[str | int, ...] | NumberSpan, rng: random.Random) -> str:
    if isinstance(value, NumberSpan):
        return str(rng.randint(value.least, value.most))
    return str(rng.choice(value) if isinstance(value, tuple) else value)


def _place(given: Mapping[str, str], drawn: Profile, key: str) -> tuple[str, str]:
    """Return city and country; one of them that is missing is that of the other."""
    city, country = given.get("city"), given.get("country")
    if city and not country:
        country = next((c for name, c in cities() if name == city), drawn.country)
    if country and not city:
        there = [name for name, c in cities() if c == country]
        if not there:
            raise UserError(f"[people]: country {country!r} needs a city beside it; longbeam knows none there")
        city = random.Random(key).choice(there)
    return city or drawn.city, country or drawn.country


def _named(given: Mapping[str, str], drawn: Profile, gender: Gender, country: str, key: str) -> tuple[str, str, str]:
    """Return first name, family name and employer; those that are not given fit gender and country."""
    if "name" in given:
        first, _, last = given["name"].partition(" ")
        return given.get("first_name", first), last, drawn.employer
    if gender is drawn.gender and country == drawn.country and "first_name" not in given:
        first, _, last = drawn.name.partition(" ")
        return first, last, drawn.employer
    names = Names(country, key)
    first = given.get("first_name") or next(names.first_names(gender))
    return first, next(names.last_names(gender)), names.company()


def _fitting_age(age: int, profession: str) -> int:
    least, most = age_bounds(profession)
    return min(max(age, least), most)


@lru_cache(maxsize=4)
def _rows(path: Path) -> Sequence[Mapping[str, str]]:
    """Return the rows of a table by column, without empty cells; UserError names the line that cannot be used."""
    where = f"[people] table {str(path)!r}"
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as exc:
        raise UserError(f"{where}: cannot be read: {exc.strerror}") from exc
    except (UnicodeDecodeError, ValueError) as exc:
        raise UserError(f"{where}: is no UTF-8 text ({exc})") from exc
    try:
        dialect = csv.Sniffer().sniff(text.partition("\n")[0], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    reader = csv.DictReader(io.StringIO(text), dialect=dialect)
    named = [_field(column) for column in reader.fieldnames or ()]
    if twice := [name for i, name in enumerate(named) if name and name in named[:i]]:
        raise UserError(f"{where}: two columns are {twice[0]!r}; role and job are other names of profession")
    rows = []
    try:
        for row in reader:
            if None in row:
                raise UserError(f"{where}: line {reader.line_num}: more cells than columns; quote cells with commas")
            rows.append(_row(row, f"{where}: line {reader.line_num}"))
    except csv.Error as exc:
        raise UserError(f"{where}: line {reader.line_num}: {exc}") from exc
    kept = [row for row in rows if row]
    if not kept:
        raise UserError(f"{where}: holds no row; its first line names the columns, such as profession,employer,age")
    return tuple(kept)


def _field(column: str) -> str:
    """Return the name of a profile's field, or of a trait, for a column."""
    name = " ".join(column.casefold().replace("_", " ").split())
    return ALIASES.get(name, name)


def _row(cells: Mapping[str, str | None], where: str) -> dict[str, str]:
    found = {}
    for column, cell in cells.items():
        if value := " ".join((cell or "").split()):
            found[_field(column)] = value
    if (age := found.get("age")) is not None and (
        not age.isdecimal() or not ADULT_AGES[0] <= int(age) <= ADULT_AGES[1]
    ):
        raise UserError(f"{where}: age {age!r}: a whole number from {ADULT_AGES[0]} to {ADULT_AGES[1]} is needed")
    if (gender := found.get("gender")) is not None:
        try:
            found["gender"] = _GENDERS[gender.casefold()]
        except KeyError:
            raise UserError(f"{where}: gender {gender!r}: female or male is needed, or an empty cell") from None
    return found


_GENDERS = {"female": "female", "f": "female", "woman": "female", "male": "male", "m": "male", "man": "male"}
