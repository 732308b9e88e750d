"""The record of an ability: everything that other packages ask about it.

The record holds plain values only. Code that belongs to an ability (its generator, its checks, its scorer, its review
panel) is named as `module:attribute` and resolved by `registry.resolve` when it is used. So this package imports
nothing above `schemas`, and a plug-in of one module brings everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from longbeam.schemas import EvidencePart


class Trait(StrEnum):
    """Facts about an ability that checks, formats, the evaluation and the review decide by."""

    ABSTAINS = "abstains"
    """The right answer is that the conversation does not say: no evidence is cited, and a guess of nothing is right."""
    RECALLS = "recalls"
    """The gold is a value that the user gave, or one that is computed from such values."""
    ASKS_NEWEST_VALUE = "asks_newest_value"
    """The gold is the newest value of the fact that the question names, and not computed from several."""
    ASKS_UPDATED_VALUE = "asks_updated_value"
    """The value changed exactly once: the probe has an old and a new value."""
    RESOLVES_CONTRADICTION = "resolves_contradiction"
    """Two messages cannot both be true: there is no one right value."""
    RETELLS_HISTORY = "retells_history"
    """The gold retells what both sides said; superseded values may have their place in it."""
    ORDERS_ITEMS = "orders_items"
    """The gold is a list of items (`ProbeDetails.items`) whose order counts."""
    GUIDES_ANSWERS = "guides_answers"
    """The gold describes how a good answer behaves, and need not say what the nuggets ask for."""
    SHAPES_ANSWERS = "shapes_answers"
    """The question is about the form of answers, so that no other message changes what is right."""
    CITES_SUBJECT = "cites_subject"
    """Each cited message says something that the question is about."""
    WORDS_NUGGETS_FREELY = "words_nuggets_freely"
    """Nuggets name sides or items in words of their own."""
    GIVES_STATED_DAYS = "gives_stated_days"
    """Days in the gold are days that somebody stated, and not the days on which messages were sent."""


@dataclass(frozen=True, kw_only=True)
class EvidenceRole:
    """A part that cited messages play in this ability's evidence."""

    part: str
    """`Evidence.part`."""
    is_required: bool = True
    """Whether every probe has a message that plays this part."""
    is_of_user: bool = True
    """Whether only the user can say it, whatever the question asks."""
    apart_from: str = ""
    """A part that a different message must play."""
    beam_side: str = ""
    """Key of this part in BEAM's `source_chat_ids`; empty where BEAM has one list without sides."""


@dataclass(frozen=True, kw_only=True)
class BeamKeys:
    """Keys of BEAM's JSON for this ability's probes."""

    answer: str = "answer"
    """Key of the gold answer."""
    further: tuple[str, ...] = ()
    """Keys besides question, answer, difficulty, rubric and source_chat_ids."""
    optional: frozenset[str] = frozenset()
    """Further keys that only some of BEAM's probes have."""

    @property
    def variety(self) -> str:
        """The key that names the probe's kind within the ability (`update_type`); empty if there is none."""
        return next((key for key in self.further if key.endswith("_type")), "")


@dataclass(frozen=True, kw_only=True)
class Ability:
    """One ability. All fields but the name have defaults that fit a probe about which nothing is known."""

    name: str
    """Also the first part of its probes' ids, and its name in BEAM's files."""
    title: str = ""
    """Name for people; empty: the name with spaces."""
    traits: frozenset[Trait] = frozenset()
    evidence: tuple[EvidenceRole, ...] = ()
    """Roles of the evidence besides plain support."""

    # Code, as `module:attribute`.
    generator: str = ""
    """An `AbilityGenerator`: finds candidates and checks their wording; empty: no probes of it can be generated."""
    prompt_id: str = ""
    """The prompt that words its probes; empty: the generator words them itself."""
    prompt: str = ""
    """The declaration (`Prompt`) of that prompt, where a plug-in brings it."""
    wording_rule: str = ""
    """A function `(ProbeInputs, random.Random) -> ProbeReply` for rule-based models; plug-ins with a prompt need it."""
    evidence_rules: str = ""
    """A `Check` beyond the general ones. Like them it runs on every probe, and asks for the ability or its traits."""
    scorer: str = "longbeam.evaluation.scoring:NUGGETS"
    """A `Scorer`; by default the mean over nuggets."""
    panel: str = "longbeam.annotation_ui.aids:GENERIC"
    """A `PanelKind`: what the review shows beside the probe."""

    # Names in other formats.
    beam: BeamKeys = BeamKeys()
    locomo_category: int | None = None
    """LoCoMo's category of exported probes; None: the ability's name."""
    reads_locomo: tuple[int, ...] = ()
    """LoCoMo's categories whose questions are read as this ability."""
    longmemeval_type: str = ""
    """LongMemEval's question type of exported probes; empty: the ability's name."""
    reads_longmemeval: tuple[str, ...] = ()
    """LongMemEval's question types whose questions are read as this ability."""

    def has(self, *traits: Trait) -> bool:
        """Return whether the ability has at least one of these traits."""
        return not self.traits.isdisjoint(traits)

    @property
    def shown_as(self) -> str:
        """Name for people."""
        return self.title or self.name.replace("_", " ")

    @property
    def required_parts(self) -> tuple[str, ...]:
        """Parts that the evidence of every probe must have."""
        return tuple(role.part for role in self.evidence if role.is_required)

    @property
    def user_parts(self) -> frozenset[str]:
        """Parts that only the user can say."""
        return frozenset(role.part for role in self.evidence if role.is_of_user)

    @property
    def parts_apart(self) -> tuple[tuple[str, str], ...]:
        """Pairs of parts that belong in different messages, the earlier first."""
        return tuple((role.apart_from, role.part) for role in self.evidence if role.apart_from)

    @property
    def listed_part(self) -> str:
        """The part of messages that BEAM cites in one list without sides."""
        sides = [role.part for role in self.evidence if role.is_required and not role.beam_side]
        return sides[0] if sides else EvidencePart.SUPPORT

    @property
    def beam_sides(self) -> dict[str, str]:
        """Parts by BEAM's key of the side; empty where BEAM has one list without sides."""
        return {role.beam_side: role.part for role in self.evidence if role.beam_side}
