"""The schema of one call's reply offers what is known beforehand, and nothing that a good reply needs is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator

import jsonschema
import pytest

from longbeam.abilities import QuestionKind
from longbeam.models import ModelCall, strict_schema
from longbeam.offline import OfflineWriter
from longbeam.prompts import PROMPTS, default_registry
from longbeam.prompts.calls import CandidatesInputs, ProbeInputs, UserTurnsInputs
from longbeam.schemas import PromptInputs, Role
from tests.prompts.samples import SAMPLES, extras_of

STRUCTURED = [p.prompt_id for p in PROMPTS if p.output is not None]


def _call(prompt_id: str, inputs: PromptInputs) -> ModelCall:
    return ModelCall(
        default_registry()[prompt_id],
        inputs,
        Role.WRITER,
        "offline",
        1,
        "c000/stage/unit",
        extras=extras_of(prompt_id, inputs),
    )


def _inputs(prompt_id: str) -> PromptInputs:
    inputs = SAMPLES[prompt_id]
    return inputs


def _schema(prompt_id: str) -> dict[str, object]:
    schema = default_registry()[prompt_id].schema(_inputs(prompt_id))
    assert schema is not None
    return schema


def _offline_reply(prompt_id: str) -> dict[str, object]:
    answer = OfflineWriter().answer(_call(prompt_id, _inputs(prompt_id)))
    assert not isinstance(answer, str)
    return answer.model_dump(mode="json")


@pytest.mark.parametrize("prompt_id", STRUCTURED)
def test_offline_replies_fit_the_schema_of_their_call(prompt_id: str) -> None:
    jsonschema.validate(_offline_reply(prompt_id), _schema(prompt_id))


def test_narrowing_leaves_the_shared_schema_as_it_is() -> None:
    prompt = default_registry()["sub_plan"]
    before = json.dumps(prompt.schema())
    assert json.dumps(_schema("sub_plan")) != before
    assert json.dumps(prompt.schema()) == before


def _without(reply: dict[str, object], path: str, value: object) -> dict[str, object]:
    """The reply with one place changed: `bullets.0.kind`."""
    *way, last = path.split(".")
    node: object = reply
    for step in way:
        node = node[int(step)] if isinstance(node, list) else node[step]  # type: ignore[index]
    node[last] = value  # type: ignore[index]
    return reply


@pytest.mark.parametrize(
    ("prompt_id", "path", "value"),
    [
        ("narratives", "narratives", []),
        ("narratives", "narratives.0.description", "to the bread " * 40),
        ("narratives", "narratives.0.sub_labels", ["to the bread " * 5]),
        ("outline", "stages", []),
        ("sub_plan", "bullets", []),
        ("events", "events", []),
        ("events", "events.0.event", "e99"),
        ("events", "events.0.narrative", "no such narrative"),
        ("events", "events.1.people", ["Nobody"]),
        ("events", "events.0.after", [{"event": "e99", "least_days": 1, "most_days": None}]),
        ("sub_plan", "bullets.0.event", "e99"),
        ("sub_plan", "bullets.0.facts", [{"slot": "p9.f9", "name": "rent", "value": "$5", "day": ""}]),
        ("augment", "updates.0.target_id", "u99"),
        ("augment", "updates.0.text", ""),
        ("augment", "wishes", []),
        ("user_turns", "turns.0.voices", ["p9.s9.b9"]),
        ("more_turns", "turns.0.asks_about", ["p9.s9.b9"]),
        ("probe_knowledge_update", "nuggets.0.excerpts", [99]),
        ("probe_knowledge_update", "nuggets.0.excerpts", []),
        ("probe_event_ordering", "nuggets", []),
        ("probe_contradiction_resolution", "nuggets", []),
        ("probe_candidates", "chosen", ["no such candidate"]),
        ("probe_abstention", "items.0.bullet_id", "p9.s9.b9"),
    ],
)
def test_what_is_not_there_cannot_be_named(prompt_id: str, path: str, value: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(_without(_offline_reply(prompt_id), path, value), _schema(prompt_id))


@pytest.mark.parametrize("prompt_id", STRUCTURED)
def test_the_form_shows_no_field_as_optional_since_a_strict_schema_requires_all(prompt_id: str) -> None:
    system = default_registry()[prompt_id].render(SAMPLES[prompt_id])[0].content
    assert '"?: ' not in system


@pytest.mark.parametrize("language", ["English", "German"])
def test_every_field_of_a_fact_is_explained_in_every_language(language: str) -> None:
    inputs = SAMPLES["sub_plan"].model_copy(update={"language": language})
    system = default_registry()["sub_plan"].render(inputs)[0].content
    assert all(f"  - `{name}`: " in system for name in ("slot", "name", "value", "day"))


def _bounds(node: object) -> Iterator[int]:
    """Yield the bounds on the lengths of texts in a schema."""
    if isinstance(node, dict):
        yield from (longest for key, longest in node.items() if key == "maxLength" and isinstance(longest, int))
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _bounds(part)


# A pasted file may be longer; its message is bounded by its card.
@pytest.mark.parametrize("prompt_id", sorted({*STRUCTURED} - {"user_turns", "more_turns"}))
def test_no_bound_is_longer_than_llama_cpp_takes_notice_of(prompt_id: str) -> None:
    # Tried with llama-cpp-python 0.3.36: 2,000 held, and with 2,001 a reply went on to its length limit.
    assert max(_bounds(_schema(prompt_id)), default=0) <= 2_000


@pytest.mark.parametrize(
    "prompt_id",
    ["question_detector", "judge_nugget", "align_event", "criticise_probes"],
)
def test_a_verdict_follows_a_reason_that_ends(prompt_id: str) -> None:
    assert '"maxLength": 400' in json.dumps(strict_schema(_schema(prompt_id), is_whole=True))
    reply = _offline_reply(prompt_id)
    judged = reply["critiques"][0] if prompt_id == "criticise_probes" else reply  # type: ignore[index]
    judged["reason"] = "well " * 100
    output = default_registry()[prompt_id].output
    assert output is not None
    output.model_validate(reply)  # no fault where no grammar decodes


@pytest.mark.parametrize("prompt_id", [p for p in STRUCTURED if isinstance(_inputs(p), ProbeInputs)])
def test_a_rubric_has_no_list_without_an_end(prompt_id: str) -> None:
    schema = default_registry()[prompt_id].schema(_inputs(prompt_id))
    assert schema is not None
    assert schema["properties"]["nuggets"]["maxItems"] <= 12


@pytest.mark.parametrize("kind", [QuestionKind.JOIN, QuestionKind.SET_DIFFERENCE])
def test_the_people_of_a_join_are_named_in_one_nugget(kind: QuestionKind) -> None:
    inputs = SAMPLES["probe_multi_session_reasoning"]
    assert isinstance(inputs, ProbeInputs)
    asked = inputs.model_copy(update={"variety": kind, "items": ("Ada", "Bea")})
    schema = default_registry()["probe_multi_session_reasoning"].schema(asked)
    assert schema is not None
    assert (schema["properties"]["nuggets"]["minItems"], schema["properties"]["nuggets"]["maxItems"]) == (1, 1)


def test_many_choices_are_left_open() -> None:
    inputs = SAMPLES["probe_candidates"]
    assert isinstance(inputs, CandidatesInputs)
    options = tuple(inputs.options[0].model_copy(update={"candidate_id": f"c{i}"}) for i in range(300))
    schema = default_registry()["probe_candidates"].schema(inputs.model_copy(update={"options": options}))
    assert schema is not None
    assert schema["properties"]["chosen"]["items"] == {"type": "string"}


def test_a_turn_may_ask_about_what_was_told_before_the_batch() -> None:
    inputs = SAMPLES["user_turns"]
    assert isinstance(inputs, UserTurnsInputs)
    reply = _without(_offline_reply("user_turns"), "turns.0.asks_about", [inputs.context[0].bullet_id])
    jsonschema.validate(reply, _schema("user_turns"))


@pytest.mark.parametrize("reads_lists", [True, False])
def test_a_list_is_a_form_only_where_lists_are_read(reads_lists: bool) -> None:
    inputs = SAMPLES["extract_facts"].model_copy(update={"reads_lists": reads_lists})
    schema = default_registry()["extract_facts"].schema(inputs) or {}
    draft = schema["$defs"]["StatementDraft"]["properties"]
    assert ("list" in draft["says"]["enum"], "items" in draft) == (reads_lists, reads_lists)
