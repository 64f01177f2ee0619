"""How an evaluation function becomes known to gin."""

from __future__ import annotations

import gin

# dlib itself hands these four over; everything else of the signature is bound in a gin file.
evaluation_function = gin.configurable(
    denylist=["ground_truth_data", "representation_function", "random_state", "artifact_dir"]
)
