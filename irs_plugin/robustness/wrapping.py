"""Any score can be wrapped: what chance level, repeats and convergence share.

A *score* is a callable `score(gen_factors, latents, **aligned)`. It may return

* a number or an array of numbers, known as `"score"`;
* a mapping from names to such values, e.g. the dictionary of a disentanglement_lib metric (entries that are not
  numbers are passed over);
* an object with one or more of the attributes in `SCORE_NAMES`, such as `DisentanglementResult` and `RobustnessResult`.

*aligned* arrays, e.g. an observed confounder, have one row per sample; they follow the factors' rows wherever these go
and reach the score as keyword arguments. Everything else is bound beforehand, e.g. with `functools.partial`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from irs_plugin.robustness.validation import check_arrays

Score = Callable[..., Any]
Seed = int | np.random.Generator | np.random.RandomState

SCORE_NAMES = ("irs", "irs_matrix", "disentanglement_scores", "avg_score", "mean_score")


def standard_score(gen_factors: np.ndarray, latents: np.ndarray, **aligned: np.ndarray) -> Any:
    """The score that is wrapped unless another is given: `disentanglement_score` with its defaults."""
    from irs_plugin.robustness.disentanglement import disentanglement_score

    return disentanglement_score(gen_factors, latents, **aligned)


def named_scores(result: Any) -> dict[str, np.ndarray]:
    """Return the numbers of a score's result by name, as float64 arrays (see the module's text for the protocol)."""
    if isinstance(result, Mapping):
        found = {str(name): value for name, value in result.items() if _is_numeric(value)}
    else:
        found = {name: getattr(result, name) for name in SCORE_NAMES if hasattr(result, name)}
        if not found and _is_numeric(result):
            found = {"score": result}
    if not found:
        raise ValueError(
            f"a score must return a number, an array, a mapping of them, or an object with one of the attributes "
            f"{', '.join(SCORE_NAMES)}; got {type(result).__name__}."
        )
    arrays = {name: np.array(value, dtype=np.float64) for name, value in found.items()}
    for name, array in arrays.items():
        if np.isinf(array).any():
            raise ValueError(f"the score gave an infinite {name!r}; return NaN where a number is undefined.")
    return arrays


def _is_numeric(value: Any) -> bool:
    try:
        return np.asarray(value).dtype.kind in "fiu"
    except ValueError:  # ragged
        return False


def check_problem(
    gen_factors: Any, latents: Any, aligned: Mapping[str, Any] | None
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Check factors, codes and aligned arrays before long work starts."""
    gen_factors, latents = check_arrays(gen_factors, latents)
    arrays = {name: np.asarray(value) for name, value in (aligned or {}).items()}
    for name, array in arrays.items():
        if array.ndim == 0 or len(array) != len(latents):
            raise ValueError(
                f"aligned array {name!r} has shape {array.shape}; it needs one row for each of {len(latents)} samples."
            )
    return gen_factors, latents, arrays


def check_count(value: Any, name: str, least: int) -> int:
    """Return `value` as an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}.")
    return int(value)


def spawn(seed: Seed, count: int) -> list[np.random.Generator]:
    """Return `count` independent generators, so that a task's draws do not depend on who runs it when."""
    if isinstance(seed, np.random.RandomState):
        seed = int(seed.randint(2**31 - 1))
    elif not isinstance(seed, np.random.Generator):
        seed = check_count(seed, "seed", 0)
    return np.random.default_rng(seed).spawn(count)


def run_tasks(
    function: Callable[..., Any],
    arguments: Iterable[Sequence[Any]],
    *,
    total: int,
    n_jobs: int = -1,
    progress: bool = True,
    description: str = "",
) -> list[Any]:
    """Call `function(*a)` for every `a` in `arguments`; the results come in that order whatever `n_jobs`.

    Threads do the work unless the caller chose otherwise with `joblib.parallel_config`: the compiled score releases the
    GIL. After an interrupt nothing further is started.
    """
    from joblib import Parallel, delayed
    from tqdm.auto import tqdm

    with tqdm(total=total, desc=description, disable=not progress) as bar:
        outcomes = []
        for outcome in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(function)(*each) for each in arguments
        ):
            outcomes.append(outcome)
            bar.update()
    return outcomes


def stack_scores(samples: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Stack the named scores of several runs along a new first axis."""
    first = {name: value.shape for name, value in samples[0].items()}
    for sample in samples[1:]:
        shapes = {name: value.shape for name, value in sample.items()}
        if shapes != first:
            raise ValueError(
                f"the score returned {shapes} in one run and {first} in another; names and shapes must agree."
            )
    return {name: np.stack([sample[name] for sample in samples]) for name in first}


def finite_moments(samples: np.ndarray) -> dict[str, np.ndarray]:
    """Mean, standard deviation (n − 1), minimum and maximum over the first axis; NaN entries are left out."""
    masked = np.ma.masked_invalid(samples)
    found = {
        "mean": masked.mean(axis=0),
        "sd": masked.std(axis=0, ddof=1),
        "min": masked.min(axis=0),
        "max": masked.max(axis=0),
    }
    return {name: np.ma.filled(np.ma.asarray(value, dtype=np.float64), np.nan) for name, value in found.items()}
