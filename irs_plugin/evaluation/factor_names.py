"""What the factors of dlib's ground-truth data sets are called; dlib itself says so only in comments."""

from __future__ import annotations

from typing import Any

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
