"""What is looked at before a cluster is given anything to do; the clusters themselves are in tests/e2e."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam import __version__
from longbeam.errors import UserError, require_extra
from longbeam.flows import (
    ClusterOptions,
    WorkerFacts,
    facts_here,
    own_host,
    refuse_unfit,
    server_settings,
    without_longbeam,
)

FIT = WorkerFacts(
    longbeam=__version__, python="{}.{}".format(*sys.version_info[:2]), sees_folder=True, reaches_prefect=""
)


def test_a_worker_that_has_everything_is_not_refused(tmp_path: Path) -> None:
    refuse_unfit({"tcp://a": FIT, "tcp://b": FIT}, tmp_path, "http://10.0.0.1:1/api")


@pytest.mark.parametrize(
    ("lack", "told"),
    [
        ({"longbeam": "0.0.9"}, f"worker tcp://b has longbeam 0.0.9, this command {__version__}"),
        ({"python": "3.9"}, "worker tcp://b has Python 3.9"),
        ({"sees_folder": False}, "worker tcp://b cannot write .*--out"),
        (
            {"reaches_prefect": "refused"},
            r"worker tcp://b cannot reach .* at http://10.0.0.1:1/api \(refused\).*--host",
        ),
    ],
)
def test_the_first_worker_that_lacks_something_is_named(lack: dict[str, object], told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=told):
        refuse_unfit({"tcp://a": FIT, "tcp://b": replace(FIT, **lack)}, tmp_path, "http://10.0.0.1:1/api")  # type: ignore[arg-type]


def test_facts_are_those_of_this_process(tmp_path: Path) -> None:
    (tmp_path / "spec.json").touch()
    facts = facts_here("http://127.0.0.1:1/api", str(tmp_path / "spec.json"))
    assert facts.reaches_prefect != ""
    assert replace(facts, reaches_prefect="") == FIT
    assert not facts_here("http://127.0.0.1:1/api", str(tmp_path / "elsewhere" / "spec.json")).sees_folder


def test_an_extra_that_is_not_installed_is_named_with_what_to_install() -> None:
    with pytest.raises(
        UserError, match=r"--runner dask needs no_such_dask, which is not installed: pip install 'longbeam\[dask\]'"
    ):
        require_extra("dask", "--runner dask", "json", "no_such_dask")


def test_a_worker_without_longbeam_is_told_apart_from_other_trouble() -> None:
    lacking = without_longbeam("dask", "KilledWorker: ... ModuleNotFoundError: No module named 'longbeam'\n\nmore")
    assert str(lacking).startswith(f"a worker has no longbeam: install longbeam[dask]=={__version__}")
    assert "could not be asked: boom" in str(without_longbeam("dask", "boom"))


def test_workers_reach_this_machine_where_it_faces_them() -> None:
    assert own_host("", "") == "127.0.0.1"
    assert own_host("tcp://127.0.0.1:8786", "") == "127.0.0.1"
    assert own_host("tcp://127.0.0.1:8786", "10.1.1.1") == "10.1.1.1"
    with pytest.raises(UserError, match="--address 'tcp://no such host:1'"):
        own_host("tcp://no such host:1", "")


def test_a_server_that_others_can_reach_asks_for_a_password_of_this_run(tmp_path: Path) -> None:
    here, there, again = (server_settings(tmp_path, 1, host) for host in ("127.0.0.1", "10.0.0.1", "10.0.0.1"))
    assert "PREFECT_SERVER_API_AUTH_STRING" not in here
    assert there["PREFECT_API_URL"] == "http://10.0.0.1:1/api"
    assert there["PREFECT_SERVER_API_AUTH_STRING"] == there["PREFECT_API_AUTH_STRING"]
    assert there["PREFECT_API_AUTH_STRING"] != again["PREFECT_API_AUTH_STRING"]


def test_a_local_cluster_has_no_more_workers_than_there_is_to_do() -> None:
    assert ClusterOptions(workers=7).local_workers(2) == 7
    assert ClusterOptions().local_workers(1) == 1
