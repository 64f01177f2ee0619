"""The stand-ins: under which names they are seen, by whom, and why there has to be one."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType


@dataclass(frozen=True)
class StandIn:
    """One thing that a current installation lacks.

    ``module`` in ``irs_plugin.dlib.standins`` has a ``REASON`` and a ``supply(path)`` that returns what modules of the
    packages in ``seen_by`` find under each of the dotted ``paths``. Where it also has ``needed()``, it is asked first.
    A path with a colon, ``module:Class.member``, is a member of the library's own that is replaced once it is loaded.
    """

    paths: tuple[str, ...]
    module: str
    seen_by: tuple[str, ...]

    @property
    def imported_paths(self) -> tuple[str, ...]:
        """The paths that the packages import; without those that they define themselves."""
        return tuple(path for path in self.paths if ":" not in path)

    def load(self) -> ModuleType:
        """Import the module that supplies it."""
        return importlib.import_module(f"irs_plugin.dlib.standins.{self.module}")

    @property
    def reason(self) -> str:
        """Why there has to be one."""
        return self.load().REASON

    def needed(self) -> bool:
        """Tell whether this installation lacks it."""
        return getattr(self.load(), "needed", lambda: True)()


_DLIB, _HUB, _GIN = "disentanglement_lib", "tensorflow_hub", "gin.tf"

STAND_INS = (
    StandIn(("tensorflow.estimator", "tensorflow.compat.v1.estimator"), "tf_estimator", (_DLIB, _HUB, _GIN)),
    StandIn(("tensorflow.contrib",), "contrib", (_DLIB,)),
    StandIn(
        ("tensorflow.keras", "tensorflow.compat.v1.keras", "tensorflow.compat.v1.layers"),
        "legacy_keras",
        (_DLIB, _HUB),
    ),
    StandIn(("tensorflow.compat.v1.gfile.Open",), "dsprites_archive", (_DLIB,)),
    StandIn(("disentanglement_lib.data.ground_truth.dsprites:DSprites.full_factor_sizes",), "dsprites_sizes", (_DLIB,)),
    StandIn(("disentanglement_lib.config.reproduce:STUDIES",), "studies", (_DLIB,)),
    StandIn(
        ("disentanglement_lib.data.ground_truth.util:tf_data_set_from_ground_truth_data",), "training_input", (_DLIB,)
    ),
    StandIn(("tensorflow_probability",), "probability", (_DLIB,)),
    StandIn(("gin.configurable", "gin.external_configurable"), "gin_keywords", (_DLIB,)),
    StandIn(("numpy.float_",), "numpy_alias", (_DLIB,)),
    StandIn(("distutils",), "distutils", (_DLIB, _GIN)),
    StandIn(("pkg_resources",), "pkg_resources", (_DLIB, _HUB)),
)
