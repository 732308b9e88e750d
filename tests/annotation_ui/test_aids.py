"""Aids beyond the panels: solving blind, outdated guidelines, the judge beside people, doubt, decisions taken back."""

from __future__ import annotations

import re

from longbeam.abilities import ability_names
from longbeam.review import REVIEWING, ActContent, Workspace, new_event
from longbeam.schemas import EventKind, Finding, Severity
from longbeam.store import Benchmark, write_benchmark
from longbeam.validation import Scope, all_checks
from tests.annotation_ui.conftest import Enter

ITEM = "c000/information_extraction.0"
OTHER = "c000/abstention.0"


async def test_a_blind_answer_is_scored_and_counted_by_ability(enter: Enter) -> None:
    ana = await enter("ana")
    gold = (await ana.item(ITEM))["gold_answer"]
    item = await ana.act(ITEM, "solved", after={"answer": gold})
    assert item["solved"]["answer"] == gold
    assert (await ana.get("/agreement.json"))["solved"] == []  # blind until the opinion is saved
    await ana.judge(ITEM, "accept")
    (row,) = (await ana.get("/agreement.json"))["solved"]
    assert (row["ability"], row["answers"]) == ("information_extraction", 1)


async def test_a_changed_guideline_flags_what_was_decided_under_the_old_one(enter: Enter) -> None:
    ana, lead = await enter("ana"), await enter("cleo", "lead")
    await ana.judge(ITEM, "accept")
    await ana.judge(OTHER, "reject")
    assert (await ana.get("/queue.json"))["counts"]["outdated"] == 0
    body = {"section": "information_extraction", "text": "Say it in one word.", "note": "too long"}
    await lead.post("/api/guidelines", body)
    rows = (await ana.get("/queue.json?view=outdated"))["rows"]
    assert [row["item_id"] for row in rows] == [ITEM]
    outdated = (await ana.item(ITEM))["outdated"]
    assert outdated["section"] == "Information extraction"
    assert "Say it in one word" in "".join(p["text"] for p in outdated["parts"] if p["kind"] == "added")
    await ana.judge(ITEM, "accept")  # again, under the new text
    assert (await ana.get("/queue.json"))["counts"]["outdated"] == 0


async def test_the_judge_is_hidden_until_the_opinion_is_saved(enter: Enter) -> None:
    ana = await enter("ana")
    assert (await ana.item(ITEM))["judge"] is None
    item = await ana.judge(ITEM, "reject")
    assert item["judge"]["verdict"] in ("accept", "reject")
    rows = {row["name"]: row for row in (await ana.get("/agreement.json"))["judge"]}
    assert (rows["as generated"]["units"], rows["edited"]["units"]) == (1, 0)


async def test_the_doubtful_come_first(enter: Enter) -> None:
    ana, bo = await enter("ana"), await enter("bo")
    first = (await ana.get("/queue.json?order=doubt"))["rows"]
    last = first[-1]["item_id"]
    await bo.judge(last, "skip")  # the one sign of doubt
    rows = (await ana.get("/queue.json?order=doubt"))["rows"]
    assert (rows[0]["item_id"], rows[0]["doubt"] > rows[1]["doubt"]) == (last, True)


async def test_any_of_the_last_decisions_is_taken_back(enter: Enter) -> None:
    ana, bo = await enter("ana"), await enter("bo")
    await ana.judge(ITEM, "accept")
    await ana.judge(OTHER, "reject")
    decisions = (await ana.get("/decisions.json"))["events"]
    assert [(d["item_name"], d["name"], d["value"]) for d in decisions] == [
        ("Abstention 0, conversation c000", "judged the item", "reject"),
        ("Information extraction 0, conversation c000", "judged the item", "accept"),
    ]
    named = {"event_id": decisions[1]["event_id"]}
    assert (await bo.post("/api/undo", named, status=422))["error"] == "invalid"
    assert (await ana.post("/api/undo", named))["item"]["item_id"] == ITEM
    assert (await ana.item(ITEM))["mine"]["verdict"] is None
    assert (await ana.item(OTHER))["mine"]["verdict"] == "reject"
    assert (await ana.post("/api/undo", named, status=422))["error"] == "invalid"


async def test_a_message_shows_its_comments(enter: Enter, workspace: Workspace) -> None:
    ana, bo = await enter("ana"), await enter("bo")
    workspace.log.append(new_event(EventKind.CONFIGURED, "", "bo", ActContent("overlap", after=2)))
    key = (await ana.item(ITEM))["evidence"][0]["message_key"]
    item = await ana.act(ITEM, "commented", f"message/{key}", note="Is this the year before?")
    place, _, anchor = item["notes"][0]["href"].partition("#")
    page = await ana.client.get(place, headers={"Accept": "text/html"})
    assert f'id="{anchor}"' in page.text
    assert "Is this the year before?" in page.text
    assert "Is this the year before?" not in (await bo.client.get(place)).text  # blind


