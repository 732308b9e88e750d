from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam.cli import run
from longbeam.errors import UserError
from longbeam.evaluation import (
    WRONG,
    contexts_path,
    plots_of,
    read_results,
    render_html,
    render_markdown,
    render_table,
    rows_of,
    sections_of,
    share_read,
    write_results,
)
from longbeam.pipeline.evaluate import results_path
from longbeam.schemas import BenchmarkSpec, EvaluatedSystem, Preparation, PreparationUsage
from longbeam.store import create_benchmark
from tests.evaluation.evaluated import Scores, evaluated

SCORES = {"blank": [[0, 0], [0, 0]], "bm25": [[0.5, 0], [1, 0]], "rag": [[1, 0.5], [1, None]], "gold": [[1, 1], [1, 1]]}


def test_html_holds_no_script_and_loads_nothing() -> None:
    page = render_html(sections_of([evaluated(SCORES, text='</pre><script>alert("x")</script>')]))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page  # the question
    assert not re.search(r"""(?:src|href)\s*=|url\(|@import""", page)
    assert "default-src 'none'" in page


def test_floors_stand_among_the_systems_that_have_to_beat_them_and_ceilings_at_the_end() -> None:
    scores = {
        "blank": [[0, 0]] * 8,
        "bm25": [[1, 1]] * 8,
        "rag": [[0, 1]] * 8,
        "cmv": [[1, 1]] * 8,
        "gold": [[1, 1]] * 8,
    }
    (section,) = sections_of([evaluated(scores)])
    assert [(x.row.system, x.rank) for x in section.lines] == [
        ("cmv", 1), ("bm25", None), ("rag", 2), ("blank", None), ("gold", None)
    ]  # fmt: skip
    page = render_html([section])
    assert page.index(">cmv<") < page.index(">bm25<")
    assert page.index("<svg") < page.index("<h3>Abilities</h3>")  # one plot beside the ranking, the others below


def test_below_eight_conversations_nothing_is_ranked_and_a_line_above_the_table_says_so() -> None:
    scores = {"bm25": [[1, 1]] * 3, "rag": [[0, 1]] * 3, "cmv": [[1, 1]] * 3, "gold": [[1, 1]] * 3}
    made = evaluated(scores)
    (section,) = sections_of([made])
    assert [(x.row.system, x.rank) for x in section.lines][:3] == [("cmv", None), ("bm25", None), ("rag", None)]
    for text, row in (
        (render_table(made.run, made.results), "    cmv "),
        (render_markdown([section]), "|  | cmv | system |"),
        (render_html([section]), '<td>cmv</td><td class="left rest">system</td><td class="rest"></td>'),
    ):
        assert 0 <= text.find("3 conversations: intervals are too narrow; no ranking") < text.find(row)


def test_every_report_begins_with_what_was_measured_with_and_says_where_that_is_rules() -> None:
    made = evaluated(SCORES, judge="openai:judge (judge_nugget.v9 abc; strict)")
    page = render_html(sections_of([made]))
    head = page[: page.index("Ranking")]
    for name, value in (("reader", "a reader"), ("judge", "openai:judge"), ("embedder", "none"), ("probes", "4")):
        assert f'<span class="label">{name}</span> {value}</span>' in head
    assert "reader: rules, no language model" in head
    by_model = replace(made, run=made.run.model_copy(update={"reader": "openai:one"}))
    assert "rules, no language model" not in render_html(sections_of([by_model]))
    assert "- Dry run. reader and judge: rules, no language model" in render_markdown(sections_of([evaluated(SCORES)]))


def test_a_row_of_rag_without_an_embedder_is_named_as_the_floor_that_it_is() -> None:
    made = evaluated({"bm25": [[1, 1]] * 2, "rag": [[1, 1]] * 2, "rag[embedder=e]": [[1, 1]] * 2})
    described = (
        EvaluatedSystem(name="rag", system="rag"),
        EvaluatedSystem(name="rag[embedder=e]", system="rag", embedder="e", settings={"retriever": "hybrid"}),
    )
    page = render_html(sections_of([replace(made, run=made.run.model_copy(update={"described": described}))]))
    assert "Without an embedder rag ranks by BM25, as the floor bm25 does.<" in page


