"""What a study consists of: models, representations and metrics, named by gin bindings and gin files.

Nothing here imports disentanglement_lib, so a study can be planned and listed without TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from irs_plugin.config_files import config_root

# Names that disentanglement_lib's dataset.name takes, in the order of its unsupervised_study_v1.
DATASETS = ("dsprites_full", "color_dsprites", "noisy_dsprites", "scream_dsprites", "smallnorb", "cars3d", "shapes3d")

Bindings = tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """A study in disentanglement_lib's form.

    Attributes:
        name: What ``dlib_reproduce --study`` and ``irs_plugin sweep --study`` know it by.
        models: Gin bindings of each model; its number is its place here.
        model_config: Gin file that all models share.
        postprocess_configs: Gin files of the representations; a file's name is the representation's.
        metric_configs: Gin files of the metrics; a file's name is the metric's.
    """

    name: str
    models: tuple[Bindings, ...]
    model_config: Path
    postprocess_configs: tuple[Path, ...]
    metric_configs: tuple[Path, ...]


def _method(name: str, model: str, swept: str, values: Sequence[float], *fixed: str) -> list[Bindings]:
    """Bindings of one method for each value of the hyperparameter that is swept."""
    common = (f"model.name = '{name}'", f"model.model = {model}")
    return [(*common, f"{swept} = {value}", *fixed) for value in values]


def _annealing(steps: int) -> tuple[str, str]:
    return "annealed_vae.gamma = 1000", f"annealed_vae.iteration_threshold = {steps}"


_DISCRIMINATOR = "discriminator.discriminator_fn = @fc_discriminator"
_DIP_I = ("dip_vae.dip_type = 'i'", "dip_vae.lambda_d_factor = 10.0")
_DIP_II = ("dip_vae.dip_type = 'ii'", "dip_vae.lambda_d_factor = 1.0")


def irs_study_v1() -> Study:
    """The sweep of Locatello et al. (2019), and a plain VAE, with interventional robustness among the metrics.

    7 data sets × 37 models × 50 seeds, hyperparameters and 300,000 steps as in disentanglement_lib's
    ``unsupervised_study_v1``. The plain VAE is its beta-VAE of beta 1 under a name of its own.
    """
    betas = (1.0, 2.0, 4.0, 6.0, 8.0, 16.0)
    gammas = (10.0, 20.0, 30.0, 40.0, 50.0, 100.0)
    lambdas = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
    tc_betas = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0)
    capacities = (5.0, 10.0, 25.0, 50.0, 75.0, 100.0)
    methods = [
        *_method("vae", "@vae()", "vae.beta", (1.0,)),
        *_method("beta_vae", "@vae()", "vae.beta", betas),
        *_method("factor_vae", "@factor_vae()", "factor_vae.gamma", gammas, _DISCRIMINATOR),
        *_method("dip_vae_i", "@dip_vae()", "dip_vae.lambda_od", lambdas, *_DIP_I),
        *_method("dip_vae_ii", "@dip_vae()", "dip_vae.lambda_od", lambdas, *_DIP_II),
        *_method("beta_tc_vae", "@beta_tc_vae()", "beta_tc_vae.beta", tc_betas),
        *_method("annealed_vae", "@annealed_vae()", "annealed_vae.c_max", capacities, *_annealing(100000)),
    ]
    models = tuple(
        (f"dataset.name = '{dataset}'", *_ARCHITECTURE, *method, f"model.random_seed = {seed}")
        for dataset, method, seed in product(DATASETS, methods, range(50))
    )
    return _study("irs_study_v1", models, "mean", "sampled")


def irs_study_small() -> Study:
    """Two models of each of the seven methods on dSprites, 5,000 updates each: hours on a CPU.

    disentanglement_lib counts the discriminator's steps among FactorVAE's, so that 10,000 of those are 5,000 updates
    of the model. The capacity of the annealed beta-VAE grows over a third of the training, as in the long study.
    """
    updates = 5000
    methods = [
        *_method("beta_vae", "@vae()", "vae.beta", (4.0, 16.0)),
        *_method("factor_vae", "@factor_vae()", "factor_vae.gamma", (10.0, 40.0), _DISCRIMINATOR),
        *_method("dip_vae_i", "@dip_vae()", "dip_vae.lambda_od", (5.0, 20.0), *_DIP_I),
        *_method("dip_vae_ii", "@dip_vae()", "dip_vae.lambda_od", (5.0, 20.0), *_DIP_II),
        *_method("beta_tc_vae", "@beta_tc_vae()", "beta_tc_vae.beta", (4.0, 10.0)),
        *_method("annealed_vae", "@annealed_vae()", "annealed_vae.c_max", (5.0, 25.0), *_annealing(updates // 3)),
    ]
    seeded = [(method, seed) for method in _method("vae", "@vae()", "vae.beta", (1.0,)) for seed in (0, 1)]
    seeded += [(method, 0) for method in methods]
    models = tuple(
        (
            "dataset.name = 'dsprites_full'",
            *_ARCHITECTURE,
            *method,
            f"model.training_steps = {2 * updates if _DISCRIMINATOR in method else updates}",
            f"model.random_seed = {seed}",
        )
        for method, seed in seeded
    )
    return _study("irs_study_small", models, "mean")


_ARCHITECTURE = ("encoder.encoder_fn = @conv_encoder", "decoder.decoder_fn = @deconv_decoder")

STUDIES = {"irs_study_v1": irs_study_v1, "irs_study_small": irs_study_small}


def _study(name: str, models: tuple[Bindings, ...], *representations: str) -> Study:
    """Models trained from disentanglement_lib's own study's file, and the metrics of ``configs/studies/<name>``."""
    dlib, ours = Path(find_spec("disentanglement_lib").submodule_search_locations[0]), config_root()
    return Study(
        name,
        models,
        dlib / "config" / "unsupervised_study_v1" / "model_configs" / "shared.gin",
        tuple(ours / "postprocess" / f"{representation}.gin" for representation in representations),
        tuple(sorted((ours / "studies" / name).glob("*.gin"))),
    )
