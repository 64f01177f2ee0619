"""Binning of factors for gin: `interventional_robustness.discretizer = @kbins_discretizer`."""

from __future__ import annotations

from collections.abc import Sequence

import gin
import numpy as np

import irs_plugin


@gin.configurable(denylist=["target"])
def kbins_discretizer(
    target: np.ndarray,
    *,
    factors: Sequence[int] | None = None,
    num_bins: int = 20,
    strategy: str = "uniform",
    seed: int = 0,
) -> np.ndarray:
    """scikit-learn's bins in dlib's layout `(num_factors, num_samples)`; see `irs_plugin.discretise`."""
    binned = irs_plugin.discretise(target.T, factors=factors, num_bins=num_bins, strategy=strategy, seed=seed)
    return binned.gen_factors.T
