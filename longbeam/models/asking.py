"""Asking a model for a usable reply: render, call, parse, check, and ask again with all faults, up to three times.

The journal below records the raw reply before it is parsed here, so a better parser never pays again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from textwrap import shorten
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from longbeam.errors import ProviderError, ReplyError, RunStopped
from longbeam.keys import UnitKey
from longbeam.models.base import ExtrasOf, ModelCall, Models, PromptDeclaration, Sampling, StateOf
from longbeam.models.kinds import answers_by_rule, identity_of
from longbeam.models.loops import LOOP, before_loop
from longbeam.models.outcomes import ReplyOutcome, longer_limit, outcome_of, spoken
from longbeam.models.parsing import MOST_FAULTS, describe_changes, parse_items, parse_reply
from longbeam.models.request_fields import room_of
from longbeam.models.rewording import FILTERED, NEUTRAL_PROMPT, out_of_order, reworded
from longbeam.models.tuning import CALLING
from longbeam.schemas import (
    BenchmarkSpec,
    Incident,
    IncidentKind,
    ModelReply,
    NeutralInputs,
    PromptInputs,
    Retry,
    Role,
)
from longbeam.text import Language, language_of

Item = TypeVar("Item")

Check = Callable[[Any], Iterable[str]]
"""Yields everything that is wrong with a parsed reply, each in a sentence that a model can act on."""

Confirm = Callable[[Any], Awaitable[Sequence[str]]]
"""Asks a model about a reply that passed the check, and returns what is wrong, worded as by a `Check`."""

TOO_LONG = "the request that says what is wrong is too long for the model"

Mend = Callable[[Any], Any]
"""Repairs the last reply that parsed and did not pass the check. Code corrects what code knows, such as counts and
references; missing words are left for validation to find. Raises ValueError for a reply that cannot be repaired.
Each use is an incident that says what was changed."""


@dataclass(frozen=True)
class Acceptance:
    """Conditions under which a parsed reply is taken, and what is taken where three replies do not meet them."""

    check: Check | None = None
    confirm: Confirm | None = None
    mend: Mend | None = None
    default: BaseModel | None = None
    """Taken where no reply could be mended; None: ReplyError is raised."""
    may_copy: bool = False
    """Whether what is copied from the prompt refuses nothing, because the caller leaves it out: it quotes no input."""


ANY_REPLY = Acceptance()


class Prompts(Protocol):
    """A source of declarations; `prompts.registry.PromptRegistry` is one."""

    def __getitem__(self, prompt_id: str) -> PromptDeclaration:
        """Return the declaration with this id."""

    def find_passage(self, prompt_id: str, text: str, known: Iterable[str]) -> str | None:
        """Return eight words that a reply copies from its prompt and no `known` text has, or None."""

    def find_copied(self, text: str, known: Iterable[str]) -> str | None:
        """Return a term of the prompts' own examples that a text contains and no `known` text does, or None."""


@dataclass(frozen=True)
class Sifted(Generic[Item]):
    """The items of a list that can be used, and what is wrong with the list."""

    kept: tuple[Item, ...]
    """Good items, those of earlier replies included, in the order in which they are to be used."""
    faults: tuple[str, ...] = ()
    """Sentences on what is missing and what is wrong with the items left out; empty for a list that is complete."""


@dataclass(frozen=True)
class ListTask(Generic[Item]):
    """A list that a model writes, in several replies where needed."""

    inputs: PromptInputs
    """Inputs that ask for the whole list."""
    sift: Callable[[tuple[Item, ...], Any], Sifted[Item]]
    """Joins the items kept so far with a parsed reply's good ones."""
    rest: Callable[[tuple[Item, ...]], PromptInputs]
    """Returns the inputs that ask for what is missing beside these items. The request names them as kept."""
    show: Callable[[Item], str] = str
    """Returns the line that names a kept item to the model."""
    least: int = 1
    """Fewest items of a list that is taken although some are missing."""
    confirm: Callable[[Item], Awaitable[str]] | None = None
    """Asks a model about a new item that `sift` keeps, and returns what is wrong with the item; empty if nothing is.
    Items are judged one after the other. A refused item is asked for again, the others are kept."""


@dataclass(frozen=True)
class _CallSettings:
    """Model and settings of the calls of a role."""

    model: str
    identity: str
    sampling: Sampling
    extras_of: ExtrasOf | None
    """Makes the extras of the calls; None for a language model."""


