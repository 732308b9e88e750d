"""From a request's extras to the offline writer's reply, for single requests and for the batch API."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json

from longbeam.models import EXTRA_FIELD, ModelCall, PromptDeclaration, Sampling
from longbeam.offline.extras import STATES, WriterExtras, state_of
from longbeam.offline.loopback.requests import Refusal, Request
from longbeam.offline.loopback.settings import ServerSettings
from longbeam.offline.writer import OfflineWriter, text_of
from longbeam.prompts.calls import AssistantReplyInputs, QuestionDetectorReply
from longbeam.schemas import PromptInputs, Role

ASKS_USER_RATE = 0.2
"""Share of the offline writer's replies that ask the user something; a factor above 1 is relative to this share."""


class UnknownRequest(Exception):
    """A request that cannot be answered; the message says what it lacks."""


class TypedPrompt(PromptDeclaration, Protocol):
    """A declaration that knows the type of its inputs; `prompts.registry.Prompt` is one."""

    @property
    def inputs(self) -> type[PromptInputs]:
        """Type of the inputs."""


class Prompts(Protocol):
    """A source of declarations; `prompts.registry.PromptRegistry` is one."""

    def __getitem__(self, prompt_id: str) -> TypedPrompt:
        """The declaration with this id; KeyError if there is none."""


def call_of(body: Mapping[str, Any], prompts: Prompts) -> ModelCall:
    """Return the model call that a request was made from. Raises UnknownRequest with what is wrong with it."""
    extra = body.get(EXTRA_FIELD)
    if not isinstance(extra, dict):
        raise UnknownRequest(
            f"the request has no {EXTRA_FIELD!r} member with extras: this server is the offline writer, which "
            "cannot read prose. Set `sends_extras = true` for this endpoint in the spec, or start the server with "
            "fixed_reply_tokens=N"
        )
    try:
        prompt = prompts[extra["prompt_id"]]
        if extra["prompt_version"] != prompt.version:
            raise UnknownRequest(
                f"prompt {prompt.prompt_id!r} has version {prompt.version} here and {extra['prompt_version']} in the "
                "request: server and client are different versions of longbeam"
            )
        inputs = prompt.inputs.model_validate(extra["extras"]["inputs"])
        state = extra["extras"]["state"]
        return ModelCall(
            prompt=prompt,
            inputs=inputs,
            role=Role(extra["role"]),
            model=str(body.get("model", "")),
            benchmark_seed=int(extra["benchmark_seed"]),
            unit_key=str(extra["unit_key"]),
            generation=int(extra["generation"]),
            sampling=Sampling(temperature=body.get("temperature")),
            extras=WriterExtras(inputs, state and STATES[prompt.prompt_id].model_validate(state)),
        )
    except KeyError as exc:
        raise UnknownRequest(f"{EXTRA_FIELD}: {exc.args[0]!r} is missing, or no prompt of that name") from exc
    except (ValidationError, ValueError) as exc:
        raise UnknownRequest(f"{EXTRA_FIELD}: {' '.join(str(exc).split())[:300]}") from exc


def answer(writer: OfflineWriter, call: ModelCall, settings: ServerSettings) -> str:
    """Return the offline writer's reply to a call."""
    inputs = call.inputs
    if settings.reply_factor != 1 and isinstance(inputs, AssistantReplyInputs):
        target = max(1, round(inputs.target_tokens * settings.reply_factor))
        extras = WriterExtras(inputs.model_copy(update={"target_tokens": target}), state_of(call))
        return text_of(writer.answer(replace(call, extras=extras)))
    found = writer.answer(call)
    if settings.detector_factor != 1:
        found = _scaled_verdict(found, call, settings.detector_factor)
    return text_of(found)


def _scaled_verdict(found: BaseModel | str, call: ModelCall, factor: float) -> BaseModel | str:
    if isinstance(found, QuestionDetectorReply):
        return found.model_copy(update={"asks_user": _scaled(found.asks_user, ASKS_USER_RATE, factor, call.key)})
    return found


def _scaled(verdict: bool, rate: float, factor: float, key: str) -> bool:
    drawn = random.Random(f"{key}/verdict").random()
    if verdict:
        return drawn < factor
    # Of the noes so many become yes that in all `rate * factor` are.
    return drawn < (min(1.0, rate * factor) - rate) / (1 - rate)


