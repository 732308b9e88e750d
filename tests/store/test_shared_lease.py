from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from longbeam.schemas import Position
from longbeam.store import (
    LEASE_S,
    HeldElsewhere,
    Holder,
    LeaseLost,
    SharedLease,
    lease,
    living_holder,
    position_of_holder,
)

TAKE_AND_DIE = """
import os, sys
from pathlib import Path
from longbeam.store.lease import SharedLease
SharedLease.take(Path(sys.argv[1]))
os._exit(1)
"""


def give_no_sign(lease: SharedLease, seconds: float = LEASE_S + 1) -> None:
    """Make the holder look silent for so long, on a machine whose processes cannot be seen."""
    path = lease.folder / f"{lease.token:06d}.lease"
    path.write_text(Holder(worker="far away", machine="another", pid=1).model_dump_json())
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_second_taker_is_told_who_holds_it(tmp_path: Path) -> None:
    SharedLease.take(tmp_path / "c000", "host a, process 7")
    with pytest.raises(HeldElsewhere, match="c000 is being made by host a, process 7"):
        SharedLease.take(tmp_path / "c000")
    assert SharedLease.take(tmp_path / "c001").token == 1


def test_what_was_given_back_is_taken_at_once(tmp_path: Path) -> None:
    first = SharedLease.take(tmp_path)
    first.show(Position(stage="plan", calls=3))
    assert position_of_holder(tmp_path) == Position(stage="plan", calls=3)
    first.release()
    assert living_holder(tmp_path) is None
    assert position_of_holder(tmp_path) is None
    assert SharedLease.take(tmp_path).token == 2


def test_a_holder_that_died_on_this_machine_is_noticed_at_once(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", TAKE_AND_DIE, str(tmp_path)], check=False)
    assert SharedLease.take(tmp_path).token == 2


def test_a_holder_elsewhere_is_waited_for_until_its_lease_expires(tmp_path: Path) -> None:
    lease = SharedLease.take(tmp_path)
    give_no_sign(lease, LEASE_S - 5)
    with pytest.raises(HeldElsewhere, match="far away"):
        SharedLease.take(tmp_path)
    lease.renew()
    give_no_sign(lease, LEASE_S + 1)
    assert SharedLease.take(tmp_path).token == 2


def test_of_many_takers_one_succeeds(tmp_path: Path) -> None:
    give_no_sign(SharedLease.take(tmp_path))
    barrier, tokens = threading.Barrier(8), []

    def take() -> None:
        barrier.wait()
        try:
            tokens.append(SharedLease.take(tmp_path).token)
        except HeldElsewhere:
            tokens.append(0)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tokens) == [0] * 7 + [2]


def test_a_holder_that_wakes_up_late_moves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "made"
    late = SharedLease.take(tmp_path / "c000")
    late.source("work").write_text("of the first")
    give_no_sign(late)
    heir = SharedLease.take(tmp_path / "c000")
    heir.source("work").write_text("of the second")
    heir.put_in_place(heir.source("work"), target)

    with pytest.raises(LeaseLost):
        late.renew()
    late.source("work").write_text("of the first, written late")
    with pytest.raises(LeaseLost):
        late.put_in_place(late.source("work"), target)
    late.release()  # of what it has no longer: without effect
    assert target.read_text() == "of the second"
    assert living_holder(tmp_path / "c000") is not None


def test_a_holder_that_sleeps_between_its_look_and_its_move_moves_nothing(tmp_path: Path) -> None:
    class Sleeper(SharedLease):
        def check(self) -> None:
            super().check()
            give_no_sign(self)
            SharedLease.take(self.folder)

    late = Sleeper(tmp_path / "c000", SharedLease.take(tmp_path / "c000").token)
    late.source("work").write_text("of the first")
    with pytest.raises(LeaseLost):
        late.put_in_place(late.source("work"), tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_signs_of_life_come_far_more_often_than_a_lease_lasts() -> None:
    assert lease.BEAT_S * 10 <= lease.LEASE_S
