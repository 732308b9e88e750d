"""Floors that keep sentences by their form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longbeam.memory import (
    SHIPPED,
    Templates,
    count_templates,
    exchanges_of,
    find_system,
    grams_of,
    learn_templates,
    settings_of,
)
from longbeam.schemas import Difficulty, Evidence, MessageRole, Nugget, Probe, Question
from tests.memory.test_systems import START, messages, tools

ADVISED = (
    ("The kiln costs 4,200 euros. Is that fair?", "Kilns are hot. I would pay $4,000 at most."),
    ("What now?", "These are your options:\n1. a new kiln\n2. a used kiln\n\nBoth fire clay."),
)


async def read(
    name: str, question: str, budget: int, said: object = ADVISED, templates: Templates | None = None
) -> str:
    registered = find_system(name)
    system = registered.make(settings_of(name, registered, {}), replace(tools(), templates=templates))
    for exchange in exchanges_of(messages(said)):  # type: ignore[arg-type]
        await system.add(exchange)
    await system.finish()
    return (await system.context(Question(text=question, asked_at=START), budget=budget)).text


async def test_planted_keeps_statements_and_advice_with_its_list() -> None:
    text = await read("planted", "anything", 1_000)
    assert "The kiln costs 4,200 euros." in text
    assert "I would pay $4,000 at most." in text
    assert "your options:\n1. a new kiln\n2. a used kiln" in text  # word for word, as a probe quotes it
    assert not any(left in text for left in ("fair?", "What now?", "Kilns are hot", "Both fire clay"))


async def test_planted_reads_rare_words_of_the_question_first_and_stays_in_the_budget() -> None:
    said = [(f"The kiln has number {i}.", "Fine.") for i in range(40)] + [("The lease ends in May.", "Fine.")]
    said = [*said[:5], said[-1], *said[5:-1]]
    text = await read("planted", "When does the lease of the kiln end?", 60, said)
    assert "The lease ends in May." in text
    assert len(text) < 400


async def test_templates_keep_a_tenth_of_the_text_by_weight() -> None:
    learnt = Templates(learnt_from="a test", weights={"the lease": 2.0})
    said = [(f"The kiln has number {i}.", "That is fine then.") for i in range(20)]
    said[7] = ("The lease ends in May.", "That is fine then.")
    text = await read("templates", "anything", 1_000, said, learnt)
    assert "The lease ends in May." in text
    # 80 of some 800 characters are kept: 22 of the lease, and the newest of all that weigh nothing.
    assert sum(len(line) for line in text.splitlines() if ": " in line) < 150


def quoting(key: str, quote: str) -> Probe:
    return Probe(
        probe_id="x.0",
        ability="information_extraction",
        difficulty=Difficulty.EASY,
        question="What?",
        gold_answer="It.",
        rubric=(Nugget(nugget_id="x.0.n0", text="It."),),
        evidence=(Evidence(message_key=key, quote=quote),),
    )


def test_weights_are_learnt_from_quoted_sentences_and_masked() -> None:
    counts = count_templates(messages(ADVISED), [quoting("p0.s0.t0.n0", "The kiln costs 4,200 euros.")])
    learnt = learn_templates([counts, counts], "twice the same")
    assert counts.sentences == (1, 8)
    assert learnt.weights["costs _"] > learnt.weights["kilns"]
    assert not any("4,200" in gram for gram in learnt.weights)
    assert learn_templates([counts, counts], "twice", most=5).weights.keys() < learnt.weights.keys()


def test_a_message_cited_without_a_quote_is_quoted_whole() -> None:
    assert count_templates(messages(ADVISED), [quoting("p0.s0.t0.n0", "")]).sentences == (2, 7)


def test_the_shipped_weights_have_no_values() -> None:
    shipped = Templates.model_validate_json(SHIPPED.read_bytes())
    assert 1_000 < len(shipped.weights) <= 2_000
    assert SHIPPED.stat().st_size < 100_000
    assert not [g for g in shipped.weights if any(c.isdigit() for c in g) and not g.startswith("<")]


@pytest.mark.parametrize("text", ["", "?", "日本語"])
def test_any_text_has_grams(text: str) -> None:
    assert grams_of(MessageRole.USER, text)
