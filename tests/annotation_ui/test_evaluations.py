"""`longbeam view`: its pages and their data, over runs that are put together by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from longbeam.annotation_ui import create_runs_app
from longbeam.cli import run
from longbeam.evaluation import keep_run
from longbeam.pipeline.evaluate import evaluation_folder
from longbeam.schemas import BenchmarkSpec
from longbeam.store import Benchmark, create_benchmark
from tests.evaluation.evaluated import Scores, evaluated

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
FIRST: Scores = {"bm25": [[0, 0], [0, 1]], "rag": [[1, 0], [1, 1]], "light": [[0, 0], [1, 1]]}
SECOND: Scores = {**FIRST, "rag": [[0, 1], [1, 1]]}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    made = create_benchmark(BenchmarkSpec(name="mine", length=16_000), tmp_path)
    for name, scores in (("first", FIRST), ("second", SECOND)):
        one = evaluated(scores, text='</pre><script>alert("answer")</script>')
        keep_run(evaluation_folder(made), one, name=name, title=f"The {name} <b>", now=NOON)
    return made


@pytest.fixture
async def client(benchmark: Benchmark) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_runs_app(benchmark))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", follow_redirects=True) as made:
        yield made


async def test_runs_are_listed_and_texts_stay_texts(client: httpx.AsyncClient) -> None:
    page = await client.get("/")
    assert page.text.index(">second</a>") < page.text.index(">first</a>")
    assert "The second &lt;b&gt;" in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert [run["name"] for run in (await client.get("/runs.json")).json()["runs"]] == ["second", "first"]
    probe = await client.get("/runs/first/probes/c000/summarization.0")
    assert "&lt;script&gt;alert(&#34;answer&#34;)" in probe.text
    assert "alert(1)&lt;/script&gt;" in probe.text  # the question
    assert "<script>" not in probe.text


async def test_probes_that_one_system_won_and_another_lost(client: httpx.AsyncClient) -> None:
    async def found(query: str) -> list[str]:
        rows = (await client.get(f"/runs/first.json?{query}")).json()["rows"]
        return [f"{row['conversation_id']}.{row['probe_id'][-1]}" for row in rows]

    assert await found("") == ["c000.0", "c000.1", "c001.0", "c001.1"]
    assert await found("won=rag&lost=light") == ["c000.0"]
    assert await found("won=light&lost=rag") == []
    assert await found("lost=any+system&won=any+system") == ["c000.0"]
    assert await found("lost=any+system&won=any+system&all=true") == ["c000.0", "c001.0"]  # bm25 has a column, too
    assert await found("q=question+0&ability=summarization") == ["c000.0", "c001.0"]
    assert await found("ability=abstention") == []


async def test_two_runs_side_by_side(client: httpx.AsyncClient) -> None:
    page = (await client.get("/runs/second.json?beside=first")).json()
    assert [column["name"] for column in page["columns"]][:2] == ["rag (second)", "light (second)"]
    (rag,) = [pair for pair in page["pairs"] if pair["comparison"]["system"] == "rag now"]
    assert (rag["won"], rag["lost"], rag["tied"]) == (1, 1, 2)
    assert rag["by_ability"] == {"summarization": 0.0}
    html = (await client.get("/runs/second?beside=first")).text
    assert html.index("Difference by ability") < html.index("<summary><b>Ranking and abilities of second")
    rows = (await client.get("/runs/second.json?beside=first&won=rag+(second)&lost=rag+(first)")).json()["rows"]
    assert [row["probe_id"] for row in rows] == ["summarization.1"]
    answers = (await client.get(rows[0]["href"].replace("?", ".json?"))).json()["answers"]
    assert [(a["column"]["name"], a["figure"]) for a in answers if a["column"]["system"] == "rag"] == [
        ("rag (second)", 1.0), ("rag (first)", 0.0)
    ]  # fmt: skip


async def test_a_probe_is_a_table_of_criteria_and_systems_with_the_reason_of_each_verdict(
    client: httpx.AsyncClient,
) -> None:
    page = " ".join((await client.get("/runs/first/probes/c000/summarization.0")).text.split())
    table = page[page.index("Criteria</h2>") : page.index("Answers</h2>")]
    assert table.index(">rag</a>") < table.index(">light</a>")
    assert '<td dir="auto">States gold.</td>' in table
    assert table.count("<small>because</small>") == 2
    assert "heat-5" in table
    assert "heat-0" in table
    assert "evidence read" in table
    assert page.index("Question 0") < page.index("gold</span> gold") < page.index("Criteria</h2>")


async def test_every_page_of_a_run_says_what_it_was_measured_with(client: httpx.AsyncClient) -> None:
    for path in ("/runs/first", "/runs/second?beside=first", "/runs/first/probes/c000/summarization.0"):
        page = (await client.get(path)).text
        assert page.count("reader and judge: rules, no language model") == 1
        assert '<span class="label">embedder</span> none</span>' in page
    assert "Won: the score went from below 0.5 to 0.5 or more" in (await client.get("/runs/second?beside=first")).text


async def test_a_probe_leads_to_the_next_one_that_the_filter_finds(client: httpx.AsyncClient) -> None:
    view = (await client.get("/runs/first/probes/c000/summarization.0.json?q=question+0")).json()
    assert view["previous"] == ""
    assert view["next"] == "/runs/first".replace("first", view["run"]["run_id"]) + (
        "/probes/c001/summarization.0?q=question+0"
    )
    last = (await client.get(view["next"].replace("?", ".json?"))).json()
    assert (last["next"], last["previous"].partition("?")[0][-20:]) == ("", "c000/summarization.0")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/runs/third", "there is no such run; runs are"),
        ("/runs/first/probes/c009/x", "has no probe c009 x"),
        ("/runs/first?won=nobody", "There is no column &#39;nobody&#39;; columns are rag, light"),
        ("/elsewhere", "There is no page /elsewhere"),
    ],
)
async def test_what_is_not_there_is_one_line(client: httpx.AsyncClient, path: str, says: str) -> None:
    page = await client.get(path)
    assert page.status_code == 404
    assert says in page.text


async def test_other_hosts_and_writers_are_refused(client: httpx.AsyncClient) -> None:
    assert (await client.get("/runs", headers={"host": "elsewhere.test"})).status_code == 403
    assert (await client.post("/runs", content="x")).status_code == 403


def test_a_run_that_is_not_there_is_told_before_anything_is_served(
    benchmark: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["view", "mine", "third", "--out", str(benchmark.root.parent), "--no-open"]) == 2
    assert "run 'third': there is no such run" in capsys.readouterr().err
