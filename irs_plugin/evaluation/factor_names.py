"""What the factors of dlib's ground-truth data sets are called; dlib itself says so only in comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from irs_plugin.robustness.validation import check_group

_DSPRITES = ("color", "shape", "scale", "orientation", "posX", "posY")

# Class name -> factor names in dlib's column order.
_NAMES = {
    "AbstractDSprites": ("background color", "object color", "shape", "scale", "posX", "posY"),
    "SmallNORB": ("category", "elevation", "azimuth", "lighting"),
    "Cars3D": ("elevation", "azimuth", "object type"),
    "Shapes3D": ("floor color", "wall color", "object color", "object size", "object type", "azimuth"),
    "MPI3D": (
        "object color",
        "object shape",
        "object size",
        "camera height",
        "background color",
        "first DOF",
        "second DOF",
    ),
}


def factor_names(ground_truth_data: Any) -> list[str] | None:
    """Names of a data set's factors in the order of its columns, or None where they have none.

    A data set may say so itself by a `factor_names` attribute. Otherwise dlib's own classes, and classes derived
    from them, are known here; a dSprites restricted to some factors gets the names of those.

    Raises:
        ValueError: the data set's own `factor_names` are not one per factor.
    """
    own = getattr(ground_truth_data, "factor_names", None)
    if own is not None:
        names = [str(name) for name in own]
        if len(names) != ground_truth_data.num_factors:
            raise ValueError(
                f"factor_names of {type(ground_truth_data).__name__} has {len(names)} entries {names} "
                f"but the data set has {ground_truth_data.num_factors} factors; give one name per factor."
            )
        return names
    for cls in type(ground_truth_data).__mro__:
        if cls.__name__ in _NAMES:
            return list(_NAMES[cls.__name__])
        if cls.__name__ == "DSprites":
            return [_DSPRITES[index] for index in ground_truth_data.latent_factor_indices]
    return None


def factor_index(factor: int | str, names: Sequence[str] | None) -> int:
    """Index of a factor given by name or, as it is, by index.

    Raises:
        ValueError: a name that the data set does not have; the message lists those it has.
    """
    if not isinstance(factor, str):
        return factor
    if names is None or factor not in names:
        known = f"its factors are {', '.join(names)}" if names else "its factors have no names; use indices from 0"
        raise ValueError(f"the data set has no factor {factor!r}; {known}.")
    return names.index(factor)


def factor_group(group: Any, ground_truth_data: Any, name: str, *, may_be_empty: bool = False) -> tuple[int, ...]:
    """Indices of a group of factors given by names or indices, one or several.

    Raises:
        ValueError: not given at all, or a member that does not exist.
    """
    if group is None:
        raise ValueError(f"{name} is not bound: bind it to factor names or indices.")
    members: Iterable[int | str] = [group] if isinstance(group, (str, int)) else group
    names = factor_names(ground_truth_data)
    indices = [factor_index(member, names) for member in members]
    return check_group(indices, ground_truth_data.num_factors, name, may_be_empty=may_be_empty)
