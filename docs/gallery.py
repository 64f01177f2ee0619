"""Draw the pictures of gallery.md into the folder gallery beside it: one command, scripts/gallery.

The fragile model is a trained one: a beta-VAE on dSprites (beta 4, 5,000 steps at batch 64, TensorFlow 1.15), whose
codes of 10,000 images the tests keep. The robust one is made up: a code that gives each factor a latent of its own
with a little noise, and one latent that is dead. Both are of the same factors.

    python docs/gallery.py [CODES.npz]      codes of another dSprites model: `latents` and `gen_factors`, row by row
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import irs_plugin
from irs_plugin import figures
from irs_plugin.dsprites.rendering import render
from irs_plugin.robustness.adjustment import SupportWarning

HERE = Path(__file__).parent
NAMES = ("shape", "scale", "orientation", "posX", "posY")
POS_X, NUISANCES = 3, (1, 4)


def robust_codes(factors: np.ndarray) -> np.ndarray:
    """One latent per factor, scaled as a VAE's would be and blurred by 2 %, then a dead one."""
    noise = np.random.RandomState(0).normal(size=factors.shape)
    scaled = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    return np.column_stack([scaled + 0.02 * noise, np.full(len(factors), 0.1)])


def draw(name: str, factors: np.ndarray, latents: np.ndarray) -> None:
    """Every picture of one model, as gallery/<name>_<picture>.png."""
    score = irs_plugin.disentanglement_score(factors, latents)
    comparisons = [irs_plugin.feature_importance(factors, latents), irs_plugin.mutual_information(factors, latents)]
    measured = irs_plugin.convergence(factors, latents, num_permutations=10, progress=False)
    with warnings.catch_warnings():
        # A sample of 10,000 combinations of 737,280 leaves some realisations with a single neighbour.
        warnings.simplefilter("ignore", SupportWarning)
        choice = irs_plugin.choose_features(
            factors,
            latents,
            POS_X,
            nuisance_factors=NUISANCES,
            estimator=DecisionTreeClassifier(min_samples_leaf=20),
            progress=False,
        )
    pages = {
        "interventional_effects": figures.interventional_effects(
            factors, latents, score, factor_names=NAMES, cyclic_factors=["orientation"]
        ),
        "conditional_densities": figures.conditional_densities(factors, latents, score, factor_names=NAMES),
        "importance_matrices": figures.importance_matrices([score, *comparisons], factor_names=NAMES),
        "witnesses": figures.witnesses(
            factors,
            latents,
            lambda rows: render(factors[rows]),
            score,
            factor_names=NAMES,
            num_per_latent=2,
            latents_per_page=4,
        )[:1],
        "robustness_tradeoff": [figures.robustness_tradeoff(choice)],
        "convergence": [figures.convergence(measured)],
    }
    for picture, drawn in pages.items():
        for path in figures.save_figures(drawn, HERE / "gallery" / f"{name}_{picture}", dpi=130):
            print(path.relative_to(HERE.parent))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HERE.parent / "tests" / "data" / "tf1_beta_vae_codes.npz"
    parser.add_argument("codes", nargs="?", type=Path, default=default, help="an .npz file")
    args = parser.parse_args()
    with np.load(args.codes) as arrays:
        factors, latents = arrays["gen_factors"].astype(np.int64), arrays["latents"].astype(np.float64)
    draw("fragile", factors, latents)
    draw("robust", factors, robust_codes(factors))


if __name__ == "__main__":
    main()
