"""Checks across conversations: no two have the same user, and no two ask the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longbeam.text import bare_words
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationDigest


def find_in_persona_uniqueness(digests: Sequence[ConversationDigest]) -> Iterator[Problem]:
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


PERSONA_UNIQUENESS = Check(
    name="persona_uniqueness",
    doc="No two conversations of a benchmark share a persona or a name.",
    severities={"same_persona": ERROR, "same_name": WARNING, "same_place_and_job": WARNING, "same_seed": INFO},
    on_benchmark=find_in_persona_uniqueness,
)


def find_in_probe_uniqueness(digests: Sequence[ConversationDigest]) -> Iterator[Problem]:
    """Yield probes that ask what a probe of an earlier conversation asks."""
    seen: dict[str, tuple[str, str, str]] = {}
    for digest in digests:
        own = digest.conversation_id
        for probe in digest.probes:
            question, gold = bare_words(probe.question), bare_words(probe.gold_answer)
            where, probe_id, answer = seen.setdefault(question, (own, probe.probe_id, gold))
            if where == own:
                continue
            kind = "same_answer" if answer == gold else "same_question"
            text = f"asks the same as {probe_id} of {where}: {shorten(probe.question)}"
            yield Problem(kind, probe.probe_id, text, conversation_id=own)


PROBE_UNIQUENESS = Check(
    name="probe_uniqueness",
    doc="No probe is asked in two conversations; with the same answer it proves no memory of either.",
    severities={"same_answer": WARNING, "same_question": INFO},
    on_benchmark=find_in_probe_uniqueness,
)
