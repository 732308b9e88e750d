"""Personality and narratives, which a model writes; code draws the rest of a persona and of a story's frame."""

from __future__ import annotations

from longbeam.models.asking import Asker
from longbeam.prompts.calls.persona import NarrativesInputs, NarrativesReply, PersonalityInputs
from longbeam.schemas.people import Profile
from longbeam.schemas.plans import Narrative
from longbeam.schemas.seeds import Seed

PERSONALITY_PROMPTS = ("personality",)
NARRATIVE_PROMPTS = ("narratives",)


async def write_personality(asker: Asker, profile: Profile, traits: dict[str, str]) -> Profile:
    """Return the profile with its personality paragraph; `traits` describes each MBTI type."""

    def check(text: str) -> str | None:
        if profile.first_name.casefold() in text.casefold():
            return "the paragraph names the person; leave name, age and job out"
        return None

    inputs = PersonalityInputs(gender=profile.gender, traits=tuple(traits[t] for t in profile.mbti))
    text = await asker.prose("personality", inputs, check=check, mend=lambda text: text)
    return profile.model_copy(update={"personality": text})


async def write_narratives(asker: Asker, seed: Seed) -> tuple[Narrative, ...]:
    """Return fifteen to twenty narratives with distinct labels."""
    inputs = NarrativesInputs(seed=seed)

    def check(reply: NarrativesReply) -> str | None:
        labels = [n.label.casefold() for n in reply.narratives]
        if not inputs.at_least <= len(labels) <= inputs.at_most:
            return f"{len(labels)} narratives; {inputs.at_least} to {inputs.at_most} are asked for"
        if twice := sorted({label for label in labels if labels.count(label) > 1}):
            return f"label {twice[0]!r} is used twice"
        return None

    def mend(reply: NarrativesReply) -> NarrativesReply:
        first = {n.label.casefold(): n for n in reversed(reply.narratives)}
        if not first:
            raise ValueError("there are no narratives")
        kept = [n for n in reply.narratives if first[n.label.casefold()] is n]
        return NarrativesReply(narratives=kept[: inputs.at_most])

    reply = await asker.structured("narratives", inputs, check=check, mend=mend)
    return tuple(reply.narratives)