AnswerLine = Callable[[dict[str, Any], bytes], tuple[int, dict[str, Any]]]
"""Answers the body of one request, which is given parsed and raw; returns status and body."""


@dataclass
class _Batch:
    made_at: float
    shown: dict[str, Any]


@dataclass
class Batches:
    """The files and batches of a server."""

    answer_line: AnswerLine
    _files: dict[str, bytes] = field(default_factory=dict)
    _batches: dict[str, _Batch] = field(default_factory=dict)
    _asked: Counter[str] = field(default_factory=Counter)
    """Number of requests of each call."""

    async def answer(self, method: str, request: Request, settings: ServerSettings) -> dict[str, Any] | bytes:
        """Return the answer to a request at one of the routes: JSON, or the content of a file. Raises Refusal."""
        path = request.path.removeprefix("/v1/").split("/")
        match method, path:
            case "POST", ["files"]:
                return self._keep(_file_in(await request.read(), request.header(b"content-type")))
            case "GET", ["files", file_id, "content"] if file_id in self._files:
                return self._files[file_id]
            case "POST", ["batches"]:
                return self._begin(from_json(await request.read()))
            case "GET", ["batches"]:
                listed = [self._state(batch_id, settings) for batch_id in reversed(self._batches)]
                return {"object": "list", "data": listed, "has_more": False}
            case "GET", ["batches", batch_id] if batch_id in self._batches:
                return self._state(batch_id, settings)
        raise Refusal(404, "not_found", f"there is no {method} {request.path}")

    def _keep(self, content: bytes) -> dict[str, Any]:
        file_id = f"file-{len(self._files)}"
        self._files[file_id] = content
        return {
            "id": file_id,
            "object": "file",
            "bytes": len(content),
            "created_at": 0,
            "filename": "batch.jsonl",
            "purpose": "batch",
            "status": "processed",
        }

    def _begin(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked.get("input_file_id") not in self._files:
            raise Refusal(400, "bad_request", f"there is no file {asked.get('input_file_id')!r}")
        batch_id = f"batch-{len(self._batches)}"
        shown = {
            "id": batch_id,
            "object": "batch",
            "status": "in_progress",
            "created_at": 0,
            "endpoint": asked.get("endpoint"),
            "completion_window": asked.get("completion_window"),
            "input_file_id": asked["input_file_id"],
            "metadata": asked.get("metadata"),
        }
        self._batches[batch_id] = _Batch(time.monotonic(), shown)
        return shown

    def _state(self, batch_id: str, settings: ServerSettings) -> dict[str, Any]:
        batch = self._batches[batch_id]
        if batch.shown["status"] == "in_progress" and time.monotonic() - batch.made_at >= settings.batch_s:
            self._work_off(batch, settings)
        return batch.shown

    def _work_off(self, batch: _Batch, settings: ServerSettings) -> None:
        replies: list[bytes] = []
        errors: list[bytes] = []
        for line in self._files[batch.shown["input_file_id"]].splitlines():
            asked = from_json(line)
            attempt = self._asked[asked["custom_id"]]
            self._asked[asked["custom_id"]] += 1
            if random.Random(f"{asked['custom_id']}/{attempt}/unanswered").random() < settings.unanswered:
                error = {"code": "batch_expired", "message": "This request could not be executed in time."}
                errors.append(to_json({"custom_id": asked["custom_id"], "response": None, "error": error}))
                continue
            status, body = self.answer_line(asked["body"], to_json(asked["body"]))
            response = {"status_code": status, "request_id": "r", "body": body}
            made = to_json({"custom_id": asked["custom_id"], "response": response, "error": None})
            (replies if status == 200 else errors).append(made)
        random.Random(batch.shown["id"]).shuffle(replies)  # the order of the requests is not that of the replies
        batch.shown |= {
            "status": "expired" if settings.unanswered and errors else "completed",
            "output_file_id": self._keep(b"\n".join(replies))["id"] if replies else None,
            "error_file_id": self._keep(b"\n".join(errors))["id"] if errors else None,
        }


def _file_in(raw: bytes, content_type: str) -> bytes:
    """Return the content of the file of a multipart form."""
    found = re.search(r'boundary="?([^";]+)"?', content_type)
    for part in raw.split(b"--" + found[1].encode()) if found is not None else ():
        head, _, content = part.partition(b"\r\n\r\n")
        if b"filename=" in head:
            return content.removesuffix(b"\r\n")
    raise Refusal(400, "bad_request", "the form holds no file")
