"""The tiny study as a fixture."""

import pytest
from sweep_study import MODELS, write_metrics

from irs_plugin.dlib import hook
from irs_plugin.studies import STUDIES, Study

hook.install()


@pytest.fixture
def tiny_study(tmp_path):
    """Three models, one representation, three metrics."""
    small = STUDIES["irs_study_small"]()
    metrics = write_metrics(tmp_path / "gin")
    return Study("tiny", MODELS, small.model_config, small.postprocess_configs, metrics)
