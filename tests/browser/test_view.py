"""`longbeam view` and the report in a browser: axe-core finds nothing, nothing overflows, filter and keys work."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Iterator

import pytest

from longbeam.evaluation import keep_run, read_run, render_html, sections_of
from longbeam.pipeline.evaluate import evaluation_folder
from longbeam.schemas import BenchmarkSpec
from longbeam.store import create_benchmark
from tests.browser.conftest import Opened, Server
from tests.browser.test_access import faults_of
from tests.evaluation.evaluated import evaluated

pytestmark = pytest.mark.slow

SCORES = {"bm25": [[0, 0, 1], [0, 1, 0.5]], "rag": [[1, 0, 1], [1, 1, 0]], "light": [[0, 0, 1], [1, 1, 1]]}
PAGES = ("/runs", "/runs/first", "/runs/second?beside=first", "/runs/first/probes/c000/summarization.0", "/no/such")


@pytest.fixture(scope="module")
def viewing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    out = tmp_path_factory.mktemp("viewed")
    folder = evaluation_folder(create_benchmark(BenchmarkSpec(name="mine", length=16_000), out))
    for name in ("first", "second"):
        made = evaluated({**SCORES, "rag": SCORES["rag" if name == "first" else "light"]})
        keep_run(folder, made, name=name, title=f"The {name} measurement", now=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    (out / "report.html").write_text(render_html(sections_of([read_run(folder, "first")])), encoding="utf-8")
    command = [sys.executable, "-m", "longbeam", "view", "mine", "--port", "0", "--no-open", "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("LISTENING "), line
    yield Server(line.split()[1], out, process)
    process.terminate()
    process.communicate(timeout=20)


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_of_runs_has_a_fault(viewing: Server, open_page: Opened, scheme: str, width: int) -> None:
    page = open_page(viewing, color_scheme=scheme, viewport={"width": width, "height": 900})
    report = Server((viewing.out / "report.html").as_uri(), viewing.out, viewing.process)
    alone = open_page(report, color_scheme=scheme, viewport={"width": width, "height": 900})
    found = {}
    for shown, path in [*((page, viewing.base + path) for path in PAGES), (alone, report.base)]:
        shown.goto(path)
        for closed in shown.locator("details:not([open]) > summary").all():
            if closed.is_visible():
                closed.click()
        faults = faults_of(shown)
        if shown.evaluate("document.documentElement.scrollWidth > innerWidth"):
            faults.append("the page is wider than the window")
        if faults:
            found[path] = faults
    assert found == {}


def test_a_filter_applies_when_it_is_chosen_and_keys_go_through_its_probes(viewing: Server, open_page: Opened) -> None:
    page = open_page(viewing)
    page.goto(f"{viewing.base}/runs/first")
    page.get_by_label("won by").select_option("rag")
    page.wait_for_url("**won=rag*")
    page.get_by_label("lost by").select_option("light")
    page.wait_for_url("**lost=light*")
    assert page.locator("#probes").inner_text() == "Probes: 1 of 6"
    page.get_by_label("lost by").select_option("")
    page.wait_for_url("**lost=&**")
    page.locator("td.question a").first.click()
    page.wait_for_url("**/probes/c000/summarization.0?won=rag")
    page.keyboard.press("j")
    page.wait_for_url("**/probes/c000/summarization.2?won=rag")
    page.keyboard.press("k")
    page.wait_for_url("**/probes/c000/summarization.0?won=rag")
