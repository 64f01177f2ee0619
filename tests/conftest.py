"""Property tests draw the same examples in every run of continuous integration, and fresh ones everywhere else."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")
