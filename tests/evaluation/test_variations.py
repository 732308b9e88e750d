from __future__ import annotations

from collections.abc import Mapping

import pytest

from longbeam.evaluation import (
    Evaluated,
    alike_notes,
    plots_of,
    render_grid,
    render_html,
    render_markdown,
    render_table,
    rows_of,
    sections_of,
    variations_of,
)
from longbeam.schemas import EvaluatedSystem
from tests.evaluation.evaluated import Scores, evaluated

ABLATED: Scores = {
    "light[k=10]": [[0.5, 0.5]],
    "light[k=10,without=retrieval]": [[0, 0.5]],
    "light[k=10,without=scratchpad]": [[1, 0.5]],
    "gold": [[1, 1]],
    "bm25": [[0, 1]],
}


def described(made: Evaluated, settings: Mapping[str, Mapping[str, str]]) -> Evaluated:
    of = tuple(EvaluatedSystem(name=n, system=n.partition("[")[0], settings=dict(s)) for n, s in settings.items())
    return Evaluated(made.run.model_copy(update={"described": of}), made.results, made.timings)


def ablated() -> Evaluated:
    return described(
        evaluated(ABLATED),
        {
            "light[k=10]": {"k": "10"},
            "light[k=10,without=retrieval]": {"k": "10", "without": "retrieval"},
            "light[k=10,without=scratchpad]": {"k": "10", "without": "scratchpad"},
        },
    )


def test_an_ablation_has_a_row_an_ability_and_differences_to_the_whole_system() -> None:
    made = ablated()
    (found,) = variations_of(made.run, rows_of(made.results), is_scored=True)
    assert (found.system, found.setting, list(found.rows)) == (
        "light[k=10]", "without", ["whole", "retrieval", "scratchpad"]
    )  # fmt: skip
    # .5 for the whole; (0 + .5) / 2 and (1 + .5) / 2 without a part.
    assert found.figures == {"summarization": (0.5, -0.25, 0.25), "average": (0.5, -0.25, 0.25)}
    text = render_table(made.run, made.results)
    assert (
        "light[k=10]: score of the whole system, and the difference without each part\n"
        "                           whole  retrieval  scratchpad\n"
        "summarization              0.500     -0.250      +0.250\n"
        "average                    0.500     -0.250      +0.250\n"
    ) in text
    assert max(map(len, text.splitlines())) <= 80
    sections = sections_of([made])
    assert "| summarization | 0.500 | -0.250 | +0.250 |" in render_markdown(sections)
    assert "<td>+0.250</td>" in render_html(sections)


def test_depths_stand_in_order_with_the_default_by_its_number() -> None:
    scores: Scores = {"light[z=20]": [[1, 1]], "light": [[0, 1]], "light[z=5]": [[0, 0]], "gold": [[1, 1]]}
    made = described(evaluated(scores), {"light[z=20]": {"z": "20"}, "light": {}, "light[z=5]": {"z": "5"}})
    (found,) = variations_of(made.run, rows_of(made.results), is_scored=True)
    assert found.figures["average"] == (0, 0.5, 1)  # z = 5, 10, 20
    assert (found.title, list(found.rows)) == ("light: score by z", ["5", "10", "20"])
    title, svg = plots_of(sections_of([made], against=["light"]))[-1]
    assert (title, svg.count("<circle")) == ("light: score by z", 3)


@pytest.mark.parametrize(("differs", "named"), [(("light[k=20]",), "k = 5, 10"), ((), "k = 5, 10, 20")])
def test_depths_that_read_the_same_messages_are_named_with_the_budget(differs: tuple[str, ...], named: str) -> None:
    scores: Scores = {"light[k=5]": [[0, 1]], "light[k=10]": [[0, 0]], "light[k=20]": [[1, 1]], "bm25": [[1, 1]]}
    made = described(
        evaluated(scores), {"light[k=5]": {"k": "5"}, "light[k=10]": {"k": "10"}, "light[k=20]": {"k": "20"}}
    )
    results = [
        r
        if r.system not in differs or not r.answer.context
        else r.model_copy(
            update={"answer": r.answer.model_copy(
                update={"context": r.answer.context.model_copy(update={"message_keys": ("m",)})}
            )}
        )
        for r in made.results
    ]  # fmt: skip
    varied = variations_of(made.run, rows_of(results), is_scored=True)
    (note,) = alike_notes(made.run, varied, results)
    assert note == (
        f"light has no room with {named}: what more is found does not fit into 4,000 tokens. Take a larger --budget; "
        "BEAM's paper has 32000."
    )


