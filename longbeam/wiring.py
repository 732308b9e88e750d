"""The composition root: the one module that knows both the pipeline and the offline writer.

The command line, the Python API and the workers of a cluster take their `Services` from here; everything below
receives them as an argument. Imports stand in functions: the command line loads this module for `--help`, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from longbeam.errors import SpecError

if TYPE_CHECKING:
    from longbeam.models import ChatModel, Extras, StateOf
    from longbeam.pipeline import Recording, Services
    from longbeam.pipeline.run import Progress, RunSummary
    from longbeam.prompts.calls import JudgeInputs, JudgeReply
    from longbeam.schemas import BenchmarkSpec, PromptInputs, Seed


@cache
def services() -> Services:
    """Return the services of this process."""
    from longbeam.models import ModelKind
    from longbeam.pipeline import Services
    from longbeam.schemas import DEFAULT_MODEL, SIMILARITY_JUDGE, Role

    judge_alone = frozenset({Role.JUDGE})
    return Services(
        reference=f"{__name__}:services",
        kinds={
            DEFAULT_MODEL: ModelKind(make=_make_writer, version=_rules_version),
            SIMILARITY_JUDGE: ModelKind(make=_make_similarity_judge, version=_rules_version, roles=judge_alone),
        },
        extras_of=_extras_of,
        stand_in=_stand_in,
        judge_nugget=_judge_nugget,
        tells=_tells,
    )


async def generate(
    spec: BenchmarkSpec,
    out: Path | str = "output",
    *,
    progress: Progress | None = None,
    model: ChatModel | None = None,
) -> RunSummary:
    """Make the benchmark of a spec under the folder `out`, or go on with it, and return what was done.

    Runs in this process, without Prefect. `model` answers every call in place of the spec's models. Raises
    UserError before any call for what the spec names and is not there, and SpecError when the benchmark exists and the
    spec changes what may not change.
    """
    from dataclasses import replace

    from longbeam.pipeline import check_spec
    from longbeam.pipeline.run import open_meter, run_inline
    from longbeam.store import create_benchmark

    given = services()
    check_spec(spec)
    if model is None:
        given.make_model(spec, home=Path(out) / spec.name)  # finds what is missing before there is a folder
    benchmark = create_benchmark(spec, Path(out))
    if model is None:
        return await run_inline(benchmark, given.models(open_meter(benchmark, given)), progress=progress)
    benchmark = replace(benchmark, spec=benchmark.spec.for_any_model())
    return await run_inline(benchmark, given.models(model), progress=progress)


async def serve_writer(
    settings: Sequence[str], recording: Recording | None, *, port: int, on_ready: Callable[[str], None]
) -> None:
    """Serve the offline writer over HTTP until SIGINT or SIGTERM; `on_ready` receives the base URL.

    `settings` are `SETTING=VALUE`. `recording` answers requests without extras. Raises UserError for a setting that
    does not exist and for a port that is taken.
    """
    from longbeam.offline.loopback import parse_settings, serve
    from longbeam.prompts import default_registry

    await serve(default_registry(), parse_settings(settings), recording, port=port, on_ready=on_ready)


def _make_writer(spec: BenchmarkSpec, invocation_log: Path | None) -> ChatModel:
    from longbeam.offline import OfflineWriter
    from longbeam.text import language_of

    if not language_of(spec.language).writes:
        raise SpecError(
            f"language = {spec.language!r}: the offline writer writes English only; name a language model in [models]"
        )
    return OfflineWriter(invocation_log=invocation_log)


def _make_similarity_judge(_: BenchmarkSpec, __: Path | None) -> ChatModel:
    from longbeam.models.embedders import MiniLmEmbedder
    from longbeam.offline import SimilarityJudge

    return SimilarityJudge(MiniLmEmbedder())


def _extras_of(prompt_id: str, inputs: PromptInputs, state: StateOf | None) -> Extras:
    from longbeam.offline import WriterExtras

    return WriterExtras(inputs, state and state())


def _rules_version() -> str:
    from longbeam.offline import rules_digest

    return rules_digest()


def _stand_in() -> ChatModel:
    from longbeam.offline import OfflineWriter

    return OfflineWriter()


def _judge_nugget(inputs: JudgeInputs) -> JudgeReply:
    from longbeam.offline import judge

    return judge(inputs)


def _tells(seed: Seed) -> bool:
    from longbeam.offline import tells

    return tells(seed)
