from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import create_model

from longbeam.errors import StoreError
from longbeam.schemas import Incident, IncidentKind, Message, Narrative, Probe, Record, UserTurn
from longbeam.store import Failure, Unit, UnitStatus, WorkLog
from tests.store.strategies import records_of


def turn(turn_id: str, text: str = "Why?") -> UserTurn:
    return UserTurn(turn_id=turn_id, text=text, bullet_ids=())


def finish(log: WorkLog, unit_key: str, *turns: str, fingerprint: str = "f1", stage: str = "user_turns") -> None:
    log.units.finish(stage, unit_key, fingerprint=fingerprint, records=[turn(t) for t in turns])


def fail(log: WorkLog, unit_key: str, error: str = "no JSON", *, opens_generation: bool = True) -> None:
    log.units.fail(
        "user_turns",
        unit_key,
        Failure(fingerprint="f1", error_kind="schema", error=error, attempts=3, opens_generation=opens_generation),
    )


def turn_ids(log: WorkLog, unit_keys: list[str] | None = None) -> list[str]:
    return [t.turn_id for t in log.units.records("user_turns", UserTurn, unit_keys)]


@pytest.fixture
def log(tmp_path: Path) -> WorkLog:
    return WorkLog.open(tmp_path / "c000.sqlite")


@pytest.fixture(autouse=True)
def _closed(log: WorkLog) -> object:
    yield
    log.close()


def test_a_finished_unit_has_its_mark_and_its_records(log: WorkLog) -> None:
    finish(log, "p0.s2", "t0", "t1")

    assert log.units.find("user_turns", "p0.s2") == Unit(
        stage="user_turns", unit_key="p0.s2", status=UnitStatus.DONE, fingerprint="f1", generation=0
    )
    assert turn_ids(log) == ["t0", "t1"]
    assert log.units.find("plans", "p0.s2") is None


def test_finishing_again_replaces_the_records(log: WorkLog) -> None:
    finish(log, "p0.s2", "t0", "t1", "t2")
    finish(log, "p0.s2", "t9", fingerprint="f2")

    assert turn_ids(log) == ["t9"]
    unit = log.units.find("user_turns", "p0.s2")
    assert unit is not None
    assert unit.fingerprint == "f2"


def test_records_come_in_story_order_whatever_finished_first(log: WorkLog) -> None:
    for unit_key in ("p0.s10", "p1.s0", "p0.s2", "p0.s1"):
        finish(log, unit_key, f"{unit_key}.t0", f"{unit_key}.t1")

    story = [f"{unit}.t{i}" for unit in ("p0.s1", "p0.s2", "p0.s10", "p1.s0") for i in range(2)]
    assert turn_ids(log) == story
    assert turn_ids(log, ["p1.s0", "p0.s2", "p7.s7"]) == ["p1.s0.t0", "p1.s0.t1", "p0.s2.t0", "p0.s2.t1"]


def test_records_are_told_apart_by_class_and_by_stage(log: WorkLog) -> None:
    narrative = Narrative(label="travel", description="The trip", sub_labels=("flights",))
    log.units.finish("plans", "p0", fingerprint="f", records=[turn("t0"), narrative, turn("t1")])
    finish(log, "p0", "other")

    assert list(log.units.records("plans", Narrative)) == [narrative]
    assert [t.turn_id for t in log.units.records("plans", UserTurn)] == ["t0", "t1"]


def test_a_failure_is_kept_and_leaves_its_siblings(log: WorkLog) -> None:
    finish(log, "p0.s0", "t0")
    finish(log, "p0.s1", "t1")
    fail(log, "p0.s1")

    assert log.units.failures() == [
        Unit(
            stage="user_turns",
            unit_key="p0.s1",
            status=UnitStatus.FAILED,
            fingerprint="f1",
            generation=1,
            error_kind="schema",
            error="no JSON",
            attempts=3,
        )
    ]
    assert turn_ids(log) == ["t0"]


def test_each_failure_opens_a_generation_and_finishing_keeps_it(log: WorkLog) -> None:
    seen = [log.units.generation("user_turns", "p0.s0")]
    for act in (fail, fail, finish, finish):
        act(log, "p0.s0")
        seen.append(log.units.generation("user_turns", "p0.s0"))

    assert seen == [0, 1, 2, 2, 2]


def test_a_failure_on_the_way_opens_no_generation(log: WorkLog) -> None:
    fail(log, "p0.s0", opens_generation=False)
    assert log.units.generation("user_turns", "p0.s0") == 0

    fail(log, "p0.s0")
    fail(log, "p0.s0", opens_generation=False)
    assert log.units.generation("user_turns", "p0.s0") == 1


def test_an_error_text_with_undecodable_bytes_is_kept(log: WorkLog) -> None:
    fail(log, "p0.s0", "no such file: caf\udce9.txt")

    assert log.units.failures()[0].error == "no such file: caf?.txt"


