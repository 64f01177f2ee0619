"""What the evaluation functions for groups of latents and factors share."""

from __future__ import annotations

from typing import Any

import numpy as np

from irs_plugin.evaluation.drawing import Draw
from irs_plugin.evaluation.plain import flatten
from irs_plugin.robustness.scores import RobustnessResult
from irs_plugin.robustness.validation import check_group
from irs_plugin.sampling.encoding import Representation

# Realisations written to a results file; there may be hundreds of thousands.
NUM_LISTED = 20


def check_latent_dims(latent_dims: Any, ground_truth_data: Any, representation_function: Representation) -> None:
    """Check a latent group against what one observation is encoded to, before many are.

    Raises:
        ValueError: not bound, empty, or an index that does not exist.
    """
    if latent_dims is None:
        raise ValueError("latent_dims is not bound: bind it to the indices of the latents to score as one group.")
    _, observation = ground_truth_data.sample(1, np.random.RandomState(0))
    check_group(latent_dims, np.shape(representation_function(observation))[1], "latent_dims")


def describe(result: RobustnessResult, drawn: Draw) -> dict[str, Any]:
    """A result as dlib can write it: the score under dlib's key, the realisations with the largest disagreement listed.

    `realisations`, `mpida`, `weights`, `counts`, `num_interventions` and `witness` are of the worst realisations only,
    worst first; `num_realisations` says how many there are.
    """
    worst = np.argsort(-result.mpida, kind="stable")[:NUM_LISTED]
    listed = {name: getattr(result, name)[worst] for name in ("realisations", "mpida", "weights", "counts")}
    return flatten(
        {
            "IRS": result.irs,
            "empida": result.empida,
            "normalizer": result.normalizer,
            "reason": result.reason,
            "notes": list(result.notes),
            "num_samples": result.num_samples,
            "num_realisations": len(result.mpida),
            **listed,
            "num_interventions": result.num_interventions[worst],
            "witness": [result.witness[n].to_dict() for n in worst],
            "normalizer_witness": result.normalizer_witness.to_dict(),
            "support": result.support,
            "settings": result.settings,
            "factor_names": drawn.names,
            **drawn.described(),
        }
    )
