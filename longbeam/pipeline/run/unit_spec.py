"""Dependencies of units of work: one declaration per kind of unit, and the fingerprint derived from it.

A unit's done-mark counts only while its fingerprint is equal. The fingerprint is the digest of the unit's inputs, of
its prompts' versions, and of the model and the sampling of each role that answers one of these prompts. `max_tokens`
is left out: a reply that ended by itself stays valid when the limit rises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from longbeam.models import NEUTRAL_PROMPT, has_model_checks, identity_of
from longbeam.prompts import Prompt, PromptRegistry
from longbeam.schemas import BenchmarkSpec, Record, Role, digest_of

R = TypeVar("R", bound=Record)
T = TypeVar("T")


@dataclass(frozen=True)
class UnitSpec(Generic[R]):
    """A kind of unit: its stage, its records and the prompts that its work may ask.

    Roles, models and sampling follow from the prompts: each prompt declares the role that answers it.
    """

    stage: str
    record: type[R]
    prompts: tuple[str, ...] = ()
    unversioned_prompts: tuple[str, ...] = ()
    """Prompts that the work may ask although the unit does not depend on their versions and models."""
    tries: int = 0
    """Generations whose replies may fail before the run goes on without the unit, which is a gap; 0: it never does."""
    acting: Role | None = None
    """Role that answers all of these prompts; None: the role that each prompt declares."""
    version: int = 1
    """Raised when code makes something else of the same inputs and replies, so that old done-marks no longer count."""

    def asking(self, *prompts: str) -> UnitSpec[R]:
        """Return the same kind of unit for work that asks these prompts, too."""
        return replace(self, prompts=(*self.prompts, *prompts))

    @property
    def may_ask(self) -> frozenset[str]:
        """All prompts that the work may ask: those named, and the one that tells any request in neutral words."""
        return frozenset((*self.prompts, *self.unversioned_prompts, NEUTRAL_PROMPT))


@dataclass(frozen=True)
class DeclaredPrompts:
    """The prompts that a unit's work may ask; another one raises KeyError, because no fingerprint would know of it."""

    known: PromptRegistry
    unit: UnitSpec[Any]  # Any: whatever its records are

    def __getitem__(self, prompt_id: str) -> Prompt:
        if prompt_id not in self.unit.may_ask:
            raise KeyError(f"a unit of stage {self.unit.stage!r} asks {prompt_id!r}, which its UnitSpec does not name")
        return self.known[prompt_id]

    def find_passage(self, prompt_id: str, text: str, known: Iterable[str]) -> str | None:
        """Return eight words that a reply copies from its prompt and no `known` text has; None if it copies none."""
        return self.known.find_passage(prompt_id, text, known)

    def find_copied(self, text: str, known: Iterable[str]) -> str | None:
        """Return a term of the prompts' own examples that a text says and none of the `known` texts does."""
        return self.known.find_copied(text, known)


@dataclass(frozen=True)
class Digested(Generic[T]):
    """An input of which the fingerprint holds only a part, because it is no record or too large to be hashed."""

    value: T
    digest: object
    """The part that the fingerprint holds: a digest of the value, or records that determine the work's result."""


@dataclass(frozen=True)
class Dependencies:
    """Dependencies that all units of a run share, beside their inputs."""

    spec: BenchmarkSpec
    prompts: PromptRegistry
    version_of: Callable[[str], str]
    """Version of the rules by which a model answers, by its name in the spec; empty for a language model."""
    earlier: Mapping[str, list[object]] = field(default_factory=dict)
    """By role, what `model_of` returned when the units were made under another spec; `spec` has the other roles."""

    def fingerprint(self, unit: UnitSpec[R], inputs: Sequence[object]) -> str:
        """Return the digest of everything that a unit depends on."""
        if unit.acting is not None:
            asked, roles = list(unit.prompts), [unit.acting]
        else:
            asked = [prompt_id for prompt_id in unit.prompts if self._is_asked(prompt_id)]
            roles = list(self._roles_of(asked))
        models = [self.model_of(role) for role in roles]
        return digest_of(unit.version, list(self.prompts.versions(asked)), models, list(map(_hashable, inputs)))

    def _is_asked(self, prompt_id: str) -> bool:
        return self.prompts[prompt_id].role is not Role.CHECKER or has_model_checks(self.spec)

    def _roles_of(self, prompt_ids: Sequence[str]) -> Iterator[Role]:
        for role in self.prompts.roles(prompt_ids):
            yield role
            if role is Role.CHECKER and self.spec.model_for(Role.SECOND_CHECKER):
                yield Role.SECOND_CHECKER

    def model_of(self, role: Role) -> list[object]:
        """Return what a fingerprint holds of a role: its model's identity, and its sampling."""
        if role.value in self.earlier:
            return self.earlier[role.value]
        model, sampling = self.spec.model_for(role), self.spec.sampling_for(role)
        return [role.value, identity_of(self.spec, model, self.version_of), sampling.identity]


def _hashable(part: object) -> object:
    """Return what a fingerprint holds of an input: its digest if it has one."""
    if isinstance(part, Record):
        return part
    if isinstance(part, Digested):
        return _hashable(part.digest)
    if isinstance(digest := getattr(part, "digest", None), str):
        return digest
    if isinstance(part, Sequence) and not isinstance(part, str):
        return [_hashable(item) for item in part]
    return part
