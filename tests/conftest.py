"""Settings for all tests. Everything is seeded; a failing example prints the line that repeats it."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# SIM_EXAMPLES: how many random examples a property gets. Few where tests run inside WebAssembly, many when hunting.
settings.register_profile(
    "repository",
    max_examples=int(os.environ.get("SIM_EXAMPLES", "60")),
    deadline=None,
    derandomize=True,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repository")
