"""`longbeam view`: the kept runs of a benchmark as pages of a local server; each page has its data at `.json`, too.

/                     the runs
/runs/R               one run: ranking, curve, heat map, and its probes; with `beside`, a second run beside it
/runs/R/probes/C/P    one probe: each system's answer, verdicts, and what it read

Pages are drawn by the templates of the report. A run's figure for a probe is its score, or its recall of the evidence
where the judge cannot score.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated
from urllib.parse import urlencode

import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates
from markupsafe import Markup

from longbeam.annotation_ui.pages import STATIC_PATH
from longbeam.annotation_ui.rendering import STATIC, TEMPLATES, TextMark, local_time, render_plain, shown_value
from longbeam.annotation_ui.security import Access, Guard, Reach
from longbeam.annotation_ui.server import listening
from longbeam.errors import UserError
from longbeam.evaluation import (
    MEASURING,
    ReportLine,
    RunPair,
    Section,
    compare_runs,
    contains_all,
    find_run,
    kept_runs,
    kind_of,
    plots_of,
    read_run,
    report_environment,
    sections_of,
    unpaired_line,
)
from longbeam.pages import theme_switch
from longbeam.pipeline.evaluate import evaluation_folder
from longbeam.schemas import AskedProbe, KeptRun, Record, Result
from longbeam.store import Benchmark, SealedConversation

ANY = "any system"
"""Choice of a filter that every column meets."""
PAGE = 100
"""Probes of one page of the table."""
SHOWN = 60_000
"""Characters of a context that a page shows; the results file has all of them."""
_HOST = "127.0.0.1"


class RunsPage(Record):
    """The runs of a benchmark, newest first."""

    benchmark: str
    runs: tuple[KeptRun, ...]


class RunColumn(Record):
    """One system of one run: a column of the table of probes."""

    name: str
    """The system; with two runs, the run in brackets behind it."""
    run_id: str
    system: str
    kind: str


class ProbeRow(Record):
    """One probe of the table, with a figure for each column."""

    conversation_id: str
    probe_id: str
    ability: str
    question: str
    href: str
    figures: tuple[float | None, ...]


class RunPage(Record):
    """One run, or two side by side."""

    runs: tuple[KeptRun, ...]
    """The run, and the one beside it."""
    others: tuple[KeptRun, ...]
    """Runs that can stand beside it."""
    lines: tuple[tuple[ReportLine, ...], ...]
    """The table of each run."""
    pairs: tuple[RunPair, ...]
    """Differences of the first run's systems to those of the one beside it."""
    unpaired: str
    """Sentence on the systems that no pair is of."""
    columns: tuple[RunColumn, ...]
    abilities: tuple[str, ...]
    total: int
    """Probes that the filter finds."""
    rows: tuple[ProbeRow, ...]


class ProbeQuote(Record):
    """A message that a probe cites, and the quote that counts as evidence."""

    message_key: str
    quote: str


class SystemAnswer(Record):
    """One system's answer to a probe."""

    column: RunColumn
    figure: float | None
    result: Result
    found: tuple[bool, ...]
    """Whether its context contains each of the quotes."""


class ProbePage(Record):
    """One probe, with the answers of all systems."""

    run: KeptRun
    probe: AskedProbe
    quotes: tuple[ProbeQuote, ...]
    answers: tuple[SystemAnswer, ...]
    back: str
    previous: str
    next: str
    """Address of the next probe that the filter finds; empty for the last one."""


@dataclass(frozen=True)
class ProbeFilter:
    """Parameters of the table of probes."""

    beside: str = ""
    """A second run."""
    ability: str = ""
    q: str = ""
    """Words of the question."""
    won: str = ""
    """A column whose figure is at least one half, or ANY."""
    lost: str = ""
    """A column whose figure is below one half, or ANY."""
    all: bool = False
    """Whether floors and ceilings have columns, too."""
    first: int = 0

    def query(self, **changes: object) -> str:
        """Return the filter as the end of an address; parameters that are as by default are left out."""
        given = {name: value for name, value in {**vars(self), **changes}.items() if value}
        return f"?{urlencode(given)}" if given else ""


Wanted = Annotated[ProbeFilter, Depends()]


