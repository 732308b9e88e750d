"""Constraints and the decisions that they cause, some turns apart: CogCanvas's multi-hop benchmark, mended.

The released variant never states the cause, and each question names one of its two keywords, so that an echo of the
question covers half. The mended variant states the cause, and no question names a keyword.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from longbeam.generators.suites.base import Draw, Suite, key_of
from longbeam.generators.suites.planted import KEPT_TURNS, Turn, given, messages_of, noted, small_talk
from longbeam.keys import NuggetId, ProbeId
from longbeam.schemas import Difficulty, Evidence, GivenConversation, Nugget, Probe, ProbeDetails, Record

_TURNS, _COMPRESSED_AT = 50, 40
_PAIRS = ((3, 7), (5, 9))
"""Turns, from 1, of a constraint and its decision."""


class MultihopSettings(Record):
    """Settings of the suite."""

    variant: Literal["mended", "released"] = "mended"
    """`released` has no cause in the text, and one keyword in each question."""
    second: float = Field(default=0.7, ge=0, le=1)
    """Share of the conversations with a second constraint."""


@dataclass(frozen=True)
class _Chain:
    """A constraint, the decision that it causes, and their questions; `{c}` and `{d}` are their values."""

    constraint: str
    decision: str
    because: str
    """The decision with its cause, which needs no value of the constraint."""
    why: str
    what: str
    why_released: str
    what_released: str
    constraints: tuple[str, ...]
    decisions: tuple[str, ...]


_CHAINS = (
    _Chain(
        "Hosting may cost us {c} a month and not a cent more.",
        "We will host with {d}.",
        "Because of that ceiling on what hosting may cost, we will host with {d}.",
        "Why do we host where we host? Name the place and the figure behind it.",
        "What followed from the ceiling on what hosting may cost? Give the figure and the consequence.",
        "Why did we choose {d} for hosting?",
        "What did the {c} ceiling on hosting affect?",
        ("$340", "$415", "$560", "$725"),
        ("Hetzner", "Scaleway", "Linode", "Exoscale"),
    ),
    _Chain(
        "The people on the team know {c} and nothing else.",
        "The service will be written with {d}.",
        "Since that is all the team knows, the service will be written with {d}.",
        "Why is the service written with what it is written with? Name it and the reason.",
        "What followed from what the team knows? Say what they know and what came of it.",
        "Why did we choose {d} for the service?",
        "What did it affect that the team knows {c}?",
        ("Elixir", "Kotlin", "Clojure", "Haskell"),
        ("Phoenix", "Ktor", "Luminus", "Servant"),
    ),
    _Chain(
        "Everything has to be live by {c}.",
        "We will do it as {d}.",
        "As the day by which it has to be live is so close, we will do it as {d}.",
        "Why do we go about it the way we do? Name the way and the day behind it.",
        "What followed from the day by which it has to be live? Give the day and the consequence.",
        "Why did we choose {d} as the approach?",
        "What did having to be live by {c} affect?",
        ("April 17", "August 29", "October 12", "December 3"),
        ("a single monolith", "a static site", "two nightly scripts", "a spreadsheet with macros"),
    ),
)


def make_conversation(settings: MultihopSettings, draw: Draw) -> GivenConversation:
    """Return one conversation with two probes a chain: the decision's cause, and the constraint's effect."""
    rng = draw.rng("chains")
    pairs = _PAIRS[: 2 if rng.random() < settings.second else 1]
    is_released = settings.variant == "released"
    turns = small_talk(rng, _TURNS)
    probes: list[Probe] = []
    for (first, then), chain in zip(pairs, rng.sample(_CHAINS, len(pairs)), strict=True):
        place = rng.randrange(len(chain.constraints))
        values = {"c": chain.constraints[place], "d": _decided(rng, chain, place)}
        cause = chain.constraint.format(**values)
        decision = (chain.decision if is_released else chain.because).format(**values)
        turns[first - 1] = Turn(cause, noted(rng, turns[first - 1]))
        turns[then - 1] = Turn(decision, noted(rng, turns[then - 1]))
        said = ((key_of(first - 1), cause), (key_of(then - 1), decision))
        questions = (chain.why_released, chain.what_released) if is_released else (chain.why, chain.what)
        for variety, question in zip(("causal", "impact"), questions, strict=True):
            probes.append(_probe(len(probes), variety, question.format(**values), (values["d"], values["c"]), said))
    shown = {
        "compressed_at": _COMPRESSED_AT,
        "kept_turns": KEPT_TURNS,
        "facts": 2 * len(pairs),
        "relations": len(pairs),
    }
    return given(messages_of(turns, draw), tuple(probes), settings, draw, shown)


def _decided(rng: random.Random, chain: _Chain, place: int) -> str:
    """Return a decision; a framework follows from the language."""
    return chain.decisions[place] if "Phoenix" in chain.decisions else rng.choice(chain.decisions)


def _probe(
    ordinal: int, variety: str, question: str, keywords: tuple[str, str], said: tuple[tuple[str, str], ...]
) -> Probe:
    own = str(ProbeId("multi_session_reasoning", str(ordinal)))
    decision, constraint = keywords
    is_why = variety == "causal"
    nuggets = tuple(
        Nugget(nugget_id=str(NuggetId(own, i)), text=f"The answer names {k}.") for i, k in enumerate(keywords)
    )
    return Probe(
        probe_id=own,
        ability="multi_session_reasoning",
        question=question,
        gold_answer=f"{decision}, because of {constraint}." if is_why else f"{constraint} led to {decision}.",
        difficulty=Difficulty.MEDIUM,
        rubric=nuggets,
        evidence=tuple(
            Evidence(message_key=key, quote=quote, nugget_ids=(nugget.nugget_id,))
            for (key, quote), nugget in zip(said, reversed(nuggets), strict=True)
        ),
        details=ProbeDetails(variety=variety, computed_from=keywords),
        is_selected=True,
        rank=ordinal,
    )


CANVAS_MULTIHOP = Suite(
    MultihopSettings, make_conversation, "constraints and the decisions that they cause, turns apart"
)
