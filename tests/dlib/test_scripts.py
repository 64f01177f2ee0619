"""The stock scripts by their own names, on dlib's dummy data: stock training, postprocessing, evaluation, pictures."""

from __future__ import annotations

import json

import pytest

from irs_plugin.dlib import mistakes, scripts

TRAIN = """
dataset.name = "dummy_data"
model.model = @factor_vae()
factor_vae.gamma = 6.
model.batch_size = 8
model.training_steps = 12
model.eval_steps = 2
model.random_seed = 0
encoder.num_latent = 5
encoder.encoder_fn = @conv_encoder
decoder.decoder_fn = @deconv_decoder
reconstruction_loss.loss_fn = @bernoulli_loss
bernoulli_loss.subtract_true_image_entropy = True
discriminator.discriminator_fn = @fc_discriminator
vae_optimizer.optimizer_fn = @AdamOptimizer
discriminator_optimizer.optimizer_fn = @AdamOptimizer
"""
POSTPROCESS = """
dataset.name = "auto"
postprocess.postprocess_fn = @mean_representation
postprocess.random_seed = 0
"""
EVALUATE = """
dataset.name = "auto"
evaluation.evaluation_fn = @mig
evaluation.random_seed = 0
mig.num_train = 200
discretizer.discretizer_fn = @histogram_discretizer
discretizer.num_bins = 5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipeline")
    for name, text in (("train", TRAIN), ("postprocess", POSTPROCESS), ("evaluate", EVALUATE)):
        (folder / f"{name}.gin").write_text(text)
    return folder


@pytest.fixture(scope="module")
def script(python, folder):
    def run(name, *flags, **variables):
        return python(scripts.find(name), *flags, cwd=folder, **variables)

    return run


@pytest.fixture(scope="module")
def pipeline(script, folder):
    """A model, its representation and an evaluation, made by three scripts."""
    for name, *flags in (
        ("dlib_train", "--gin_config=train.gin", "--model_dir=model"),
        ("dlib_postprocess", "--gin_config=postprocess.gin", "--model_dir=model", "--output_dir=mean"),
        ("dlib_evaluate", "--gin_config=evaluate.gin", "--input_dir=mean", "--output_dir=metrics/mig"),
    ):
        process = script(name, *flags)
        assert process.returncode == 0, process.stderr
    return folder


def results(folder, step):
    return json.loads((folder / "results" / "json" / f"{step}_results.json").read_text())


def test_train_postprocess_evaluate(pipeline):
    trained = results(pipeline / "model", "train")
    assert {"reconstruction_loss", "regularizer", "kl_loss", "loss", "elapsed_time"} <= set(trained)
    # Each step of FactorVAE counts twice, once for the model and once for the discriminator, as it always did.
    assert trained["global_step"] == 12
    score = results(pipeline / "metrics" / "mig", "evaluation")["discrete_mig"]
    assert 0 <= score <= 1
    assert results(pipeline / "metrics" / "mig", "train") == trained


def test_an_existing_folder_is_left_alone(pipeline, script):
    files = {path: path.read_bytes() for path in (pipeline / "metrics").rglob("*") if path.is_file()}
    flags = ("--gin_config=evaluate.gin", "--input_dir=mean", "--output_dir=metrics/mig")
    process = script("dlib_evaluate", *flags)
    assert process.returncode == 1
    assert process.stderr.splitlines()[-1] == (
        "dlib_evaluate: metrics/mig exists already: "
        "name another output folder, or let --overwrite delete this one first"
    )
    assert "Traceback" not in process.stderr
    assert {path: path.read_bytes() for path in (pipeline / "metrics").rglob("*") if path.is_file()} == files


def test_a_missing_binding_is_named_and_leaves_nothing(script, folder):
    (folder / "lacking.gin").write_text(TRAIN.replace("model.training_steps = 12\n", ""))
    process = script("dlib_train", "--gin_config=lacking.gin", "--model_dir=lacking")
    assert process.returncode == 1
    expected = "dlib_train: Required bindings for `model` not provided in config: ['training_steps']"
    assert process.stderr.splitlines()[-1] == expected
    assert not (folder / "lacking").exists()


def test_a_loss_that_is_not_a_number_leaves_no_results(script, folder):
    (folder / "diverging.gin").write_text(TRAIN + "AdamOptimizer.learning_rate = 1e30\n")
    process = script("dlib_train", "--gin_config=diverging.gin", "--model_dir=diverging")
    assert process.returncode == 1
    assert "NaN loss" in process.stderr
    assert not (folder / "diverging" / "results").exists()
    assert not (folder / "diverging" / "tfhub").exists()


def test_launcher_does_without_the_hook(pipeline, python):
    flags = ("--gin_config=evaluate.gin", "--input_dir=mean", "--output_dir=metrics/launched")
    process = python("-m", "irs_plugin.cli", "run", "dlib_evaluate", *flags, cwd=pipeline, IRS_PLUGIN_HOOK="0")
    assert process.returncode == 0, process.stderr
    launched = results(pipeline / "metrics" / "launched", "evaluation")
    assert launched["discrete_mig"] == results(pipeline / "metrics" / "mig", "evaluation")["discrete_mig"]


def test_launcher_names_the_scripts_there_are(python):
    process = python("-m", "irs_plugin.cli", "run", "dlib_trian")
    assert process.returncode == 2
    assert process.stderr.startswith(
        "irs_plugin run: there is no script 'dlib_trian'; those that run are dlib_aggregate"
    )
    process = python("-m", "irs_plugin.cli", "run", "dlib_udr")
    assert process.returncode == 2
    assert "not in the disentanglement_lib 1.5 that PyPI serves" in process.stderr


def test_aggregate_results(pipeline, script):
    pattern = "--result_file_pattern=metrics/*/results/aggregate/evaluation.json"
    process = script("dlib_aggregate_results", pattern, "--output_path=all.json")
    assert process.returncode == 0, process.stderr
    assert "evaluation_results.discrete_mig" in json.loads((pipeline / "all.json").read_text())


@pytest.mark.slow
def test_visualizers(pipeline, script):
    process = script("dlib_visualize_model", "--model_dir=model", "--output_dir=pictures")
    assert process.returncode == 0, process.stderr
    assert len(list((pipeline / "pictures" / "animated_traversals").glob("*.gif"))) > 10
    process = script("dlib_visualize_dataset", "--name=dummy_data", "--path=dataset")
    assert process.returncode == 0, process.stderr
    assert list((pipeline / "dataset").rglob("*.png"))


def test_reproduce_prints_a_study(script):
    process = script("dlib_reproduce", "--only_print", "--model_num=1")
    assert process.returncode == 0, process.stderr
    assert "vae.beta = 1.0" in process.stdout
    assert "mig.gin" in process.stdout


def test_unknown_errors_keep_their_traceback():
    try:
        raise ValueError("raised outside of gin, the library and this package")
    except ValueError as error:
        assert mistakes.explain(error) is None
    assert mistakes.explain(KeyError("x")) is None
