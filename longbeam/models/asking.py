"""Asking a model for a usable reply: render, call, parse, check, and ask again with the reason, up to three times.

The journal below records the raw reply before it is parsed here, so a better parser never pays again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from longbeam.errors import ReplyError
from longbeam.keys import UnitKey
from longbeam.models.base import ExtrasOf, ModelCall, Models, PromptDeclaration, Sampling, StateOf
from longbeam.models.kinds import answers_by_rule
from longbeam.models.outcomes import outcome_of, spoken
from longbeam.schemas.calls import PromptInputs
from longbeam.schemas.spec import ENGLISH, BenchmarkSpec, Role

ATTEMPTS = 3
"""Replies that a call asks for in one run of a unit; `resume` opens three more."""

Check = Callable[[Any], str | None]
"""Returns what is wrong with a parsed reply, in a sentence that a model can act on; None if nothing is."""

Mend = Callable[[Any], Any]
"""Repairs the last reply that parsed and did not pass the check. Code corrects what code knows, such as counts and
references; missing words are left for validation to find. Raises ValueError for a reply that cannot be repaired."""


class Prompts(Protocol):
    """A source of declarations; `prompts.registry.PromptRegistry` is one."""

    def __getitem__(self, prompt_id: str) -> PromptDeclaration:
        """Return the declaration with this id."""

    def find_copied(self, text: str, known: Iterable[str]) -> str | None:
        """Return a term of the prompts' own examples that a text contains and no `known` text does, or None."""


@dataclass(frozen=True)
class _CallSettings:
    """Model and settings of the calls of a role."""

    model: str
    identity: str
    sampling: Sampling
    extras_of: ExtrasOf | None
    """Makes the extras of the calls; None for a language model."""


@dataclass(frozen=True)
class _Question:
    """One thing that is asked of a model, up to three times."""

    prompt_id: str
    inputs: PromptInputs
    place: str
    state: StateOf | None


@dataclass(frozen=True)
class Asker:
    """The models of a run, bound to the unit that asks; `place` names the call within it."""

    models: Models
    prompts: Prompts
    spec: BenchmarkSpec
    unit_key: UnitKey
    generation: int = 0
    """Number of earlier runs in which this unit failed."""
    _settings: dict[tuple[Role, int], _CallSettings] = field(default_factory=dict, repr=False, compare=False)
    """Settings by role and factor of `max_tokens`; shared with the askers of this unit's parts."""

    def within(self, part: str) -> Asker:
        """Return an asker for a part of this unit, so that places stay short."""
        return replace(self, unit_key=self.unit_key.at(part))

    async def structured(
        self,
        prompt_id: str,
        inputs: PromptInputs,
        *,
        place: str = "",
        check: Check | None = None,
        mend: Mend | None = None,
        state: StateOf | None = None,
    ) -> Any:  # Any: the prompt's declared output
        """Return the parsed reply; after three that did not fit, the last one mended, or raise ReplyError.

        `state` describes what the call is made from, to models that answer by rule.
        """
        schema = self.prompts[prompt_id].output
        if schema is None:
            raise TypeError(f"prompt {prompt_id!r} declares no output schema")
        parse = partial(parse_reply, schema=schema)
        return await self._ask(_Question(prompt_id, inputs, place, state), parse, check, mend)

    async def prose(
        self,
        prompt_id: str,
        inputs: PromptInputs,
        *,
        place: str = "",
        check: Check | None = None,
        mend: Mend | None = None,
        state: StateOf | None = None,
    ) -> str:
        """Return the reply's text, stripped; raise ReplyError when three were empty, or refused and not mended.

        `state` is as for `structured`.
        """
        return str(await self._ask(_Question(prompt_id, inputs, place, state), str.strip, check, mend))

    async def _ask(
        self, question: _Question, parse: Callable[[str], Any], check: Check | None, mend: Mend | None
    ) -> Any:
        prompt_id, given = question.prompt_id, question.inputs
        if self.spec.language != ENGLISH:
            given = given.model_copy(update={"language": self.spec.language})
        inputs, problem, kind, usable, room = given, "", "", None, 1
        is_prose = self.prompts[prompt_id].output is None
        for attempt in range(ATTEMPTS):
            call = self._call(replace(question, inputs=inputs), attempt, room)
            reply = await self.models.chat.complete(call)
            if (outcome := outcome_of(reply, self.spec.language, is_prose=is_prose)) is not None:
                problem, kind, room = outcome.problem, outcome.kind, room * outcome.room
                has_room = outcome.room > 1 and call.sampling.max_tokens is not None
                inputs = given if has_room else given.model_copy(update={"feedback": problem})
                continue
            kind, text = "schema", spoken(reply)
            try:
                parsed = parse(text)
            except ValueError as exc:
                problem = str(exc)
            else:
                problem = self._copied(text, given) or (check(parsed) if check else None) or ""
                if not problem:
                    return parsed
                usable = parsed
            inputs = given.model_copy(update={"feedback": problem})
        if mend is not None and usable is not None:
            try:
                return mend(usable)
            except ValueError as exc:
                problem = str(exc)
        raise ReplyError(
            f"{call.unit_key}, prompt {prompt_id!r}: {ATTEMPTS} replies did not fit; the last: {problem}", kind=kind
        )

    def _copied(self, text: str, inputs: PromptInputs) -> str | None:
        term = self.prompts.find_copied(text, known=_dump_of(inputs))
        return f"{term!r} is from the example; it has no place in this story" if term else None

    def _call(self, question: _Question, attempt: int, room: int) -> ModelCall:
        """Return the call of an attempt, with `room` times the spec's `max_tokens`."""
        prompt, place = self.prompts[question.prompt_id], question.place
        settings = self._settings.get((prompt.role, room))
        if settings is None:
            settings = self._settings[prompt.role, room] = _settings_of(self, prompt.role, room)
        extras_of = settings.extras_of
        return ModelCall(
            prompt=prompt,
            inputs=question.inputs,
            role=prompt.role,
            model=settings.model,
            identity=settings.identity,
            benchmark_seed=self.spec.seed,
            unit_key=str(self.unit_key.at(place) if place else self.unit_key),
            generation=self.generation * ATTEMPTS + attempt,
            sampling=settings.sampling,
            extras=extras_of and extras_of(question.prompt_id, question.inputs, question.state),
        )