@dataclass(frozen=True)
class _AskedPrompt:
    """One thing that is asked of a model, up to three times."""

    prompt_id: str
    inputs: PromptInputs
    place: str
    state: StateOf | None
    retry: Retry | None = None
    is_list: bool = False
    """Whether items that are copied from the prompt are left out one by one."""

    @property
    def kept(self) -> tuple[str, ...]:
        """Lines of the items that are kept from earlier replies."""
        return () if self.retry is None else self.retry.kept


@dataclass(frozen=True)
class _Taken:
    """The reply that is taken, parsed."""

    value: Any


@dataclass
class _Attempts:
    """State of a question between its attempts; for each outcome of one, a method says what comes next."""

    first: _AskedPrompt
    question: _AskedPrompt
    """What the next attempt asks."""
    room: int = 1
    """Factor on the next attempt's length limit."""
    problem: str = ""
    """What was wrong with the last attempt."""
    kind: str = ""
    """Name of the last outcome."""
    usable: Any = None
    """The last reply that parsed and was the model's own; None: there was none."""
    is_reworded: bool = False
    """Whether a content filter withheld a request, and it was worded anew."""

    @classmethod
    def at(cls, question: _AskedPrompt) -> _Attempts:
        """Return the state before the first attempt."""
        return cls(question, question)

    def leave_out_reply(self) -> None:
        """The request was too long for the model: the next one does not show the last reply."""
        self.problem = self.problem or TOO_LONG
        retry = self.question.retry
        self.question = replace(self.question, retry=retry and retry.model_copy(update={"reply": ""}))

    def reword(self, problem: str, inputs: PromptInputs) -> None:
        """A content filter withheld the request: the next one has neutral words, and asks for harmless ones."""
        self.is_reworded, self.problem, self.kind = True, problem, "content_filter"
        self.question = replace(self.question, inputs=inputs, retry=Retry(faults=(FILTERED,), kept=self.first.kept))

    def ask_again(self, outcome: ReplyOutcome, problem: str, *, is_limited: bool) -> None:
        """The reply was no answer: the next request says so, or has more room where that is all that was missing."""
        self.problem, self.kind, self.room = problem, outcome.kind, self.room * outcome.room
        needs_room = outcome.room > 1 and is_limited
        retry = self.first.retry if needs_room else Retry(faults=(outcome.told,), kept=self.first.kept)
        self.question = replace(self.question, retry=retry)

    def name_faults(self, faults: Sequence[str], text: str) -> None:
        """The reply does not fit: the next request shows it with its faults."""
        self.problem, self.kind = "; ".join(faults), "schema"
        shown = text[: CALLING.shown_characters]
        if (retry := self.question.retry) is not None and retry.reply == shown:
            # Small models repeat a reply that they see, word for word and warm as they are, and write another where
            # they do not.
            shown = ""
        self.question = replace(self.question, retry=Retry(faults=tuple(faults), reply=shown, kept=self.first.kept))