def test_a_system_has_one_colour_whatever_its_rank() -> None:
    def colour(scores: Scores) -> str:
        svg = plots_of(sections_of([evaluated(scores)]))[0][1]
        found = re.search(r'<text class="(series-\d)"[^>]*>rag</text>', svg)
        assert found is not None
        return found[1]

    first = {"bm25": [[0, 0]] * 2, "rag": [[1, 1]] * 2, "light": [[0, 1]] * 2}
    assert colour(first) == colour({**first, "rag": [[0, 0]] * 2})


def test_a_judge_that_cannot_tell_right_from_wrong_ranks_nobody() -> None:
    for scores, why in (
        ({"bm25": [[1, 1]], "rag": [[0, 0]], "gold": [[1, 0]]}, "gold 0.500"),
        ({"bm25": [[1, 1]], "rag": [[0, 0]], "gold": [[1, 1]], "wrong": [[0.5, 0]]}, "gold 1.000, wrong 0.250"),
    ):
        made = evaluated(scores)
        for text in (
            render_html(sections_of([made])), render_markdown(sections_of([made])), render_table(made.run, made.results)
        ):  # fmt: skip
            plain = " ".join(text.split())
            assert f"This judge cannot score this benchmark: {why};" in plain
            assert "1.000" in plain  # evidence recall needs no judge
            assert "95 % interval" not in plain


def test_answers_that_calibrate_are_no_rows() -> None:
    made = evaluated({"rag": [[0, 1]] * 2, "gold": [[1, 1]] * 2, "wrong": [[0, 0]] * 2, "swapped": [[0, 0]] * 2})
    (section,) = sections_of([made], against=["rag"])
    assert [x.row.system for x in section.lines] == ["rag", "gold"]
    assert section.calibration.line == "calibrated: gold 1.000, wrong 0.000, swapped 0.000"


def test_p_values_are_corrected_and_small_ones_cut() -> None:
    scores = {"bm25": [[0]] * 12, "a": [[1]] * 12, "b": [[1]] * 12, "c": [[0]] * 6 + [[1]] * 6}
    (section,) = sections_of([evaluated(scores)])
    # 2 / 2^12 three times over is .0015; the c's 2 / 2^6 is the largest, and stays.
    assert [(c.system, round(c.p_value or 0, 4)) for c in section.comparisons] == [
        ("a", 0.0015), ("b", 0.0015), ("c", 0.0312)
    ]  # fmt: skip
    many = {"bm25": [[0]] * 16, "a": [[1]] * 16}
    assert "| <.001 |" in render_markdown(sections_of([evaluated(many)]))


def test_every_baseline_is_compared_and_every_ability_has_an_interval() -> None:
    (section,) = sections_of([evaluated(SCORES)], against=["bm25", "blank"])
    assert [(c.system, c.against) for c in section.comparisons] == [
        ("rag", "bm25"), ("rag", "blank"), ("bm25", "blank"), ("blank", "bm25")
    ]  # fmt: skip
    interval = section.lines[0].by_ability["summarization"]
    assert interval is not None
    assert 0.75 <= interval.low <= interval.high <= 1


def test_systems_with_the_same_answers_are_named() -> None:
    made = evaluated({"bm25": [[1, 1]], "rag": [[1, 1]], "gold": [[1, 1]]})
    results = tuple(
        r.model_copy(update={"answer": r.answer.model_copy(update={"context": None})}) if r.system == "gold" else r
        for r in made.results
    )
    text = render_table(made.run, results)
    assert "The same answers from the same contexts to every probe: bm25 and rag." in text


