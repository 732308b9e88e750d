"""What holds for all tests: a cache folder of their own, no key of the user's, and the settings of property tests.

Property tests have the same cases in each run, however busy the machine is. `make nightly` sets HYPOTHESIS_PROFILE for
`tests/properties`: more cases, and other ones every night.
"""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("longbeam", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("nightly", settings.get_profile("longbeam"), derandomize=False, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "longbeam"))


def pytest_collection_finish() -> None:
    """Look for cycles of objects as rarely as the command does."""
    gc.set_threshold(20_000)


MAY_CHANGE = frozenset(
    {"PYTEST_CURRENT_TEST", "ORT_DISABLE_TELEMETRY", "VLLM_NO_USAGE_STATS", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"}
)
"""Variables that a test may leave changed: pytest's own, those that keep libraries from telling of their use, and those
that scikit-learn sets for OpenMP when it is imported."""


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's ~/.cache/longbeam as it is. The workers of a run share a folder: Prefect's database takes 6 s."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"))
        patch.delenv("OPENAI_API_KEY", raising=False)
        yield


@pytest.fixture(autouse=True)
def same_environment(own_cache: None) -> Iterator[None]:
    """Refuse a test after which a variable of the environment is another one: whichever test is next would see it."""
    before = dict(os.environ)
    yield
    after = dict(os.environ)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} - MAY_CHANGE
    assert not changed, f"left changed in the environment: {', '.join(sorted(changed))}"
