"""Distances d between two expectations of a latent group (method section 4, definition of PIDA)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from irs_plugin.robustness.validation import check_choice

# A distance takes two arrays (num_pairs, num_latents) and returns (num_pairs,).
Distance = Callable[[np.ndarray, np.ndarray], np.ndarray]

DISTANCES = ("l2", "l1", "linf", "mahalanobis")


def make_distance(distance: str | Distance, latents: np.ndarray) -> Distance:
    """Return a distance between rows.

    Args:
        distance: one of `DISTANCES`, or a callable from two arrays `(num_pairs, num_latents)` to `(num_pairs,)`.
            `mahalanobis` whitens with the pseudo-inverse of the covariance of `latents`.
        latents: `(num_samples, num_latents)` codes of the latent group that is compared.

    For a single latent l2, l1 and linf are all the absolute difference.
    """
    if callable(distance):
        return lambda left, right: _checked(distance(left, right), left)
    check_choice(distance, "distance", DISTANCES)
    if distance == "mahalanobis":
        covariance = np.atleast_2d(np.cov(latents, rowvar=False))
        scale = np.sqrt(np.diag(covariance))
        # Less than 1e-6 of a latent's own size is the rounding noise of single precision: such a latent is left out.
        scale[scale <= 1e-6 * np.abs(latents).max(axis=0)] = np.inf
        # In units of each latent's standard deviation, so that none is dropped for being small beside the others.
        precision = np.linalg.pinv(covariance / np.outer(scale, scale), rcond=1e-12, hermitian=True)
        precision /= np.outer(scale, scale)
        # Rounding may leave a squared length a hair below zero.
        return lambda left, right: np.sqrt(
            np.maximum(np.einsum("nl,lm,nm->n", left - right, precision, left - right), 0.0)
        )
    if latents.shape[1] == 1:
        return lambda left, right: np.abs(left - right)[:, 0]
    order = {"l2": 2, "l1": 1, "linf": np.inf}[distance]
    return lambda left, right: np.linalg.norm(left - right, ord=order, axis=1)


def _checked(values: np.ndarray, left: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.shape != left.shape[:1] or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            f"a distance must return one finite non-negative number a pair, shape {left.shape[:1]}; got shape "
            f"{values.shape}" + (f" with minimum {values.min()}." if values.size else ".")
        )
    return values
