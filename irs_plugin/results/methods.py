"""What the models of a collection are: their method, and the hyperparameter that was swept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from irs_plugin.results.metrics import is_number
from irs_plugin.results.result import Result

# What disentanglement_lib's studies sweep of each method.
SWEPT = {
    "vae": "vae.beta",
    "beta_vae": "vae.beta",
    "annealed_vae": "annealed_vae.c_max",
    "factor_vae": "factor_vae.gamma",
    "dip_vae_i": "dip_vae.lambda_od",
    "dip_vae_ii": "dip_vae.lambda_od",
    "beta_tc_vae": "beta_tc_vae.beta",
}

# The name of the file that all models of a study share, which dlib_reproduce takes where the study gives none.
_NO_NAMES = frozenset({"", "shared"})
_NUMBERING = frozenset({"model.random_seed", "model.model_num"})


def method_of(result: Result) -> str:
    """The method's name, derived from the model function where the model has none; empty where nothing says it."""
    name = result.text("train", "model.name")
    if name not in _NO_NAMES:
        return name
    function = result.text("train", "model.model").removesuffix("()")
    if function == "dip_vae":
        return f"dip_vae_{result.text('train', 'dip_vae.dip_type')}".removesuffix("_")
    return "beta_vae" if function == "vae" else function


def swept_settings(results: Iterable[Result]) -> dict[str, str]:
    """Method to the hyperparameter that its models differ in.

    That is known of disentanglement_lib's methods. Of any other it is the one numeric setting of the training that
    differs between its models, seeds and numbers aside; a method with none or several is left out.
    """
    seen: dict[str, dict[str, set[float]]] = {}
    trainings = set()
    for result in results:
        method = method_of(result)
        if method in SWEPT or result.training in trainings:
            continue
        trainings.add(result.training)
        values = seen.setdefault(method, {})
        for name, value in _numeric(result.settings("train")).items():
            values.setdefault(name, set()).add(value)
    differing = {method: [name for name in found if len(found[name]) > 1] for method, found in seen.items()}
    return SWEPT | {method: names[0] for method, names in differing.items() if len(names) == 1}


def _numeric(settings: Mapping[str, Any]) -> dict[str, float]:
    return {name: value for name, value in settings.items() if is_number(value) and name not in _NUMBERING}
