"""The designs by which an evaluation function draws its sample, for gin: `evaluation.….sampling = @grid_sampling`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gin
import numpy as np

from irs_plugin import sampling
from irs_plugin.evaluation.factor_names import factor_index, factor_names
from irs_plugin.sampling import Sample
from irs_plugin.sampling.encoding import ENCODING_BATCH_SIZE, Representation

# A design is called with these five by the evaluation function that uses it.
Sampling = Callable[[Any, Representation, np.random.RandomState, int, int], Sample]
_design = gin.configurable(
    denylist=["ground_truth_data", "representation_function", "random_state", "num_train", "batch_size"]
)

gin.external_configurable(sampling.StructuralModel, module="irs_plugin")
gin.external_configurable(sampling.PairCorrelation, module="irs_plugin")
gin.external_configurable(sampling.tilted_model, module="irs_plugin", denylist=["factors_num_values"])


@_design
def random_sampling(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    num_train: int,
    batch_size: int,
    *,
    encoding_batch_size: int | None = ENCODING_BATCH_SIZE,
) -> Sample:
    """Factors drawn independently and uniformly; see `irs_plugin.sampling.random_sample`."""
    return sampling.random_sample(
        ground_truth_data,
        representation_function,
        num_train,
        random_state,
        batch_size=batch_size,
        encoding_batch_size=encoding_batch_size,
    )


@_design
def grid_sampling(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    num_train: int,
    batch_size: int,
    *,
    sub_grid: Mapping[int | str, int | Sequence[int]] | None = None,
    encoding_batch_size: int = ENCODING_BATCH_SIZE,
) -> Sample:
    """Every combination once, or those of a sub-grid; its size is its own, so `num_train` does not count.

    Args:
        sub_grid: per factor, by name or index, the values to keep or how many, evenly spaced.
        encoding_batch_size: observations encoded at a time.
        ground_truth_data, representation_function, random_state, num_train, batch_size: from the evaluation function.
    """
    del num_train, batch_size
    names = factor_names(ground_truth_data)
    return sampling.grid_sample(
        ground_truth_data,
        representation_function,
        random_state,
        sub_grid={factor_index(factor, names): kept for factor, kept in (sub_grid or {}).items()},
        encoding_batch_size=encoding_batch_size,
        progress=True,
    )


@_design
def confounded_sampling(
    ground_truth_data: Any,
    representation_function: Representation,
    random_state: np.random.RandomState,
    num_train: int,
    batch_size: int,
    *,
    model: Any = None,
    encoding_batch_size: int = ENCODING_BATCH_SIZE,
    encode_once: bool = False,
) -> Sample:
    """Factors drawn dependent on each other; the sample holds the confounder where the model has one.

    Args:
        model: `@StructuralModel()`, `@PairCorrelation()`, or a function of the factor sizes such as `@tilted_model`.
        encoding_batch_size, encode_once: see `irs_plugin.sampling.confounded_sample`.
        ground_truth_data, representation_function, random_state, num_train, batch_size: from the evaluation function.
    """
    del batch_size
    if model is None:
        raise ValueError(
            "confounded_sampling.model is not bound: use @StructuralModel(), @PairCorrelation() or @tilted_model."
        )
    return sampling.confounded_sample(
        ground_truth_data,
        representation_function,
        num_train,
        random_state,
        model=model if hasattr(model, "draw") else model(ground_truth_data.factors_num_values),
        encoding_batch_size=encoding_batch_size,
        encode_once=encode_once,
    )