def test_a_reader_that_cannot_use_the_evidence_is_named() -> None:
    made = evaluated({"bm25": [[0, 1]] * 2, "evidence": [[1, 0]] * 2, "gold": [[1, 1]] * 2})
    for text in (render_table(made.run, made.results), render_markdown(sections_of([made]))):
        assert "This reader scores 0.500 with the cited messages alone" in " ".join(text.split())
    able = evaluated({"bm25": [[0, 1]] * 2, "evidence": [[1, 1]] * 2, "gold": [[1, 1]] * 2})
    assert "This reader" not in render_table(able.run, able.results)


def test_the_table_fits_eighty_columns() -> None:
    made = evaluated({"light[k=5,without=retrieval]": [[0.5, 1]] * 3, **SCORES, "gold": [[1, 1]] * 2})
    table = render_table(made.run, made.results)
    assert max(map(len, table.splitlines())) <= 80
    assert "    light[k=5,without=retrieval]" in table
    assert "\n fl bm25 " in table
    assert "\n ce gold " in table
    assert "fl: a floor, a plain baseline to be beaten; ce: a ceiling" in table


def test_names_in_plots_are_escaped() -> None:
    page = render_html(sections_of([evaluated({"<b>x": [[1]], "bm25": [[0]]}, name="<i>y")]))
    assert "<b>x" not in page
    assert "<i>y" not in page


def test_every_report_names_judge_reader_budgets_and_too_few_conversations() -> None:
    for text in [render(sections_of([evaluated(SCORES)])) for render in (render_html, render_markdown)]:
        assert "judge one" in text
        assert "a reader" in text
        assert re.search(r"4,?000 tokens of context", text)
        assert "p cannot fall below 0.5" in text
    single = render_markdown(sections_of([evaluated({"bm25": [[1]], "rag": [[0]]})]))
    assert "there is no interval" in single


def test_drill_down_shows_verdicts_reasons_and_failures_of_the_judge() -> None:
    page = render_html(sections_of([evaluated(SCORES)]))
    assert "because" in page
    assert "the judge failed" in page
    assert page.count("Question 1") == 2
    assert "Question 1" not in render_html(sections_of([evaluated(SCORES)], probes_shown=1))


def test_several_lengths_stand_side_by_side() -> None:
    sections = sections_of([evaluated(SCORES), evaluated(SCORES, name="longer", tokens=128_000)])
    table = render_markdown(sections)
    assert "| all | rag | 0.875 | 0.875 |" in table  # (0.75 + 1) / 2; the unscored probe is in no mean
    assert "longer, 128K" in table
    assert "128K</text>" in render_html(sections)  # a tick of the plot


def test_one_length_has_no_plot_against_length() -> None:
    titles = [title for title, _ in plots_of(sections_of([evaluated(SCORES), evaluated(SCORES, name="other")]))]
    assert len(titles) == 4
    assert not any("against length" in title for title in titles)
    titles = [title for title, _ in plots_of(sections_of([evaluated(SCORES), evaluated(SCORES, tokens=9_000)]))]
    assert "against length" in titles[0]


def test_the_line_under_a_plot_of_points_names_colours_and_no_dashes() -> None:
    page = render_html(sections_of([evaluated(SCORES)]))  # single points have no lines to dash
    assert "Grey: floors. Black, or white in the dark: ceilings." in page
    assert "Dashed" not in page


def test_benchmarks_of_another_origin_are_on_no_line_with_ours() -> None:
    theirs = evaluated(SCORES, name="beam", tokens=9_000)
    theirs = replace(theirs, run=theirs.run.model_copy(update={"imported_from": "beam"}))
    titles = [title for title, _ in plots_of(sections_of([evaluated(SCORES), theirs]))]
    assert not any("against length" in title for title in titles)


def test_what_preparing_took_stands_in_both_forms() -> None:
    made = evaluated(SCORES)
    used = Preparation(system="rag", usage=PreparationUsage(embedded_texts=7, embedded_tokens=12_345))
    sections = sections_of([replace(made, run=made.run.model_copy(update={"preparations": (used,)}))])
    assert "<td>12,345</td>" in render_html(sections)
    assert "| rag | 0 | 0 | 7 | 12345 | 0 |" in render_markdown(sections)