@dataclass(frozen=True)
class _Table:
    """Probes of one run or of two, with a figure for each system."""

    sections: Sequence[Section]
    wanted: ProbeFilter

    @property
    def runs(self) -> tuple[KeptRun, ...]:
        return tuple(s.evaluated.kept for s in self.sections if s.evaluated.kept is not None)

    def columns(self) -> Iterator[tuple[RunColumn, dict[tuple[str, str], Result], bool]]:
        """Yield the columns, each with its results by probe, and whether they have scores."""
        for section, run in zip(self.sections, self.runs, strict=True):
            for line in section.lines:
                system = line.row.system
                if self.wanted.all or kind_of(system) == "system":
                    name = f"{system} ({run.name or run.run_id})" if len(self.sections) > 1 else system
                    results = {(r.conversation_id, r.probe_id): r
                               for r in section.evaluated.results if r.system == system}  # fmt: skip
                    column = RunColumn(name=name, run_id=run.run_id, system=system, kind=line.kind)
                    yield column, results, section.calibration.can_score

    def rows(self) -> list[ProbeRow]:
        """Return the probes that the filter finds."""
        columns = list(self.columns())
        names = [column.name for column, *_ in columns]
        for chosen in (self.wanted.won, self.wanted.lost):
            if chosen not in ("", ANY, *names):
                raise UserError(f"there is no column {chosen!r}; columns are {', '.join(names)}")
        run_id = self.runs[0].run_id
        words = self.wanted.q.casefold().split()
        found = []
        for probe in self.sections[0].evaluated.run.probes:
            if self.wanted.ability not in ("", probe.ability) or not all(w in probe.question.casefold() for w in words):
                continue
            figures = tuple(figure_of_result(of.get(probe.key), can_score) for _, of, can_score in columns)
            if self._is_wanted(dict(zip(names, figures, strict=True))):
                href = f"/runs/{run_id}/probes/{probe.conversation_id}/{probe.probe_id}{self.wanted.query()}"
                found.append(ProbeRow.taken_from(probe, href=href, figures=figures))
        return found

    def _is_wanted(self, figures: dict[str, float | None]) -> bool:
        def meets(chosen: str, test: Callable[[float], bool]) -> bool:
            of = figures.values() if chosen == ANY else [figures[chosen]] if chosen else []
            return not chosen or any(figure is not None and test(figure) for figure in of)

        return meets(self.wanted.won, lambda f: f >= MEASURING.passed) and meets(
            self.wanted.lost, lambda f: f < MEASURING.passed
        )

    def answers(self, key: tuple[str, str], quotes: Sequence[str]) -> Iterator[SystemAnswer]:
        """Yield each column's answer to a probe."""
        for column, results, can_score in self.columns():
            if (result := results.get(key)) is not None:
                text = result.answer.context.text if result.answer.context else ""
                found = tuple(contains_all(text, [quote]) for quote in quotes)
                figure = figure_of_result(result, can_score)
                yield SystemAnswer(column=column, figure=figure, result=result, found=found)


def figure_of_result(result: Result | None, can_score: bool) -> float | None:
    """Return the score of a result, or its recall of the evidence where the judge cannot score."""
    if result is None:
        return None
    return result.score("paper") if can_score else result.retrieval.evidence_recall


def _read_text(text: str, quotes: Sequence[ProbeQuote] = ()) -> Markup:
    """Return a context as HTML with the quotes marked; of a long one the beginning, and the surroundings of quotes."""
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}\n[... {len(text) - SHOWN:,} more characters ...]"
    marks = []
    for quote in filter(None, (q.quote for q in quotes)):
        at = shown.find(quote)
        while at >= 0:
            marks.append(TextMark(start=at, end=at + len(quote)))
            at = shown.find(quote, at + len(quote))
    return Markup(render_plain(shown, marks))


