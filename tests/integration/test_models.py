"""Every model configuration trains through stock dlib_train, and both representations come out of it."""

import json

import pytest
from integration.conftest import BRIEFLY, run_script

from irs_plugin.config_files import config_names

MODELS = [name for name in config_names() if name.startswith("models/") and name != "models/shared.gin"]


@pytest.mark.parametrize("name", MODELS)
def test_trains(name, tmp_path):
    run_script("dlib_train", f"--gin_config={name}", "--model_dir=model", bindings=BRIEFLY, cwd=tmp_path)
    results = json.loads((tmp_path / "model" / "results" / "json" / "train_results.json").read_text())
    assert results["global_step"] == 2
    assert results["loss"] == pytest.approx(results["loss"], abs=0), "the loss must not be NaN"
    gin = (tmp_path / "model" / "results" / "gin" / "train.gin").read_text()
    assert f"model.name = '{name.removeprefix('models/').removesuffix('.gin')}'" in gin
    assert "encoder.num_latent = 10" in gin
    assert "@conv_encoder" in gin and "@deconv_decoder" in gin


def test_sampled_representation(model):
    flags = ("--gin_config=postprocess/sampled.gin", f"--model_dir={model}", "--output_dir=sampled")
    run_script("dlib_postprocess", *flags, cwd=model.parent)
    assert (model.parent / "sampled" / "tfhub" / "saved_model.pb").exists()
