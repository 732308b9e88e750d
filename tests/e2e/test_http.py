"""Runs over real HTTP: the same bytes as in one process, through faults and kills, and nothing paid for twice."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from longbeam.cli import OK, run as longbeam
from tests.e2e.killing import Bench
from tests.e2e.loopback import http_run, loopback, moments

SHORT = 'name = "short"\nseed = 21\nlength = "16K"\ndomains = ["trip"]\n'
LONG = 'name = "long"\nseed = 22\nlength = "128K"\ndomains = ["coding"]\n'
TWO = 'name = "two"\nseed = 23\nlength = "16K"\nconversations = 2\ndomains = ["trip", "coding"]\n'
FAULTS = ("latency_ms=5", "rate_limited=0.05", "failing=0.05", "hanging=0.02", "malformed=0.05")


def _same_bytes_over_http(tmp_path: Path, spec: str) -> None:
    path = tmp_path / f"{spec.split(chr(34))[1]}.toml"
    path.write_text(spec)
    in_process = Bench(path, tmp_path / "in_process")
    in_process.run()
    with loopback("latency_ms=2", "jitter_ms=5") as server:
        over_http = http_run(tmp_path, spec, server)
        assert over_http.run() == 0
        counts = server.counts()
    assert over_http.bench.export() == in_process.export()
    assert counts["received"] == counts["answered"] == len(in_process.invocations())


@pytest.mark.slow  # the run through faults and kills is over HTTP, too
def test_export_over_http_equals_that_of_one_process(tmp_path: Path) -> None:
    _same_bytes_over_http(tmp_path, SHORT)


@pytest.mark.slow  # the run through faults and kills is over HTTP, too
def test_recorded_replies_answer_a_run_without_typed_inputs(tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    in_process = Bench(path, tmp_path / "in_process")
    in_process.run()
    with loopback("--recorded", "short", "--out", str(in_process.out)) as server:
        plain = http_run(tmp_path, SHORT, server, sends_extras=False)
        # Rules plan the advice of the assistant whom they speak, a language model's is read out of its replies; and
        # nobody recorded a checker. So rules plan and speak here, too, and nothing is checked.
        ruled = plain.bench.spec.read_text().replace("[models]", '[models]\nplanner = "offline"\nassistant = "offline"')
        plain.bench.spec.write_text(f"{ruled}[checks]\nmodel = false\n")
        assert plain.run() == 0
        counts = server.counts()
    assert plain.bench.export() == in_process.export()
    assert 60 < counts["received"] == counts["answered"] < len(in_process.invocations())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_long_export_over_http_equals_that_of_one_process(tmp_path: Path) -> None:
    _same_bytes_over_http(tmp_path, LONG)


def _complete_through_faults(tmp_path: Path, spec: str, *, calls: int, kills: int) -> None:
    with loopback(*FAULTS) as server:
        run = http_run(tmp_path, spec, server, timeout_s=5)
        lost = 0
        for moment in moments(calls, kills):
            run.kill_after(moment)
            lost += run.lost()
        for _ in range(4):  # a unit whose three replies were malformed is tried again
            if run.run() == 0:
                break
        else:
            pytest.fail("units still fail after four runs")
        counts = server.counts()
        assert counts["asked_again"] <= lost <= kills * 16, "an answered call was asked again"
        assert counts["calls"] >= calls
        assert set(counts["refused"]) == {"429", "500"}
    assert longbeam(["validate", run.bench.name, "--out", str(run.bench.out)]) == OK


def test_run_completes_through_faults_and_kills(tmp_path: Path) -> None:
    _complete_through_faults(tmp_path, SHORT, calls=150, kills=1)


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_long_run_completes_through_faults_and_five_kills(tmp_path: Path) -> None:
    _complete_through_faults(tmp_path, LONG, calls=700, kills=5)


@pytest.mark.slow  # the run through faults and kills is over HTTP, too
def test_poisoned_requests_cost_their_units_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with loopback("poison=c000/dialogue/p0.s1/*,c001/probes/summarization.0/*") as server:
        run = http_run(tmp_path, TWO, server)
        assert run.run() == 1
        capsys.readouterr()
        assert longbeam(["status", "two", "--out", str(run.bench.out)]) == OK
        shown = capsys.readouterr().out
        with closing(sqlite3.connect(f"file:{run.bench.out}/two/work/c000.sqlite?mode=ro", uri=True)) as db:
            (poisoned,) = db.execute(
                "SELECT count(*) FROM records JOIN units USING (unit_id)"
                " WHERE record_type = 'UserTurn' AND unit_key LIKE 'p0.s1.%'"
            ).fetchone()
        assert f"{poisoned} skipped" in shown, "each turn of the poisoned dialogue"
        assert "probes summarization.0 failed: content_filter" in shown
        assert "is poisoned" in shown
        assert "0 of 2 conversations finished, 1 failed unit" in shown
        answered = server.counts(calls=True)["answered_calls"]
        assert any(call.startswith("c000/dialogue/p0.s0/") for call in answered)

        server.control(poison=[])
        assert run.run() == 0
        counts = server.counts(calls=True)
        paid = counts["answered_calls"][len(answered) :]
        needed = ("c000/dialogue/p0.s1", "c000/dialogue/p0.s0.settle", "c000/probes/", "c001/probes/summarization.0/")
        assert [call for call in paid if not call.startswith(needed)] == []
        assert sum(call.startswith("c001/") for call in paid) == 1
        assert any(call.startswith("c000/dialogue/p0.s1/") for call in paid)
        assert counts["asked_again"] == 0
