"""Draw docs/confounding.svg: the error of each adjustment against the sample size, on two confounded problems.

python docs/confounding.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

from irs_plugin.robustness.adjustment import ADJUSTMENTS, SupportWarning
from irs_plugin.robustness.expectations import interventional_expectation

SAMPLE_SIZES = (300, 1_000, 3_000, 10_000, 30_000)
NUM_DRAWS = 10
INFLUENCE = 0.5
Problem = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]]


def two_factors(num_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """C → G_1, G_2, all binary: p(G = c | c) is 0.8 and 0.7; z = g_1 + g_2 / 2."""
    confounder = rng.integers(0, 2, num_samples)
    agrees = rng.random((num_samples, 2)) < (0.8, 0.7)
    factors = np.where(agrees, confounder[:, None], 1 - confounder[:, None])
    return factors, factors[:, 0] + INFLUENCE * factors[:, 1], confounder


def eight_factors(num_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """C → G_1, a binary factor, and G_2 … G_8, of ten values that rise with C; z = g_1 + mean of the others / 9 / 2."""
    confounder = rng.integers(0, 2, num_samples)
    first = np.where(rng.random(num_samples) < 0.8, confounder, 1 - confounder)
    others = rng.binomial(9, 0.4 + 0.2 * confounder[:, None], (num_samples, 7))
    return np.column_stack([first, others]), first + INFLUENCE * others.mean(axis=1) / 9, confounder


# In both E[Z | do(g_1)] = g_1 + 1/4, as the other factors average to one half.
TRUTH = np.array([0.0, 1.0]) + INFLUENCE / 2


def mean_error(problem: Problem, num_samples: int, adjustment: str) -> float | None:
    """Largest error of E[Z | do(g_1)] over g_1, averaged over draws; None if the adjustment refuses the data."""
    errors = []
    for draw in range(NUM_DRAWS):
        factors, latent, confounder = problem(num_samples, np.random.default_rng(draw))
        options = {"confounder": confounder} if adjustment == "confounder" else {}
        try:
            found = interventional_expectation(factors, latent[:, None], 0, adjustment=adjustment, **options)
        except ValueError:
            return None
        errors.append(np.abs(found.values[:, 0] - TRUTH).max())
    return float(np.mean(errors))


def draw() -> Figure:
    """Both problems side by side."""
    figure = Figure(figsize=(6.75, 2.6), layout="constrained")
    problems = {"two binary factors": two_factors, "eight factors, singleton cells": eight_factors}
    styles = dict(
        zip(ADJUSTMENTS, (("#000000", "o"), ("#0072B2", "s"), ("#D55E00", "^"), ("#009E73", "D")), strict=True)
    )
    progress = tqdm(total=len(problems) * len(ADJUSTMENTS) * len(SAMPLE_SIZES))
    for axes, (title, problem) in zip(figure.subplots(1, 2, sharey=True), problems.items(), strict=True):
        for adjustment, (colour, marker) in styles.items():
            errors = []
            for num_samples in SAMPLE_SIZES:
                errors.append(mean_error(problem, num_samples, adjustment))
                progress.update()
            print(f"{title:32} {adjustment:12}", *("refused" if e is None else f"{e:.4f}" for e in errors))
            label = adjustment + (" (refused)" if None in errors else "")
            axes.loglog(
                SAMPLE_SIZES,
                [np.nan if e is None else e for e in errors],
                color=colour,
                marker=marker,
                ms=4,
                label=label,
            )
        axes.set(title=title, xlabel="samples")
        axes.legend(fontsize=7, frameon=False)
    figure.axes[0].set_ylabel("error of E[Z | do(g₁)]")
    return figure


if __name__ == "__main__":
    warnings.simplefilter("ignore", SupportWarning)
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "confounding", "font.size": 8}):
        draw().savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
