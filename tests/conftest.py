"""Settings for all tests. Everything is seeded; a failing example prints the line that repeats it."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Read when NumPy is loaded: tests run side by side, and a product's second thread would wait for a core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

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
