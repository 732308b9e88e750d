"""Rule-based extraction for CogCanvas: sentences as said, typed by their words, at most three from an exchange.

The first pass takes two sentences of the user's; gleaning takes one more of either speaker. Content and citation are
the same sentence, so every citation is exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from longbeam.offline import answering
from longbeam.offline.memorizing import sentences_of, turns_of, weight_of
from longbeam.prompts.calls.evaluation import AnswerInputs
from longbeam.prompts.calls.memory import (
    ArtifactDraft,
    ArtifactKind,
    ArtifactsReply,
    ExtractArtifactsInputs,
    GleanArtifactsInputs,
    ReasonedAnswerInputs,
    ReasonedAnswerReply,
)
from longbeam.schemas.dialogue import MessageRole
from longbeam.text.words import words_of

_FIRST, _GLEANED = 2, 1
"""Number of artifacts of the first pass over an exchange, and of gleaning."""
_LEAST_WORDS = 3
_CUES: dict[ArtifactKind, str] = {
    "decision": r"decided|decision|chose|chosen|settled|agreed|picked|opted|we(?:'ll| will) (?:go with|use|take)|"
    r"going with|went with|let's (?:use|go)|approved",
    "reminder": r"remember|don't forget|keep in mind|deadline|must not|never|always|important|allergic|due|"
    r"no more than|from now on|make sure|at most|budget|limit",
    "todo": r"todo|to-do|need(?:s)? to|have to|has to|should|must|going to|plan(?:ning)? to|task",
    "insight": r"reali[sz]ed?|learn(?:ed|t)|turns out|insight|understood|figured out|noticed|because",
    "relationship": r"(?:my|his|her|our|their) (?:wife|husband|partner|mother|father|mum|mom|dad|parents?|sister|"
    r"brother|son|daughter|kids?|child(?:ren)?|friends?|boss|colleague|neighbour|neighbor|aunt|uncle|cousin|family)",
    "event": r"yesterday|tomorrow|last|next|ago|went|visited|attended|happened|happens|meeting|trip|party|wedding|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)day|this (?:morning|week|weekend|month|year)",
    "person_attribute": r"i(?:'m| am)|my name|(?:he|she)(?:'s| is)|i (?:like|love|hate|prefer|live|work|feel|felt)",
}
"""Cue words of each kind. A sentence is of the first kind whose cue it contains, and a key fact if there is none."""
_KINDS: list[tuple[ArtifactKind, re.Pattern[str]]] = [
    (kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _CUES.items()
]


def extract_artifacts(inputs: ExtractArtifactsInputs) -> ArtifactsReply:
    """Return the most telling sentences of the user, or of the assistant if the user has none, in their order."""
    told = [*_telling(inputs.exchange)]
    people = [t for t in told if t[1] != MessageRole.ASSISTANT.value] or told
    return ArtifactsReply(artifacts=_best(people, _FIRST))


def glean_artifacts(inputs: GleanArtifactsInputs) -> ArtifactsReply:
    """Return the most telling sentence that the first pass left."""
    left = [t for t in _telling(inputs.exchange) if not any(t[2] in found for found in inputs.found)]
    return ArtifactsReply(artifacts=_best(left, _GLEANED))


def answer_by_reasoning(inputs: ReasonedAnswerInputs) -> ReasonedAnswerReply:
    """Return the rule-based reader's answer; the reader never guesses, even where it may not abstain."""
    given = AnswerInputs(context=inputs.context, question=inputs.question, asked_on=inputs.asked_on)
    return ReasonedAnswerReply(answer=answering.answer(given))


_Told = tuple[int, str, str]
"""Place in the exchange, speaker, sentence."""


def _telling(exchange: str) -> Iterator[_Told]:
    """Yield the sentences that state something; questions are left out."""
    place = 0
    for speaker, body in turns_of(exchange):
        for text in sentences_of(body):
            if not text.endswith("?") and len(words_of(text)) >= _LEAST_WORDS:
                yield place, speaker, text
                place += 1


def _best(told: Sequence[_Told], most: int) -> tuple[ArtifactDraft, ...]:
    ranked = sorted(told, key=lambda t: (-weight_of(t[2]), t[0]))[:most]
    return tuple(_draft(text, speaker) for _, speaker, text in sorted(ranked))


def _draft(text: str, speaker: str) -> ArtifactDraft:
    kind: ArtifactKind = next((kind for kind, words in _KINDS if words.search(text)), "key_fact")
    is_role = speaker in {"", MessageRole.USER.value, MessageRole.ASSISTANT.value}
    return ArtifactDraft(
        kind=kind,
        content=text if is_role else f"{speaker}: {text}",
        citation=text,
        confidence=0.9 if weight_of(text) else 0.7,
    )