async def test_a_missing_page_is_a_page(enter: Enter) -> None:
    ana = await enter("ana")
    answer = await ana.client.get("/items/c000/nothing.1", headers={"Accept": "text/html,*/*"})
    assert (answer.status_code, "<h1>There is no such page</h1>" in answer.text) == (404, True)
    assert (await ana.get("/items/c000/nothing.1.json", status=404))["error"] == "not_found"


async def test_a_question_that_a_model_answered_without_the_conversation_is_marked(
    enter: Enter, benchmark: Benchmark
) -> None:
    guessed = Finding(
        check="gate.guessed",
        severity=Severity.ERROR,
        conversation_id="c000",
        subject="information_extraction.0",
        message="without the conversation a reader guesses it",
    )
    write_benchmark(benchmark.database_path, seeds=[], findings=[guessed], statistics={})
    ana = await enter("ana")
    assert [(await ana.item(item))["is_guessable"] for item in (ITEM, OTHER)] == [True, False]
    edited = await ana.act(ITEM, "edited", "question", "When do we fly?")
    assert edited["is_guessable"] is False  # nobody has asked this question


async def test_an_opinion_that_differs_from_the_judges_is_doubtful(enter: Enter) -> None:
    ana, bo = await enter("ana"), await enter("bo")

    async def doubt() -> float:
        rows = (await ana.get("/queue.json?order=doubt"))["rows"]
        return float(next(row["doubt"] for row in rows if row["item_id"] == ITEM))

    judges = (await bo.judge(ITEM, "accept"))["judge"]["verdict"]
    accepted = await doubt()
    await bo.judge(ITEM, "reject")
    rejected = await doubt()
    assert (accepted > rejected) == (judges == "reject")
    assert abs(accepted - rejected) == REVIEWING.judge_weight


async def test_every_check_of_probes_has_a_row_and_every_finding_a_place(enter: Enter, benchmark: Benchmark) -> None:
    checks = [check for check in all_checks() if check.scope is Scope.PROBE]
    made = [
        Finding(
            check=f"{check.name}.{kind}",
            severity=severity,
            conversation_id="c000",
            subject="information_extraction.0",
            message="about information_extraction.0.n0",
            evidence=("p0.s0.t0.n0",),
        )
        for check in checks
        for kind, severity in check.severities.items()
    ]
    write_benchmark(benchmark.database_path, seeds=[], findings=made, statistics={})
    ana = await enter("ana")
    item = await ana.item(ITEM)
    assert [row["check"] for row in item["checks"]] == [check.name for check in checks]
    assert all(row["state"] != "not_run" and row["doc"] for row in item["checks"])
    places = {"#question", "#gold-answer", "#rubric", "#nugget-information_extraction.0.n0", "#evidence-p0.s0.t0.n0"}
    assert {finding["href"] for finding in item["findings"]} <= places
    assert len(item["findings"]) == len(made)


async def test_the_guidelines_are_those_of_the_ability_with_examples_and_flow(enter: Enter) -> None:
    ana = await enter("ana")
    sections = {section["section"]: section for section in (await ana.get("/guidelines.json"))["sections"]}
    assert set(sections) == {"general", *ability_names()}
    for ability in ability_names():
        assert {"Accept", "Reject"} <= set(re.findall(r"<em>(\w+)</em>", sections[ability]["html"])), ability
    assert "<br" not in "".join(section["html"] for section in sections.values())


async def test_reopening_lands_on_the_item_that_was_begun_and_then_on_the_first_open_one(enter: Enter) -> None:
    ana = await enter("ana")
    rows = [row["item_id"] for row in (await ana.get("/queue.json"))["rows"]]
    assert (await ana.get("/queue.json"))["resume"] == f"/items/{rows[0]}"
    await ana.act(rows[-1], "drafted", "gold_answer", "half a word")
    assert (await ana.get("/queue.json"))["resume"] == f"/items/{rows[-1]}"
    await ana.judge(rows[-1], "reject")
    await ana.judge(rows[0], "skip")
    queue = await ana.get("/queue.json")
    assert queue["resume"] == next((f"/items/{i}" for i in rows[1:-1]), queue["resume"])
    assert (await ana.item(rows[0]))["progress"]["mine"] == 1