def test_unwanted_units_go_with_their_records(log: WorkLog) -> None:
    for unit_key in ("p0.s0", "p0.s1", "p0.s2"):
        finish(log, unit_key, unit_key)
    finish(log, "p0.s9", "kept", stage="other")

    assert log.units.remove("user_turns", ["p0.s1"]) == 2

    assert turn_ids(log) == ["p0.s1"]
    assert log._db._db.execute("SELECT count(*) FROM records").fetchone() == (2,)
    assert log.units.counts() == {"other": {"done": 1, "failed": 0}, "user_turns": {"done": 1, "failed": 0}}


def test_units_are_counted_by_stage_and_status(log: WorkLog) -> None:
    finish(log, "p0.s0")
    finish(log, "p0.s1")
    fail(log, "p0.s10")
    fail(log, "p0.s9")

    assert log.units.counts() == {"user_turns": {"done": 2, "failed": 2}}
    assert [unit.unit_key for unit in log.units.failures()] == ["p0.s9", "p0.s10"]


def test_records_may_be_written_while_others_are_read(log: WorkLog) -> None:
    finish(log, "p0.s0", "t0")
    finish(log, "p0.s1", "t1")

    seen = []
    for read in log.units.records("user_turns", UserTurn):
        seen.append(read.turn_id)
        finish(log, "p0.s5", "later")

    assert seen == ["t0", "t1"]


def test_a_unit_is_all_or_nothing(log: WorkLog) -> None:
    finish(log, "p0.s0", "t0")
    log._db._db.execute(
        "CREATE TEMP TRIGGER stop BEFORE INSERT ON records WHEN NEW.ordinal = 1 BEGIN SELECT raise(ABORT, 'stop'); END"
    )

    with pytest.raises(Exception, match="stop"):
        finish(log, "p0.s0", "t8", "t9", fingerprint="f2")

    assert turn_ids(log) == ["t0"]
    unit = log.units.find("user_turns", "p0.s0")
    assert unit is not None
    assert unit.fingerprint == "f1"


def test_a_record_of_another_version_is_named(log: WorkLog) -> None:
    other = create_model("UserTurn", __base__=Record, turn_id=(str, ...), words=(str, ...))
    log.units.finish("user_turns", "p0.s0", fingerprint="f", records=[other(turn_id="t0", words="Why?")])

    with pytest.raises(StoreError, match=r"user_turns p0\.s0 holds a UserTurn of another version of longbeam"):
        turn_ids(log)


def test_meta_values_come_back(log: WorkLog) -> None:
    log.meta_set("spec", {"name": "münster", "lengths": [1, 2.5, None]})
    log.meta_set("spec", {"name": "münster", "lengths": [1, 2.5, True]})

    assert log.meta_get("spec") == {"name": "münster", "lengths": [1, 2.5, True]}
    assert log.meta_get("other") is None


@given(
    messages=st.lists(records_of(Message), max_size=4),
    probes=st.lists(records_of(Probe), max_size=2),
)
@settings(max_examples=40)
def test_records_come_back_equal(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Message], probes: list[Probe]
) -> None:
    with WorkLog.open(tmp_path_factory.mktemp("log") / "c000.sqlite") as log:
        log.units.finish("s", "u", fingerprint="f", records=[*messages, *probes])

        assert list(log.units.records("s", Message)) == messages
        assert list(log.units.records("s", Probe)) == probes


def test_a_copy_is_one_file_that_needs_no_log_beside_it(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "own.sqlite") as log:
        assert log.changes == 0
        log.meta_set("a", 1)
        assert log.changes == 1
        (tmp_path / "elsewhere").mkdir()
        log.copy_to(tmp_path / "elsewhere" / "copy.sqlite")
        with WorkLog.open_read_only(tmp_path / "elsewhere" / "copy.sqlite") as copy:
            assert copy.meta_get("a") == 1
    assert [p.name for p in (tmp_path / "elsewhere").iterdir()] == ["copy.sqlite"]


def incident(detail: str) -> Incident:
    return Incident(kind=IncidentKind.MENDED, prompt_id="user_turns", place=f"c000/user_turns/{detail}", detail=detail)


def test_incidents_lie_with_the_unit_and_not_among_its_records(log: WorkLog) -> None:
    log.units.finish("user_turns", "p0.s10", fingerprint="f1", records=[turn("t1"), incident("later")])
    log.units.finish("user_turns", "p0.s2", fingerprint="f1", records=[turn("t0"), incident("b"), incident("a")])
    assert turn_ids(log) == ["t0", "t1"]
    assert [i.detail for i in log.units.incidents()] == ["b", "a", "later"]


def test_a_unit_that_is_made_again_or_fails_loses_its_incidents(log: WorkLog) -> None:
    for unit_key in ("p0.s2", "p0.s3"):
        log.units.finish("user_turns", unit_key, fingerprint="f1", records=[incident("old")])
    finish(log, "p0.s2", "t0")
    fail(log, "p0.s3")
    assert log.units.incidents() == []
