"""Continuous factors into bins, saying what was merged (the paper assumes discrete realisations, section 2)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irs_plugin.robustness.plain import plain
from irs_plugin.robustness.validation import check_choice, check_factors, check_group
from irs_plugin.robustness.wrapping import check_count

STRATEGIES = ("uniform", "quantile", "kmeans")


@dataclass(frozen=True)
class Discretisation:
    """Factors after binning.

    Attributes:
        gen_factors: `(num_samples, num_factors)`; binned factors hold bin numbers, the others their own values.
        binned: indices of the factors that were binned.
        values_before: `(num_factors,)` distinct values of each factor as given.
        values_after: `(num_factors,)` distinct values now; `values_before − values_after` have been merged.
        edges: bin edges by binned factor; fewer than `num_bins + 1` where bins coincided.
        num_bins, strategy: as given.
    """

    gen_factors: np.ndarray
    binned: tuple[int, ...]
    values_before: np.ndarray
    values_after: np.ndarray
    edges: dict[int, np.ndarray]
    num_bins: int
    strategy: str

    @property
    def num_merged(self) -> np.ndarray:
        """`(num_factors,)` how many distinct values each factor lost."""
        return self.values_before - self.values_after

    def to_dict(self) -> dict[str, Any]:
        """What was done, as plain JSON values; the factors themselves are left out."""
        return plain(
            {
                "strategy": self.strategy,
                "num_bins": self.num_bins,
                "binned": self.binned,
                "values_before": self.values_before,
                "values_after": self.values_after,
                "num_merged": self.num_merged,
                "edges": self.edges,
            }
        )


def discretise(
    gen_factors: Any,
    *,
    factors: int | Sequence[int] | None = None,
    num_bins: int = 20,
    strategy: str = "uniform",
    seed: int = 0,
) -> Discretisation:
    """Bin continuous factors with scikit-learn's `KBinsDiscretizer`.

    Merging values is not innocent: a code that follows each of the merged values no longer stays put while the binned
    factor does, so that a perfect code for 40 values falls short of 1 in 20 bins (with `replicates="separate"` on any
    data, otherwise where the merged values occur unevenly). Hence discrete factors stay as they are.

    Args:
        gen_factors: `(num_samples, num_factors)`.
        factors: which factors to bin, whatever they hold. None (default) bins those that look continuous: more than
            `num_bins` distinct values that are not all whole numbers.
        num_bins: bins per factor, at least 2.
        strategy: `"uniform"` (equal width), `"quantile"` (equal frequency) or `"kmeans"` (one-dimensional clusters).
        seed: for k-means.

    Raises:
        ValueError: bad arrays, indices, number of bins or strategy, or a factor to bin that is not numeric.
    """
    num_bins = check_count(num_bins, "num_bins", 2)
    check_choice(strategy, "strategy", STRATEGIES)
    gen_factors = _finite_factors(gen_factors)
    before = _count_values(gen_factors)
    if factors is None:
        group = tuple(k for k in range(gen_factors.shape[1]) if _is_continuous(gen_factors[:, k], before[k], num_bins))
    else:
        group = check_group(factors, gen_factors.shape[1], "factors", may_be_empty=True)
    if group and gen_factors.dtype.kind not in "iufb":
        raise ValueError(f"only numeric factors can be binned; gen_factors has dtype {gen_factors.dtype}.")
    binned, edges = gen_factors.copy(), {}
    for k in group:
        binned[:, k], edges[k] = _bin(gen_factors[:, k], num_bins, strategy, seed)
    after = _count_values(binned)
    return Discretisation(check_factors(binned), group, before, after, edges, num_bins, strategy)


def _finite_factors(gen_factors: Any) -> np.ndarray:
    """Check everything that `check_factors` does, save that continuous factors are welcome here."""
    array = np.asarray(gen_factors)
    if array.ndim == 2 and array.size and array.dtype.kind == "f" and np.isfinite(array).all():
        return array
    return check_factors(array)


def _count_values(gen_factors: np.ndarray) -> np.ndarray:
    return np.array([len(np.unique(column)) for column in gen_factors.T])


def _is_continuous(values: np.ndarray, num_values: int, num_bins: int) -> bool:
    return values.dtype.kind == "f" and num_values > num_bins and bool((values != np.rint(values)).any())


def _bin(values: np.ndarray, num_bins: int, strategy: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.preprocessing import KBinsDiscretizer

    options: dict[str, Any] = {"subsample": None, "random_state": seed}
    if strategy == "quantile" and "quantile_method" in KBinsDiscretizer().get_params():
        # scikit-learn changed its default from 1.7 to 1.9; the same data are to give the same bins with all of them.
        options["quantile_method"] = "linear"
    binner = KBinsDiscretizer(num_bins, encode="ordinal", strategy=strategy, **options)
    with warnings.catch_warnings():
        # Coinciding bins and constant factors show in `values_after` and `edges`.
        warnings.simplefilter("ignore")
        codes = binner.fit_transform(values[:, None].astype(np.float64))
    return codes[:, 0], binner.bin_edges_[0]
