"""Services that a process gives the pipeline at start-up: models that answer by rule, and their functions.

`longbeam.wiring` makes the `Services` of the command line, the Python API and the workers. Code below it receives them
as an argument and imports no such model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from longbeam.models import ChatModel, ExtrasOf, Kinds, Models, Surroundings, make_model
from longbeam.prompts.calls import JudgeInputs, JudgeReply
from longbeam.schemas import BenchmarkSpec, Seed
from longbeam.store import BatchFiles


@dataclass(frozen=True)
class Services:
    """Functions and models that the pipeline and the review pages receive by injection."""

    reference: str
    """`MODULE:FUNCTION` that returns these services in another process of the same longbeam."""
    kinds: Kinds
    """Models that answer by rule."""
    extras_of: ExtrasOf
    """Makes the extras of their calls."""
    stand_in: Callable[[], ChatModel]
    """Makes a model that answers every prompt at once and costs nothing, for rehearsals."""
    judge_nugget: Callable[[JudgeInputs], JudgeReply]
    """Judges an answer by its words, as a reviewer tries out a rubric."""
    tells: Callable[[Seed], bool]
    """Whether these models can tell a story about a seed's subject."""

    def make_model(
        self,
        spec: BenchmarkSpec,
        *,
        home: Path,
        invocation_log: Path | None = None,
        roles: Collection[str] | None = None,
    ) -> ChatModel:
        """Return the clients that answer the roles of a spec; raises SpecError for a model that cannot be run.

        Of other roles than `roles` clients are made when they are asked; None: all are made now.

        In the folder `home`, servers that longbeam starts write logs into `logs`; `batches` holds records of batches.
        """
        around = Surroundings(logs=home / "logs", batches=BatchFiles(home / "batches"))
        return make_model(spec, self.kinds, invocation_log=invocation_log, around=around, roles=roles)

    def models(self, chat: ChatModel) -> Models:
        """Return the models of a run whose calls `chat` answers."""
        return Models(chat, self.version_of, self.extras_of, self.tells)

    def version_of(self, model: str) -> str:
        """Return the version of the rules by which a model of a spec answers; empty for a language model."""
        kind = self.kinds.get(model)
        return kind.version() if kind is not None else ""


def load_services(reference: str) -> Services:
    """Return the services that a reference names."""
    module, _, function = reference.partition(":")
    services = getattr(import_module(module), function)()
    assert isinstance(services, Services), reference
    return services
