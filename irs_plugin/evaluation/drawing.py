"""The sample that an evaluation function scores, with what the score needs beside factors and codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from irs_plugin.evaluation.factor_names import factor_names
from irs_plugin.evaluation.sampling import Sampling
from irs_plugin.sampling import Sample
from irs_plugin.sampling.encoding import check_size

Discretizer = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Draw:
    """Attributes:
    sample: as drawn, factors not binned.
    gen_factors: `(num_samples, num_factors)` what is scored: the sample's factors, or bins of them.
    names: of the factors, or None where the data set has none.
    """

    sample: Sample
    gen_factors: np.ndarray
    names: list[str] | None

    @property
    def latents(self) -> np.ndarray:
        """`(num_samples, num_latents)` codes."""
        return self.sample.latents

    def described(self) -> dict[str, Any]:
        """How the sample came about, for a result."""
        before = [len(np.unique(column)) for column in self.sample.gen_factors.T]
        after = [len(np.unique(column)) for column in self.gen_factors.T]
        return {"sample": {**self.sample.design, "factor_values": before, "factor_values_scored": after}}

    def aligned(self, wanted: bool) -> dict[str, np.ndarray]:
        """The confounder as a keyword argument, if it is wanted.

        Raises:
            ValueError: the design has none.
        """
        if not wanted:
            return {}
        if self.sample.confounder is None:
            raise ValueError(
                f"adjustment='confounder' needs an observed confounder, and the {self.sample.design['design']} design "
                f"has none: bind sampling to @confounded_sampling with a StructuralModel, or adjust by 'propensity'."
            )
        return {"confounder": self.sample.confounder}


def draw(
    ground_truth_data: Any,
    representation_function: Callable[[np.ndarray], np.ndarray],
    random_state: np.random.RandomState,
    num_train: int,
    batch_size: int,
    sampling: Sampling,
    discretizer: Discretizer | None,
) -> Draw:
    """Draw, encode and bin.

    Args:
        num_train: sample size, where the design leaves it open.
        batch_size: factors drawn at a time by the random design; dlib draws batch by batch, so it is part of the seed.
        sampling: one of the designs in `irs_plugin.evaluation.sampling`.
        discretizer: from factors `(num_factors, num_samples)` to bins of the same shape, such as dlib's `@discretizer`;
            None takes the factors as they are.
        ground_truth_data, representation_function, random_state: as dlib hands them over.
    """
    check_size(num_train, "num_train")
    check_size(batch_size, "batch_size")
    sample = sampling(ground_truth_data, representation_function, random_state, num_train, batch_size)
    gen_factors = sample.gen_factors if discretizer is None else discretizer(sample.gen_factors.T).T
    return Draw(sample, gen_factors, factor_names(ground_truth_data))
