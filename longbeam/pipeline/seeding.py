"""New seeds by the spec's planner (`longbeam seeds`), with the limits and the journal of a benchmark."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import UserError
from longbeam.generators import WrittenSeeds, domain_of, seeds_as_json, write_seeds
from longbeam.keys import UnitKey
from longbeam.models import Asker, JournalledModel, Models
from longbeam.pipeline.run.driver import limited_models
from longbeam.prompts import registry_for
from longbeam.schemas import BenchmarkSpec, Domain, OwnDomain, Role, Seed
from longbeam.store import WorkLog
from longbeam.terminal import counted


@dataclass(frozen=True)
class Seeding:
    """The new seeds, domain by domain."""

    parts: tuple[WrittenSeeds, ...]
    model: str
    """Who wrote them, as the spec names it."""

    @property
    def seeds(self) -> tuple[Seed, ...]:
        """All of them."""
        return tuple(seed for part in self.parts for seed in part.seeds)

    @property
    def text(self) -> str:
        """A seeds file."""
        return seeds_as_json(self.seeds)

    @property
    def is_complete(self) -> bool:
        """Whether every domain has as many as were asked for."""
        return all(len(part.seeds) == part.asked for part in self.parts)


def domains_of(names: Sequence[str], own: OwnDomain | None = None, about: str = "") -> tuple[Domain | OwnDomain, ...]:
    """Return the domains of these names, each once; `own` is the spec's, `about` a paragraph on one of them.

    Raises UserError for a name that means no built-in domain and of which nothing is said.
    """
    found: dict[str, Domain | OwnDomain] = {}
    for name in names:
        if own is not None and name == own.name:
            found[name] = own
        elif (built_in := domain_of(name)) is not None:
            found[built_in] = built_in
        elif about:
            found[name] = _own_domain(name, about)
        else:
            raise UserError(
                f"domain {name!r} is not built in; say what it is with --about 'a paragraph', or in [domain] of a spec"
                f" (--spec). Built in are {', '.join(Domain)}"
            )
    return tuple(found.values())


def _own_domain(name: str, about: str) -> OwnDomain:
    try:
        return OwnDomain(name=name, about=about)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        raise UserError(f"domain {name!r}: {error['loc'][0]} {error['input']!r:.60}: {error['msg']}") from exc


async def make_seeds(
    spec: BenchmarkSpec, domains: Sequence[str | OwnDomain], count: int, folder: Path, models: Models
) -> Seeding:
    """Return `count` new seeds of each domain, or as many as the model has; replies are kept in the folder.

    Domain after domain, because the seeds of each are compared with all before them.
    """
    parts: list[WrittenSeeds] = []
    async with limited_models(models, spec) as limited:
        with WorkLog.open(folder / "journal.sqlite") as log:
            for domain in domains:
                asker = Asker(
                    models=replace(limited, chat=JournalledModel(limited.chat, log.journal)),
                    prompts=registry_for(spec),
                    spec=spec,
                    unit_key=UnitKey("seeds", "seeds", domain.name if isinstance(domain, OwnDomain) else str(domain)),
                )
                parts.append(await write_seeds(asker, domain, count, [s for part in parts for s in part.seeds]))
    return Seeding(tuple(parts), spec.model_for(Role.PLANNER))


def render_report(written: Seeding, file: Path | None) -> str:
    """Return what to know of the result, a line a domain where something is missing; ends a line."""
    lines = []
    for part in written.parts:
        if len(part.seeds) < part.asked:
            no_more = f"{written.model} has no more that resemble neither each other nor the built-in ones"
            lines.append(f"{part.domain}: {len(part.seeds)} of {part.asked}; {part.problem or no_more}")
    left_out = sum(part.duplicates for part in written.parts)
    lines.append(
        f"{counted(len(written.seeds), 'seed')} of {counted(len(written.parts), 'domain')}"
        + (f", {counted(left_out, 'near-duplicate')} left out" if left_out else "")
    )
    if file is not None and written.seeds:
        lines.append(f"{file}: edit it, then: longbeam generate --seeds {shlex.quote(str(file))}")
    return "\n".join(lines) + "\n"
