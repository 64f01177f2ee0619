"""Mistakes on the command line: one sentence that names the value and the remedy, and nothing written."""

import os

import pytest
from integration.conftest import BRIEFLY, run_script


def evaluate(representation, folder, config, **bindings):
    flags = (f"--gin_config={config}", f"--input_dir={representation}", "--output_dir=out")
    named = {key.replace("__", "."): value for key, value in bindings.items()}
    return run_script("dlib_evaluate", *flags, bindings=named, cwd=folder, check=False)


def assert_one_sentence(process, *parts):
    assert process.returncode != 0
    assert "Traceback" not in process.stderr
    sentence = process.stderr.strip().splitlines()[-1]
    for part in parts:
        assert part in sentence


def test_unknown_preset(representation, tmp_path):
    process = evaluate(representation, tmp_path, "metrics/irs_papper.gin")
    assert_one_sentence(process, "Unable to open file: metrics/irs_papper.gin", "listed by: irs_plugin configs")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("config", "bindings", "parts"),
    [
        ("irs_paper", {"interventional_robustness__diff_quantile": "1.5"}, ("diff_quantile", "[0, 1]", "1.5")),
        ("irs_paper", {"interventional_robustness__quantile": "0.9"}, ("no parameter quantile", "diff_quantile")),
        ("group_robustness", {}, ("fixed_factors is not bound", "names or indices")),
    ],
)
def test_bad_bindings(representation, tmp_path, config, bindings, parts):
    process = evaluate(representation, tmp_path, f"metrics/{config}.gin", **bindings)
    assert_one_sentence(process, *parts)
    assert not list(tmp_path.iterdir())


def test_diverged_model(tmp_path):
    bindings = {**BRIEFLY, "model.training_steps": "1", "vae/AdamOptimizer.learning_rate": "1e30"}
    # Such a step ruins the weights, as NaN or infinity; they are written before the loss ends the script.
    run_script(
        "dlib_train", "--gin_config=models/vae.gin", "--model_dir=model", bindings=bindings, cwd=tmp_path, check=False
    )
    flags = ("--gin_config=postprocess/mean.gin", "--model_dir=model", "--output_dir=mean")
    run_script("dlib_postprocess", *flags, cwd=tmp_path)
    process = evaluate(tmp_path / "mean", tmp_path, "metrics/irs_paper.gin")
    assert_one_sentence(process, "of sample 0 is", "codes must be finite", "The model diverged")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mean", "model"]


def test_folder_of_another_step(model, tmp_path):
    process = evaluate(model, tmp_path, "metrics/irs_paper.gin")
    assert_one_sentence(process, f"{model} is not a folder that the step before", "then postprocess, then evaluate")
    assert not list(tmp_path.iterdir())


def test_unknown_data_set(representation, tmp_path):
    process = evaluate(representation, tmp_path, "metrics/irs_paper.gin", dataset__name="'dsprites_ful'")
    assert_one_sentence(process, "no data set 'dsprites_ful'", "dataset.name")
    assert not list(tmp_path.iterdir())


def test_output_folder_that_exists(representation, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("kept")
    process = evaluate(representation, tmp_path, "metrics/irs_paper.gin")
    assert_one_sentence(process, "out exists already", "--overwrite")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    assert (tmp_path / "out" / "mine.txt").read_text() == "kept"


def test_missing_data_file(tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "DISENTANGLEMENT_LIB_DATA", str(tmp_path / "nowhere"))
    flags = ("--gin_config=models/vae.gin", "--model_dir=model")
    bindings = {**BRIEFLY, "dataset.name": "'dsprites_full'"}
    process = run_script("dlib_train", *flags, bindings=bindings, cwd=tmp_path, check=False)
    assert_one_sentence(process, "no dSprites archive at", "irs_plugin dsprites")
    assert not list(tmp_path.iterdir())
