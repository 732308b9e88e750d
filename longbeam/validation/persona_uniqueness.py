"""Distinct personas: a system that mixes up two conversations must not be right by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem
from longbeam.validation.digest import ConversationDigest


def find_problems(digests: Sequence[ConversationDigest]) -> Iterator[Problem]:
    """Yield conversations with the persona, the name or the seed of an earlier one."""
    personas: dict[tuple[object, ...], str] = {}
    names: dict[str, str] = {}
    titles: dict[str, str] = {}
    places: dict[tuple[str, str], str] = {}
    for digest in digests:
        own, profile = digest.conversation_id, digest.profile
        same_seed = titles.setdefault(digest.seed.title.casefold(), own)
        if same_seed != own:
            text = f"{own} and {same_seed} have the same seed, {digest.seed.title!r}"
            yield Problem("same_seed", "conversation", text, conversation_id=own)
        if profile is None:
            continue
        who = (profile.name.casefold(), profile.age, profile.city, profile.profession, profile.mbti)
        same_person = personas.setdefault(who, own)
        same_name = names.setdefault(profile.name.casefold(), own)
        if same_person != own:
            text = f"{own} and {same_person} have the same persona, {profile.name}"
            yield Problem("same_persona", "profile", text, conversation_id=own)
        elif same_name != own:
            text = f"{own} and {same_name} are both about a {profile.name}"
            yield Problem("same_name", "profile", text, conversation_id=own)
        place = (profile.city.casefold(), profile.profession.casefold())
        same_place = places.setdefault(place, own)
        if same_place != own and same_person == own:
            text = f"{own} and {same_place} are both about a {profile.profession} of {profile.city}"
            yield Problem("same_place_and_job", "profile", text, conversation_id=own)


CHECK = Check(
    name="persona_uniqueness",
    doc="No two conversations of a benchmark share a persona or a name.",
    severities={"same_persona": ERROR, "same_name": WARNING, "same_place_and_job": WARNING, "same_seed": INFO},
    on_benchmark=find_problems,
)
