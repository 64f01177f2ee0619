"""Scores of arrays for gin, to be wrapped by `chance_level`, `repeated_scores` and `convergence`.

`chance_level.score = @group_score` and `group_score.latent_dims = [0, 3]`, for example. Their options are those of the
array functions; factors are given by index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gin

import irs_plugin

Score = Callable[..., Any]


def _score_for_gin(function: Score, name: str) -> Score:
    return gin.external_configurable(function, name, module="irs_plugin", denylist=["gen_factors", "latents"])


disentanglement_score = _score_for_gin(irs_plugin.disentanglement_score, "disentanglement_score")
group_score = _score_for_gin(irs_plugin.interventional_robustness, "group_score")
domain_shift_score = _score_for_gin(irs_plugin.domain_shift_robustness, "domain_shift_score")