class RunPages:
    """The pages over the kept runs of one benchmark; they only read."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.folder = evaluation_folder(benchmark)
        self._section = lru_cache(maxsize=4)(self._read)  # a run never changes, and takes seconds to read and resample
        environment = report_environment(TEMPLATES).overlay(finalize=shown_value)
        environment.filters.update(reading=_read_text, local_time=local_time)
        environment.globals.update(
            static=STATIC_PATH, benchmark=benchmark.spec.name, any=ANY, page=PAGE, passed=MEASURING.passed
        )
        environment.globals["theme_switch"] = Markup(theme_switch())
        self.templates = Jinja2Templates(env=environment)

    def runs(self, request: Request) -> Response:
        """Return the runs, newest first."""
        found = tuple(reversed(kept_runs(self.folder)))
        return self._answer(request, "runs.html", RunsPage(benchmark=self.benchmark.spec.name, runs=found))

    def run(self, request: Request, run: str, wanted: Wanted) -> Response:
        """Return one run, or two side by side."""
        table = self._table(run, wanted)
        rows, sections = table.rows(), table.sections
        pairs = tuple(compare_runs(sections[1].evaluated, sections[0].evaluated)) if len(sections) > 1 else ()
        view = RunPage(
            runs=table.runs,
            others=tuple(k for k in reversed(kept_runs(self.folder)) if k.run_id != table.runs[0].run_id),
            lines=tuple(section.lines for section in sections),
            pairs=pairs,
            unpaired=unpaired_line(sections[1].evaluated, sections[0].evaluated, pairs) if pairs else "",
            columns=tuple(column for column, *_ in table.columns()),
            abilities=sections[0].abilities,
            total=len(rows),
            rows=tuple(rows[max(wanted.first, 0) : max(wanted.first, 0) + PAGE]),
        )
        plots = [[(title, Markup(svg)) for title, svg in plots_of([section])] for section in sections]
        return self._answer(request, "run.html", view, wanted=wanted, sections=sections, plots=plots)

    def probe(self, request: Request, run: str, conversation_id: str, probe_id: str, wanted: Wanted) -> Response:
        """Return one probe with the answers of all systems."""
        table, key = self._table(run, wanted), (conversation_id, probe_id)
        run_id = table.runs[0].run_id
        asked = next((p for p in table.sections[0].evaluated.run.probes if p.key == key), None)
        if asked is None:
            raise UserError(f"run {run_id} has no probe {conversation_id} {probe_id}")
        hrefs = {(row.conversation_id, row.probe_id): row.href for row in table.rows()}
        order = list(hrefs)
        at = order.index(key) if key in hrefs else len(order)
        quotes = tuple(self._quotes(asked))
        view = ProbePage(
            run=table.runs[0],
            probe=asked,
            quotes=quotes,
            answers=tuple(table.answers(key, [q.quote for q in quotes])),
            back=f"/runs/{run_id}{wanted.query()}#probes",
            previous=hrefs[order[at - 1]] if 0 < at < len(order) else "",
            next=hrefs[order[at + 1]] if at + 1 < len(order) else "",
        )
        return self._answer(request, "run_probe.html", view, sections=table.sections)

    def refused(self, request: Request, exc: Exception) -> Response:
        """Answer for a run, a probe or a page that does not exist."""
        message = str(exc) if isinstance(exc, UserError) else f"there is no page {request.url.path}"
        if request.url.path.endswith(".json"):
            return JSONResponse({"error": "not_found", "message": message}, status_code=404)
        return self.templates.TemplateResponse(request, "run_problem.html", {"message": message}, status_code=404)

    def _answer(self, request: Request, template: str, view: Record, **more: object) -> Response:
        if request.url.path.endswith(".json"):
            return JSONResponse(view.model_dump(mode="json"))
        return self.templates.TemplateResponse(request, template, {"view": view, **more})

    def _table(self, run: str, wanted: ProbeFilter) -> _Table:
        named = [find_run(self.folder, name).run_id for name in (run, wanted.beside) if name]
        return _Table([self._section(run_id) for run_id in named], wanted)

    def _read(self, run_id: str) -> Section:
        one = read_run(self.folder, run_id)
        (section,) = sections_of([one], against=["bm25"] if "bm25" in one.run.systems else [])
        return section

    def _quotes(self, probe: AskedProbe) -> Iterator[ProbeQuote]:
        """Yield what the sealed probe cites; nothing where its conversation is gone."""
        path = self.benchmark.sealed_path(probe.conversation_id)
        if not path.exists():
            return
        with SealedConversation(path) as sealed:
            cited = [e for p in sealed.probes() if p.probe_id == probe.probe_id for e in p.evidence]
            # Imports cite whole messages, without a quote.
            contents = {} if all(e.quote for e in cited) else {m.message_key: m.content for m in sealed.messages()}
        for e in cited:
            yield ProbeQuote(message_key=e.message_key, quote=e.quote or contents.get(e.message_key, ""))


def create_runs_app(benchmark: Benchmark) -> FastAPI:
    """Return the app over the kept runs of one benchmark."""
    app, pages = FastAPI(title="longbeam view", docs_url=None, redoc_url=None, openapi_url=None), RunPages(benchmark)
    routes: dict[str, Callable[..., Response]] = {
        "/runs": pages.runs,
        "/runs/{run}": pages.run,
        "/runs/{run}/probes/{conversation_id}/{probe_id}": pages.probe,
    }
    for path, view in routes.items():
        for address in (f"{path}.json", path):
            app.add_api_route(address, view, methods=["GET"], response_class=Response)
    app.add_api_route("/", _home, methods=["GET"], response_class=Response)
    app.mount(STATIC_PATH, StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(UserError, pages.refused)
    app.add_exception_handler(404, pages.refused)
    key = secrets.token_bytes()  # nobody signs in: nothing can be written
    app.add_middleware(Guard, access=Access(key, key, "", Reach(_HOST)))
    return app


def _home() -> Response:
    return RedirectResponse("/runs", status_code=303)


def serve_runs(benchmark: Benchmark, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve the runs on this machine until SIGINT or SIGTERM; `on_ready` receives the base URL."""
    with listening(_HOST, port) as listener:
        on_ready(f"http://{_HOST}:{listener.getsockname()[1]}")
        config = uvicorn.Config(create_runs_app(benchmark), log_level="warning", access_log=False, lifespan="off")
        uvicorn.Server(config).run(sockets=[listener])
