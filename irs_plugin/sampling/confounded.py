"""The confounded design: factors drawn dependent on each other, through a confounder or pairwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from irs_plugin.sampling.encoding import ENCODING_BATCH_SIZE, Representation, Sample, check_size, encode_factors


class FactorModel(Protocol):
    """A joint distribution of a data set's factors."""

    def check(self, factors_num_values: Sequence[int]) -> None:
        """Raise ValueError unless the model fits a data set with these factor sizes."""

    def draw(
        self, factors_num_values: Sequence[int], num_samples: int, random_state: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Factors `(num_samples, num_factors)`, and the confounder `(num_samples,)` or None."""

    def describe(self) -> dict[str, Any]:
        """Plain values for a result."""


@dataclass(frozen=True)
class StructuralModel:
    """C → G (definition 1 of the paper): a discrete confounder, and factors independent of each other given it.

    Attributes:
        confounder_probabilities: `(num_values,)` p(c).
        tables: for each factor p(g_k | c), `(num_values, size_k)`.
    """

    confounder_probabilities: Sequence[float]
    tables: Sequence[Any]

    def check(self, factors_num_values: Sequence[int]) -> None:
        """Raise ValueError unless every table is a distribution of the right size."""
        marginal = _distribution(self.confounder_probabilities, "confounder_probabilities", 1)
        if len(self.tables) != len(factors_num_values):
            raise ValueError(
                f"tables has {len(self.tables)} entries; the data set has {len(factors_num_values)} factors, give one "
                f"table each."
            )
        for k, (table, size) in enumerate(zip(self.tables, factors_num_values, strict=True)):
            found = _distribution(table, f"tables[{k}]", 2)
            if found.shape != (len(marginal), size):
                raise ValueError(
                    f"tables[{k}] must have shape ({len(marginal)}, {size}), confounder values × factor values; got "
                    f"{found.shape}."
                )

    def draw(
        self, factors_num_values: Sequence[int], num_samples: int, random_state: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Factors and confounder of independent samples."""
        self.check(factors_num_values)
        probabilities = np.asarray(self.confounder_probabilities, dtype=np.float64)
        confounder = random_state.choice(len(probabilities), size=num_samples, p=probabilities / probabilities.sum())
        factors = np.empty((num_samples, len(self.tables)), dtype=np.int64)
        for k, table in enumerate(self.tables):
            cumulated = np.cumsum(np.asarray(table, dtype=np.float64), axis=1)
            bounds = (cumulated / cumulated[:, -1:])[confounder]
            # The last bound is exactly 1, above every uniform draw from [0, 1).
            factors[:, k] = (random_state.random_sample(num_samples)[:, None] >= bounds).sum(axis=1)
        return factors, confounder

    def describe(self) -> dict[str, Any]:
        """The model's own numbers."""
        return {
            "model": "structural",
            "confounder_probabilities": [float(p) for p in self.confounder_probabilities],
            "tables": [np.asarray(table, dtype=np.float64).tolist() for table in self.tables],
        }


def tilted_model(
    factors_num_values: Sequence[int],
    *,
    strength: float,
    num_confounder_values: int = 2,
    factors: Sequence[int] | None = None,
) -> StructuralModel:
    """A structural model whose factors lean towards large values where the confounder is large.

    p(g | c) ∝ exp(strength · u · v), with u and v the places of g and c between −1 and 1. At strength 0 the factors are
    independent and uniform.

    Args:
        factors_num_values: number of values of each factor.
        strength: how much they lean; finite.
        num_confounder_values: at least 2, equally probable.
        factors: which factors depend on the confounder; None for all.
    """
    if not np.isfinite(strength):
        raise ValueError(f"strength must be finite; got {strength}.")
    if check_size(num_confounder_values, "num_confounder_values") < 2:
        raise ValueError("num_confounder_values must be at least 2: a confounder with one value confounds nothing.")
    chosen = set(range(len(factors_num_values)) if factors is None else factors)
    if not chosen <= set(range(len(factors_num_values))):
        raise ValueError(f"factors must be indices from 0 to {len(factors_num_values) - 1}; got {sorted(chosen)}.")
    places = np.linspace(-1.0, 1.0, num_confounder_values)
    tables = []
    for k, size in enumerate(factors_num_values):
        own = np.linspace(-1.0, 1.0, size) if size > 1 and k in chosen else np.zeros(size)
        table = np.exp(strength * np.outer(places, own))
        tables.append(table / table.sum(axis=1, keepdims=True))
    return StructuralModel(np.full(num_confounder_values, 1.0 / num_confounder_values), tables)


@dataclass(frozen=True)
class PairCorrelation:
    """Two correlated factors, the others uniform and independent (Träuble et al. 2021, "On disentangled representations
    learned from correlated data").

    The weight of a pair of values, each scaled to [0, 1], is proportional to exp(−(c1 − c2)² / (2σ²)); 0.04, 0.1 and
    0.4 are strong, medium and weak correlation. The family states a joint distribution and no confounder, so there is
    none to return: adjust by counts or propensity.

    Attributes:
        pair: indices of the two factors.
        sigma: σ, positive; infinity makes them independent.
    """

    pair: tuple[int, int]
    sigma: float

    def check(self, factors_num_values: Sequence[int]) -> None:
        """Raise ValueError unless the pair exists and σ is positive."""
        valid = range(len(factors_num_values))
        if len(self.pair) != 2 or len(set(self.pair)) != 2 or not set(self.pair) <= set(valid):
            raise ValueError(
                f"pair must be two different factor indices from 0 to {len(valid) - 1}; got {tuple(self.pair)}."
            )
        if not self.sigma > 0:
            raise ValueError(f"sigma must be positive; got {self.sigma}. The literature uses 0.04, 0.1 and 0.4.")

    def weights(self, factors_num_values: Sequence[int]) -> np.ndarray:
        """The joint distribution of the pair, `(size of the first, size of the second)`."""
        self.check(factors_num_values)
        first, second = (np.linspace(0.0, 1.0, factors_num_values[k]) for k in self.pair)
        exponents = -((first[:, None] - second) ** 2) / (2.0 * self.sigma**2)
        weights = np.exp(exponents - exponents.max())
        return weights / weights.sum()

    def draw(
        self, factors_num_values: Sequence[int], num_samples: int, random_state: np.random.RandomState
    ) -> tuple[np.ndarray, None]:
        """Factors of independent samples; there is no confounder."""
        weights = self.weights(factors_num_values)
        factors = np.column_stack([random_state.randint(size, size=num_samples) for size in factors_num_values])
        joint = random_state.choice(weights.size, size=num_samples, p=weights.ravel())
        factors[:, self.pair[0]], factors[:, self.pair[1]] = np.unravel_index(joint, weights.shape)
        return factors, None

    def describe(self) -> dict[str, Any]:
        """The model's own numbers."""
        return {"model": "pair correlation", "pair": [int(k) for k in self.pair], "sigma": float(self.sigma)}


def confounded_sample(
    ground_truth_data: Any,
    representation_function: Representation,
    num_samples: int,
    random_state: np.random.RandomState,
    *,
    model: FactorModel,
    encoding_batch_size: int = ENCODING_BATCH_SIZE,
    encode_once: bool = False,
    progress: bool = False,
) -> Sample:
    """Draw dependent factors, observe and encode them.

    Args:
        ground_truth_data, representation_function: see the package.
        num_samples: sample size.
        random_state: source of all randomness.
        model: `StructuralModel`, `PairCorrelation`, or anything with the methods of `FactorModel`.
        encoding_batch_size, encode_once, progress: see `irs_plugin.sampling.encoding.encode_factors`.

    Returns:
        The sample, with the confounder where the model has one.
    """
    check_size(num_samples, "num_samples")
    sizes = list(ground_truth_data.factors_num_values)
    model.check(sizes)
    factors, confounder = model.draw(sizes, num_samples, random_state)
    latents = encode_factors(
        ground_truth_data,
        representation_function,
        factors,
        random_state,
        encoding_batch_size=encoding_batch_size,
        encode_once=encode_once,
        progress=progress,
    )
    return Sample(
        factors, latents, confounder, {"design": "confounded", "num_samples": num_samples, **model.describe()}
    )


def _distribution(values: Any, name: str, dimensions: int) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != dimensions or 0 in found.shape:
        raise ValueError(f"{name} must be a non-empty array of {dimensions} dimensions; got shape {found.shape}.")
    if not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(f"{name} must hold probabilities; it holds {found.min()}.")
    sums = found.sum(axis=-1)
    if not np.allclose(sums, 1.0, rtol=0, atol=1e-6):
        raise ValueError(f"{name} must sum to 1 over the last axis; the sums are {np.atleast_1d(sums).tolist()}.")
    return found