def test_scores_by_kind_and_by_the_time_of_asking_stand_in_both_forms() -> None:
    made = evaluated(SCORES)
    kinds = [("sum", False), ("sum", True), ("total_cost", True), ("", True)]
    probes = tuple(
        probe.model_copy(update={"variety": variety, "is_on_the_way": is_on_the_way})
        for probe, (variety, is_on_the_way) in zip(made.run.probes, kinds, strict=True)
    )
    sections = sections_of([replace(made, run=made.run.model_copy(update={"probes": probes}))])
    table = render_markdown(sections)
    assert "| ability | probes asked | number | rag | bm25 | blank | gold |" in table
    # rag: 1, .5, 1 and none; bm25: .5, 0, 1, 0
    assert "| all | asked at the end | 1 | 1.000 | 0.500 | 0.000 | 1.000 |" in table
    assert "| all | asked on the way | 3 | 0.750 | 0.333 | 0.000 | 1.000 |" in table
    assert "| summarization | sum | 2 | 0.750 | 0.250 | 0.000 | 1.000 |" in table
    assert "| summarization | total cost | 1 | 1.000 | 1.000 | 0.000 | 1.000 |" in table
    assert '<td>summarization</td><td class="left">total cost</td><td>1</td><td>1.000</td>' in render_html(sections)


def test_a_benchmark_of_several_lengths_has_the_scores_of_each() -> None:
    made = evaluated(SCORES)
    lengths = zip(made.run.probes, (500_000, 500_000, 500_000, 1_000_000), strict=True)
    probes = tuple(probe.model_copy(update={"length": length}) for probe, length in lengths)
    table = render_markdown(sections_of([replace(made, run=made.run.model_copy(update={"probes": probes}))]))
    # rag: 1, .5, 1 and none; bm25: .5, 0, 1, 0
    short = "| all | 500,000 tokens | 3 | 0.833 | 0.500 | 0.000 | 1.000 |"
    assert table.index(short) < table.index("| all | 1,000,000 tokens | 1 | – | 0.000 | 0.000 | 1.000 |")


def test_probes_without_kinds_that_are_asked_at_the_end_have_no_table_of_kinds() -> None:
    sections = sections_of([evaluated(SCORES)])
    assert "probes asked" not in render_markdown(sections) + render_html(sections)


def test_a_system_to_compare_with_must_be_there() -> None:
    with pytest.raises(UserError, match=r"no such system; it has blank, bm25, rag, gold"):
        sections_of([evaluated(SCORES)], against=["light"])


def test_results_files_are_read_as_written(tmp_path: Path) -> None:
    made = evaluated(SCORES)
    path = tmp_path / "results.jsonl"
    write_results(path, made.run, made.results)
    assert read_results(path) == made


