from __future__ import annotations

import io
import json
import re
from pathlib import Path

import duckdb
import pytest

import longbeam
from longbeam.cli import OK, USER_ERROR, run
from longbeam.errors import UserError
from longbeam.library import open_database, view_names
from longbeam.schemas import BenchmarkSpec
from longbeam.store import Benchmark, ReviewStore, create_benchmark, seal_conversation
from tests.review.events import accept, event
from tests.tiny import tiny_conversation

PAGE = Path(__file__).resolve().parents[2] / "docs" / "database.md"
QUERIES = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Two conversations in a folder `output`: checked, evaluated, with opinions of two reviewers."""
    out = tmp_path_factory.mktemp("database") / "output"
    made = create_benchmark(BenchmarkSpec(name="tiny", length=16_000, conversations=2), out)
    for conversation_id in made.conversation_ids:
        tiny = tiny_conversation(conversation_id)
        seal_conversation(made.sealed_path(conversation_id), tiny.head, tiny.said, tiny.asked)
    longbeam.run(longbeam.validate(made))
    longbeam.run(longbeam.evaluate(made, ["bm25"]))
    rejected = event("judged", after={"verdict": "reject"}, who="bo").model_copy(update={"reason_code": "wrong_gold"})
    with ReviewStore(made.reviews_path) as store:
        store.append([accept(), rejected])
    return made


@pytest.mark.parametrize("number", range(10))
def test_query_of_the_page_runs_as_written(benchmark: Benchmark, number: int) -> None:
    with open_database(benchmark) as db:
        db.execute(QUERIES[number]).fetchall()


def test_page_has_ten_queries_and_names_every_view_of_its_table(benchmark: Benchmark) -> None:
    assert len(QUERIES) == 10
    named = re.findall(r"^\| `(\w+)` \|", PAGE.read_text("utf-8"), re.M)
    with open_database(benchmark) as db:
        assert set(named) <= set(view_names(db))
        empty = [name for name in named if not db.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0]]
    assert empty == []


def test_views_hold_all_conversations(benchmark: Benchmark) -> None:
    with open_database(benchmark) as db:
        rows = db.execute("select conversation_id, count(*) from messages group by all order by all").fetchall()
    count = len(tiny_conversation().said)
    assert rows == [("c000", count), ("c001", count)]


def test_no_column_needs_quotes(benchmark: Benchmark) -> None:
    with open_database(benchmark) as db:
        names = {row[0] for row in db.execute("select column_name from dictionary").fetchall()}
        for view in view_names(db):
            columns = ", ".join(r[0] for r in db.execute(f"describe {view}").fetchall())
            db.execute(f"SELECT {columns} FROM {view}").fetchall()  # unquoted
    assert {"group", "check", "end"} & names == set()
    assert {"item", "check_kind"} <= names


def test_columns_are_explained(benchmark: Benchmark) -> None:
    with open_database(benchmark) as db:
        explained = dict(
            db.execute("select column_name, explanation from dictionary where view_name = 'messages'").fetchall()
        )
        (runs,) = db.execute("select explanation from dictionary where column_name = 'budget'").fetchall()
    assert explained["message_id"] == "0 to n-1, as sealed"
    assert runs == ("tokens of context",)


def test_opinions_say_what_each_reviewer_thinks(benchmark: Benchmark) -> None:
    with open_database(benchmark) as db:
        rows = db.execute("select reviewer, verdict, reason_code, probe_id from opinions order by reviewer").fetchall()
    probe_id = "information_extraction.0"
    assert rows == [("ana", "accept", "", probe_id), ("bo", "reject", "wrong_gold", probe_id)]


def test_runs_have_the_scores_of_the_evaluation(benchmark: Benchmark) -> None:
    with open_database(benchmark) as db:
        scores = "select system, round(score, 9) from runs where run = 'evaluation' order by system"
        means = "select system, round(avg(score), 9) from answers where run = 'evaluation' group by all order by system"
        runs = db.execute(scores).fetchall()
        assert runs == db.execute(means).fetchall()
    assert {"bm25", "gold", "blank"} <= {system for system, _ in runs}


def test_nothing_can_be_changed(benchmark: Benchmark) -> None:
    with open_database(benchmark) as db, pytest.raises(duckdb.InvalidInputException):
        db.execute("delete from c000.messages")


def test_database_opens_while_a_review_is_written(benchmark: Benchmark) -> None:
    with ReviewStore(benchmark.reviews_path) as store:
        with open_database(benchmark) as db:
            before = db.execute("select count(*) from opinions").fetchone()
            store.append([accept(who="cleo")])
        with open_database(benchmark) as db:
            after = db.execute("select count(*) from opinions").fetchone()
    assert (before, after) == ((2,), (3,))


def test_unchecked_unreviewed_benchmark_has_empty_views(tmp_path: Path) -> None:
    made = create_benchmark(BenchmarkSpec(name="bare", length=16_000), tmp_path)
    with pytest.raises(UserError, match="no finished conversation"):
        open_database(made)
    tiny = tiny_conversation()
    seal_conversation(made.sealed_path("c000"), tiny.head, tiny.said, tiny.asked)
    with open_database(made) as db:
        for view in ("findings", "opinions", "runs", "answers"):
            assert db.execute(f"select * from {view}").fetchall() == []


def test_sql_prints_a_table(benchmark: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(benchmark.root.parent)]
    assert run(["sql", "tiny", "select 7 as seven", *out]) == OK
    assert "│ seven │" in capsys.readouterr().out
    assert run(["sql", "tiny", "select probe_id, asked_at from probes limit 1", "--json", *out]) == OK
    assert json.loads(capsys.readouterr().out)[0].keys() == {"probe_id", "asked_at"}


def test_sql_reads_statements_from_a_pipe(
    benchmark: Benchmark, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("select 1 as one;\n\nselect\n 2 as two"))
    assert run(["sql", "tiny", "--out", str(benchmark.root.parent)]) == OK
    shown = capsys.readouterr().out
    assert "one" in shown
    assert "two" in shown


def test_views_are_copied_into_one_file_as_the_page_says(
    benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (statements,) = re.findall(r'^echo "(attach .*)" \| longbeam sql', PAGE.read_text("utf-8"), re.M)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(statements))
    assert run(["sql", "tiny", "--out", str(benchmark.root.parent)]) == OK
    with duckdb.connect(tmp_path / "all.duckdb", read_only=True) as db:
        found = db.execute("select count(distinct conversation_id), count(*) from messages").fetchall()
        assert found == [(2, 2 * len(tiny_conversation().said))]
        assert db.execute("select count(*) > 0 from probes").fetchall() == [(True,)]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("select * from message", "Views: advice"),
        ("selec 1", "syntax error"),
        ("delete from c000.messages", "read-only"),
        ("select cast('x' as integer)", "convert"),
    ],
)
def test_a_refused_statement_is_one_line(
    benchmark: Benchmark, capsys: pytest.CaptureFixture[str], statement: str, said: str
) -> None:
    assert run(["sql", "tiny", statement, "--out", str(benchmark.root.parent)]) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_control_characters_do_not_reach_the_terminal(benchmark: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sql", "tiny", "select chr(27) || '[2J' as steering", "--out", str(benchmark.root.parent)]) == OK
    assert "\x1b" not in capsys.readouterr().out
