"""This package's studies as the objects that ``dlib_reproduce`` looks up by name."""

from __future__ import annotations

from disentanglement_lib.config import study

from irs_plugin.studies.definitions import STUDIES, Study


class ReproducibleStudy(study.Study):
    """A study as disentanglement_lib asks for it; its models are listed when first needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _definition(self) -> Study:
        return STUDIES[self._name]()

    def get_model_config(self, model_num: int = 0) -> tuple[list[str], str]:
        """Gin bindings of a model, and the gin file that all of them share.

        Raises:
            ValueError: there is no such model; the message says how many there are.
        """
        definition = self._definition()
        if not 0 <= model_num < len(definition.models):
            raise ValueError(f"{self._name} has models 0 to {len(definition.models) - 1}, so no model_num {model_num}")
        return list(definition.models[model_num]), str(definition.model_config)

    def get_postprocess_config_files(self) -> list[str]:
        """Gin files of the representations."""
        return [str(path) for path in self._definition().postprocess_configs]

    def get_eval_config_files(self) -> list[str]:
        """Gin files of the metrics."""
        return [str(path) for path in self._definition().metric_configs]


def studies() -> dict[str, ReproducibleStudy]:
    """All studies of this package, by name."""
    return {name: ReproducibleStudy(name) for name in STUDIES}
