"""The offline writer: a ChatModel that answers every prompt by rule, from a call's typed inputs and its state.

It is no language model and is never presented as one. It is a pure function of the call: its randomness comes
from the benchmark's seed, the unit key and the generation, and nothing survives between calls.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from longbeam.keys import UnitKey
from longbeam.models import ModelCall
from longbeam.offline import (
    advising,
    answering,
    chapters,
    judging,
    memorizing,
    planning,
    probing,
    replies,
    turns,
)
from longbeam.offline.extras import inputs_of, state_of
from longbeam.offline.packs import common_wishes, load_pack, pack_paths
from longbeam.offline.story import people_thread
from longbeam.prompts.calls import AbstentionInputs, CandidatesInputs, ProbeInputs
from longbeam.schemas import ModelReply, NeutralReply, NeutralText

MODEL_NAME = "offline"
NOTHING = "nothing"
"""Text of a reply for which there is no rule."""


class OfflineWriter:
    """Answers calls at once; `invocation_log` gets one line per call answered, appended before the reply is given."""

    def __init__(self, invocation_log: Path | None = None) -> None:
        self._log = invocation_log

    def load(self) -> None:
        """Read what stories are told from now, so that the first call does not wait half a second for it."""
        for path in pack_paths():
            load_pack(path)
        common_wishes()
        people_thread()

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply; a prompt without a rule gets the least one that fits its schema."""
        await asyncio.sleep(0)  # other conversations and sub-plans take turns, as they do with a real model
        if self._log is not None:
            descriptor = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                os.write(descriptor, f"{call.key}\n".encode())
            finally:
                os.close(descriptor)
        return ModelReply(text=text_of(self.answer(call)), model=MODEL_NAME)

    def answer(self, call: ModelCall) -> BaseModel | str:
        """The reply's text, or its structure."""
        rng_key = f"{call.benchmark_seed}/{call.unit_key}/{call.generation}"
        rng = random.Random(rng_key)
        prompt_id, inputs = call.prompt.prompt_id, inputs_of(call)
        # The story and its wishes are one for all stages of a conversation, so their randomness leaves out the unit.
        conversation = f"{call.benchmark_seed}/{UnitKey.parse(call.unit_key).conversation_id}"
        if prompt_id == "events":
            return planning.events(inputs, conversation)  # type: ignore[arg-type]
        if prompt_id == "sub_plan":
            return planning.sub_plan(inputs, state_of(call), conversation)  # type: ignore[arg-type]
        if prompt_id == "augment":
            return planning.augment(inputs, rng, conversation)  # type: ignore[arg-type]
        if prompt_id in _STATEFUL_RULES:
            return _STATEFUL_RULES[prompt_id](inputs, state_of(call), rng)
        if prompt_id in _RULES:
            return _RULES[prompt_id](inputs, rng)
        if isinstance(inputs, ProbeInputs | AbstentionInputs | CandidatesInputs):
            return probing.answer_probe_prompt(prompt_id, inputs, rng)
        return least_reply(call.prompt.output)


def least_reply(output: type[BaseModel] | None) -> BaseModel | str:
    """Return the smallest reply that fits a schema, so that a new prompt can be run before it has a rule.

    Optional fields are left out, lists are as short as they may be, texts say "nothing". Raises ValidationError where a
    schema has rules beyond types and bounds.
    """
    if output is None:
        return NOTHING
    schema = output.model_json_schema()
    return output.model_validate(_least(schema, schema.get("$defs", {})))


def _least(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> object:
    if "$ref" in schema:
        return _least(defs[schema["$ref"].rsplit("/", 1)[1]], defs)
    for options in ("anyOf", "allOf", "oneOf"):
        if options in schema:
            return _least(schema[options][0], defs)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "object":
        own = schema.get("properties", {})
        return {name: _least(own[name], defs) for name in schema.get("required", ())}
    if kind == "array":
        return [_least(schema.get("items", {}), defs)] * schema.get("minItems", 0)
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": False, "null": None}.get(str(kind), NOTHING)


def text_of(answer: BaseModel | str) -> str:
    """The answer as a model sends it: prose as it is, a structure as JSON."""
    return answer if isinstance(answer, str) else answer.model_dump_json(exclude_defaults=True)


_STATEFUL_RULES: dict[str, Callable[[Any, Any, random.Random], BaseModel | str]] = {
    "user_turns": turns.user_turns,
    "more_turns": turns.more_turns,
    "assistant_reply": replies.assistant_reply,
    "user_answer": turns.user_answer,
    "user_follow_up": turns.user_follow_up,
}
_RULES: dict[str, Callable[[Any, random.Random], BaseModel | str]] = {
    "seeds": lambda inputs, _: chapters.seeds(inputs),
    "personality": planning.personality,
    "narratives": lambda inputs, _: planning.narratives(inputs),
    "plan_seeds": lambda inputs, _: chapters.plan_seeds(inputs),
    "plan_summary": lambda inputs, _: chapters.plan_summary(inputs),
    "outline": lambda inputs, _: planning.outline(inputs),
    "advise": advising.advise,
    "question_detector": lambda inputs, _: turns.detect_question(inputs),
    "word_turn": lambda inputs, _: inputs.draft,
    "neutral_words": lambda inputs, _: NeutralReply(
        texts=[NeutralText(number=i, text=text) for i, text in enumerate(inputs.texts)]
    ),
    "compact_memory": lambda inputs, _: replies.compact(inputs),
    "extract_facts": lambda inputs, _: memorizing.extract_facts(inputs),
    "extract_keys": lambda inputs, _: memorizing.extract_keys(inputs),
    "take_notes": lambda inputs, _: memorizing.take_notes(inputs),
    "compress_notes": lambda inputs, _: memorizing.compress_notes(inputs),
    "notes_relevant": lambda inputs, _: memorizing.notes_relevant(inputs),
    "select_notes": lambda inputs, _: memorizing.select_notes(inputs),
    "update_summary": lambda inputs, _: memorizing.update_summary(inputs),
    "extract_artifacts": lambda inputs, _: memorizing.extract_artifacts(inputs),
    "glean_artifacts": lambda inputs, _: memorizing.glean_artifacts(inputs),
    "answer_by_reasoning": lambda inputs, _: memorizing.answer_by_reasoning(inputs),
    "search_step": lambda inputs, _: memorizing.search_step(inputs),
    "bookmark_pages": lambda inputs, _: memorizing.bookmark_pages(inputs),
    "recall_step": lambda inputs, _: memorizing.recall_step(inputs),
    "answer": lambda inputs, _: answering.answer(inputs),
    "judge_nugget": lambda inputs, _: judging.judge(inputs),
    "align_event": lambda inputs, _: judging.align(inputs),
    "trial_answer": lambda inputs, _: judging.trial_answer(inputs),
    "check_entailment": lambda inputs, _: judging.entailment(inputs),
    "check_contradiction": lambda inputs, _: judging.contradiction(inputs),
    "guess_answers": lambda inputs, _: judging.guess(inputs),
    "read_passages": lambda inputs, _: judging.read_passages(inputs),
    "criticise_probes": lambda inputs, _: judging.criticise(inputs),
    "mark_answers": lambda inputs, _: judging.mark(inputs),
}