def test_what_was_read_is_written_once_and_results_can_be_read_without_it(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    made = evaluated(SCORES)  # every answer has read the same
    write_results(path, made.run, made.results)
    assert len(made.results) > 1
    assert contexts_path(path).read_text(encoding="utf-8").count("what was read") == 1
    assert "what was read" not in path.read_text(encoding="utf-8")
    contexts_path(path).unlink()
    (without, *_) = read_results(path).results
    assert without.answer.context is not None
    assert (without.answer.context.text[:14], without.answer.context.tokens) == ("[what was read", 4)


@pytest.mark.parametrize(("line", "at"), [("{}", "line 1"), ("no json", "line 1")])
def test_other_files_are_refused_with_their_line(tmp_path: Path, line: str, at: str) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(UserError, match=at):
        read_results(path)


def test_report_and_agreement_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    benchmark = create_benchmark(BenchmarkSpec(name="mine", length=16_000), Path("output"))
    calibrated = {**SCORES, **dict.fromkeys(WRONG, [[0, 0]] * 2), "paraphrased": [[1, 1]] * 2}
    for made, path in (
        (evaluated(calibrated), results_path(benchmark)),
        (evaluated(calibrated, judge="another"), tmp_path / "b.jsonl"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_results(path, made.run, made.results)
    assert run(["report", "mine", "--html", "r.html", "--with", "b.jsonl"]) == 0
    assert Path("r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run(["leaderboard", str(results_path(benchmark)), "b.jsonl", "--board", "board.json"]) == 0
    assert {row["judge"] for row in json.loads(Path("board.json").read_text())["rows"]} == {"judge one", "another"}
    assert run(["judge-agreement", str(results_path(benchmark)), "b.jsonl"]) == 0
    assert "1.000  1.000" in capsys.readouterr().out
    assert run(["report", "mine", "--control", "shuffled"]) == 2
    assert "evidence-removed and swapped" in capsys.readouterr().err


def test_the_share_of_the_conversation_that_a_system_reads_stands_beside_its_tokens() -> None:
    made = evaluated({"rag": [[1]], "bm25": [[0]]}, tokens=1_000)
    (row, *_) = rows_of(made.results)
    tokens = int(row.tokens or 0)
    assert [share_read(row, of) for of in (tokens, 10 * tokens, 23 * tokens, 0)] == ["100%", "10%", "4.3%", "–"]
    for text in (render_table(made.run, made.results), render_markdown(sections_of([made]))):
        assert share_read(row, 1_000) in text


def test_a_report_on_a_terminal_is_the_table_of_the_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = create_benchmark(BenchmarkSpec(name="mine", length=16_000), tmp_path)
    made, path = evaluated(SCORES), results_path(benchmark)
    path.parent.mkdir(parents=True)
    write_results(path, made.run, made.results)
    assert run(["report", "mine", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("# Memory systems, measured")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["report", "mine", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(render_table(made.run, made.results))
    assert "The whole report: longbeam report mine --html report.html --out " in shown


@pytest.mark.parametrize(
    ("imported_from", "advice"),
    [("chat", "make them with `longbeam probe mine`"), ("", "`longbeam status mine` says what is missing")],
)
def test_a_run_without_probes_says_what_makes_them(imported_from: str, advice: str) -> None:
    whole = evaluated(SCORES)
    run = whole.run.model_copy(update={"probes": (), "imported_from": imported_from})
    with pytest.raises(UserError, match=f"no results to report on, because its run found no probes; {advice}$"):
        sections_of([replace(whole, run=run, results=())])


def test_systems_at_several_budgets_are_ranked_and_compared_within_each() -> None:
    scores = {
        f"{name}[budget={b}]": [[score * b / 4000]] * 8
        for b in (4000, 1000)
        for name, score in (("bm25", 0), ("rag", 1))
    }
    made = evaluated({**scores, "long_context": [[1]] * 8})
    described = tuple(EvaluatedSystem(name=name, system=name[:4], settings={"budget": name[-5:-1]}) for name in scores)
    (section,) = sections_of([replace(made, run=made.run.model_copy(update={"described": described}))])
    assert [(line.row.system, line.rank) for line in section.lines] == [
        ("rag[budget=1000]", 1), ("bm25[budget=1000]", None),
        ("rag[budget=4000]", 1), ("bm25[budget=4000]", None), ("long_context", None),
    ]  # fmt: skip
    assert [(c.system, c.against) for c in section.comparisons] == [
        ("rag[budget=1000]", "bm25[budget=1000]"), ("rag[budget=4000]", "bm25[budget=4000]")
    ]  # fmt: skip
    ((_, curves), *_) = plots_of([section])
    assert curves.count("<polyline") == 3  # one for each system


def test_a_curve_over_budgets_has_the_name_of_its_system() -> None:
    scores = {f"rag[{b},k=3]": [[1]] * 2 for b in ("budget=1000", "budget=4000")} | {"bm25": [[0]] * 2}
    made = evaluated(scores)
    described = tuple(
        EvaluatedSystem(name=name, system="rag", settings={"budget": name[11:15], "k": "3"}) for name in scores
    )[:2]
    ((_, curves), *_) = plots_of(sections_of([replace(made, run=made.run.model_copy(update={"described": described}))]))
    assert ">rag[k=3]</text>" in curves
