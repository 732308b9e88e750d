from __future__ import annotations

import json
from pathlib import Path

import pytest

from longbeam.cli import OK, USER_ERROR, run
from longbeam.generators import Augmented, Drafted, PassedOver
from longbeam.prompts.calls import Link, Stage, StageStory, StoryEvent
from longbeam.review import reviewed_probes
from longbeam.schemas import Assertion, Author, BenchmarkSpec, Bullet, BulletKind, Stance
from longbeam.store import (
    Benchmark,
    Failure,
    ReviewStore,
    SealedConversation,
    WorkLog,
    create_benchmark,
    seal_conversation,
    write_spec,
)
from longbeam.text import money
from tests.review.events import event
from tests.tiny import FIRST_DAY, tiny_conversation, tiny_plan


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    """A finished benchmark in the folder `output` of the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    benchmark = create_benchmark(BenchmarkSpec(name="tiny", length=16_000), Path("output"))
    made = tiny_conversation()
    seal_conversation(benchmark.sealed_path("c000"), made.head, made.said, made.asked)
    WorkLog.open(benchmark.work_path("c000")).close()
    return benchmark


def test_list_names_every_benchmark(tiny: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    create_benchmark(BenchmarkSpec(name="other", conversations=3), Path("output"))
    assert run(["list"]) == OK
    assert capsys.readouterr().out.splitlines() == [
        "other     128,000 tokens  0 of 3 conversations finished  offline",
        "tiny       16,000 tokens  1 of 1 conversation finished  offline",
    ]
    assert run(["list", "--json"]) == OK
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["other", "tiny"]


def test_list_names_who_wrote_and_counts_as_status_does(tiny: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    made = tiny_conversation()
    head = made.head.model_copy(update={"authors": (Author(role="assistant", model="offline"),)})
    seal_conversation(tiny.sealed_path("c000"), head, made.said, made.asked)
    changed = BenchmarkSpec.model_validate({**tiny.spec.model_dump(), "models": {"default": "openai:foo"}})
    create_benchmark(changed, Path("output"))
    with WorkLog.open(tiny.work_path("c000")) as log:
        log.units.fail("persona", "profile", Failure(fingerprint="f", error_kind="http", error="401", attempts=1))
    assert run(["list"]) == OK
    assert capsys.readouterr().out == "tiny      16,000 tokens  0 of 1 conversation finished  offline\n"
    assert run(["status", "tiny"]) == OK
    assert capsys.readouterr().out.startswith("tiny: 0 of 1 conversation finished, ")


def test_list_of_an_empty_folder_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "--out", str(tmp_path)]) == OK
    assert capsys.readouterr().out == f"no benchmark in {tmp_path}. Make one with: longbeam generate\n"


def test_show_gives_the_questions_the_messages_and_a_whole_probe(
    tiny: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    with SealedConversation(tiny.sealed_path("c000")) as sealed:
        messages, probes = list(sealed.messages()), [p for p in sealed.probes() if p.is_selected]
    assert run(["show", "tiny"]) == OK
    text = " ".join(capsys.readouterr().out.split())
    assert all(f"{p.probe_id}: {' '.join(p.question.split())}" in text for p in probes)

    assert run(["show", "tiny", "c000", "--from", "1", "--count", "2"]) == OK
    text = " ".join(capsys.readouterr().out.split())
    shown = [" ".join(m.content.split()) in text for m in messages]
    assert shown == [number in (1, 2) for number in range(len(messages))]

    cited = next(p for p in probes if p.evidence)
    assert run(["show", "tiny", f"c000/{cited.probe_id}"]) == OK
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    for part in (
        cited.question,
        cited.gold_answer,
        *(n.text for n in cited.rubric),
        *(e.quote for e in cited.evidence),
    ):
        assert " ".join(part.split()) in " ".join(said.split())


def test_show_gives_the_probes_that_the_review_left(tiny: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    with ReviewStore(tiny.reviews_path) as store:
        store.append([event("judged", after={"verdict": "reject"})])
    asked = (reviewed_probes(tiny) or {})["c000"]
    assert [p.probe_id for p in asked] == ["abstention.0", "information_extraction.1"]

    assert run(["show", "tiny"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert [p.probe_id for p in asked] == [line.split(":")[0] for line in lines if line.split(":")[0][-2:-1] == "."]
    assert "Rejected or not settled in the review: information_extraction.0" in lines
    assert run(["show", "tiny", "c000/information_extraction.0"]) == OK


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["c007"], "error: 'c007' is no finished conversation of 'tiny': c000"),
        (["c000/nothing.1"], "error: no probe 'nothing.1': there is "),
        (["c000", "--from", "9000"], "error: --from 9000: the conversation has "),
    ],
)
def test_show_says_what_there_is(
    given: list[str], line: str, tiny: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "tiny", *given]) == USER_ERROR
    assert capsys.readouterr().err.startswith(line)


@pytest.mark.parametrize(
    ("imported_from", "advice"),
    [
        ("chat", "make them with `longbeam probe tiny`"),
        ("locomo", "its source, of the format locomo, has none; `longbeam probe` makes probes for chats only"),
        ("", "`longbeam status tiny` says what is missing"),
    ],
)
def test_show_says_what_makes_probes_where_there_are_none(
    imported_from: str, advice: str, tiny: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tiny_conversation()
    seal_conversation(tiny.sealed_path("c000"), made.head, made.said, ())
    write_spec(tiny.root, tiny.spec.model_copy(update={"imported_from": imported_from}))
    assert run(["show", "tiny"]) == OK
    shown = capsys.readouterr().out
    assert shown.endswith(f"There are no probes: {advice}\nMessages: longbeam show tiny c000\n")
    assert run(["show", "tiny", "c000/summarization.0"]) == USER_ERROR
    assert f"error: no probe 'summarization.0': there are no probes; {advice}\n" in capsys.readouterr().err


def _plan_of_events(tiny: Benchmark) -> None:
    """Plan the tiny conversation as a graph: a budget that an update changes, and a booking that ends its matter."""
    plan = tiny_plan()
    days = [sub_plan.anchor for sub_plan in plan.sub_plans]
    events = [
        StoryEvent(event_id="e1", narrative="travel", thing="the trip", what="They book <flights>.", day=days[0]),
        StoryEvent(
            event_id="e2",
            narrative="money",
            thing="the trip",
            what="They agree on a budget.",
            after=(Link(event="e1", least=1, most=3),),
            closes=("the trip",),
            is_turn=True,
            day=days[1],
        ),
    ]
    update = Bullet(
        bullet_id="p0.s1.b1",
        kind=BulletKind.UPDATE,
        narrative="money",
        topic="the trip",
        text="It is 950 euros now.",
        happens_on=days[1],
    )
    change = Assertion(bullet_id="p0.s1.b1", fact_id="p0.f0", stance=Stance.UPDATES, value=money(950, "EUR"))
    refused = (PassedOver(use="slip", of="p0.f0", reason="nobody forgets it"),)
    stage = Stage(stage_index=0, first_day=FIRST_DAY, last_day=days[1], title="Before the trip")
    units: dict[str, list[Stage | StageStory | Drafted | Augmented]] = {
        "p0.outline": [stage],
        "p0.s0.events": [StageStory(stage_index=0, events=tuple(events))],
        "p0.s0": [Drafted(sub_plan=plan.sub_plans[0], facts=(), assertions=(), events=("e1",))],
        "p0.s1": [Drafted(sub_plan=plan.sub_plans[1], facts=plan.facts, assertions=plan.assertions, events=("e2",))],
        "p0.s1.special": [
            Augmented(stage_index=1, bullets=(update,), after=("p0.s1.b0",), assertions=(change,), refused=refused)
        ],
    }
    with WorkLog.open(tiny.work_path("c000")) as log:
        for key, records in units.items():
            log.units.finish("plan", key, fingerprint="f", records=records)


def test_show_plan_has_events_facts_and_reasons(tiny: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    _plan_of_events(tiny)
    assert run(["show", "tiny", "c000", "--plan"]) == OK
    assert capsys.readouterr().out.splitlines() == [
        "The story of tiny, c000",
        "Plan 0: 2 events, 1 fact",
        "Matters: 0 opened, 0 of them closed, 1 others closed; facts of earlier plans: 0",
        "",
        "Stage 1, 2024-03-04 to 2024-03-05: Before the trip",
        "  e1   Mon 2024-03-04  travel / the trip: They book <flights>.",
        "  e2   Tue 2024-03-05  money / the trip: They agree on a budget.",
        "       turning point; 1 to 3 days after e1; closes the trip",
        "",
        "Facts",
        "  p0.f0    the trip, budget: 900 euros (money), from 2024-03-05 until 2024-03-05 (e2)",
        f"           2024-03-05: changes to {money(950, 'EUR').text}",
        "",
        "Not chosen",
        "  slip, nobody forgets it: p0.f0",
    ]


def test_show_plan_draws_one_page_that_stands_alone(tiny: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    _plan_of_events(tiny)
    assert run(["show", "tiny", "--plan", "--html", "plan.html"]) == OK
    assert capsys.readouterr().out == "written to plan.html\n"
    page = Path("plan.html").read_text(encoding="utf-8")
    assert page.count("<circle") == 2
    assert page.count('class="after"') == page.count('class="life"') == page.count('class="updates"') == 1
    assert "They book &lt;flights&gt;." in page
    assert "http:" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["--plan"], "error: tiny, c000: it was planned before stories were graphs of events, or not at all"),
        (["c007", "--plan"], "error: 'c007' is no conversation of 'tiny': c000"),
    ],
)
def test_show_plan_says_why_there_is_none(
    given: list[str], line: str, tiny: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "tiny", *given]) == USER_ERROR
    assert capsys.readouterr().err.startswith(line)