def identity_of(spec: BenchmarkSpec, model: str, version_of: Callable[[str], str]) -> str:
    """Return what a model is, wherever it is served, with the version of its rules if it answers by rule.

    Replies and done units belong to this identity, so neither outlives the rules that it was made by.
    """
    version = version_of(model)
    return f"{spec.identity_of(model)}@{version}" if version else spec.identity_of(model)


def _settings_of(asker: Asker, role: Role, room: int) -> _CallSettings:
    spec = asker.spec
    model, sampling = spec.model_for(role), spec.sampling_for(role)
    most = None if sampling.max_tokens is None else sampling.max_tokens * room
    limited = Sampling(temperature=sampling.temperature, max_tokens=most)
    extras_of = asker.models.extras_of if answers_by_rule(spec, model) else None
    return _CallSettings(model, identity_of(spec, model, asker.models.version_of), limited, extras_of)


def _dump_of(inputs: PromptInputs) -> Iterator[str]:
    yield inputs.model_dump_json()  # only when it is asked for: a call's inputs hold the whole history


def parse_reply(text: str, schema: type[BaseModel]) -> BaseModel:
    """Return the reply as the schema's model; wrapping in prose or a code fence is taken off once.

    Raises ValueError with the first three things that do not fit.
    """
    try:
        return schema.model_validate_json(text)
    except ValidationError as exc:
        unwrapped = _unwrap(text)
        if unwrapped is None or unwrapped == text:
            raise ValueError(_describe(exc)) from exc
    try:
        return schema.model_validate_json(unwrapped)
    except ValidationError as exc:
        raise ValueError(_describe(exc)) from exc


def _unwrap(text: str) -> str | None:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end <= start:
        return None
    body = text[start : end + 1]
    try:
        json.loads(body)
    except json.JSONDecodeError:
        return None
    return body


def _describe(exc: ValidationError) -> str:
    errors: Sequence[Any] = exc.errors(include_url=False, include_input=False)[:3]
    return "; ".join(f"{'.'.join(str(p) for p in e['loc']) or 'reply'}: {e['msg']}" for e in errors)
