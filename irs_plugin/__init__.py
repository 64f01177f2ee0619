"""Interventional robustness of learned representations (Suter et al., ICML 2019): arrays and disentanglement_lib.

The functions named in ``__all__`` are loaded on first use. Importing the package itself costs next to nothing.
"""

import importlib

__version__ = "0.1.0"

# Public name -> module that defines it.
_LAZY = {
    "disentanglement_score": "irs_plugin.robustness.disentanglement",
    "DisentanglementResult": "irs_plugin.robustness.disentanglement",
    "DisentanglementStatistics": "irs_plugin.robustness.disentanglement",
    "interventional_robustness": "irs_plugin.robustness.scores",
    "domain_shift_robustness": "irs_plugin.robustness.scores",
    "RobustnessResult": "irs_plugin.robustness.scores",
    "discretise": "irs_plugin.robustness.discretisation",
    "chance_level": "irs_plugin.robustness.chance",
    "repeated_scores": "irs_plugin.robustness.repeats",
    "subsampled_scores": "irs_plugin.robustness.repeats",
    "convergence": "irs_plugin.robustness.convergence",
    "choose_features": "irs_plugin.robustness.feature_choice",
    "feature_importance": "irs_plugin.importance.forests",
    "mutual_information": "irs_plugin.importance.information",
    "ImportanceResult": "irs_plugin.importance.result",
}

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> object:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
