"""Options of the scores, bound in gin and checked before anything is encoded."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from irs_plugin.robustness.adjustment import make_adjuster
from irs_plugin.robustness.disentanglement import FACTOR_WEIGHTS, REPLICATES
from irs_plugin.robustness.distances import DISTANCES
from irs_plugin.robustness.expectations import make_expectation
from irs_plugin.robustness.validation import check_choice, check_fraction, check_quantile

_ADJUSTMENT = tuple(name for name in inspect.signature(make_adjuster).parameters if name != "confounder")
_CHECKS: dict[str, Callable[[Any], Any]] = {
    "diff_quantile": lambda value: check_quantile(value, "diff_quantile"),
    "normalizer_quantile": lambda value: check_quantile(value, "normalizer_quantile"),
    "factor_weights": lambda value: check_choice(value, "factor_weights", FACTOR_WEIGHTS),
    "replicates": lambda value: value is None or check_choice(value, "replicates", REPLICATES),
    "distance": lambda value: callable(value) or check_choice(value, "distance", DISTANCES),
    "inactive_tolerance": lambda value: check_fraction(value, "inactive_tolerance", 0.0, 1.0),
}


def check_options(score: Callable[..., Any], options: Mapping[str, Any], *, of: str) -> None:
    """Check names and values.

    Args:
        score: the array function that the options are for.
        options: what was bound.
        of: name of the evaluation function, for messages.

    Raises:
        ValueError: an option the score does not have, or a value out of range.
    """
    parameters = inspect.signature(score).parameters.values()
    known = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY} | {*_ADJUSTMENT}
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(f"{of} has no parameter {', '.join(unknown)}; it has {', '.join(sorted(known))}.")
    for name, check in _CHECKS.items():
        if name in options:
            check(options[name])
    make_expectation(options.get("expectation", "mean"), options.get("trim", 0.1))
    placeholder = {"confounder": np.zeros(1)} if options.get("adjustment") == "confounder" else {}
    make_adjuster(**{name: options[name] for name in _ADJUSTMENT if name in options}, **placeholder)


def uses_confounder(options: Mapping[str, Any]) -> bool:
    """Whether the sample's confounder must reach the score."""
    return options.get("adjustment") == "confounder"