@dataclass(frozen=True)
class Asker:
    """The models of a run, bound to the unit that asks; `place` names the call within it."""

    models: Models
    prompts: Prompts
    spec: BenchmarkSpec
    unit_key: UnitKey
    generation: int = 0
    """Number of earlier runs in which this unit failed."""
    incidents: list[Incident] = field(default_factory=list, repr=False, compare=False)
    """Incidents of the unit so far; shared with the askers of this unit's parts."""
    acting: Role | None = None
    """Role that answers every call; None: the role that each prompt declares."""
    _settings: dict[tuple[Role, int], _CallSettings] = field(default_factory=dict, repr=False, compare=False)
    """Settings by role and factor of `max_tokens`; shared with the askers of this unit's parts."""

    @property
    def language(self) -> Language:
        """Language of the conversation, with what code knows of it."""
        return language_of(self.spec.language)

    def within(self, part: str) -> Asker:
        """Return an asker for a part of this unit, so that places stay short."""
        return replace(self, unit_key=self.unit_key.at(part))

    def note(self, incident: Incident) -> None:
        """Keep an incident of this unit; it is stored with the unit's records."""
        place = str(self.unit_key.at(incident.place) if incident.place else self.unit_key)
        self.incidents.append(incident.model_copy(update={"place": place}))

    def acting_as(self, role: Role) -> Asker:
        """Return an asker whose calls are answered by this role, whichever role their prompts declare."""
        return replace(self, acting=role)

    async def structured(
        self,
        prompt_id: str,
        inputs: PromptInputs,
        *,
        place: str = "",
        accept: Acceptance = ANY_REPLY,
        state: StateOf | None = None,
    ) -> Any:  # Any: the prompt's declared output
        """Return the parsed reply; after three unfit ones the last one mended, else the default, else raise ReplyError.

        `state` describes what the call is made from, to models that answer by rule. Mending and the default are noted.
        """
        parse = partial(parse_reply, schema=self._form_of(prompt_id))
        try:
            return await self._ask(_AskedPrompt(prompt_id, inputs, place, state), parse, accept)
        except ReplyError as exc:
            if (default := accept.default) is None:
                raise
            detail = f"{exc.reason}; taken instead: {default.model_dump_json()}"
            self.note(Incident(kind=IncidentKind.DEFAULTED, prompt_id=prompt_id, place=place, detail=detail))
            return default

    async def listed(
        self, prompt_id: str, task: ListTask[Item], *, place: str = "", state: StateOf | None = None
    ) -> tuple[Item, ...]:
        """Return the items of a list; good ones are kept, and only missing or faulty ones are asked for again.

        A list that stays short is taken from `task.least` items on, and noted; with fewer, ReplyError is raised. With
        `least=0` a list always returns, and the caller writes what is missing.

        The turns of a batch, for example: `inputs` asks for all turns; `sift` keeps each turn that passes the rules and
        voices bullets which no kept turn voices; `confirm` asks the checker whether the turn says its bullets
        (`Voicing.judge` on this one turn); `rest` asks for turns for the bullets that are still unsaid.
        """
        schema, inputs = self._form_of(prompt_id), task.inputs
        sifted: Sifted[Item] = Sifted(())
        refused: list[tuple[Item, str]] = []
        for round_ in range(CALLING.list_rounds):
            retry = Retry(faults=sifted.faults, kept=tuple(map(task.show, sifted.kept))) if round_ else None
            question = _AskedPrompt(
                prompt_id, inputs, f"{place}+{round_}" if round_ else place, state, retry, is_list=True
            )
            parse = partial(self._sift, question, task, sifted.kept, schema)
            check = partial(_without_progress, sifted.kept)
            confirm = partial(_without_confirmed, sifted.kept, task.confirm, refused) if task.confirm else None
            try:
                sifted = _without_refused(await self._ask(question, parse, Acceptance(check, confirm)), refused)
            except ReplyError as exc:
                if len(sifted.kept) < task.least:
                    raise
                sifted = Sifted(sifted.kept, (exc.reason,))
                break
            if not sifted.faults:
                return sifted.kept
            inputs = task.rest(sifted.kept)
        problem = "; ".join(sifted.faults)
        if len(sifted.kept) < task.least:
            raise self._unfit(question, CALLING.list_rounds, problem, "schema")
        detail = f"taken with {len(sifted.kept)} items; {problem}"
        self.note(Incident(kind=IncidentKind.SHORT, prompt_id=prompt_id, place=place, detail=detail))
        return sifted.kept

    def _sift(
        self, question: _AskedPrompt, task: ListTask[Item], kept: tuple[Item, ...], schema: type[BaseModel], text: str
    ) -> Sifted[Item]:
        """Return the task's own sifting of a reply, without items that are copied from the prompt."""
        reply, misfits = parse_items(text, schema)
        sifted = task.sift(kept, reply)
        faults = {
            id(item): fault
            for item in sifted.kept
            if not any(item is k for k in kept) and (fault := self._copied(question, " ".join(_texts_of(item)), item))
        }
        good = tuple(item for item in sifted.kept if id(item) not in faults)
        return Sifted(good, faults=(*(misfits if sifted.faults else ()), *sifted.faults, *faults.values()))

    def _form_of(self, prompt_id: str) -> type[BaseModel]:
        """Return the form in which a prompt is answered."""
        schema = self.prompts[prompt_id].output
        if schema is None:
            raise TypeError(f"prompt {prompt_id!r} declares no output schema")
        return schema

    async def prose(
        self,
        prompt_id: str,
        inputs: PromptInputs,
        *,
        place: str = "",
        accept: Acceptance = ANY_REPLY,
        state: StateOf | None = None,
    ) -> str:
        """Return the reply's text, stripped; raise ReplyError when three were empty, or refused and not mended.

        `state` is as for `structured`.
        """
        return str(await self._ask(_AskedPrompt(prompt_id, inputs, place, state), str.strip, accept))

    async def _ask(self, question: _AskedPrompt, parse: Callable[[str], Any], accept: Acceptance) -> Any:
        if question.inputs.language != self.spec.language:
            question = replace(question, inputs=question.inputs.model_copy(update={"language": self.spec.language}))
        state = _Attempts.at(question)
        for attempt in range(CALLING.attempts):
            call = self._call(state.question, attempt, state.room)
            self._refuse_useless_role(call)
            if (reply := await self._reply_to(call, state)) is None:
                continue
            taken = await self._judge(state, call, reply, parse, accept)
            self._count(call, None if taken is not None else state.problem)
            if taken is not None:
                return taken.value
        if accept.mend is not None and state.usable is not None:
            try:
                return self._mended(question, state.usable, accept.mend, state.problem)
            except ValueError as exc:
                state.problem = str(exc)
        self._note(IncidentKind.REFUSED, question, state.problem)
        raise self._unfit(question, CALLING.attempts, state.problem, state.kind)

    async def _judge(
        self, state: _Attempts, call: ModelCall, reply: ModelReply, parse: Callable[[str], Any], accept: Acceptance
    ) -> _Taken | None:
        """Return what is taken of a reply; None where the state now says what the next attempt asks."""
        question = state.question
        is_prose = self.prompts[question.prompt_id].output is None
        if (outcome := outcome_of(reply, self.language, is_prose=is_prose)) is not None:
            if (part := await self._before_cut(question, reply, parse, accept, state.room)) is not None:
                return _Taken(part)
            state.ask_again(outcome, self._described(outcome, call), is_limited=call.sampling.max_tokens is not None)
            return None
        text = spoken(reply)
        try:
            parsed = parse(text)
        except ValueError as exc:
            state.name_faults((str(exc),), text)
            return None
        copied = None if question.is_list or accept.may_copy else self._copied(question, text, parsed)
        faults = await _faults_of(parsed, accept, copied)
        if not faults:
            return _Taken(parsed)
        if copied is None:  # a repair of the prompt's own words would be no reply
            state.usable = parsed
        state.name_faults(faults, text)
        return None

    def _count(self, call: ModelCall, problem: str | None) -> None:
        """Count the unusable replies that a role gave in a row, None ending it; a replayed one says nothing now."""
        if not call.progress.is_replayed:
            rows, key = self.models.unusable_in_a_row, (call.model, call.role)
            rows[key] = (0, "") if problem is None else (rows.get(key, (0, ""))[0] + 1, problem)

    def _refuse_useless_role(self, call: ModelCall) -> None:
        """Stop the run before a call to a role that has given nothing but unusable replies for long, whatever text."""
        most = self.spec.limits.unusable_in_a_row
        count, problem = self.models.unusable_in_a_row.get((call.model, call.role), (0, ""))
        if not most or count < most:
            return
        last = f" (the last: {shorten(problem, CALLING.problem_characters, placeholder=' ...')})"
        raise RunStopped(
            f"{call.model} as {call.role.value}: the last {count} replies could not be used{last}. Name another model"
            f" for this role in [models], or set limits.unusable_in_a_row higher than {most} (0: no limit)",
            reopens_units=True,
        )

    def _described(self, outcome: ReplyOutcome, call: ModelCall) -> str:
        """Return what the user reads about a reply that is no answer, with the setting that can change it."""
        if outcome.kind != "reasoning":
            return outcome.problem
        return f"{outcome.problem}; {longer_limit(self.spec, call.model, [call.role])}"

    async def _before_cut(
        self, question: _AskedPrompt, reply: ModelReply, parse: Callable[[str], Any], accept: Acceptance, room: int
    ) -> Any | None:
        """Return what can be used of a reply that was cut off; None where there is nothing.

        That are the items of a list. Of prose that may be mended, it is what stands before a loop; and as much as the
        usual length limit holds, where the reply had `room` times as much and was cut again.
        """
        if question.is_list:
            return await _items_before_cut(reply, parse, accept)
        is_cut = reply.finish_reason == LOOP or (reply.finish_reason == "length" and room > 1)
        if accept.mend is None or not is_cut or self.prompts[question.prompt_id].output is not None:
            return None
        said = spoken(reply)
        text = before_loop(said if reply.finish_reason == LOOP else said[: len(said) // room])
        if not text or await _faults_of(text, accept, self._copied(question, text, text)):
            return None
        why = "repeated itself" if reply.finish_reason == LOOP else "was cut off with more room, too"
        self._note(IncidentKind.MENDED, question, f"the reply {why}; its first {len(text)} characters are taken")
        return text

    async def _reply_to(self, call: ModelCall, state: _Attempts) -> ModelReply | None:
        """Return the reply; None where the call failed for something that the state now leaves out of it."""
        try:
            return await self.models.chat.complete(call)
        except ProviderError as exc:
            if exc.kind == "context_length" and call.retry is not None:
                state.leave_out_reply()  # it is too long only since it says what was wrong before
            elif exc.kind == "content_filter" and not state.is_reworded and call.prompt.prompt_id != NEUTRAL_PROMPT:
                state.reword(str(exc), await self._in_neutral_words(state.question, call.role))
            else:
                raise
            return None

    async def _in_neutral_words(self, question: _AskedPrompt, role: Role) -> PromptInputs:
        """Return a question's inputs in neutral words, without the texts that a content filter withholds alone."""
        asker, place = self.acting_as(role), f"{question.place}+neutral"

        async def tell(texts: tuple[str, ...]) -> Sequence[str]:
            accept = Acceptance(partial(out_of_order, len(texts)), may_copy=True)
            reply = await asker.structured(NEUTRAL_PROMPT, NeutralInputs(texts=texts), place=place, accept=accept)
            return [told.text for told in reply.texts]

        inputs, detail = await reworded(question.inputs, tell)
        self._note(IncidentKind.MENDED, question, detail)
        return inputs

    def is_copied(self, prompt_id: str, inputs: PromptInputs, text: str) -> bool:
        """Return whether a text of a reply to a prompt is copied from the prompt's instructions or example."""
        return self._copied(_AskedPrompt(prompt_id, inputs, "", None), text, text) is not None

    def _note(self, kind: IncidentKind, question: _AskedPrompt, detail: str) -> None:
        self.note(Incident(kind=kind, prompt_id=question.prompt_id, place=question.place, detail=detail))

    def _mended(self, question: _AskedPrompt, usable: Any, mend: Mend, problem: str) -> Any:
        mended = mend(usable)
        self._note(IncidentKind.MENDED, question, f"{problem}; {describe_changes(usable, mended)}")
        return mended

    def _unfit(self, question: _AskedPrompt, replies: int, problem: str, kind: str) -> ReplyError:
        where = f"{self.unit_key.at(question.place) if question.place else self.unit_key}"
        text = f"{where}, prompt {question.prompt_id!r}: {replies} replies did not fit; the last: "
        text += shorten(problem, CALLING.problem_characters, placeholder=" ...")
        return ReplyError(text, kind=kind, reason=problem)

    def _copied(self, question: _AskedPrompt, text: str, parsed: object) -> str | None:
        """Return the fault of a reply, or of an item of one, that is copied from the prompt."""
        if term := self.prompts.find_copied(text, known=_dump_of(question.inputs)):
            return f"{term!r} is from the example; it has no place in this story"
        if answers_by_rule(self.spec, self.spec.model_for(self.acting or self.prompts[question.prompt_id].role)):
            return None  # it never saw the words of the prompt
        texts, known = _texts_of(parsed), partial(_dump_of, question.inputs)
        found = (self.prompts.find_passage(question.prompt_id, part, known()) for part in texts)
        passage = next(filter(None, found), None)
        return f"{passage!r} is copied from these instructions; say it in words of your own" if passage else None

    def _call(self, question: _AskedPrompt, attempt: int, room: int) -> ModelCall:
        """Return the call of an attempt, with `room` times the length limit of the spec or of the form asked for."""
        prompt, place = self.prompts[question.prompt_id], question.place
        role = self.acting or prompt.role
        settings = self._settings.get((role, room))
        if settings is None:
            settings = self._settings[role, room] = _settings_of(self, role, room)
        extras_of, inputs, retry, sampling = settings.extras_of, question.inputs, question.retry, settings.sampling
        if extras_of is None and sampling.max_tokens is None:
            sampling = sampling.model_copy(update={"max_tokens": room_of(prompt, inputs) * room})
        told = inputs if retry is None else inputs.model_copy(update={"feedback": retry.text})
        return ModelCall(
            prompt=prompt,
            inputs=inputs,
            role=role,
            model=settings.model,
            identity=settings.identity,
            benchmark_seed=self.spec.seed,
            unit_key=str(self.unit_key.at(place) if place else self.unit_key),
            generation=self.generation * CALLING.attempts + attempt,
            sampling=sampling if retry is None else _warmer(sampling, attempt),
            retry=retry,
            # A model that answers by rule does not read messages: it finds the faults in the inputs.
            extras=extras_of and extras_of(question.prompt_id, told, question.state),
        )


def _settings_of(asker: Asker, role: Role, room: int) -> _CallSettings:
    spec = asker.spec
    model, sampling = spec.model_for(role), spec.sampling_for(role)
    most = None if sampling.max_tokens is None else sampling.max_tokens * room
    limited = Sampling(**{**sampling.model_dump(), "max_tokens": most})
    extras_of = asker.models.extras_of if answers_by_rule(spec, model) else None
    return _CallSettings(model, identity_of(spec, model, asker.models.version_of), limited, extras_of)


def _warmer(sampling: Sampling, attempt: int) -> Sampling:
    """Return the sampling of a retry: a retry that is as cold as the first attempt tends to repeat it."""
    coldest = CALLING.usual_temperature if sampling.temperature is None else sampling.temperature
    if coldest >= CALLING.warmest:
        return sampling
    return sampling.model_copy(update={"temperature": min(coldest + attempt * CALLING.warmer, CALLING.warmest)})


async def _items_before_cut(reply: ModelReply, parse: Callable[[str], Any], accept: Acceptance) -> Any | None:
    """Return the good items of a list that was cut off or went round in a loop; None where there are none."""
    if reply.finish_reason in {"length", "loop"}:
        with suppress(ValueError):
            parsed = parse(spoken(reply))
            if not await _faults_of(parsed, accept):
                return parsed
    return None


async def _faults_of(parsed: Any, accept: Acceptance, copied: str | None = None) -> tuple[str, ...]:
    """Return what is wrong with a parsed reply; a model is asked about one that rules find nothing wrong with."""
    found = () if accept.check is None else accept.check(parsed)
    faults = tuple(islice(chain([copied] if copied else [], found), MOST_FAULTS))
    return faults if faults or accept.confirm is None else tuple(await accept.confirm(parsed))


def _without_progress(kept: Sequence[Item], sifted: Sifted[Item]) -> tuple[str, ...]:
    """Return the faults of a reply that changes nothing of what is wanted; another one is taken, and the rest asked.

    A good item may show that one kept so far has to be told anew: then that one is what the next request asks for.
    """
    return sifted.faults if all(item in kept for item in sifted.kept) and len(sifted.kept) == len(kept) else ()


async def _without_confirmed(
    kept: Sequence[Item],
    confirm: Callable[[Item], Awaitable[str]],
    refused: list[tuple[Item, str]],
    sifted: Sifted[Item],
) -> tuple[str, ...]:
    """Return the faults of a reply of which a model refuses every new item; fill `refused` with the refused ones."""
    new = [item for item in sifted.kept if item not in kept]
    refused[:] = [(item, reason) for item in new if (reason := await confirm(item))]
    return tuple(reason for _, reason in refused) if len(refused) == len(new) else ()


def _without_refused(sifted: Sifted[Item], refused: Sequence[tuple[Item, str]]) -> Sifted[Item]:
    """Return a list without the items that a model refused, and with the reasons among its faults."""
    wrong = [item for item, _ in refused]
    kept = tuple(item for item in sifted.kept if item not in wrong)
    return Sifted(kept, (*sifted.faults, *(reason for _, reason in refused)))


def _texts_of(item: object) -> Iterator[str]:
    """Yield the texts in an item of a reply."""
    if isinstance(item, BaseModel):
        item = item.model_dump(mode="json")
    if isinstance(item, str):
        yield item
    elif isinstance(item, dict | list | tuple):
        for part in item.values() if isinstance(item, dict) else item:
            yield from _texts_of(part)


def _dump_of(inputs: PromptInputs) -> Iterator[str]:
    yield inputs.model_dump_json()  # only when it is asked for: a call's inputs hold the whole history