@pytest.mark.parametrize(("tokens", "expected"), [(3_790, 1), (2_000, 0)])
def test_depths_that_fill_the_budget_are_named_whatever_they_read(tokens: int, expected: int) -> None:
    made = described(
        evaluated({"light[k=5]": [[0, 1]], "light[k=10]": [[1, 1]]}),
        {"light[k=5]": {"k": "5"}, "light[k=10]": {"k": "10"}},
    )
    results = [
        r.model_copy(
            update={"answer": r.answer.model_copy(
                update={"context": r.answer.context.model_copy(update={"message_keys": (r.system,), "tokens": tokens})}
            )}
        )
        for r in made.results
        if r.answer.context
    ]  # fmt: skip
    varied = variations_of(made.run, rows_of(results), is_scored=True)
    assert len(alike_notes(made.run, varied, results)) == expected


def test_readers_and_lengths_stand_in_one_table_and_a_judge_that_cannot_score_leaves_a_dash() -> None:
    short, long = (
        evaluated({"rag": [[1, 0]], "bm25": [[0, 0]]}, tokens=128_000),
        evaluated({"rag": [[1, 1]]}, name="1M"),
    )
    other = short.run.model_copy(update={"reader": "openai:one"})
    unsure = evaluated({"rag": [[1, 1]], "gold": [[0, 0]]}, name="unsure")
    table = render_grid([(of.run, of.results) for of in (short, long, unsure)] + [(other, short.results)])
    lines = [line.split() for line in table.splitlines() if line]
    assert lines[1:] == [
        ["reader", "a", "reader"], ["mine", "(128,000)", "1M", "(1,000)", "unsure", "(1,000)"],
        ["rag", "0.500", "1.000", "-"], ["fl", "bm25", "0.000", "-", "-"], ["ce", "gold", "-", "-", "-"],
        ["reader", "openai:one"], ["mine", "(128,000)", "1M", "(1,000)", "unsure", "(1,000)"],
        ["rag", "0.500", "-", "-"], ["fl", "bm25", "0.000", "-", "-"],
    ]  # fmt: skip


def test_the_report_draws_ablations_and_depths_with_a_line_for_each_retriever() -> None:
    names = [f"light[{r}k={k}{w}]" for r in ("", "retriever=bm25,") for k in (5, 10) for w in ("", ",without=filter")]
    made = evaluated({"bm25": [[0]], **{name: [[1]] for name in names}})
    settings = {name: dict(pair.split("=") for pair in name[6:-1].split(",")) for name in names}
    (section,) = sections_of([described(made, settings)])
    plots = dict(plots_of([section]))
    assert plots["light: score by k"].count("<polyline") == 2
    assert "retriever=bm25" in plots["light: score by k"]
    ablation = plots["mine: light[k=5]: score of the whole system, and the difference without each part"]
    assert ablation.count("<polyline") == 2
    assert "without filter" in ablation


def test_on_beam_itself_released_leads_and_the_legend_says_whose_formula_paper_is() -> None:
    made = evaluated({"rag": [[0.5, 1]], "bm25": [[1, 1]], "gold": [[1, 1]]}, ability="event_ordering")
    ours = " ".join(render_table(made.run, made.results).split())
    assert "Event ordering under `paper` is longbeam's own formula" in ours
    assert "Compare its Table 1 with `released`" in ours
    assert "`released` here" not in ours
    beam = Evaluated(made.run.model_copy(update={"imported_from": "beam"}), made.results, made.timings)
    text = render_table(beam.run, beam.results)
    assert "Figures of abilities are `released` here" in " ".join(text.split())
    assert any(line.split() == ["rag", ".50"] for line in text.splitlines())
    assert "| rag | 0.500; paper 0.750" in render_markdown(sections_of([beam]))
