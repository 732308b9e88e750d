"""What side stories are about: evenings with people, and the user's own log, in English sentences.

A side story goes on beside the main one for months, an entry at a time. The sentences here are the bullets; a language
model words the messages that tell them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from longbeam.schemas.people import Gender, Relation

LATE, PAID, AMOUNT, PLACE = "latecomer", "payer", "amount", "place"
"""Roles of the values of an entry: the first word of their facts' attributes."""

RELATION: Mapping[tuple[Relation, Gender], str] = {
    (Relation.PARENT, Gender.FEMALE): "my mother",
    (Relation.PARENT, Gender.MALE): "my father",
    (Relation.PARTNER, Gender.FEMALE): "my partner",
    (Relation.PARTNER, Gender.MALE): "my partner",
    (Relation.CHILD, Gender.FEMALE): "my daughter",
    (Relation.CHILD, Gender.MALE): "my son",
    (Relation.FRIEND, Gender.FEMALE): "my friend",
    (Relation.FRIEND, Gender.MALE): "my friend",
    (Relation.ACQUAINTANCE, Gender.FEMALE): "my colleague",
    (Relation.ACQUAINTANCE, Gender.MALE): "my colleague",
}
"""How the user calls somebody who is named for the first time."""


@dataclass(frozen=True)
class Evenings:
    """A round of people that meets again and again; each time one comes late, and one pays."""

    name: str
    plural: str
    tell: tuple[str, ...]
    """Sentences with {late} and {paid}."""


@dataclass(frozen=True)
class OwnLog:
    """Something that the user does again and again, with an amount and a place each time."""

    name: str
    plural: str
    unit: str
    unit_plural: str
    did: str
    """Past tense with the amount in front, as in `How many kilometres did I run`."""
    amounts: tuple[int, int]
    places: tuple[str, ...]
    """Places with their prepositions."""
    tell: tuple[str, ...]
    """Sentences with {amount} and {place}."""


EVENINGS = (
    Evenings("the quiz night", "quiz nights", (
        "at the quiz night {late} came late, and {paid} paid for everybody",
        "we had the quiz night again: {paid} paid for everybody, and it was {late} who came late",
        "the quiz night went well, though {late} came late; in the end {paid} paid for everybody",
        "another quiz night is behind us, with {late} coming late and {paid} paying for everybody",
    )),
    Evenings("the card evening", "card evenings", (
        "at the card evening {late} came late, and {paid} paid for everybody",
        "we had the card evening again: {paid} paid for everybody, and it was {late} who came late",
        "the card evening was a long one, since {late} came late; in the end {paid} paid for everybody",
        "another card evening is behind us, with {late} coming late and {paid} paying for everybody",
    )),
    Evenings("the supper round", "supper rounds", (
        "at the supper round {late} came late, and {paid} paid for everybody",
        "we had the supper round again: {paid} paid for everybody, and it was {late} who came late",
        "the supper round began cold, because {late} came late; in the end {paid} paid for everybody",
        "another supper round is behind us, with {late} coming late and {paid} paying for everybody",
    )),
    Evenings("the bowling round", "bowling rounds", (
        "at the bowling round {late} came late, and {paid} paid for everybody",
        "we had the bowling round again: {paid} paid for everybody, and it was {late} who came late",
        "the bowling round was fun, though {late} came late; in the end {paid} paid for everybody",
        "another bowling round is behind us, with {late} coming late and {paid} paying for everybody",
    )),
)  # fmt: skip
"""One of these for each plan, in turn; a conversation of more plans has none in the further ones."""

OWN_LOGS = (
    OwnLog("my evening run", "evening runs", "km", "kilometres", "did I run", (4, 13),
           ("along the canal", "through the woods", "around the reservoir", "up to the water tower"), (
        "my evening run today was {amount}, {place}",
        "I got my evening run in: {amount}, {place}",
        "for my evening run I did {amount} this time, {place}",
        "it was {amount} for my evening run, {place}, and my legs know it",
    )),
    OwnLog("my morning swim", "morning swims", "lengths", "lengths", "did I swim", (14, 44),
           ("at the old baths", "at the open-air pool", "at the school pool", "at the leisure centre"), (
        "my morning swim was {amount} today, {place}",
        "I got my morning swim in: {amount}, {place}",
        "for my morning swim I did {amount} this time, {place}",
        "it was {amount} for my morning swim, {place}, and that was enough",
    )),
    OwnLog("my bike ride", "bike rides", "km", "kilometres", "did I ride", (12, 48),
           ("along the river", "over the hills", "to the lake and back", "around the airfield"), (
        "my bike ride today was {amount}, {place}",
        "I got my bike ride in: {amount}, {place}",
        "for my bike ride I did {amount} this time, {place}",
        "it was {amount} for my bike ride, {place}, with the wind against me",
    )),
    OwnLog("my litter walk", "litter walks", "bags", "bags", "did I fill", (2, 9),
           ("in the park", "along the railway", "around the school", "by the river"), (
        "my litter walk came to {amount} today, {place}",
        "I did my litter walk: {amount}, {place}",
        "on my litter walk I filled {amount} this time, {place}",
        "it was {amount} on my litter walk, {place}, and a rusty pan besides",
    )),
)  # fmt: skip
"""One of these for each plan, in turn."""

BY_NAME: Mapping[str, Evenings | OwnLog] = {texts.name: texts for texts in (*EVENINGS, *OWN_LOGS)}
