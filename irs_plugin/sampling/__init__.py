"""Drawing labelled, encoded samples from a ground-truth data set: `random`, `grid` and `confounded` designs.

A data set is anything with disentanglement_lib's `factors_num_values`, `sample_factors(num, random_state)` and
`sample_observations_from_factors(factors, random_state)`; a representation function maps observations `(n, …)` to codes
`(n, num_latents)`.
"""

from irs_plugin.sampling.confounded import PairCorrelation, StructuralModel, confounded_sample, tilted_model
from irs_plugin.sampling.encoding import Sample
from irs_plugin.sampling.grid import grid_batches, grid_sample
from irs_plugin.sampling.random import random_sample

__all__ = [
    "PairCorrelation",
    "Sample",
    "StructuralModel",
    "confounded_sample",
    "grid_batches",
    "grid_sample",
    "random_sample",
    "tilted_model",
]
