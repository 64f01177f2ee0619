"""``numpy.float_``."""

REASON = "NumPy 2 removed the alias float_, which disentanglement_lib's JSON encoder names"


def needed() -> bool:
    import numpy as np

    return not hasattr(np, "float_")


def supply(path: str) -> type:
    import numpy as np

    return np.float64
