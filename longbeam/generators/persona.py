"""Personality and narratives, which a model writes; code draws the rest of a persona and of a story's frame."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.generators.tuning import PLANNING
from longbeam.models import Acceptance, Asker, ListTask, Sifted, answers_by_rule
from longbeam.prompts.calls import NarrativesInputs, NarrativesReply, PersonalityInputs
from longbeam.schemas import Incident, IncidentKind, Narrative, Person, Profile, Role, Seed

PERSONALITY_PROMPTS = ("personality",)
NARRATIVE_PROMPTS = ("narratives",)


async def write_personality(asker: Asker, profile: Profile, traits: dict[str, str]) -> Profile:
    """Return the profile with its personality paragraph; `traits` describes each MBTI type."""

    def check(text: str) -> Iterator[str]:
        if named := re.search(rf"\b{re.escape(profile.first_name)}\b", text):
            yield f"the paragraph names the person ({named[0]!r}); leave name, age and job out"

    inputs = PersonalityInputs(gender=profile.gender, traits=tuple(traits[t] for t in profile.mbti))
    text = await asker.prose("personality", inputs, accept=Acceptance(check=check, mend=lambda text: text))
    return profile.model_copy(update={"personality": text})


def note_subject(asker: Asker, seed: Seed) -> None:
    """Note a seed whose subject the planner, a model that answers by rule, knows nothing of."""
    tells = asker.models.tells
    if tells and answers_by_rule(asker.spec, asker.spec.model_for(Role.PLANNER)) and not tells(seed):
        asker.note(Incident(kind=IncidentKind.OFF_SUBJECT, detail=describe_unknown_subject(seed)))


def describe_unknown_subject(seed: Seed) -> str:
    """Return a line on a seed that a model which answers by rule cannot tell a story of."""
    return (
        f"this conversation will not be about its seed {seed.title!r}: no pack of the rules knows the "
        "subject. Name a language model to have it told"
    )


async def write_narratives(
    asker: Asker, seed: Seed, counts: tuple[int, int], profile: Profile, people: tuple[Person, ...]
) -> tuple[Narrative, ...]:
    """Return narratives with distinct labels, of which good ones are kept over the replies.

    `counts`: the fewest and the most that are asked for. A list that stays short is taken and noted. Laws and
    currencies of the story follow from the user's home; narratives fit the work and the family.
    """
    least, most = counts
    note_subject(asker, seed)
    inputs = NarrativesInputs(seed=seed, profile=profile, people=people, at_least=least, at_most=most)

    def sift(kept: tuple[Narrative, ...], reply: NarrativesReply) -> Sifted[Narrative]:
        first = {n.label.casefold(): n for n in reversed((*kept, *reply.narratives))}
        good = tuple(n for n in (*kept, *reply.narratives) if first[n.label.casefold()] is n)[:most]
        if len(good) >= least:
            return Sifted(good)
        twice = len(kept) + len(reply.narratives) - len(first)
        faults = [f"{twice} labels are used already; each narrative has a label of its own"] if twice else []
        return Sifted(good, (*faults, f"{len(good)} narratives; {least} to {most} are asked for"))

    def rest(kept: tuple[Narrative, ...]) -> NarrativesInputs:
        return inputs.model_copy(update={"at_least": max(least - len(kept), 1), "at_most": most - len(kept)})

    task = ListTask(inputs, sift, rest, show=lambda narrative: narrative.label, least=PLANNING.fewest_narratives)
    return await asker.listed("narratives", task)
