"""The retrieval-recall study: equal budgets, floors below, the whole conversation above."""

from __future__ import annotations

import pytest

from longbeam.memory import Tools
from longbeam.memory.cogcanvas import RecallStudy, recall_study, render_recall, stems_of
from longbeam.offline import OfflineWriter
from longbeam.schemas import Difficulty, Evidence, Nugget, Probe, WholeConversation
from tests.generators.scripted import asker_for
from tests.memory.test_systems import SAID, messages

TALK = (*SAID, *((f"Vase number {n} is drying.", f"Vase {n} needs a day more.") for n in range(40)))


def probe(ordinal: int, question: str, gold: str, key: str, ability: str = "information_extraction") -> Probe:
    return Probe(
        probe_id=f"{ability}.{ordinal}",
        ability=ability,
        question=question,
        gold_answer=gold,
        difficulty=Difficulty.EASY,
        rubric=(Nugget(nugget_id=f"{ability}.{ordinal}.n0", text=gold),),
        evidence=(Evidence(message_key=key, quote=""),),
        is_selected=True,
    )


async def study(budgets: tuple[int, ...] = (30, 60), **given: tuple[str, ...]) -> RecallStudy:
    probes = (
        probe(0, "What does the kiln cost?", "The 4,200 euros", "p0.s0.t0.n0"),
        probe(1, "When is the opening night?", "17 June", "p0.s0.t2.n0"),
        probe(0, "What is the cat called?", "Nothing says it.", "p0.s0.t1.n0", "abstention"),
    )
    tools = Tools(count_tokens=lambda text: len(text.split()), asker=asker_for(OfflineWriter()))
    return await recall_study("b", [WholeConversation("c0", messages(TALK), probes)], tools, budgets=budgets, **given)


async def test_every_row_reads_within_its_budget_and_the_ceiling_reads_everything() -> None:
    found = await study()
    assert found.questions == 2  # nothing is asked that has no answer
    for row in (r for r in found.rows if r.budget):
        assert row.tokens <= row.budget
    (ceiling,) = [row for row in found.rows if not row.budget]
    assert (ceiling.recall, ceiling.evidence) == (1.0, 1.0)
    assert len(found.rows) == 8 * 2 + 1


async def test_a_search_finds_what_chance_does_not() -> None:
    found = {(r.name, r.budget): r for r in (await study()).rows}
    for name in ("artifacts", "chunks - graph", "union", "BM25 turns"):
        assert found[name, 30].evidence > found["random turns", 30].evidence
    assert found["BM25 turns", 60].recall >= found["BM25 turns", 30].recall


async def test_the_metric_compares_stems_without_articles() -> None:
    assert stems_of("The running of an oven, running!") == {"run", "of", "oven"}
    # "17" and "june", both in the message that moved the opening; one message of twelve words fits.
    (row,) = [r for r in (await study((14,))).rows if r.name == "BM25 turns"]
    assert row.recall > 0


async def test_categories_can_be_named_and_the_table_has_them() -> None:
    found = await study(categories=("abstention",))
    assert found.questions == 1
    assert "| 30 | artifacts |" in render_recall(found)
    assert "abstention" in render_recall(found)
    nobody = await study(categories=("poetry",))
    assert (nobody.questions, nobody.rows) == (0, ())


async def test_rows_that_tell_nothing_apart_are_named() -> None:
    row = (await study()).rows[0]
    given = [("union", 0.4), ("union - graph", 0.5), ("chunks", 0.5), ("chunks - graph", 0.5)]
    rows = [row.model_copy(update={"name": name, "budget": 30, "recall": recall}) for name, recall in given]
    whole = row.model_copy(update={"name": "whole conversation", "budget": 0, "tokens": 30.0})
    text = render_recall((await study()).model_copy(update={"rows": (*rows, whole)}))
    assert "With its graph CogCanvas finds less in 1 of 2 pairs of rows" in text
    assert "At 30 tokens everything fits: these rows tell nothing apart." in text


@pytest.mark.parametrize("budget", ["0", "a,b", ""])
def test_budgets_are_numbers(budget: str, capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    from longbeam.cli import OK, USER_ERROR, run

    assert run(["suite", "canvas_standard", "--name", "s", "--out", str(tmp_path)]) == OK
    assert run(["study", "canvas", "s", "--budget", budget, "--out", str(tmp_path)]) == USER_ERROR
    assert "write numbers of tokens" in capsys.readouterr().err
