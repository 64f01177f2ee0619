"""Every picture, from arrays or results to matplotlib figures (paper section 6.3 and appendices E and F).

For each picture `<picture>_data` returns the numbers behind it as a frozen result, `draw_<picture>` draws such a
result, and `<picture>` does both. Nothing here touches pyplot, the backend or matplotlib's settings; figures are plain
objects that go when the last reference to them does; `save_figure` writes them. Matplotlib is imported with the first
function that is used.
"""

from __future__ import annotations

import importlib
from typing import Any

# Module -> public names that it defines.
_MODULES = {
    "style": ("SIZES",),
    "saving": ("FORMATS", "save_figure", "save_figures"),
    "effects": (
        "InterventionalEffects",
        "interventional_effects",
        "interventional_effects_data",
        "draw_interventional_effects",
        "draw_effect",
    ),
    "densities": (
        "ConditionalDensities",
        "conditional_densities",
        "conditional_densities_data",
        "draw_conditional_densities",
        "draw_density",
    ),
    "matrices": ("ImportanceMatrix", "importance_matrices", "draw_matrix"),
    "witness": ("Witness", "Witnesses", "witnesses", "witnesses_data", "draw_witnesses"),
    "curves": ("robustness_tradeoff", "convergence"),
}
_LAZY = {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
