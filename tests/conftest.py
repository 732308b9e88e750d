"""Settings of all property tests: the same cases in each run, however busy the machine is.

`make nightly` sets HYPOTHESIS_PROFILE=nightly for `tests/properties`: more cases, and other ones every night.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("longbeam", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("nightly", settings.get_profile("longbeam"), derandomize=False, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "longbeam"))
