"""From the names in a spec to the models that serve them."""

from __future__ import annotations

from pathlib import Path

from longbeam.errors import SpecError
from longbeam.models.base import ChatModel
from longbeam.schemas.spec import BenchmarkSpec


def make_model(spec: BenchmarkSpec, *, invocation_log: Path | None = None) -> ChatModel:
    """The client that answers every role of a spec.

    `invocation_log`: a file to which the offline writer appends the key of every call it answers.
    Raises SpecError for a model that this version cannot run.
    """
    from longbeam.models.offline.writer import OfflineWriter

    for role, name in spec.models.items():
        if name != "offline":
            raise SpecError(f"models.{role} = {name!r}: this version runs 'offline' only; set it to 'offline'")
    if spec.language.casefold() != "english":
        raise SpecError(f"language = {spec.language!r}: the offline writer writes English only")
    return OfflineWriter(invocation_log=invocation_log)
